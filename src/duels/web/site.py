"""The routes and their handlers: they read a request, call the service, and return a page or JSON."""

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from starlette.requests import ClientDisconnect, Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route, Router, request_response
from starlette.types import ASGIApp

from duels.core.errors import UnknownName, require_extra
from duels.core.game import Game
from duels.core.rules import BOTH, Seat
from duels.games import GAMES, all_games, find_game
from duels.web import network, opponents, pictures, puzzles, reviews, views, visitors
from duels.web.decisions import (
    IncompleteEntry,
    MoveRequest,
    decide_move,
    decide_offer,
    decide_withdrawal,
    render_record,
)
from duels.web.match_state import REMATCH, MatchState, Viewer
from duels.web.pages import EventStream, MatchPage, Pages, WakeCallback
from duels.web.pictures import Preview
from duels.web.presence import Presence
from duels.web.request_errors import MalformedRequest, NotFound, RequestError, TooMany, UnreadableMatch
from duels.web.service import MatchService
from duels.web.settings import LOOPBACK, ServerSettings
from duels.web.store import Change, Store, StoreDamaged, StoredMatch, StoreUnavailable
from duels.web.visitors import (
    Visitor,
    check_request_text,
    get_address,
    make_json_response,
    make_text_response,
    parse_event_number,
    read_fields,
    run_while_connected,
    wants_json,
)
from duels.web.workers import WorkerPool, WorkerProcess

log = logging.getLogger("duels.web")

Handler = Callable[["Site", Request], Awaitable[ASGIApp]]
_MAX_RUNNING, _MAX_OVER = 50, 8  # matches of the visitor on the home page
_MAX_OVER_ALL = 200  # finished matches in the list of all matches
_EVENT_FIELD = "'event', the number of the last event that you received"
_RETRY_DELAY = 2  # seconds
_HOME_PREVIEW = Preview(
    "Five short two-player games", "Play a bot, or send a friend a link.", "/picture/home.png"
)


def make_store(database: str) -> Store:
    """Return the store for a `postgresql://` URL or for the path of an SQLite file."""
    if database.startswith(("postgresql://", "postgres://")):
        with require_extra("postgres"):
            from duels.web.postgres_store import PostgresStore
        return PostgresStore(database)
    from duels.web.sqlite_store import SqliteStore

    return SqliteStore(Path(database))


class Site:
    """A server's settings, services and request handlers."""

    def __init__(self, settings: ServerSettings, store: Store | None = None) -> None:
        self.settings = settings
        self.pages = Pages()
        self.cookie = visitors.IdentityCookie(settings.secure)
        limits = settings.limits
        self.bot_workers = WorkerPool(capacity=1024)
        """Threads of the bots. Hints, puzzles and reviews have processes: they take no time from bots."""
        self.workers = WorkerProcess(64)
        self.reviewer = WorkerProcess(16)
        self.store = store or make_store(settings.database)
        self.matches = MatchService(self.store, self.bot_workers, settings.pause, limits.matches_a_day)
        self.rate_limiter = visitors.RateLimiter(limits)
        self.queue = visitors.RequestQueue()
        # The other connections are reserved for requests.
        self.streams = visitors.StreamLimiter(limits, settings.max_connections * 3 // 4)
        self.malformed_requests = 0
        """The number of requests that the server refused because they were not HTTP or had invalid text."""
        self.ending = False
        self.presence = Presence(self.matches.hub.on_change)
        self.puzzles = puzzles.Puzzles(self.workers)

    def make_router(self) -> Router:
        """Return the ASGI application of the site. The caller opens and closes the site."""
        paths: dict[str, dict[str, tuple[Handler, str]]] = {}
        for method, path, handler, rate in ROUTES:
            paths.setdefault(path, {})[method] = handler, rate
        routes = [
            Route(path, partial(self._handle, handlers), methods=["GET", "POST"])
            for path, handlers in paths.items()
        ]
        return Router(routes, default=request_response(partial(self._handle, {})))

    async def _handle(self, handlers: Mapping[str, tuple[Handler, str]], request: Request) -> Any:
        """Return the response of the method's handler, or an error."""
        handler, rate = handlers.get("GET" if request.method == "HEAD" else request.method, (None, ""))
        try:
            check_request_text(request)
            await self._wait_turn(request)
            if handler is None:
                raise NotFound()
            if rate:
                await self.count_request(rate, request)
            return await handler(self, request)
        except (Exception, asyncio.CancelledError) as problem:
            return self._make_error_response(request, problem)

    async def _wait_turn(self, request: Request) -> None:
        """Wait until it is the visitor's turn. The server cancels this if the visitor leaves."""
        visitor = self._get_visitor(request)
        request.state.owner = visitor.identity
        request.state.waiting_task = asyncio.current_task()
        try:
            await self.queue.wait_turn(visitor)
        finally:
            request.state.waiting_task = None

    async def open(self) -> None:
        """Open the store and start to prepare the daily puzzles."""
        await self.matches.open()
        if self.settings.prepare_puzzles:
            self.puzzles.start()

    def end_streams(self) -> None:
        """End all event streams, and all queues but that of the bots."""
        self.ending = True
        self.matches.hub.on_change(None)
        self.workers.close()
        self.reviewer.close()

    async def close(self) -> None:
        """End the streams, cancel background tasks and close the store."""
        self.end_streams()
        await self.puzzles.stop()
        await self.matches.close()
        self.bot_workers.close()

    # -- home -----------------------------------------------------------------------------------

    async def show_home(self, request: Request) -> Response:
        """Show the games and the visitor's matches."""
        lists_all = request.query_params.get("matches") == "all"
        await self.count_request("heavy" if lists_all else "read", request)
        identity = self.cookie.get_identity(request)
        max_over = _MAX_OVER_ALL if lists_all else _MAX_OVER
        matches, has_more = await self._list_matches(identity, max_over) if identity else ([], False)
        data = {
            "today": puzzles.get_today(),
            "games": [self._describe_game_for_home(game) for game in all_games()],
            "matches": matches,
            "more": has_more and not lists_all,
        }
        return self._respond(request, "home.html", data, _HOME_PREVIEW)

    async def _list_matches(self, identity: str, max_over: int) -> tuple[list[dict[str, Any]], bool]:
        """Return the visitor's matches, and whether there are more finished ones.

        Matches in which the visitor is to move come first, then other running ones, then finished ones, each
        group with the newest first. An order by the last write would reveal hidden moves.
        """
        running = await self.matches.list_matches(identity, False, _MAX_RUNNING)
        over = await self.matches.list_matches(identity, True, max_over + 1)
        # A match may end between the two queries and be in both lists.
        listed = {
            stored.id: _describe_listed_match(stored, state) for stored, state in (*running, *over[:max_over])
        }
        ordered = sorted(listed.values(), key=lambda match: (match["over"], match["turn"] != "you"))
        return ordered, len(over) > max_over

    async def show_game(self, request: Request) -> Response:
        """Show a game with its rules and opponents."""
        game = _find_game(request.path_params["game"])
        data = {**_describe_game(game), "board": _draw_start(game), **_describe_rules(game)}
        return self._respond(request, "game.html", data, _make_game_preview(game))

    def _describe_game_for_home(self, game: Game) -> dict[str, Any]:
        """Return a game for the home page, with today's position if it has been found."""
        board = self.puzzles.get_daily_board(game)
        return {**_describe_game(game), "board": board or _draw_start(game), "board_is_todays": bool(board)}

    # -- matches --------------------------------------------------------------------------------

    async def create_match(self, request: Request) -> Response:
        """Create a match, or continue a finished one."""
        fields = await read_fields(
            request, game="", against=str, first="me", name="", duration="open", match=str, entries=0
        )
        identity, cookie = self.cookie.get_or_make_identity(request)
        name, against = fields["name"], fields.get("against")
        if "match" in fields:
            id, seat = await self.matches.continue_match(
                identity, fields["match"], fields["entries"], against, name
            )
        else:
            against = opponents.DEFAULT_OPPONENT if against is None else against
            id, seat = await self.matches.create(
                identity, fields["game"], against, fields["first"], name, fields["duration"]
            )
        request.state.is_seated = True
        response = make_json_response({"match": id, "seat": seat.value, "url": f"/m/{id}"}, 201)
        return self.cookie.add_to(response, cookie)

    async def show_match(self, request: Request) -> Response:
        """Show a match as the visitor may see it."""
        state, viewer = await self._get_match(request)
        if request.query_params.get("only") == "turn":  # requested by background tabs
            return make_json_response(views.get_pending_decision(state, viewer))
        as_json = wants_json(request)
        data = await self._make_view(request, state, viewer, as_json)
        if as_json:
            return make_json_response(data)
        page = {**data, "state": MatchPage(self.pages).update(data)}
        rules = _describe_rules(state.rules.game)
        return self._respond(request, "match.html", page, views.make_preview(state), **rules)

    async def show_match_picture(self, request: Request) -> Response:
        """Return the preview picture for a link to a match. It shows what spectators may see."""
        state, _ = await self._get_match(request)
        return await self._send_picture(request, partial(pictures.render_preview, views.draw_preview(state)))

    async def _make_view(
        self, request: Request, state: MatchState, viewer: Viewer, as_json: bool
    ) -> dict[str, Any]:
        """Return the view of a match for a program or a page, with the invitation if there is one."""
        view = views.make_json_view(state, viewer) if as_json else views.make_page_view(state, viewer)
        if viewer is None or state.complete:
            return view
        invite = await self.matches.find_open_invite(state.id)
        if invite is None:
            view["sentence"] = views.Headline(
                "The invitation has expired or was withdrawn. Start a new match."
            )
        else:
            view["invite"] = {
                **self._describe_link(request, f"/j/{invite.token}"),
                "expires": invite.expires,
            }
        return view

    async def stream_events(self, request: Request) -> ASGIApp:
        """Stream the changes of a match."""
        identity, id = self.cookie.get_identity(request), request.path_params["id"]
        state, seat = await self._get_match(request)
        visitor = self._get_visitor(request, seat is not None)
        stream_place = ExitStack()
        as_json = request.query_params.get("format") == "json" or wants_json(request)
        page = MatchPage(self.pages)

        async def produce_event(last: int | None) -> tuple[int, str] | None:
            try:
                await self.queue.wait_turn(visitor)
                state, viewer = await self.matches.get(id, identity)
                if last == state.count_events(viewer):
                    return None
                view = await self._make_view(request, state, viewer, as_json)
            except StoreUnavailable:
                return None  # the next event follows when the store works again
            return view["event"], json.dumps(view, ensure_ascii=False) if as_json else page.update(view)

        @contextmanager
        def subscribe(wake: WakeCallback) -> Iterator[None]:
            with stream_place, self.matches.hub.subscribe(id, wake):
                if seat:
                    stream_place.enter_context(self.presence.hold(id, seat))
                yield

        def announce() -> str:
            if as_json or not seat or state.people != BOTH:
                return ""
            return self._describe_presence(id, seat.other)

        last_event = request.headers.get("last-event-id") or request.query_params.get("after")
        stream = EventStream(
            produce_event, subscribe, lambda: self.ending, parse_event_number(last_event), announce=announce
        )
        stream_place.enter_context(self.streams.hold(visitor, stream.end))
        return stream

    def _describe_presence(self, id: str, seat: Seat) -> str:
        """Return `here`, `away`, or `unknown` if another process may have the player's stream."""
        if self.presence.is_here(id, seat):
            return "here"
        return "unknown" if self.store.serves_other_processes else "away"

    async def play_move(self, request: Request) -> Response:
        """Play an action of the visitor's seat. A repeated request has no effect."""
        fields = await read_fields(request, action=str, event=int, entries=list)
        entries = tuple(fields.get("entries", ()))
        if "event" not in fields or ("action" in fields) == ("entries" in fields):
            raise RequestError(f"Send either 'action' or 'entries', and {_EVENT_FIELD}.")
        if not all(isinstance(entry, str) for entry in entries):
            raise RequestError("'entries' must be a list of strings.")
        move = MoveRequest(fields["event"], fields.get("action"), entries)
        try:
            await self._change(request, lambda state, seat: decide_move(state, seat, move))
        except IncompleteEntry as entry:
            return make_json_response({"prompt": str(entry)})
        return Response(status_code=204)

    async def make_offer(self, request: Request) -> Response:
        """Offer a takeback, a rematch or to stop, or answer an offer. A repeated request has no effect."""
        fields = await read_fields(request, offer="", answer="", event=int)
        if "event" not in fields:
            raise RequestError(f"Send 'offer' and {_EVENT_FIELD}.")
        kind, answer, event = fields["offer"], fields["answer"], fields["event"]
        if kind == REMATCH and answer != "no":
            state, _ = await self._get_match(request)
            if state.people != BOTH:  # the rematch is created now; two people must both agree first
                await self.count_request("create", request)
        await self._change(request, lambda state, seat: decide_offer(state, seat, kind, answer, event))
        return Response(status_code=204)

    async def show_hint(self, request: Request) -> Response:
        """Show a hint to a visitor who is to move against a bot."""
        state, viewer = await self._get_match(request)
        hint = reviews.get_hint(state, viewer, self.workers, self._get_visitor(request, viewer is not None))
        return make_json_response(await run_while_connected(request, hint))

    async def download_record(self, request: Request) -> Response:
        """Return the whole record after the end, or the part that the visitor may see before it."""
        state, viewer = await self._get_match(request)
        name = f"{state.rules.name}-{state.id[:6]}.duel"
        response = make_text_response(200, render_record(state, viewer).removesuffix("\n"))
        response.headers["Content-Disposition"] = f'attachment; filename="{name}"'
        return response

    async def show_review(self, request: Request) -> Response:
        """Show the review of a finished match."""
        state, viewer = await self._get_match(request)
        if not state.over:
            raise RequestError("The match is not over yet. Review it after the end.")
        record = render_record(state, viewer)
        one, two = state.display_names.values()
        page = parse_event_number(request.query_params.get("page", "1")) or 0
        review = partial(
            reviews.review_finished_match, record, viewer, (one, two), state.inherited_turns, page
        )
        visitor = self._get_visitor(request, viewer is not None)
        data = await run_while_connected(request, self.reviewer.run(review, visitor))
        opponent = state.kinds[viewer.other] if viewer else ""
        opponent_choice = {
            "levels": opponents.list_opponents(state.rules),
            "level": opponents.get_same_opponent(state.rules, opponent),
        }
        page_data = {name: data.pop(name) for name in reviews.PAGE_FIELDS}
        data = {**data, **opponent_choice, "match": state.id}
        return self._respond(request, "review.html", data, **page_data)

    # -- invitations --------------------------------------------------------------------------------

    async def show_invite(self, request: Request) -> Response:
        """Show an invitation, or redirect a player to the match."""
        identity = self.cookie.get_identity(request)
        state, invite, seat = await self.matches.get_invited_match(request.path_params["token"], identity)
        if not invite.is_open:
            return RedirectResponse(f"/m/{state.id}", 303)
        data = {
            "token": invite.token,
            "game": state.rules.name,
            "title": state.rules.game.title,
            "summary": state.rules.game.summary,
            **_describe_rules(state.rules.game),
            "seat": invite.seat.value,
            "by": state.names.get(invite.seat.other) or "A friend",
            "board": _draw_start(state.rules.game),
            "mine": seat is not None,
            "match": state.id if seat else None,
        }
        preview = _make_game_preview(
            state.rules.game, f"{data['by']} invites you to {state.rules.game.title}"
        )
        return self._respond(request, "invite.html", data, preview)

    async def accept_invite(self, request: Request) -> Response:
        """Take the seat of an invitation."""
        fields = await read_fields(request, name="")
        identity, cookie = self.cookie.get_or_make_identity(request)
        id = await self.matches.accept_invite(request.path_params["token"], identity, fields["name"])
        return self.cookie.add_to(make_json_response({"match": id, "url": f"/m/{id}"}), cookie)

    async def withdraw_invite(self, request: Request) -> Response:
        """Withdraw the invitation to a match that nobody has joined."""
        await read_fields(request)
        await self._change(request, decide_withdrawal)
        return Response(status_code=204)

    # -- other devices ------------------------------------------------------------------------------

    async def make_device_link(self, request: Request) -> Response:
        """Return a link that gives another device the visitor's seat, or remove all such devices.

        The token is in the fragment of the link: browsers do not send it, so it is in no server's log.
        """
        fields = await read_fields(request, remove=False)
        id, identity = request.path_params["id"], self.cookie.get_identity(request)
        if fields["remove"]:
            await self.matches.remove_devices(id, identity)
            return Response(status_code=204)
        token = await self.matches.make_device_link(id, identity)
        has_devices = await self.matches.has_devices(id, identity)
        link = self._describe_link(request, f"/device#{token}")
        return make_json_response({**link, "has_devices": has_devices}, 201)

    async def show_device(self, request: Request) -> Response:
        """Show the page that a device link opens."""
        return self._respond(request, "device.html", {})

    async def add_device(self, request: Request) -> Response:
        """Give this visitor the seat of a device link."""
        fields = await read_fields(request, token="")
        identity, cookie = self.cookie.get_or_make_identity(request)
        id = await self.matches.add_device(fields["token"], identity)
        return self.cookie.add_to(make_json_response({"match": id, "url": f"/m/{id}"}), cookie)

    # -- reviews and puzzles ------------------------------------------------------------------------

    async def show_upload_form(self, request: Request) -> Response:
        """Show the form for uploading a record."""
        return self._respond(request, "upload.html", {"max_bytes": reviews.MAX_UPLOAD_BYTES})

    async def review_upload(self, request: Request) -> Response:
        """Review an uploaded record without storing it."""
        fields = await read_fields(request, record="", page=1)
        review = partial(reviews.review_uploaded_record, fields["record"], fields["page"])
        data = await run_while_connected(request, self.reviewer.run(review, self._get_visitor(request)))
        page_data = {name: data.pop(name) for name in reviews.PAGE_FIELDS}
        return self._respond(request, "_review.html", data, **page_data, match=None)

    async def list_daily(self, request: Request) -> Response:
        """List today's puzzles."""
        preview = _make_daily_preview(_get_shared_result(request))
        return self._respond(request, "daily.html", self.puzzles.list_daily(), preview)

    async def show_daily(self, request: Request) -> Response:
        """Show one of today's puzzles."""
        game = _find_game(request.path_params["game"])
        puzzle = self.puzzles.show_daily(game, self._get_visitor(request))
        data = await run_while_connected(request, puzzle)
        return self._respond(request, "puzzle.html", data, **_describe_rules(game))

    async def grade_daily(self, request: Request) -> Response:
        """Grade an answer to one of today's puzzles without storing it."""
        fields = await read_fields(request, answer="", date="")
        game = _find_game(request.path_params["game"])
        visitor = self._get_visitor(request)
        grade = self.puzzles.grade_daily(game, fields["date"], fields["answer"], visitor)
        return make_json_response(await run_while_connected(request, grade))

    async def share_daily(self, request: Request) -> Response:
        """Return the streak and the text to share, from the browser's answers."""
        fields = await read_fields(request, answered={})
        data = self.puzzles.make_share_text(fields["answered"])
        has_link = data["result"] and not self.settings.on_loopback
        link = f"{self._get_base_url(request)}/daily?result={data['result']}" if has_link else ""
        return make_json_response({**data, "link": link})

    async def show_lesson(self, request: Request) -> Response:
        """Show the lesson of a game."""
        game = _find_game(request.path_params["game"])
        lesson = self.puzzles.show_lesson(game, self._get_visitor(request))
        data = await run_while_connected(request, lesson)
        return self._respond(request, "lesson.html", data, **_describe_rules(game))

    async def list_practice(self, request: Request) -> Response:
        """List the games for practice."""
        games = [
            {"name": game.name, "title": game.title, "summary": game.summary, "board": _draw_start(game)}
            for game in GAMES.values()
        ]
        return self._respond(request, "practice.html", {"games": games})

    async def show_practice(self, request: Request) -> Response:
        """Show an exercise."""
        game = _find_game(request.path_params["game"])
        aim = request.query_params.get("aim", "")
        seed, visitor = request.query_params.get("seed", ""), self._get_visitor(request)
        exercise = self.puzzles.show_practice(game, seed, aim, visitor)
        data = await run_while_connected(request, exercise)
        return self._respond(request, "puzzle.html", data, **_describe_rules(game))

    async def show_practice_hint(self, request: Request) -> Response:
        """Show a hint for an exercise."""
        game, query = _find_game(request.path_params["game"]), request.query_params
        hint = self.puzzles.show_hint(
            game, query.get("seed", ""), query.get("aim", ""), self._get_visitor(request)
        )
        return make_json_response(await run_while_connected(request, hint))

    async def grade_practice(self, request: Request) -> Response:
        """Grade the answer to an exercise."""
        fields = await read_fields(request, answer="", seed="", aim="", skill={})
        game, visitor = _find_game(request.path_params["game"]), self._get_visitor(request)
        grade = self.puzzles.grade_practice(game, **fields, visitor=visitor)
        return make_json_response(await run_while_connected(request, grade))

    async def check_health(self, request: Request) -> Response:
        """Report whether the server works, and how many malformed requests it has refused."""
        await self.store.check()
        return make_json_response({"ok": True, "malformed_requests": self.malformed_requests})

    async def show_picture(self, request: Request) -> Response:
        """Return an icon, or the preview picture for a link to the home page, the puzzles or a game."""
        name = request.path_params["name"]
        icons = {f"icon-{size}.png": size for size in pictures.ICON_SIZES}
        if name in icons:
            return await self._send_picture(request, partial(pictures.render_icon, icons[name]))
        if name == "daily.png":
            result = _get_shared_result(request)
            marks = pictures.draw_marks(result.marks if result else "")
            preview, drawing = _make_daily_preview(result), marks
        elif name == "home.png":
            preview, drawing = _HOME_PREVIEW, _draw_start(next(iter(GAMES.values())))
        else:
            game = _find_game(name.removesuffix(".png"))
            preview, drawing = _make_game_preview(game), _draw_start(game)
        svg = pictures.draw_preview(preview, drawing)
        return await self._send_picture(request, partial(pictures.render_preview, svg))

    async def _send_picture(self, request: Request, render: Callable[[], bytes]) -> Response:
        png = await self.workers.run(render, self._get_visitor(request))
        return Response(png, media_type="image/png")

    async def serve_static(self, request: Request) -> Response:
        """Serve a static file."""
        return self.pages.get_static_file(request)

    # -- helpers -----------------------------------------------------------------------------------

    def _respond(
        self,
        request: Request,
        template: str,
        data: dict[str, Any],
        preview: Preview | None = None,
        **page_data: Any,
    ) -> Response:
        """Return `data` as JSON to a program, or a page with `data` and `page_data` to a browser."""
        if wants_json(request):
            return make_json_response(data)
        if preview:
            page_data |= {"preview": preview, "origin": self._get_base_url(request)}
        return self.pages.respond(template, **data, **page_data)

    async def _get_match(self, request: Request) -> tuple[MatchState, Viewer]:
        """Return the match and the visitor's seat. Note the seat: players' connections give way last."""
        state, viewer = await self.matches.get(request.path_params["id"], self.cookie.get_identity(request))
        request.state.is_seated = viewer is not None
        return state, viewer

    async def _change(self, request: Request, decide: Callable[[MatchState, Seat], Change | None]) -> None:
        def decide_for_player(state: MatchState, seat: Seat) -> Change | None:
            request.state.is_seated = True
            return decide(state, seat)

        identity = self.cookie.get_identity(request)
        await self.matches.change(request.path_params["id"], identity, decide_for_player)

    def _get_visitor(self, request: Request, is_seated: bool = False) -> Visitor:
        return Visitor(self.cookie.get_identity(request), get_address(request), is_seated)

    async def count_request(self, rate: str, request: Request) -> None:
        """Count a request against the visitor's limits. Raises TooMany if one is exceeded.

        An address that has exceeded its limits is still open to its players: they have limits of their own.
        """
        visitor = self._get_visitor(request)
        try:
            self.rate_limiter.take(rate, visitor)
        except TooMany:
            id = request.path_params.get("id")
            if not id or await self.matches.get_seat(id, visitor.identity) is None:
                raise
            self.rate_limiter.take(rate, visitor._replace(is_seated=True))

    def _get_base_url(self, request: Request) -> str:
        """Return the address that other people can open: the visitor's own, unless it is local."""
        own_url = f"{'https' if self.settings.secure else 'http'}://{request.headers['host'].lower()}"
        return self.settings.link if request.url.hostname in LOOPBACK else own_url

    def _describe_link(self, request: Request, path: str) -> dict[str, Any]:
        """Return a link to this server, with a QR code if other devices can open it."""
        link, is_local = f"{self._get_base_url(request)}{path}", self.settings.on_loopback
        return {"link": link, "qr": "" if is_local else network.make_qr_svg(link), "alone": is_local}

    def _make_error_response(self, request: Request, problem: BaseException) -> Response:
        """Return an error as a page or as JSON."""
        self.malformed_requests += isinstance(problem, MalformedRequest)
        status, text, retry_delay = _describe_error(problem)
        is_page = request.method != "POST" and "text/html" in request.headers.get("accept", "")
        if is_page:
            response = self.pages.respond("message.html", status, text=text)
        else:
            response = make_json_response({"message": text}, status)
        if retry_delay:
            response.headers["Retry-After"] = str(retry_delay)
        return response


ROUTES: tuple[tuple[str, str, Handler, str], ...] = (
    ("POST", "/m/{id}/act", Site.play_move, "act"),
    ("GET", "/m/{id}/events", Site.stream_events, "read"),
    ("GET", "/m/{id}", Site.show_match, "read"),
    ("POST", "/m/{id}/offer", Site.make_offer, "act"),
    ("GET", "/", Site.show_home, ""),
    ("GET", "/g/{game}", Site.show_game, "read"),
    ("POST", "/matches", Site.create_match, "create"),
    ("GET", "/m/{id}/hint", Site.show_hint, "heavy"),
    ("GET", "/m/{id}/picture.png", Site.show_match_picture, "heavy"),
    ("GET", "/m/{id}/record", Site.download_record, "read"),
    ("GET", "/m/{id}/review", Site.show_review, "heavy"),
    ("GET", "/j/{token}", Site.show_invite, "create"),
    ("POST", "/j/{token}", Site.accept_invite, "create"),
    ("POST", "/m/{id}/withdraw", Site.withdraw_invite, "act"),
    ("POST", "/m/{id}/device", Site.make_device_link, "act"),
    ("GET", "/device", Site.show_device, "read"),
    ("POST", "/device", Site.add_device, "create"),
    ("GET", "/review", Site.show_upload_form, "read"),
    ("POST", "/review", Site.review_upload, "heavy"),
    ("GET", "/daily", Site.list_daily, "read"),
    ("POST", "/daily", Site.share_daily, "read"),
    ("GET", "/daily/{game}", Site.show_daily, "heavy"),
    ("POST", "/daily/{game}", Site.grade_daily, "heavy"),
    ("GET", "/lesson/{game}", Site.show_lesson, "heavy"),
    ("GET", "/practice", Site.list_practice, "read"),
    ("GET", "/practice/{game}", Site.show_practice, "heavy"),
    ("GET", "/practice/{game}/hint", Site.show_practice_hint, "heavy"),
    ("POST", "/practice/{game}", Site.grade_practice, "heavy"),
    ("GET", "/health", Site.check_health, ""),
    ("GET", "/picture/{name}", Site.show_picture, "heavy"),
    ("GET", "/static/{name}", Site.serve_static, ""),
)
"""Method, path, handler and rate limit of each route. They are tried in this order."""


def _describe_error(problem: BaseException) -> tuple[int, str, int]:
    """Return the status, the message, and the seconds until a retry, or 0 if a retry is pointless."""
    match problem:
        case TooMany():
            return problem.status, str(problem), problem.wait
        case RequestError():
            return problem.status, str(problem), 0
        case StoreDamaged():
            log.error("%s", problem)
            text = "The server cannot reach its database: it was moved, replaced or damaged."
            return 503, f"{text} Tell the person who runs the server.", _RETRY_DELAY
        case StoreUnavailable():
            log.error("%s", problem)
            text = "The server cannot reach its database. No moves are lost. Try again in a moment."
            return 503, text, _RETRY_DELAY
        case asyncio.CancelledError():  # the server ends, or the visitor left and gets no response
            return 503, "The server is stopping. Reload the page in a moment.", _RETRY_DELAY
        case ClientDisconnect():
            return 413, "The request is too large or incomplete.", 0
        case _:
            log.error("A request failed.", exc_info=problem)
            return 500, "Internal server error. No moves are lost. Reload the page.", 0


def _describe_listed_match(stored: StoredMatch, state: MatchState | None) -> dict[str, Any]:
    since = stored.since.isoformat(timespec="minutes")
    if state is None or stored.seat is None:
        empty = {"game": "", "title": "", "against": "", "turn": "over", "won": None, "over": True}
        return {"match": stored.id, **empty, "since": since, "problem": str(UnreadableMatch())}
    seat, outcome = stored.seat, state.outcome
    return {
        "match": state.id,
        "game": state.rules.name,
        "title": state.rules.game.title,
        "against": views.get_opponent_name(state, seat),
        "turn": views.get_turn(state, seat),
        "won": None if outcome is None or outcome.winner is None else outcome.winner is seat,
        "over": outcome is not None,
        "since": since,
        "problem": None,
    }


def _describe_game(game: Game) -> dict[str, Any]:
    return {
        "name": game.name,
        "title": game.title,
        "summary": game.summary,
        "levels": opponents.list_opponents(game.rules()),
        "level": opponents.DEFAULT_OPPONENT,
        "enough_boards": game.rules().enough_boards,
        "ours": game.name in GAMES,
    }


def _describe_rules(game: Game) -> dict[str, Any]:
    return {"card": game.card(), "guide": game.drawing(game.rules()).guide}


def _make_game_preview(game: Game, title: str = "") -> Preview:
    summary = f"{game.summary[:1].upper()}{game.summary[1:]}."
    return Preview(title or game.title, summary, f"/picture/{game.name}.png")


def _make_daily_preview(result: puzzles.DailyResult | None) -> Preview:
    """Return the preview of today's puzzles, or of the result that somebody shares."""
    if not result:
        return Preview("Today's puzzles", "One position per game: find the best move.", "/picture/daily.png")
    text = f"Puzzles of {result.day}: one position per game."
    return Preview(result.title, text, f"/picture/daily.png?result={result.format()}")


def _get_shared_result(request: Request) -> puzzles.DailyResult | None:
    return puzzles.DailyResult.parse(request.query_params.get("result", ""))


def _draw_start(game: Game) -> str:
    rules = game.rules()
    return game.drawing(rules).draw(rules.sight(rules.initial(), Seat.ONE))


def _find_game(name: str) -> Game:
    try:
        return find_game(name)
    except UnknownName:
        raise NotFound() from None
