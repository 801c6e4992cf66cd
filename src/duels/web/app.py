"""The server as an application: its addresses, and what becomes of refusals and failures."""

import logging
from collections.abc import Awaitable, Callable
from functools import partial

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp

from duels.web import puzzles, reviews
from duels.web.http import Guard
from duels.web.refusals import Refusal, TooMany
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
_UNREACHABLE = "The server cannot reach its matches now. Nothing that you saw is lost; try again in a moment."
_RETRY = 2  # seconds, until then


def make_app(site: Site) -> ASGIApp:
    """The server as an ASGI application; whoever runs it opens the site before, and closes it after."""
    app = Starlette(
        routes=[
            Route(path, partial(_respond, site, handler), methods=[method])
            for method, path, handler in ADDRESSES
        ],
        middleware=[Middleware(GZipMiddleware, minimum_size=1_000, compresslevel=5)],
        exception_handlers={HTTPException: partial(_refuse, site)},
    )
    larger = {"/review": 2 * reviews.MOST_BYTES, "/daily": puzzles.MOST_BYTES}
    settings = site.settings
    return Guard(app, settings.origins, settings.link, settings.secure, larger)


async def _respond(site: Site, handler: Handler, request: Request) -> ASGIApp:
    # Starlette would raise failures again after they are answered, which ends the connection.
    try:
        return await handler(site, request)
    except Exception as problem:
        return await _refuse(site, request, problem)


async def _refuse(site: Site, request: Request, problem: Exception) -> Response:
    """Answer a request that was not carried out."""
    status, text, retry = _reason(problem)
    answer = site.refuse(request, status, text)
    if retry:
        answer.headers["Retry-After"] = str(retry)
    return answer


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
        case HTTPException():  # no route has this path, or not with this method
            return 404, "There is nothing here.", 0
        case _:
            log.error("A request failed.", exc_info=problem)
            return 500, "Something went wrong here. Nothing was lost; reload the page.", 0
