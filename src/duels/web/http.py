"""HTTP: what every request passes first, what is read from it, and what every response carries.

The guard checks the host that a request was meant for, where it comes from, and how large it is. It adds the
headers that keep other sites, and code that is not ours, out of the page.
"""

import json
import re
from collections.abc import Iterable
from ipaddress import ip_network
from typing import Any
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from duels.web.decisions import clean_name
from duels.web.refusals import Refusal
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
_NO_STORE = (_CACHE, b"no-store")
_PORT = re.compile(r":\d+$")
_TRUSTED_ONLY = (b"cross-origin-opener-policy", b"same-origin")  # else browsers ignore it, and complain
_HSTS = {"Strict-Transport-Security": "max-age=31536000"}
_CALLED: dict[type, str] = {str: "text", int: "a whole number", list: "a list", dict: "an object"}


def plain_answer(status: int, text: str) -> Response:
    """One line."""
    return Response(f"{text}\n", status, media_type="text/plain")


def json_answer(data: Any, status: int = 200) -> Response:
    """Data for programs."""
    return Response(json.dumps(data, ensure_ascii=False) + "\n", status, media_type="application/json")


def wants_json(request: Request) -> bool:
    """Whether a program asks."""
    accept = request.headers.get("accept", "")
    return "application/json" in accept and "text/html" not in accept


def address(request: Request) -> str:
    """Where a request comes from: of IPv6 the network, for a household has all of its addresses."""
    host = request.client.host if request.client else ""
    return str(ip_network(f"{host}/64", strict=False)) if ":" in host and "%" not in host else host


def event_number(text: str | None) -> int | None:
    """The number in a header; None if there is none."""
    return int(text) if text and text.isascii() and text.isdigit() and len(text) < 10 else None


async def body(request: Request, **fields: Any) -> dict[str, Any]:
    """The fields of a request, of these names and no others; each has its kind, or its usual value."""
    kinds = {name: given if isinstance(given, type) else type(given) for name, given in fields.items()}
    try:
        data = json.loads((await request.body()).decode() or "{}")
    except (ValueError, RecursionError):
        raise Refusal("That is no JSON.") from None
    if not isinstance(data, dict):
        raise Refusal("Send a JSON object.")
    for name, value in data.items():
        if name not in kinds:
            raise Refusal(f"There is no field '{clean_name(str(name))}' here; there are {', '.join(kinds)}.")
        if type(value) is not kinds[name]:
            raise Refusal(f"'{name}' has to be {_CALLED[kinds[name]]}.")
    return {name: given for name, given in fields.items() if not isinstance(given, type)} | data


class Guard:
    """Lets through what is meant for this server and comes from its own pages."""

    def __init__(
        self,
        app: ASGIApp,
        origins: Iterable[str],
        link: str,
        secure: bool,
        larger: dict[str, int] | None = None,
    ) -> None:
        """Of the origins that pages have, `link` is the one to tell whoever uses another name."""
        self._app = app
        self._link = link
        added = _HEADERS | _HSTS if secure else _HEADERS
        self._added = [(name.lower().encode(), value.encode()) for name, value in added.items()]
        self._secure = secure
        self._larger = larger or {}
        self._hosts = {
            host: (origin.encode(), self._carried(host))
            for origin in origins
            if (host := urlsplit(origin).netloc)
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or hand it on."""
        if scope["type"] != "http":  # nothing else is served
            return
        headers: dict[bytes, bytes] = dict(reversed(scope["headers"]))  # of several the first counts
        host = headers.get(b"host", b"").decode("latin-1").lower()
        own, carried = self._hosts.get(host) or (None, self._carried(host))

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                given: list[tuple[bytes, bytes]] = message["headers"]
                lasts = any(name == _CACHE for name, _ in given)
                message["headers"] = [*given, *carried] if lasts else [*given, *carried, _NO_STORE]
            await send(message)

        status, why = self._refuse(scope, headers, own)
        if status:
            as_data = wants_json(Request(scope))
            answer = json_answer({"message": why}, status) if as_data else plain_answer(status, why)
            await answer(scope, receive, send_with_headers)
            return
        await self._app(scope, _limited(receive, self._most(scope)), send_with_headers)

    def _carried(self, host: str) -> list[tuple[bytes, bytes]]:
        """The headers of every answer to a request for this host."""
        # Browsers trust the way to the server if it is TLS, or the machine itself.
        trusted = self._secure or _PORT.sub("", host) in LOOPBACK
        return [*self._added, _TRUSTED_ONLY] if trusted else self._added

    def _most(self, scope: Scope) -> int:
        return self._larger.get(scope["path"], MOST_BYTES)

    def _refuse(self, scope: Scope, headers: dict[bytes, bytes], own: bytes | None) -> tuple[int, str]:
        """The status and the reason of a refusal; 0 where there is none. `own` is the host's origin."""
        # Another name for this machine may be a trick to reach it from a page of somebody else's.
        if own is None:
            told = f"This server goes by {self._link}. If it has another name, start it with --public-url."
            return 421, told
        if scope["method"] in ("GET", "HEAD"):
            return 0, ""
        if scope["method"] != "POST":
            return 405, "GET and POST are all there is."
        if headers.get(b"origin", b"").lower() != own:
            return 403, "A POST needs an Origin header, which must be this server's own address."
        if headers.get(b"content-type", b"").partition(b";")[0].strip().lower() != b"application/json":
            return 415, "A POST brings JSON: Content-Type must be application/json."
        length = headers.get(b"content-length", b"0")
        if not length.isdigit() or len(length) > 9 or int(length) > self._most(scope):
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
