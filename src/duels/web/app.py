"""The server as an application: its addresses, and what becomes of refusals and failures."""

import logging
from collections.abc import Awaitable, Callable
from functools import partial

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
_AT_THE_BOARD = ("/m/{id}/act", "/m/{id}/events", "/m/{id}/offer")  # what is sent there is short
_compress = partial(GZipMiddleware, minimum_size=1_000, compresslevel=5)
_UNREACHABLE = "The server cannot reach its matches now. Nothing that you saw is lost; try again in a moment."
_RETRY = 2  # seconds, until then


def make_app(site: Site) -> ASGIApp:
    """The server as an ASGI application; whoever runs it opens the site before, and closes it after."""
    handlers: dict[str, dict[str, tuple[Handler, str]]] = {}
    for method, path, handler, rate in ADDRESSES:
        handlers.setdefault(path, {})[method] = handler, rate
    endpoints = {path: _Endpoint(site, by_method) for path, by_method in handlers.items()}
    routes = [
        Route(path, endpoint if path in _AT_THE_BOARD else _compress(endpoint))
        for path, endpoint in endpoints.items()
    ]
    router = Router(routes, default=_compress(_Endpoint(site, {})))
    larger = {"/review": 2 * reviews.MOST_BYTES, "/daily": puzzles.MOST_BYTES}
    settings = site.settings
    return Guard(router, settings.origins, settings.link, settings.secure, larger)


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
