"""The server as an application: its addresses, what every request passes first, what becomes of refusals.

The guard checks the host that a request was meant for, where it comes from, and how large it is. It adds the
headers that keep other sites, and code that is not ours, out of the page.
"""

import logging
import re
from collections.abc import Awaitable, Callable
from urllib.parse import urlsplit

from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route, Router
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from duels.web import puzzles, reviews
from duels.web.refusals import Missing, Refusal, TooMany
from duels.web.settings import LOOPBACK, ServerSettings
from duels.web.site import Site
from duels.web.store import StoreUnavailable
from duels.web.visitors import json_answer, plain_answer, wants_json

log = logging.getLogger("duels.web")

Handler = Callable[[Site, Request], Awaitable[ASGIApp]]

ADDRESSES: tuple[tuple[str, str, Handler, str], ...] = (
    ("POST", "/m/{id}/act", Site.act, "act"),
    ("GET", "/m/{id}/events", Site.events, "read"),
    ("GET", "/m/{id}", Site.match, "read"),
    ("POST", "/m/{id}/offer", Site.offer, "act"),
    ("GET", "/", Site.home, ""),
    ("GET", "/g/{game}", Site.game, "read"),
    ("POST", "/matches", Site.create, "create"),
    ("GET", "/m/{id}/hint", Site.hint, "heavy"),
    ("GET", "/m/{id}/record", Site.record, "read"),
    ("GET", "/m/{id}/review", Site.review, "heavy"),
    ("GET", "/j/{token}", Site.invite, "create"),
    ("POST", "/j/{token}", Site.sit_down, "create"),
    ("GET", "/review", Site.review_page, "read"),
    ("POST", "/review", Site.review_posted, "heavy"),
    ("GET", "/daily", Site.daily, "read"),
    ("POST", "/daily", Site.daily_share, "read"),
    ("GET", "/daily/{game}", Site.daily_puzzle, "heavy"),
    ("POST", "/daily/{game}", Site.daily_answer, "heavy"),
    ("GET", "/practice", Site.practice_page, "read"),
    ("GET", "/practice/{game}", Site.practice, "heavy"),
    ("POST", "/practice/{game}", Site.practice_answer, "heavy"),
    ("GET", "/health", Site.health, ""),
    ("GET", "/static/{name}", Site.static, ""),
)
"""Every address: the method, the path, its handler, and the rate that limits it, if there is one.

They are tried in this order."""
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
_UNREACHABLE = "The server cannot reach its matches now. Nothing that you saw is lost; try again in a moment."
_RETRY = 2  # seconds, until then


def make_app(site: Site) -> ASGIApp:
    """The server as an ASGI application; whoever runs it opens the site before, and closes it after."""
    handlers: dict[str, dict[str, tuple[Handler, str]]] = {}
    for method, path, handler, rate in ADDRESSES:
        handlers.setdefault(path, {})[method] = handler, rate
    routes = [Route(path, _Endpoint(site, by_method)) for path, by_method in handlers.items()]
    router = Router(routes, default=_Endpoint(site, {}))
    compressed = GZipMiddleware(router, minimum_size=1_000, compresslevel=5)  # events are left as they are
    larger = {"/review": 2 * reviews.MOST_BYTES, "/daily": puzzles.MOST_BYTES}
    return _Guard(compressed, site.settings, larger)


class _Endpoint:
    """What answers at one path, by the method of the request."""

    def __init__(self, site: Site, handlers: dict[str, tuple[Handler, str]]) -> None:
        self._site = site
        self._handlers = handlers

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive, send)
        method = "GET" if request.method == "HEAD" else request.method
        handler, rate = self._handlers.get(method, (_nothing, ""))
        try:
            if rate:
                self._site.take(rate, request)
            response = await handler(self._site, request)
        except Exception as problem:
            response = self._refuse(request, problem)
        await response(scope, receive, send)

    def _refuse(self, request: Request, problem: Exception) -> Response:
        status, text, retry = _reason(problem)
        response = self._site.refuse(request, status, text)
        if retry:
            response.headers["Retry-After"] = str(retry)
        return response


async def _nothing(site: Site, request: Request) -> Response:
    raise Missing()


def _reason(problem: Exception) -> tuple[int, str, int]:
    """The status, the message, and after how many seconds to try again; 0 if that would not help."""
    match problem:
        case TooMany():
            return problem.status, str(problem), max(1, round(problem.wait))
        case Refusal():
            return problem.status, str(problem), 0
        case StoreUnavailable():
            log.error("%s", problem)
            return 503, _UNREACHABLE, _RETRY
        case ClientDisconnect():
            return 413, "That is too large, or it was cut off.", 0
        case _:
            log.error("A request failed.", exc_info=problem)
            return 500, "Something went wrong here. Nothing was lost; reload the page.", 0


class _Guard:
    """Lets through what is meant for this server and comes from its own pages."""

    def __init__(self, app: ASGIApp, settings: ServerSettings, larger: dict[str, int]) -> None:
        self._app = app
        self._link = settings.link
        added = _HEADERS | _HSTS if settings.secure else _HEADERS
        self._added = [(name.lower().encode(), value.encode()) for name, value in added.items()]
        self._secure = settings.secure
        self._larger = larger
        self._hosts = {
            host: (origin.encode(), self._carried(host))
            for origin in settings.origins
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
