"""The server as an application: its addresses, and what becomes of refusals and failures."""

import logging
import re
from collections.abc import Awaitable, Callable

from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route, Router
from starlette.types import ASGIApp, Receive, Scope, Send

from duels.web import puzzles, reviews
from duels.web.answers import json_answer
from duels.web.entries import Unfinished
from duels.web.guard import Guard
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
"""Every address: the method, the path, and what answers. They are tried in this order."""
# The addresses of a match that goes on. They are found first, and what they send is never compressed: it is
# short, and a stream would hold a compressor of 80 KB.
_AT_THE_BOARD = ("events", "act", "offer")


def make_app(site: Site) -> ASGIApp:
    """The server as an ASGI application; whoever runs it opens the site before, and closes it after."""
    handlers: dict[str, dict[str, Handler]] = {}
    for method, path, handler in ADDRESSES:
        handlers.setdefault(path, {})[method] = handler
    answers = {path: _Answers(site, by_method) for path, by_method in handlers.items()}
    router = Router([Route(*each) for each in answers.items()], default=_Answers(site, {}))
    compressor = GZipMiddleware(router, minimum_size=1_000, compresslevel=5)

    at_the_board = {what: answers[f"/m/{{id}}/{what}"] for what in _AT_THE_BOARD}
    address = re.compile(rf"/m/([^/]+)/({'|'.join(_AT_THE_BOARD)})")

    async def choose(scope: Scope, receive: Receive, send: Send) -> None:
        found = address.fullmatch(scope["path"])
        if found:
            id, what = found.groups()
            scope["path_params"] = {"id": id}
            await at_the_board[what](scope, receive, send)
        else:
            await compressor(scope, receive, send)

    larger = {"/review": 2 * reviews.MOST_BYTES, "/daily": puzzles.MOST_BYTES}
    settings = site.settings
    return Guard(choose, settings.origins, settings.link, settings.secure, larger)


class _Answers:
    """What answers at one path, refusals and failures included.

    Starlette's application would do the same with three layers around every event that is sent.
    """

    def __init__(self, site: Site, handlers: dict[str, Handler]) -> None:
        self._site = site
        self._handlers = handlers

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive, send)
        try:
            answer = await self._answer(request)
        except Exception:
            log.exception("A request failed.")
            told = "Something went wrong here. Nothing was lost; reload the page."
            answer = self._site.refuse(request, 500, told)
        await answer(scope, receive, send)

    async def _answer(self, request: Request) -> ASGIApp:
        try:
            method = "GET" if request.method == "HEAD" else request.method
            return await self._handlers.get(method, _nothing)(self._site, request)
        except Unfinished as more:
            return json_answer({"prompt": str(more)})
        except TooMany as refused:
            answer = self._site.refuse(request, refused.status, str(refused))
            answer.headers["Retry-After"] = str(max(1, round(refused.wait)))
            return answer
        except Refusal as refused:
            return self._site.refuse(request, refused.status, str(refused))
        except StoreUnavailable as problem:
            log.error("%s", problem)
            return _unavailable(self._site, request)
        except ClientDisconnect:
            return self._site.refuse(request, 413, "That is too large, or it was cut off.")


async def _nothing(site: Site, request: Request) -> Response:
    raise Missing("There is nothing here.")


def _unavailable(site: Site, request: Request) -> Response:
    text = "The server cannot reach its matches now. Nothing that you saw is lost; try again in a moment."
    answer = site.refuse(request, 503, text)
    answer.headers["Retry-After"] = "2"
    return answer
