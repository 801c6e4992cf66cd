"""The server as an application: its addresses, and what becomes of refusals and failures."""

import logging
from collections.abc import Awaitable, Callable

from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route, Router
from starlette.types import ASGIApp, Receive, Scope, Send

from duels.web import puzzles, reviews
from duels.web.http import Guard
from duels.web.refusals import Missing, Refusal, TooMany
from duels.web.site import Site
from duels.web.store import StoreUnavailable

log = logging.getLogger("duels.web")

Handler = Callable[[Site, Request], Awaitable[ASGIApp]]

ADDRESSES: tuple[tuple[str, str, Handler], ...] = (
    ("POST", "/m/{id}/act", Site.act),
    ("GET", "/m/{id}/events", Site.events),
    ("GET", "/m/{id}", Site.match),
    ("POST", "/m/{id}/offer", Site.offer),
    ("GET", "/", Site.home),
    ("GET", "/g/{game}", Site.game),
    ("POST", "/matches", Site.create),
    ("GET", "/m/{id}/hint", Site.hint),
    ("GET", "/m/{id}/record", Site.record),
    ("GET", "/m/{id}/review", Site.review),
    ("GET", "/j/{token}", Site.invite),
    ("POST", "/j/{token}", Site.sit_down),
    ("GET", "/review", Site.review_page),
    ("POST", "/review", Site.review_posted),
    ("GET", "/daily", Site.daily),
    ("POST", "/daily", Site.daily_share),
    ("GET", "/daily/{game}", Site.daily_puzzle),
    ("POST", "/daily/{game}", Site.daily_answer),
    ("GET", "/practice", Site.practice_page),
    ("GET", "/practice/{game}", Site.practice),
    ("POST", "/practice/{game}", Site.practice_answer),
    ("GET", "/health", Site.health),
    ("GET", "/static/{name}", Site.static),
)
"""Every address: the method, the path, and its handler. They are tried in this order."""
_AT_THE_BOARD = ("/m/{id}/act", "/m/{id}/events", "/m/{id}/offer")  # what is sent there is short
_COMPRESSED = Middleware(GZipMiddleware, minimum_size=1_000, compresslevel=5)
_UNREACHABLE = "The server cannot reach its matches now. Nothing that you saw is lost; try again in a moment."
_RETRY = 2  # seconds, until then


def make_app(site: Site) -> ASGIApp:
    """The server as an ASGI application; whoever runs it opens the site before, and closes it after."""
    handlers: dict[str, dict[str, Handler]] = {}
    for method, path, handler in ADDRESSES:
        handlers.setdefault(path, {})[method] = handler
    routes = [
        Route(path, _Endpoint(site, by_method), middleware=None if path in _AT_THE_BOARD else [_COMPRESSED])
        for path, by_method in handlers.items()
    ]
    router = Router(routes, default=_Endpoint(site, {}))
    larger = {"/review": 2 * reviews.MOST_BYTES, "/daily": puzzles.MOST_BYTES}
    settings = site.settings
    return Guard(router, settings.origins, settings.link, settings.secure, larger)


class _Endpoint:
    """What answers at one path, by the method of the request."""

    def __init__(self, site: Site, handlers: dict[str, Handler]) -> None:
        self._site = site
        self._handlers = handlers

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive, send)
        handler = self._handlers.get("GET" if request.method == "HEAD" else request.method, _nothing)
        try:
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
    raise Missing("There is nothing here.")


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
