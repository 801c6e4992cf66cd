"""What answers each address: it reads a request, asks the service, and answers with a page or with JSON."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp

from duels.core.errors import UnknownName
from duels.core.extras import require_extra
from duels.core.game import Game
from duels.core.rules import Seat
from duels.games import GAMES, all_games, find_game
from duels.web import opponents, puzzles, reach, reviews, views, visitors
from duels.web.decisions import MoveRequest, Unfinished, record_for
from duels.web.match_state import REMATCH, MatchState, Viewer
from duels.web.pages import EventStream, MatchPage, Pages, Wake
from duels.web.refusals import Missing, Refusal
from duels.web.service import MatchService
from duels.web.settings import ServerSettings
from duels.web.store import Store, StoredMatch, StoreUnavailable
from duels.web.visitors import address, body, event_number, json_answer, plain_answer, wants_json
from duels.web.workers import Workers

_MOST_RUNNING, _MOST_OVER = 50, 8  # of the visitor's own matches, on the home page
_ALL = 200  # of those that are over, for whoever asks for all of them


def store_at(database: str) -> Store:
    """The store at an address: a PostgreSQL database, or the path of a file for SQLite."""
    if database.startswith(("postgresql://", "postgres://")):
        with require_extra("postgres"):
            from duels.web.postgres_store import PostgresStore
        return PostgresStore(database)
    from duels.web.sqlite_store import SqliteStore

    return SqliteStore(Path(database))


class Site:
    """One server: its settings, its matches, its pages."""

    def __init__(self, settings: ServerSettings, store: Store | None = None) -> None:
        self.settings = settings
        self._secure = settings.secure
        self.pages = Pages()
        self.workers = Workers()
        store = store or store_at(settings.database)
        self.matches = MatchService(store, self.workers, settings.pause, settings.limits.matches_a_day)
        self.buckets = visitors.Buckets(settings.limits)
        self.streams = visitors.Streams(settings.limits)
        self.ending = False
        self.puzzles = puzzles.Puzzles(self.workers)

    async def open(self) -> None:
        """Begin."""
        await self.matches.open()
        if self.settings.look_ahead:
            self.puzzles.begin()

    def end_streams(self) -> None:
        """Let everybody who watches go."""
        self.ending = True
        self.matches.hub.wake(None)

    async def close(self) -> None:
        """End."""
        self.end_streams()
        await self.puzzles.end()
        await self.matches.close()
        self.workers.close()

    # -- home -----------------------------------------------------------------------------------

    async def home(self, request: Request) -> Response:
        """The games, and the visitor's matches."""
        all_of_them = request.query_params.get("matches") == "all"
        self.take("heavy" if all_of_them else "read", request)
        visitor = self._identity(request)
        most = _ALL if all_of_them else _MOST_OVER
        matches, more = await self._matches_of(visitor, most) if visitor else ([], False)
        data = {
            "today": puzzles.today(),
            "games": [self._on_home(game) for game in all_games()],
            "matches": matches,
            "more": more and not all_of_them,
        }
        return self._answer(request, "home.html", data)

    async def _matches_of(self, visitor: str, most_over: int) -> tuple[list[dict[str, Any]], bool]:
        """The visitor's last matches, and whether more are over than these.

        Those that wait for the visitor come first, then others that go on, then those that are over. Newest
        first within each kind. An order by what was written last would tell of hidden moves.
        """
        running = await self.matches.matches_of(visitor, False, _MOST_RUNNING)
        over = await self.matches.matches_of(visitor, True, most_over + 1)
        mine = [*running, *over[:most_over]]
        listed = {kept.id: _line(kept, standing) for kept, standing in mine}  # one may have ended meanwhile
        ordered = sorted(listed.values(), key=lambda each: (each["over"], each["turn"] != "you"))
        return ordered, len(over) > most_over

    async def game(self, request: Request) -> Response:
        """One game: its rules, and whom to play."""
        game = _game(request.path_params["game"])
        data = {**_card(game), "board": _start_of(game), **_rules_of(game)}
        return self._answer(request, "game.html", data)

    def _on_home(self, game: Game) -> dict[str, Any]:
        """A game as the home page shows it: with today's position, if that has been found."""
        drawn = self.puzzles.drawn(game)
        return {**_card(game), "board": drawn or _start_of(game), "board_is_todays": bool(drawn)}

    # -- matches --------------------------------------------------------------------------------

    async def create(self, request: Request) -> Response:
        """A new match."""
        asked = await body(request, game="", against=str, first="me", name="", match=str, entries=0)
        visitor, cookie = self._admit(request)
        name, against = asked["name"], asked.get("against")
        if "match" in asked:
            id, seat = await self.matches.play_on(visitor, asked["match"], asked["entries"], against, name)
        else:
            against = opponents.USUAL if against is None else against
            id, seat = await self.matches.create(visitor, asked["game"], against, asked["first"], name)
        answer = json_answer({"match": id, "seat": seat.value, "url": f"/m/{id}"}, 201)
        return self._with_cookie(answer, cookie)

    async def match(self, request: Request) -> Response:
        """A match as the visitor may see it."""
        standing, viewer = await self._look(request)
        if request.query_params.get("only") == "turn":  # pages that nobody sees ask for no more
            return json_answer(views.asked_of(standing, viewer))
        as_json = wants_json(request)
        data = await self._shown(request, standing, viewer, as_json)
        if as_json:
            return json_answer(data)
        return self.pages.page("match.html", **data, parts=MatchPage(self.pages, data).parts)

    async def _shown(
        self, request: Request, standing: MatchState, viewer: Viewer, as_json: bool
    ) -> dict[str, Any]:
        """What is shown of a match: to a program or on a page, with how to invite somebody."""
        shown = views.view(standing, viewer) if as_json else views.shown(standing, viewer)
        if viewer is None or standing.complete:
            return shown
        invite = await self.matches.invite_to(standing.id)
        if invite is None:
            shown["sentence"] = views.Headline("The invitation is too old: begin another match.")
        else:
            link, alone = f"{self._base(request)}/j/{invite.token}", self.settings.on_loopback
            told = views.ShownInvite(link, "" if alone else reach.qr_code(link), alone, invite.expires)
            shown["invite"] = told._asdict() if as_json else told
        return shown

    async def events(self, request: Request) -> ASGIApp:
        """The match as it goes on."""
        visitor, id = self._identity(request), request.path_params["id"]
        await self.matches.look(id, visitor)
        counted = self.streams.enter(visitor, address(request))
        as_json = request.query_params.get("format") == "json" or wants_json(request)
        page: MatchPage | None = None

        async def news(last: int | None) -> tuple[int, str] | None:
            nonlocal page
            try:
                standing, viewer = await self.matches.look(id, visitor)
                if last == standing.event(viewer):
                    return None
                shown = await self._shown(request, standing, viewer, as_json)
            except StoreUnavailable:
                return None  # what comes meanwhile is told when the store is back
            if as_json:
                return shown["event"], json.dumps(shown, ensure_ascii=False)
            before, page = page, MatchPage(self.pages, shown)
            return shown["event"], page.changes(before)

        return EventStream(
            news,
            partial(self._watching, id, counted),
            lambda: self.ending,
            event_number(request.headers.get("last-event-id") or request.query_params.get("after")),
        )

    @contextmanager
    def _watching(self, id: str, counted: tuple[str, ...], wake: Wake) -> Iterator[None]:
        """Within, `wake` is called whenever the match is written to; then the stream is no longer counted."""
        try:
            with self.matches.hub.watching(id, wake):
                yield
        finally:
            self.streams.leave(counted)

    async def act(self, request: Request) -> Response:
        """An action of the visitor's seat."""
        asked = await body(request, action=str, event=int, entries=list)
        entries = tuple(asked.get("entries", ()))
        if "event" not in asked or ("action" in asked) == ("entries" in asked):
            raise Refusal('Send {"action": "…", "event": N}, N being the last event that you were sent.')
        if not all(isinstance(entry, str) for entry in entries):
            raise Refusal("Entries are texts.")
        action = MoveRequest(asked["event"], asked.get("action"), entries)
        try:
            await self.matches.act(request.path_params["id"], self._identity(request), action)
        except Unfinished as more:
            return json_answer({"prompt": str(more)})
        return Response(status_code=204)

    async def offer(self, request: Request) -> Response:
        """A takeback or a rematch is offered, or such an offer answered."""
        asked = await body(request, offer="", answer="", event=int)
        if "event" not in asked:
            raise Refusal('Send {"offer": "…", "event": N}, N being the last event that you were sent.')
        what, answer = asked["offer"], asked["answer"]
        if what == REMATCH and answer != "no":  # it may begin a match
            self.take("create", request)
        visitor = self._identity(request)
        await self.matches.offer(request.path_params["id"], visitor, what, answer, asked["event"])
        return Response(status_code=204)

    async def hint(self, request: Request) -> Response:
        """What perfect play would do, for a visitor who plays against a machine and is to move."""
        standing, viewer = await self._look(request)
        return json_answer(await reviews.hint_for(standing, viewer, self.workers))

    async def record(self, request: Request) -> Response:
        """The record: all of it after the end, before that what the visitor's seat may have."""
        standing, viewer = await self._look(request)
        name = f"{standing.rules.name}-{standing.id[:6]}.duel"
        answer = plain_answer(200, record_for(standing, viewer).removesuffix("\n"))
        answer.headers["Content-Disposition"] = f'attachment; filename="{name}"'
        return answer

    async def review(self, request: Request) -> Response:
        """Where the match was won and lost, after its end."""
        standing, viewer = await self._look(request)
        if not standing.over:
            raise Refusal("A match is reviewed once it is over.")
        record = record_for(standing, viewer)
        one, two = standing.called.values()
        review = partial(reviews.review_kept, record, viewer, (one, two), standing.taken_over)
        data = await self.workers.run(review)
        levels, met = opponents.opponents(standing.rules), standing.kinds[viewer.other] if viewer else ""
        again = {"levels": levels, "level": opponents.as_before(standing.rules, met)}
        return self._answer(request, "review.html", {**data, **again, "match": standing.id})

    # -- friends --------------------------------------------------------------------------------

    async def invite(self, request: Request) -> Response:
        """An invitation: who invites, to what."""
        token = request.path_params["token"]
        try:
            standing, invite = await self.matches.invited(token)
        except Missing:
            if id := await self.matches.joined(token, self._identity(request)):
                return RedirectResponse(f"/m/{id}", 303)
            raise
        mine = await self.matches.seat_of(standing.id, self._identity(request)) is not None
        data = {
            "token": invite.token,
            "game": standing.rules.name,
            "title": standing.rules.game.title,
            "summary": standing.rules.game.summary,
            **_rules_of(standing.rules.game),
            "seat": invite.seat.value,
            "by": standing.names.get(invite.seat.other) or "A friend",
            "board": _start_of(standing.rules.game),
            "mine": mine,
            "match": standing.id if mine else None,
        }
        return self._answer(request, "invite.html", data)

    async def sit_down(self, request: Request) -> Response:
        """Whoever was invited sits down."""
        asked = await body(request, name="")
        visitor, cookie = self._admit(request)
        id = await self.matches.sit_down(request.path_params["token"], visitor, asked["name"])
        return self._with_cookie(json_answer({"match": id, "url": f"/m/{id}"}), cookie)

    # -- without a match ------------------------------------------------------------------------

    async def review_page(self, request: Request) -> Response:
        """Where a record can be handed in."""
        return self._answer(request, "hand_in.html", {"most": reviews.MOST_BYTES})

    async def review_posted(self, request: Request) -> Response:
        """The review of a record that somebody hands in; nothing of it is kept."""
        asked = await body(request, record="")
        data = await self.workers.run(partial(reviews.review_posted, asked["record"]))
        if wants_json(request):
            return json_answer(data)
        return Response(self.pages.render("_review.html", **{**data, "match": None}), media_type="text/html")

    async def daily(self, request: Request) -> Response:
        """Today's puzzles."""
        return self._answer(request, "daily.html", self.puzzles.day())

    async def daily_puzzle(self, request: Request) -> Response:
        """One of today's puzzles."""
        game = _game(request.path_params["game"])
        return self._answer(request, "puzzle.html", await self.puzzles.daily(game))

    async def daily_answer(self, request: Request) -> Response:
        """An answer to one of today's puzzles, graded; nothing is kept here."""
        asked = await body(request, answer="", date="")
        game = _game(request.path_params["game"])
        return json_answer(await self.puzzles.grade_daily(game, asked["date"], asked["answer"]))

    async def daily_share(self, request: Request) -> Response:
        """A line to show to others, from what the browser has kept."""
        asked = await body(request, answered={})
        return json_answer(self.puzzles.share(asked["answered"]))

    async def practice_page(self, request: Request) -> Response:
        """The games that can be practised."""
        games = [
            {"name": game.name, "title": game.title, "summary": game.summary, "board": _start_of(game)}
            for game in GAMES.values()
        ]
        return self._answer(request, "practice.html", {"games": games})

    async def practice(self, request: Request) -> Response:
        """A position with a clear answer."""
        game = _game(request.path_params["game"])
        aim = request.query_params.get("aim", "")
        shown = await self.puzzles.practice(game, request.query_params.get("seed", ""), aim)
        return self._answer(request, "puzzle.html", shown)

    async def practice_answer(self, request: Request) -> Response:
        """An answer to it, graded."""
        asked = await body(request, answer="", seed="", aim="", skill={})
        return json_answer(await self.puzzles.grade_practice(_game(request.path_params["game"]), **asked))

    async def health(self, request: Request) -> Response:
        """Whether the server can serve."""
        await self.matches.check()
        return json_answer({"ok": True})

    async def static(self, request: Request) -> Response:
        """A script, a style, a picture."""
        return self.pages.file(request)

    # -- help -----------------------------------------------------------------------------------

    def _answer(self, request: Request, template: str, data: dict[str, Any]) -> Response:
        return json_answer(data) if wants_json(request) else self.pages.page(template, **data)

    async def _look(self, request: Request) -> tuple[MatchState, Viewer]:
        return await self.matches.look(request.path_params["id"], self._identity(request))

    def _identity(self, request: Request) -> str | None:
        return visitors.visitor("; ".join(request.headers.getlist("cookie")), self._secure)

    def _admit(self, request: Request) -> tuple[str, str | None]:
        """The visitor's identity, and the cookie to leave with one who has none."""
        known = self._identity(request)
        if known:
            return known, None
        cookie = visitors.new_cookie()
        return visitors.identity(cookie), cookie

    def _with_cookie(self, answer: Response, cookie: str | None) -> Response:
        if cookie:
            answer.headers["Set-Cookie"] = visitors.set_cookie(cookie, self._secure)
        return answer

    def take(self, rate: str, request: Request) -> None:
        """Take one from the visitor's buckets; TooMany if one is empty."""
        self.buckets.take(rate, self._identity(request), address(request))

    def _base(self, request: Request) -> str:
        """The address that somebody else can open: as the visitor's browser has it, if that is not local."""
        here = f"{'https' if self._secure else 'http'}://{request.headers['host'].lower()}"
        return self.settings.link if request.url.hostname in ("127.0.0.1", "localhost", "::1") else here

    def refuse(self, request: Request, status: int, text: str) -> Response:
        """A refusal, as a page or as JSON."""
        if (
            request.method == "POST"
            or wants_json(request)
            or "text/html" not in request.headers.get("accept", "")
        ):
            return json_answer({"message": text}, status)
        return self.pages.page("message.html", status, text=text)


def _line(kept: StoredMatch, standing: MatchState) -> dict[str, Any]:
    """A match in the list of a visitor's matches."""
    seat, outcome = kept.seat, standing.outcome
    return {
        "match": standing.id,
        "game": standing.rules.name,
        "title": standing.rules.game.title,
        "against": standing.called[seat.other] if standing.complete else "a friend",
        "turn": views.turn_of(standing, seat),
        "won": None if outcome is None or outcome.winner is None else outcome.winner is seat,
        "over": outcome is not None,
        "since": datetime.fromtimestamp(kept.since, UTC).isoformat(timespec="minutes"),
    }


def _card(game: Game) -> dict[str, Any]:
    """A game, and whom to play."""
    return {
        "name": game.name,
        "title": game.title,
        "summary": game.summary,
        "levels": opponents.opponents(game.rules()),
        "level": opponents.USUAL,
        "ours": game.name in GAMES,
    }


def _rules_of(game: Game) -> dict[str, Any]:
    """The rule card, and what the board shows of it."""
    return {"card": game.card(), "guide": game.drawing(game.rules()).guide}


def _start_of(game: Game) -> str:
    """The board at the start of a match."""
    rules = game.rules()
    return game.drawing(rules).draw(rules.sight(rules.initial(), Seat.ONE))


def _game(name: str) -> Game:
    try:
        return find_game(name)
    except UnknownName:
        raise Missing() from None
