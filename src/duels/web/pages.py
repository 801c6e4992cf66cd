"""Pages: templates filled with what the service knows. Scripts and styles come from this server alone.

The page of a match is rendered whole, then streamed in events while the match goes on. An event brings the
parts that changed, and the new lines of the log. It depends on nothing but what the viewer was shown before
and is shown now.
"""

import asyncio
import re
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import cache, lru_cache
from hashlib import sha256
from importlib.resources import files
from mimetypes import guess_type
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from duels.core.svg import stylesheet
from duels.web.refusals import Missing

_FOREVER = "public, max-age=31536000, immutable"
_IMPORT = re.compile(rb"""(from "\./[\w-]+\.js)(")""")
_PARTS = {
    "players": ("seats", "seat"),
    "sentence": ("sentence", "turn"),
    "asides": ("invite",),
    "offers": ("offer", "refused", "seat"),
    "actions": ("buttons", "rematch", "may_rematch", "over", "seat", "game", "match"),
    "tools": ("may",),
    "question": ("prompt", "example"),
    "links": ("watchable", "invite", "seat", "over", "match"),
}
"""The parts, log and board aside: each is a macro of these values of a view, and an element with its id."""
_LINE = ("seat", "who", "entry", "secret", "text", "named", "told_next", "earlier")
"""The same for a line of the log."""
_MOST_KEPT = 8192  # parts and lines: most of a page is as it was before
_ELSEWHERE = "At the terminal"
_LABELLED = re.compile(r"(\S+)\s{2,}(\S.*)")
_ROW = re.compile(r"\s+(\S.*?)\s{3,}(\S.*)")


class Pages:
    """All templates and files of the server, read once."""

    def __init__(self) -> None:
        self._templates = Environment(
            loader=PackageLoader("duels.web"),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._templates.globals["static"] = self.link
        self._templates.filters["parts"] = card_parts
        self._templates.filters["svg"] = Markup  # what our own drawings made
        self._parts: Any = self._templates.get_template("_parts.html").module
        self.part = lru_cache(_MOST_KEPT)(self._part)

    def render(self, template: str, **values: Any) -> str:
        """A page, or a part of one."""
        return self._templates.get_template(template).render(values)

    def _part(self, name: str, *values: Any) -> str:
        """A part of the page of a match: a macro, which needs no page around it."""
        part: str = getattr(self._parts, name)(*values)
        return part

    def page(self, template: str, status: int = 200, **values: Any) -> Response:
        """A page as an answer."""
        return Response(self.render(template, **values), status, media_type="text/html")

    def link(self, name: str) -> str:
        """The address of a file, which changes when any of them does."""
        assert name in _statics(), name
        return f"/static/{name}?{_version()}"

    def file(self, request: Request) -> Response:
        """A file as an answer; Missing if there is none of that name."""
        name = request.path_params["name"]
        if name not in _statics():
            raise Missing()
        lasts = _FOREVER if request.url.query == _version() else "no-cache"
        return Response(
            _statics()[name],
            media_type=guess_type(name)[0] or "application/octet-stream",
            headers={"Cache-Control": lasts},
        )


@cache
def _bodies() -> dict[str, bytes]:
    """All files as they are written."""
    bodies = {file.name: file.read_bytes() for file in files("duels.web").joinpath("static").iterdir()}
    bodies["boards.css"] = stylesheet().encode()
    # Read here and not through the reviews, which would have to be loaded before the first page.
    bodies["curve.css"] = files("duels.analysis").joinpath("curve.css").read_bytes()
    return bodies


@cache
def _version() -> str:
    """One version for all files, since scripts import one another."""
    return sha256(b"".join(body for _, body in sorted(_bodies().items()))).hexdigest()[:12]


@cache
def _statics() -> dict[str, bytes]:
    """The same as they are sent: scripts import one another by version."""
    version = rb"\1?" + _version().encode() + rb"\2"
    return {
        name: _IMPORT.sub(version, body) if name.endswith(".js") else body for name, body in _bodies().items()
    }


# -- the page of a match ------------------------------------------------------------------------


class MatchPage:
    """What the page of one viewer shows."""

    def __init__(self, pages: Pages, view: dict[str, Any]) -> None:
        self._pages = pages
        self._event: int = view["event"]
        log = view["log"]
        self._lines = tuple(
            pages.part("line", number, *[line[key] for key in _LINE])
            for number, line in enumerate(log, start=1)
        )
        earlier = sum(line["earlier"] for line, shown in zip(log, self._lines, strict=True) if shown)
        self.parts = {
            **{part: pages.part(part, *[view[key] for key in keys]) for part, keys in _PARTS.items()},
            "board": Markup('<div id="board">{}</div>').format(Markup(view["board"])),
            "told": pages.part("told", self._lines, earlier),
        }
        """The whole page, by its parts."""

    def whole(self) -> str:
        """The whole page as one element."""
        return self._pages.render("_match.html", event=self._event, parts=self.parts)

    def changes(self, before: "MatchPage | None") -> str:
        """The elements that changed since `before`; the whole page if there is none."""
        if before is None:
            return self.whole()
        changed = {name: part for name, part in self.parts.items() if part != before.parts[name]}
        known = len(before._lines)
        if known and before._lines == self._lines[:known]:
            changed["told"] = "".join(self._lines[known:])
        return "".join(changed.values())


# -- server-sent events -------------------------------------------------------------------------

Wake = Callable[[], object]
Produce = Callable[[int | None], Awaitable[tuple[int, str] | None]]
"""Given the number of the last event that was sent: the next one's, with its data; None if there is none."""
_PING = b": still here\n\n"
_HEADERS = [
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"cache-control", b"no-store"),
    (b"x-accel-buffering", b"no"),  # nginx would wait until it has more
]
_RETRY = b"retry: 1000\n\n"  # milliseconds until a browser that has lost the connection comes back


class EventStream:
    """A response that lasts until the visitor leaves, or the server ends."""

    def __init__(
        self,
        produce: Produce,
        watching: Callable[[Wake], AbstractContextManager[None]],
        ended: Callable[[], bool],
        last: int | None = None,
        every: float = 15.0,
    ) -> None:
        """Within `watching`, the stream is woken by what may have changed the match."""
        self._produce = produce
        self._watching = watching
        self._ended = ended
        self._last = last
        self._every = every
        self._woken = asyncio.Event()
        self._left = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send what there is, then whatever comes."""
        with self._watching(self._woken.set):
            await send({"type": "http.response.start", "status": 200, "headers": list(_HEADERS)})
            await send(_chunk(_RETRY))
            leaving = asyncio.ensure_future(self._until_left(receive))
            try:
                await self._send_events(send)
            finally:
                leaving.cancel()
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _send_events(self, send: Send) -> None:
        """Send each event, and a ping if nothing was sent for so long that the connection may seem dead.

        What wakes the stream and is not for this viewer does not put the ping off: that would tell of it.
        """
        loop = asyncio.get_running_loop()
        sent = loop.time()
        while not self._left and not self._ended():
            self._woken.clear()  # before reading, so that nothing falls between
            if event := await self._produce(self._last):
                self._last, data = event
                await send(_chunk(_encode(self._last, data)))
                sent = loop.time()
            try:
                async with asyncio.timeout_at(sent + self._every):
                    await self._woken.wait()
            except TimeoutError:
                await send(_chunk(_PING))
                sent = loop.time()

    async def _until_left(self, receive: Receive) -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        self._left = True
        self._woken.set()


def _encode(number: int, data: str) -> bytes:
    """An event as the stream has it; every end of a line begins another field."""
    body = data.encode().replace(b"\r\n", b"\n").replace(b"\r", b"\n")  # in bytes it takes half the time
    return b"id: %d\ndata: %b\n\n" % (number, body.replace(b"\n", b"\ndata: "))


def _chunk(body: bytes) -> dict[str, object]:
    return {"type": "http.response.body", "body": body, "more_body": True}


# -- rule cards ---------------------------------------------------------------------------------


@dataclass
class Part:
    """A heading, and paragraphs, rows of a name with its meaning, or points."""

    heading: str
    paragraphs: list[str] = field(default_factory=list)
    rows: list[tuple[str, str]] = field(default_factory=list)
    points: list[str] = field(default_factory=list)


def card_parts(card: str, guide: Sequence[str] = ()) -> list[Part]:
    """A rule card as parts, so that a page can set it in any width, then the guide to the board.

    Lines that only wrap are joined. What a card says of the terminal is left out.
    """
    found = [Part("")]
    for line in card.splitlines()[1:]:
        part = found[-1]
        words = line.strip()
        if not words:
            continue
        if labelled := _LABELLED.fullmatch(line):
            found.append(Part(labelled[1], [labelled[2]]))
        elif row := _ROW.fullmatch(line):
            part.rows.append((row[1], row[2]))
        elif line.startswith("- "):
            part.points.append(words[2:])
        elif not line.startswith(" "):
            found.append(Part(words))
        elif part.points:
            part.points[-1] += f" {words}"
        elif part.rows:
            part.paragraphs.append(words)
        elif part.paragraphs and part.paragraphs[-1][-1] not in ".:":
            part.paragraphs[-1] += f" {words}"
        else:
            part.paragraphs.append(words)
    found.append(Part("On the board", points=[*guide]))
    filled = [part for part in found if part.paragraphs or part.rows or part.points]
    return [part for part in filled if part.heading != _ELSEWHERE]
