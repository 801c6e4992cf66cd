"""The ASGI application: routes, request checks and error responses.

A guard checks the host, origin and size of every request. It adds the headers that protect pages from other
sites and foreign code.
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
from duels.web.request_errors import NotFound, RequestError, TooMany
from duels.web.settings import LOOPBACK, ServerSettings
from duels.web.site import Site
from duels.web.store import StoreUnavailable
from duels.web.visitors import check_request_text, make_json_response, make_text_response, wants_json

log = logging.getLogger("duels.web")

Handler = Callable[[Site, Request], Awaitable[ASGIApp]]

ROUTES: tuple[tuple[str, str, Handler, str], ...] = (
    ("POST", "/m/{id}/act", Site.play_move, "act"),
    ("GET", "/m/{id}/events", Site.stream_events, "read"),
    ("GET", "/m/{id}", Site.show_match, "read"),
    ("POST", "/m/{id}/offer", Site.make_offer, "act"),
    ("GET", "/", Site.show_home, ""),
    ("GET", "/g/{game}", Site.show_game, "read"),
    ("POST", "/matches", Site.create_match, "create"),
    ("GET", "/m/{id}/hint", Site.show_hint, "heavy"),
    ("GET", "/m/{id}/record", Site.download_record, "read"),
    ("GET", "/m/{id}/review", Site.show_review, "heavy"),
    ("GET", "/j/{token}", Site.show_invite, "create"),
    ("POST", "/j/{token}", Site.accept_invite, "create"),
    ("GET", "/review", Site.show_upload_form, "read"),
    ("POST", "/review", Site.review_upload, "heavy"),
    ("GET", "/daily", Site.list_daily, "read"),
    ("POST", "/daily", Site.share_daily, "read"),
    ("GET", "/daily/{game}", Site.show_daily, "heavy"),
    ("POST", "/daily/{game}", Site.grade_daily, "heavy"),
    ("GET", "/practice", Site.list_practice, "read"),
    ("GET", "/practice/{game}", Site.show_practice, "heavy"),
    ("POST", "/practice/{game}", Site.grade_practice, "heavy"),
    ("GET", "/health", Site.check_health, ""),
    ("GET", "/static/{name}", Site.serve_static, ""),
)
"""Method, path, handler and rate limit of each route. They are tried in this order."""
MAX_BODY_BYTES = 4 << 10
"""The size of a request body, unless its path has a larger limit."""
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
# Browsers ignore this header on untrusted connections, with a warning.
_TRUSTED_ONLY = (b"cross-origin-opener-policy", b"same-origin")
_HSTS = {"Strict-Transport-Security": "max-age=31536000"}
_UNREACHABLE = "The server cannot reach its database. No moves are lost. Try again in a moment."
_RETRY = 2  # seconds


def make_app(site: Site) -> ASGIApp:
    """Return the ASGI application of a site. The caller opens and closes the site."""
    handlers: dict[str, dict[str, tuple[Handler, str]]] = {}
    for method, path, handler, rate in ROUTES:
        handlers.setdefault(path, {})[method] = handler, rate
    routes = [Route(path, _Endpoint(site, by_method)) for path, by_method in handlers.items()]
    router = Router(routes, default=_Endpoint(site, {}))
    compressed = GZipMiddleware(router, minimum_size=1_000, compresslevel=5)  # except for event streams
    larger = {"/review": 2 * reviews.MAX_UPLOAD_BYTES, "/daily": puzzles.MAX_ANSWERS_BYTES}
    return _Guard(compressed, site.settings, larger)


class _Endpoint:
    """The handlers of one path, by method."""

    def __init__(self, site: Site, handlers: dict[str, tuple[Handler, str]]) -> None:
        self._site = site
        self._handlers = handlers

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive, send)
        method = "GET" if request.method == "HEAD" else request.method
        handler, rate = self._handlers.get(method, (_not_found, ""))
        try:
            check_request_text(request)
            if rate:
                await self._site.count_request(rate, request)
            response = await handler(self._site, request)
        except Exception as problem:
            status, text, retry = _describe_error(problem)
            response = error = self._site.make_error_response(request, status, text)
            if retry:
                error.headers["Retry-After"] = str(retry)
        await response(scope, receive, send)


async def _not_found(site: Site, request: Request) -> Response:
    raise NotFound()


def _describe_error(problem: Exception) -> tuple[int, str, int]:
    """Return the status, the message, and the seconds until a retry, or 0 if a retry is pointless."""
    match problem:
        case TooMany():
            return problem.status, str(problem), problem.wait
        case RequestError():
            return problem.status, str(problem), 0
        case StoreUnavailable():
            log.error("%s", problem)
            return 503, _UNREACHABLE, _RETRY
        case ClientDisconnect():
            return 413, "The request is too large or incomplete.", 0
        case _:
            log.error("A request failed.", exc_info=problem)
            return 500, "Internal server error. No moves are lost. Reload the page.", 0


class _Guard:
    """Middleware that rejects requests to other hosts and from other sites' pages."""

    def __init__(self, app: ASGIApp, settings: ServerSettings, larger_limits: dict[str, int]) -> None:
        self._app = app
        self._link = settings.link
        added = _HEADERS | _HSTS if settings.secure else _HEADERS
        self._added = [(name.lower().encode(), value.encode()) for name, value in added.items()]
        self._secure = settings.secure
        self._larger_limits = larger_limits
        self._hosts = {
            host: (origin.encode(), self._list_headers(host))
            for origin in settings.origins
            if (host := urlsplit(origin).netloc)
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Reject a request, or pass it on."""
        if scope["type"] != "http":  # no WebSockets
            return
        headers: dict[bytes, bytes] = dict(reversed(scope["headers"]))  # the first of equal names counts
        host = headers.get(b"host", b"").decode("latin-1").lower()
        origin, added = self._hosts.get(host) or (None, self._list_headers(host))

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers: list[tuple[bytes, bytes]] = message["headers"]
                has_cache_control = any(name == _CACHE for name, _ in headers)
                message["headers"] = [*headers, *added, *(() if has_cache_control else (_NO_STORE,))]
            await send(message)

        max_bytes = self._larger_limits.get(scope["path"], MAX_BODY_BYTES)
        status, reason = self._check(scope["method"], headers, origin, max_bytes)
        if not status:
            await self._app(scope, _limit_body(receive, max_bytes), send_with_headers)
        elif wants_json(Request(scope)):
            await make_json_response({"message": reason}, status)(scope, receive, send_with_headers)
        else:
            await make_text_response(status, reason)(scope, receive, send_with_headers)

    def _list_headers(self, host: str) -> list[tuple[bytes, bytes]]:
        # Browsers trust TLS connections and the machine itself.
        trusted = self._secure or _PORT.sub("", host).strip("[]") in LOOPBACK
        return [*self._added, _TRUSTED_ONLY] if trusted else self._added

    def _check(
        self, method: str, headers: dict[bytes, bytes], origin: bytes | None, max_bytes: int
    ) -> tuple[int, str]:
        """Return the status and message of a rejection, or status 0. `origin` is the host's."""
        # Another host name may be an attack by DNS rebinding.
        if origin is None:
            return 421, f"This server's address is {self._link}. To use another, start it with --public-url."
        if method in ("GET", "HEAD"):
            return 0, ""
        if method != "POST":
            return 405, "Only GET and POST are allowed."
        if headers.get(b"origin", b"").lower() != origin:
            return 403, "The Origin header of a POST must be this server's address."
        if headers.get(b"content-type", b"").partition(b";")[0].strip().lower() != b"application/json":
            return 415, "The Content-Type of a POST must be application/json."
        length = headers.get(b"content-length", b"0")
        if not length.isdigit() or len(length) > 9 or int(length) > max_bytes:
            return 413, f"The request is too large. At most {max_bytes} bytes are allowed."
        return 0, ""


def _limit_body(receive: Receive, limit: int) -> Receive:
    """Return a receive function that disconnects after `limit` bytes of the body."""
    size = 0

    async def limited() -> Message:
        nonlocal size
        message = await receive()
        size += len(message.get("body", b""))
        return message if size <= limit else {"type": "http.disconnect"}

    return limited
