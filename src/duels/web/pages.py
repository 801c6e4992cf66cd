"""HTML pages, static files, event streams and rule cards.

The page of a match is rendered once as a whole and then updated by events. An event contains the parts that
changed and the new lines of the log. It depends only on the viewer's previous and current view.
"""

import asyncio
import re
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import cache
from hashlib import sha256
from importlib.resources import files
from itertools import takewhile
from mimetypes import guess_type
from operator import eq
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from duels.core.game import TERMINAL_HEADING
from duels.core.svg import stylesheet
from duels.games import GAMES
from duels.web.puzzles import MAX_DAYS
from duels.web.request_errors import NotFound, RequestError

_CACHE_FOREVER = "public, max-age=31536000, immutable"
_IMPORT = re.compile(rb"""(from "\./[\w-]+\.js)(")""")
_PARTS = (
    "players",
    "sentence",
    "result",
    "asides",
    "board",
    "actions",
    "tools",
    "offers",
    "links",
    "question",
)
"""The parts of a match page except the log. Each is a macro of `_parts.html` that takes the view."""
_LABELED_LINE = re.compile(r"(\S+)\s{2,}(\S.*)")


class Pages:
    """The templates and static files of the server."""

    def __init__(self) -> None:
        self._templates = Environment(
            loader=PackageLoader("duels.web"),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._templates.globals["static"] = self.make_static_url
        self._templates.globals["taught_games"] = tuple(GAMES)
        self._templates.globals["most_days"] = MAX_DAYS
        self._templates.filters["parts"] = parse_rule_card
        self._templates.filters["svg"] = Markup  # drawings of our own are safe
        self._parts = self._templates.get_template("_parts.html").module

    def render(self, template: str, **values: Any) -> Markup:
        """Render a template."""
        return Markup(self._templates.get_template(template).render(values))

    def render_part(self, name: str, *values: Any) -> str:
        """Render a part of a match page."""
        html: str = getattr(self._parts, name)(*values)
        return html

    def respond(self, template: str, status: int = 200, **values: Any) -> Response:
        """Return a rendered template as a response."""
        return Response(self.render(template, **values), status, media_type="text/html")

    def make_static_url(self, name: str) -> str:
        """Return the URL of a static file. It changes when any static file changes."""
        version, bodies = _load_static_files()
        assert name in bodies, name
        return f"/static/{name}?{version}"

    def get_static_file(self, request: Request) -> Response:
        """Return a static file as a response. Raises NotFound if there is no such file."""
        name = request.path_params["name"]
        version, bodies = _load_static_files()
        if name not in bodies:
            raise NotFound()
        headers = {"Cache-Control": _CACHE_FOREVER if request.url.query == version else "no-cache"}
        return Response(
            bodies[name], media_type=guess_type(name)[0] or "application/octet-stream", headers=headers
        )


@cache
def _load_static_files() -> tuple[str, dict[str, bytes]]:
    """Return the version and the static files by name. Imports in scripts get the version."""
    bodies = {file.name: file.read_bytes() for file in files("duels.web").joinpath("static").iterdir()}
    bodies["boards.css"] = stylesheet().encode()
    # Importing the reviews for this file would delay the first page.
    bodies["curve.css"] = files("duels.analysis").joinpath("curve.css").read_bytes()
    # One version for all files, since scripts import one another.
    version = sha256(b"".join(body for _, body in sorted(bodies.items()))).hexdigest()[:12]
    versioned = rb"\1?" + version.encode() + rb"\2"
    return version, {
        name: _IMPORT.sub(versioned, body) if name.endswith(".js") else body for name, body in bodies.items()
    }


# -- the page of a match ------------------------------------------------------------------------


class MatchPage:
    """The page of a match for one viewer."""

    def __init__(self, pages: Pages) -> None:
        self._pages = pages
        self._parts: dict[str, str] = {}
        self._log: list[dict[str, Any]] = []
        self._lines: list[str] = []  # the HTML of the log

    def update(self, view: dict[str, Any]) -> str:
        """Render a view. Return the elements that changed, or the whole page the first time."""
        old_parts, old_lines = self._parts, self._lines
        unchanged = self._update_log(view["log"])
        earlier = sum(line["earlier"] for line, html in zip(self._log, self._lines, strict=True) if html)
        self._parts = {part: self._pages.render_part(part, view) for part in _PARTS}
        self._parts["log_lines"] = self._pages.render_part("log_lines", self._lines, earlier)
        if not old_parts:
            return self._pages.render("_match.html", event=view["event"], parts=self._parts)
        changes = {part: html for part, html in self._parts.items() if html != old_parts[part]}
        if any(old_lines) and unchanged == len(old_lines):
            changes["log_lines"] = "".join(self._lines[unchanged:])
        return "".join(changes.values())

    def _update_log(self, log: list[dict[str, Any]]) -> int:
        """Render the new lines. Return the number of lines at the start that are still the same."""
        unchanged = sum(1 for _ in takewhile(bool, map(eq, self._log, log)))
        new = [
            self._pages.render_part("line", number, line)
            for number, line in enumerate(log[unchanged:], unchanged + 1)
        ]
        self._log, self._lines = log, self._lines[:unchanged] + new
        return unchanged


# -- server-sent events -------------------------------------------------------------------------

WakeCallback = Callable[[], object]
EventProducer = Callable[[int | None], Awaitable[tuple[int, str] | None]]
"""Takes the last event's number; returns the next event's number and data, or None if there is none."""
_PING = b": still here\n\n"
_HEADERS = [
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"cache-control", b"no-store"),
    (b"x-accel-buffering", b"no"),  # nginx would buffer the stream
]
_RETRY = b"retry: 1000\n\n"  # milliseconds until the browser reconnects


class EventStream:
    """A response with server-sent events, until the visitor leaves, the match is gone or the server ends."""

    def __init__(
        self,
        produce: EventProducer,
        subscribe: Callable[[WakeCallback], AbstractContextManager[None]],
        is_ended: Callable[[], bool],
        last: int | None = None,
        ping_interval: float = 15.0,
        announce: Callable[[], str] = lambda: "",
    ) -> None:
        """`subscribe` returns a context in which its argument is called after every change of the match.

        `announce` returns whether the other player is here, or an empty string.
        """
        self._produce = produce
        self._subscribe = subscribe
        self._is_ended = is_ended
        self._last = last
        self._ping_interval = ping_interval
        self._announce = announce
        self._announced = ""
        self._wake_up = asyncio.Event()
        self._is_over = False

    def end(self) -> None:
        """End the stream."""
        self._is_over = True
        self._wake_up.set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the events."""
        with self._subscribe(self._wake_up.set):
            await send({"type": "http.response.start", "status": 200, "headers": list(_HEADERS)})
            await send(_make_chunk(_RETRY))
            disconnect = asyncio.ensure_future(self._wait_for_disconnect(receive))
            try:
                await self._send_events(send)
            finally:
                disconnect.cancel()
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _send_events(self, send: Send) -> None:
        """Send each event, and a ping if nothing was sent for a while.

        A change that the viewer may not see does not delay the next ping: the delay would reveal it.
        """
        loop = asyncio.get_running_loop()
        sent = loop.time()
        while not self._is_over and not self._is_ended():
            self._wake_up.clear()  # before reading, so that no change is missed
            try:
                event = await self._produce(self._last)
            except RequestError as problem:  # the match was deleted or damaged meanwhile
                await send(_make_chunk(f": {problem}\n\n".encode()))
                return
            if event:
                self._last, data = event
                await send(_make_chunk(_encode_event(self._last, data)))
                sent = loop.time()
            if (presence := self._announce()) != self._announced:
                self._announced = presence
                await send(_make_chunk(f"event: presence\ndata: {presence}\n\n".encode()))
            try:
                async with asyncio.timeout_at(sent + self._ping_interval):
                    await self._wake_up.wait()
            except TimeoutError:
                await send(_make_chunk(_PING))
                sent = loop.time()

    async def _wait_for_disconnect(self, receive: Receive) -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        self.end()


def _encode_event(number: int, data: str) -> bytes:
    body = data.encode().replace(b"\r\n", b"\n").replace(b"\r", b"\n")  # twice as fast in bytes
    return b"id: %d\ndata: %b\n\n" % (number, body.replace(b"\n", b"\ndata: "))


def _make_chunk(body: bytes) -> dict[str, object]:
    return {"type": "http.response.body", "body": body, "more_body": True}


# -- rule cards ---------------------------------------------------------------------------------


@dataclass
class CardSection:
    """A section of a rule card: a heading with paragraphs or a list."""

    heading: str
    paragraphs: list[str] = field(default_factory=list)
    points: list[str] = field(default_factory=list)


def parse_rule_card(card: str, guide: Sequence[str] = ()) -> list[CardSection]:
    """Return the sections of a rule card and of the guide to the board.

    Wrapped lines are joined. The section about the terminal is left out.
    """
    sections = [CardSection("")]
    for line in card.splitlines()[1:]:
        part = sections[-1]
        words = line.strip()
        if not words:
            continue
        if labeled := _LABELED_LINE.fullmatch(line):
            sections.append(CardSection(labeled[1], [labeled[2]]))
        elif line.startswith("- "):
            part.points.append(words[2:])
        elif not line.startswith(" "):
            sections.append(CardSection(words))
        elif part.points:
            part.points[-1] += f" {words}"
        elif part.paragraphs and part.paragraphs[-1][-1] not in ".:":
            part.paragraphs[-1] += f" {words}"
        else:
            part.paragraphs.append(words)
    sections.append(CardSection("On the board", points=[*guide]))
    filled = [part for part in sections if part.paragraphs or part.points]
    return [part for part in filled if part.heading != TERMINAL_HEADING]
