"""Pages: templates filled with what the service knows. Scripts and styles come from this server alone."""

import gzip
import re
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib.resources import files
from mimetypes import guess_type
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import Response

from duels.core.svg import stylesheet
from duels.web.rule_card import parts

_FOREVER = "public, max-age=31536000, immutable"
_LEAST_PACKED = 500  # bytes
_IMPORT = re.compile(rb"""(from "\./[\w-]+\.js)(")""")


@dataclass(frozen=True)
class Static:
    """A file that pages refer to, ready to be sent."""

    body: bytes
    packed: bytes
    kind: str


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
        self._templates.filters["parts"] = parts
        self._templates.filters["svg"] = Markup  # what our own drawings made
        self._parts: Any = self._templates.get_template("_parts.html").module

    def render(self, template: str, **values: Any) -> str:
        """A page, or a part of one."""
        return self._templates.get_template(template).render(values)

    def part(self, name: str, *values: Any) -> str:
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

    def file(self, request: Request) -> Response | None:
        """A file as an answer; None if there is none of that name."""
        found = _statics().get(request.path_params["name"])
        if found is None:
            return None
        lasts = _FOREVER if request.url.query == _version() else "no-cache"
        headers = {"Cache-Control": lasts, "Vary": "Accept-Encoding"}
        if found.packed and "gzip" in request.headers.get("accept-encoding", ""):
            return Response(
                found.packed, media_type=found.kind, headers={**headers, "Content-Encoding": "gzip"}
            )
        return Response(found.body, media_type=found.kind, headers=headers)


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
def _statics() -> dict[str, Static]:
    return {name: _prepared(name, body) for name, body in _bodies().items()}


def _prepared(name: str, body: bytes) -> Static:
    kind = guess_type(name)[0] or "application/octet-stream"
    if name.endswith(".js"):
        body = _IMPORT.sub(rb"\1?" + _version().encode() + rb"\2", body)
    packed = gzip.compress(body, 9, mtime=0) if len(body) >= _LEAST_PACKED else b""
    return Static(body, packed, kind)
