"""What every request passes first: the host it was meant for, where it comes from, how large it is.

And what every answer carries: headers that keep other sites, and code that is not ours, out of the page.
"""

import re
from collections.abc import Iterable
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from duels.web.answers import json_answer, plain_answer, wants_json
from duels.web.settings import LOOPBACK

MOST_BYTES = 4 << 10
"""Of the body of a request."""
_HEADERS = {
    "Content-Security-Policy": "default-src 'self'; base-uri 'none'; form-action 'self'; "
    "frame-ancestors 'none'; object-src 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
_CACHE = b"cache-control"
_PORT = re.compile(r":\d+$")
_TRUSTED_ONLY = (b"cross-origin-opener-policy", b"same-origin")  # else browsers ignore it, and complain
_HSTS = {"Strict-Transport-Security": "max-age=31536000"}


class Guard:
    """Lets through what is meant for this server and comes from its own pages."""

    def __init__(
        self, app: ASGIApp, origins: Iterable[str], secure: bool, larger: dict[str, int] | None = None
    ) -> None:
        self._app = app
        self._origins = frozenset(origins)
        self._hosts = {urlsplit(origin).netloc: origin for origin in self._origins}
        added = _HEADERS | _HSTS if secure else _HEADERS
        self._added = [(name.lower().encode(), value.encode()) for name, value in added.items()]
        self._secure = secure
        self._larger = larger or {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or hand it on."""
        if scope["type"] != "http":  # nothing else is served
            return
        headers = Headers(scope=scope)
        trusted = self._is_trusted(headers)

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers: list[tuple[bytes, bytes]] = [*message["headers"], *self._added]
                if trusted:
                    headers.append(_TRUSTED_ONLY)
                if all(name != _CACHE for name, _ in message["headers"]):
                    headers.append((_CACHE, b"no-store"))
                message["headers"] = headers
            await send(message)

        status, why = self._refuse(scope, headers)
        if status:
            as_data = wants_json(Request(scope))
            answer = json_answer({"message": why}, status) if as_data else plain_answer(status, why)
            await answer(scope, receive, send_with_headers)
            return
        await self._app(scope, _limited(receive, self._most(scope)), send_with_headers)

    def _is_trusted(self, headers: Headers) -> bool:
        """Whether browsers trust the way to the server: TLS, or the machine itself."""
        return self._secure or _PORT.sub("", headers.get("host", "")) in LOOPBACK

    def _most(self, scope: Scope) -> int:
        return self._larger.get(scope["path"], MOST_BYTES)

    def _refuse(self, scope: Scope, headers: Headers) -> tuple[int, str]:
        """The status and the reason of a refusal; 0 where there is none."""
        # Another name for this machine may be a trick to reach it from a page of somebody else's.
        own = self._hosts.get(headers.get("host", "").lower())
        if own is None:
            known = " or ".join(sorted(self._origins))
            return 421, f"This server goes by {known}. If it has another name, start it with --public-url."
        if scope["method"] in ("GET", "HEAD"):
            return 0, ""
        if scope["method"] != "POST":
            return 405, "GET and POST are all there is."
        if headers.get("origin", "").lower() != own:
            return 403, "A POST needs an Origin header, which must be this server's own address."
        if headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
            return 415, "A POST brings JSON: Content-Type must be application/json."
        length = headers.get("content-length", "0")
        if not length.isdecimal() or len(length) > 9 or int(length) > self._most(scope):
            return 413, f"That is too large: at most {self._most(scope)} bytes."
        return 0, ""


def _limited(receive: Receive, most: int) -> Receive:
    """Hand on so much of the body and no more; whatever follows ends the request."""
    taken = 0

    async def limited() -> Message:
        nonlocal taken
        message = await receive()
        taken += len(message.get("body", b""))
        return message if taken <= most else {"type": "http.disconnect"}

    return limited
