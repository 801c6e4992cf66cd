"""The server as an application: its addresses, and what becomes of refusals and failures."""

import logging
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

from starlette.applications import Starlette
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from duels.web import puzzles, reviews
from duels.web.answers import json_answer
from duels.web.entries import Unfinished
from duels.web.guard import Guard
from duels.web.refusals import Refusal, TooMany
from duels.web.site import Site
from duels.web.store import StoreUnavailable

log = logging.getLogger("duels.web")

Handler = Callable[[Request], Awaitable[Any]]

ADDRESSES: tuple[tuple[str, str, Callable[[Site, Request], Awaitable[Any]]], ...] = (
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
    ("GET", "/practice/{game}", Site.practice),
    ("POST", "/practice/{game}", Site.practice_answer),
    ("GET", "/health", Site.health),
    ("GET", "/static/{name}", Site.static),
)
"""Every address: the method, the path, and what answers. They are tried in this order."""
_NEVER_PACKED = ("/events", "/act", "/offer")


def make_app(site: Site) -> ASGIApp:
    """The server as an ASGI application; whoever runs it opens the site before, and closes it after."""

    def guarded(handler: Handler) -> Handler:
        async def answer(request: Request) -> Any:
            try:
                return await handler(request)
            except Unfinished as more:
                return json_answer({"prompt": str(more)})
            except TooMany as refused:
                answer = site.refuse(request, refused.status, str(refused))
                answer.headers["Retry-After"] = str(max(1, round(refused.wait)))
                return answer
            except Refusal as refused:
                return site.refuse(request, refused.status, str(refused))
            except StoreUnavailable as problem:
                log.error("%s", problem)
                return _unavailable(site, request)
            except ClientDisconnect:
                return site.refuse(request, 413, "That is too large, or it was cut off.")

        return answer

    async def nothing(request: Request, problem: Exception) -> Response:
        return site.refuse(request, 404, "There is nothing here.")

    async def failed(request: Request, problem: Exception) -> Response:
        return site.refuse(request, 500, "Something went wrong here. Nothing was lost; reload the page.")

    routes = [
        Route(path, guarded(partial(handler, site)), methods=[method]) for method, path, handler in ADDRESSES
    ]
    app = Starlette(routes=routes, exception_handlers={404: nothing, 405: nothing, Exception: failed})
    larger = {"/review": 2 * reviews.MOST_BYTES, "/daily": puzzles.MOST_BYTES}
    return Guard(_packed(app), site.settings.origins, site.settings.secure, larger)


def _packed(app: ASGIApp) -> ASGIApp:
    """Compress answers, but for those that never are: a stream would hold a packer of 80 KB."""
    packer = GZipMiddleware(app, minimum_size=1_000, compresslevel=5)

    async def choose(scope: Scope, receive: Receive, send: Send) -> None:
        await (app if scope["path"].endswith(_NEVER_PACKED) else packer)(scope, receive, send)

    return choose


def _unavailable(site: Site, request: Request) -> Response:
    text = "The server cannot reach its matches now. Nothing that you saw is lost; try again in a moment."
    answer = site.refuse(request, 503, text)
    answer.headers["Retry-After"] = "2"
    return answer
