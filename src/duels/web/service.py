"""The matches of a server: permissions, moves, offers, invitations and bots. It knows nothing about HTTP.

Any process can handle any request for any match. Bots and chance depend only on the seed and the record, so
any process can play their moves, including those that another process did not get to.
"""

import asyncio
import logging
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial

from duels.core.errors import DuelsError, UnknownName, quote
from duels.core.rules import AnyRules, Seat
from duels.core.words import join_or
from duels.games import GAMES, find_game
from duels.play import new_match
from duels.players import HUMAN, make_player
from duels.web.decisions import decide_bot_move, make_match
from duels.web.match_state import MatchState, Viewer, make_play_entries
from duels.web.opponents import ProgramPool, get_same_opponent, is_available, is_program, list_opponents
from duels.web.request_errors import (
    MatchNotFound,
    NotFound,
    RequestError,
    StaleRequest,
    TooMany,
    UnreadableMatch,
)
from duels.web.store import (
    Change,
    Claim,
    Conflict,
    DamagedLog,
    Entry,
    EntryKind,
    Invite,
    Store,
    StoredMatch,
    StoreUnavailable,
)
from duels.web.visitor_names import clean_name
from duels.web.visitors import hash_cookie, make_token
from duels.web.workers import WorkerPool

log = logging.getLogger("duels.web")

_DAY = 24 * 3600.0
_MAX_CACHED = 2_000  # matches
_MAX_TRIES = 20  # a conflict means that another process made progress, so this many in a row do not occur
_SHORT, _OPEN = "short", "open"
_FIRST_PLAYERS = {"me": "1", "you": "2", "chance": "random"}
FRIEND = "friend"
DEVICE_LINK_LIFETIME = 600.0
"""The time in seconds for which a link to a player's seat works."""


class MatchHub:
    """The subscribers to changes of matches, all in one event loop."""

    def __init__(self) -> None:
        self._subscribers: dict[str, set[Callable[[], object]]] = {}

    @contextmanager
    def subscribe(self, match: str, callback: Callable[[], object]) -> Iterator[None]:
        """Call `callback` after every change of the match, until the context ends."""
        self._subscribers.setdefault(match, set()).add(callback)
        try:
            yield
        finally:
            self._subscribers[match].discard(callback)
            if not self._subscribers[match]:
                del self._subscribers[match]

    def on_change(self, match: str | None) -> None:
        """Notify the subscribers of a changed match, or all subscribers if `match` is None."""
        for id in [match] if match is not None else list(self._subscribers):
            for callback in self._subscribers.get(id, ()):
                callback()


class MatchService:
    """The matches that this process serves."""

    def __init__(
        self, store: Store, workers: WorkerPool, pause: float = 0.8, matches_a_day: int = 200
    ) -> None:
        self._store = store
        self._workers = workers
        self._programs = ProgramPool()
        self._pause = pause
        self._matches_a_day = matches_a_day
        self.hub = MatchHub()
        self._cache: OrderedDict[str, MatchState] = OrderedDict()
        self._unreadable: set[str] = set()
        self._bot_tasks: dict[str, asyncio.Task[None]] = {}
        self._warm_ups: set[asyncio.Task[None]] = set()

    async def open(self) -> None:
        """Open the store."""
        await self._store.open(self.hub.on_change)

    async def close(self) -> None:
        """Cancel background tasks, end the programs and close the store."""
        tasks = (*self._bot_tasks.values(), *self._warm_ups)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await asyncio.to_thread(self._programs.close)
        await self._store.close()

    # -- reading --------------------------------------------------------------------------------

    async def get(self, id: str, identity: str | None) -> tuple[MatchState, Viewer]:
        """Return the current state of a match and the visitor's seat. Schedule the bot if it is to move.

        Raises MatchNotFound if there is no such match or the visitor may not see it.
        """
        state = await self._load(id)
        viewer = await self._find_seat(state, identity)
        if not state.can_watch(viewer):
            raise MatchNotFound()
        self._schedule_bot(state)
        return state, viewer

    async def get_seat(self, id: str, identity: str | None) -> Viewer:
        """Return the seat of a visitor at a match, or None for a spectator."""
        return await self._find_seat(await self._load(id), identity)

    async def _find_seat(self, state: MatchState, identity: str | None) -> Viewer:
        """Return the seat that the visitor took, or that a player shares with this device."""
        seat = state.get_seat(identity)
        return seat if seat or not identity else await self._store.find_device(state.id, identity)

    async def find_open_invite(self, id: str) -> Invite | None:
        """Return the invitation to a match if it can still be accepted."""
        info = await self._store.find_match(id)
        return info.invite if info and info.invite and info.invite.is_open else None

    async def get_invited_match(self, token: str, identity: str | None) -> tuple[MatchState, Invite, Viewer]:
        """Return the match of an invitation, the invitation, and the visitor's seat.

        Raises NotFound if the invitation can no longer be accepted and the visitor has no seat.
        """
        invite = await self._store.find_invite(token)
        state = await self._load(invite.match) if invite else None
        seat = await self._find_seat(state, identity) if state else None
        if not state or not invite or not (invite.is_open or seat):
            raise NotFound(
                "No open invitation with this link. "
                "It may have been used, withdrawn or expired: ask for a new one."
            )
        return state, invite, seat

    async def list_matches(
        self, identity: str, over: bool, limit: int
    ) -> list[tuple[StoredMatch, MatchState | None]]:
        """Return a visitor's finished or running matches, the most recently joined first.

        The state of a match that cannot be read is None.
        """
        matches: list[tuple[StoredMatch, MatchState | None]] = []
        for stored in await self._store.list_matches(identity, over, limit):
            state = self._cache.get(stored.id)
            if state is None or state.number != stored.number:
                await asyncio.sleep(0)  # SQLite reads never yield to other tasks
                try:
                    state = await self._load(stored.id)
                except MatchNotFound:
                    continue
                except UnreadableMatch:
                    state = None
            if over and state and not state.complete:
                continue  # the invitation was withdrawn
            matches.append((stored, state if stored.seat else None))
        return matches

    async def _load(self, id: str) -> MatchState:
        """Return the current state of a match.

        Raises MatchNotFound if there is no such match, and UnreadableMatch if its rows are damaged.
        """
        try:
            return await self._read(id)
        except (StoreUnavailable, RequestError):
            raise
        except Exception as problem:  # damaged rows may cause any error
            if self._cache.pop(id, None):  # the match may have been deleted or mended since it was read
                return await self._load(id)
            if id not in self._unreadable:  # log it once
                reason = problem if isinstance(problem, DuelsError) else type(problem).__name__
                log.warning("The stored match %s… cannot be read: %s", id[:6], reason)  # its id is a secret
            self._unreadable.add(id)
            raise UnreadableMatch() from None

    async def _read(self, id: str) -> MatchState:
        """Update the cached state of a match from its log. Cache a new state only if it can be read."""
        state = self._cache.get(id)
        if state is None or not state.people <= set(state.identities):
            info = await self._store.find_match(id)
            if info is None:
                raise MatchNotFound()
            state = state or MatchState(id, info.header)
            state.identities = info.seats
        number = state.number
        new = await self._store.list_entries(id, number)
        # Another task may have added entries while this one waited.
        state.add(new[state.number - number :])
        if not state.number:
            raise DamagedLog("The log is empty.")
        self._cache.setdefault(id, state)
        self._cache.move_to_end(id)
        while len(self._cache) > _MAX_CACHED:
            self._cache.popitem(last=False)
        return state

    # -- new matches ----------------------------------------------------------------------------

    async def create(
        self, identity: str, game: str, against: str, first: str = "me", name: str = "", duration: str = _OPEN
    ) -> tuple[str, Seat]:
        """Create a match against a bot or a friend. Return its id and the visitor's seat.

        A short match of a game that may never end has a limit.

        Raises RequestError if a setting is invalid, and TooMany if the visitor has created too many.
        """
        try:
            rules = find_game(game).rules()
        except UnknownName as unknown:
            raise RequestError(str(unknown)) from None
        other = HUMAN if against == FRIEND else _check_opponent(rules, against, FRIEND)
        if first not in _FIRST_PLAYERS:
            raise RequestError(f"'first' must be {join_or([*_FIRST_PLAYERS])}, not {quote(first)}.")
        if duration not in (_SHORT, _OPEN):
            raise RequestError(f"'duration' must be {_SHORT} or {_OPEN}, not {quote(duration)}.")
        rules = new_match.shorten_match(rules) if duration == _SHORT else rules
        await self._check_daily_limit(identity)
        if other != HUMAN and game not in GAMES:  # a game from another package may lack some levels
            await self._check_player_works(rules, other)
        return await self._create(rules, identity, name, other, _FIRST_PLAYERS[first])

    async def continue_match(
        self, identity: str, id: str, entries: int, against: str | None, name: str = ""
    ) -> tuple[str, Seat]:
        """Create a match that continues a finished one after its first `entries` turns.

        The opponent is the same bot as before unless `against` names another. Raises RequestError if the
        match is unfinished or has hidden information.
        """
        state, viewer = await self.get(id, identity)
        match = state.match
        if state.rules.has_hidden_information or not match.over:
            raise RequestError("This match cannot be continued: it is not over, or it has hidden moves.")
        if not 0 <= entries < len(match.turns):
            raise RequestError(f"'entries' must be from 0 to {len(match.turns) - 1}.")
        start = match.after(entries)
        seat = viewer or (start.actor if isinstance(start.actor, Seat) else Seat.ONE)
        against = against or get_same_opponent(state.rules, state.kinds[seat.other])
        other = _check_opponent(state.rules, against)
        await self._check_daily_limit(identity)
        turns = make_play_entries(start)
        return await self._create(state.rules, identity, name, other, str(seat.value), turns)

    async def _create(
        self,
        rules: AnyRules,
        identity: str,
        name: str,
        other: str,
        first: str,
        inherited: tuple[Entry, ...] = (),
    ) -> tuple[str, Seat]:
        setup = new_match.MatchSetup(rules, HUMAN, other, first)
        seat = Seat.TWO if setup.swapped else Seat.ONE
        match = make_match(setup.rules, setup.make_headers(), {seat: (identity, name)}, inherited)
        await self._store.create(match)
        self._warm_up(setup.rules, other)
        return match.id, seat

    async def _check_daily_limit(self, identity: str) -> None:
        if await self._store.count_matches_since(identity, time.time() - _DAY) >= self._matches_a_day:
            raise TooMany(f"You can start or join {self._matches_a_day} matches a day.", 3600.0)

    async def _check_player_works(self, rules: AnyRules, name: str) -> None:
        try:
            await self._workers.run(partial(make_player, name, rules))
        except RequestError:
            raise
        except DuelsError as error:
            raise RequestError(str(error)) from None

    def _warm_up(self, rules: AnyRules, name: str) -> None:
        """Load a bot in the background: some take a moment the first time."""
        if name == HUMAN or is_program(name):
            return

        async def prepare() -> None:
            with suppress(DuelsError):  # reported when the bot is to move
                await self._workers.run(partial(make_player, name, rules))

        task = asyncio.create_task(prepare())
        self._warm_ups.add(task)
        task.add_done_callback(self._warm_ups.discard)

    async def accept_invite(self, token: str, identity: str, name: str) -> str:
        """Take the seat of an invitation and return the id of the match.

        Raises NotFound if the invitation can no longer be accepted, RequestError if it is the visitor's own,
        and StaleRequest if another player was faster.
        """
        for _ in range(_MAX_TRIES):
            state, invite, seat = await self.get_invited_match(token, identity)
            if seat and not invite.is_open:
                return state.id
            if seat:
                raise RequestError("This is your own invitation. Send its link to somebody else.")
            await self._check_daily_limit(identity)
            match = state.match
            if {*state.names, invite.seat} >= state.people:
                match = state.play_automatic(match)
            seating = Entry(EntryKind.SIT, clean_name(name, state.names.values()), invite.seat)
            claim = Claim(token, identity, time.time())
            entries = (seating, *make_play_entries(match, state.match))
            with suppress(Conflict):
                change = Change(state.id, state.number, entries, claim, ends_match=match.over)
                await self._store.append(change)
                return state.id
        raise StaleRequest("Another player was faster. Reload the page.")

    # -- other devices --------------------------------------------------------------------------

    async def make_device_link(self, id: str, identity: str | None) -> str:
        """Return a token that gives one other device this visitor's seat. Only its hash is stored.

        Raises MatchNotFound if the visitor has no seat, and RequestError if the seat came by such a token.
        """
        seat = await self._get_own_seat(id, identity)
        token = make_token()
        await self._store.add_device_link(id, seat, hash_cookie(token), time.time() + DEVICE_LINK_LIFETIME)
        return f"{id}.{token}"

    async def remove_devices(self, id: str, identity: str | None) -> None:
        """Remove the link to the visitor's seat, and all devices that share the seat."""
        await self._store.remove_devices(id, await self._get_own_seat(id, identity))

    async def has_devices(self, id: str, identity: str | None) -> bool:
        """Return whether other devices share the visitor's seat."""
        return await self._store.has_devices(id, await self._get_own_seat(id, identity))

    async def _get_own_seat(self, id: str, identity: str | None) -> Seat:
        seat = (await self._load(id)).get_seat(identity)
        if seat is None and await self.get_seat(id, identity):
            raise RequestError("Only the device on which you joined can add and remove other devices.")
        if seat is None:
            raise MatchNotFound()
        return seat

    async def add_device(self, token: str, identity: str) -> str:
        """Give an identity the seat of a link, and return the id of the match. The link works once.

        Raises NotFound if it does not work, and RequestError if the visitor plays in this match already.
        """
        id, _, secret = token.partition(".")
        with suppress(MatchNotFound, Conflict):
            if await self.get_seat(id, identity):
                raise RequestError("You play in this match on this device already.")
            await self._store.use_device_link(id, hash_cookie(secret), identity)
            return id
        raise NotFound("This link does not work any more: it was used, removed or is older than ten minutes.")

    # -- moves and offers -----------------------------------------------------------------------

    async def change(
        self, id: str, identity: str | None, decide: Callable[[MatchState, Seat], Change | None]
    ) -> None:
        """Write the change that `decide` returns. Decide again if another process has written first.

        Raises MatchNotFound if the visitor has no seat, and everything that `decide` raises.
        """
        for _ in range(_MAX_TRIES):
            state, seat = await self.get(id, identity)
            if seat is None:
                raise MatchNotFound()
            change = decide(state, seat)
            if change is None:
                return
            for player in change.creates.seats.values() if change.creates else ():
                await self._check_daily_limit(player)
            with suppress(Conflict):
                await self._store.append(change)
                if state.number == change.number:  # another task may have read it meanwhile
                    state.add(change.entries)
                self._schedule_bot(state)
                return
        raise StaleRequest("Another player was faster. Try again.")

    # -- bots -----------------------------------------------------------------------------------

    def _schedule_bot(self, state: MatchState) -> None:
        """Schedule the bot's move unless a task is already running."""
        if not _is_bot_to_move(state):
            return
        running = self._bot_tasks.get(state.id)
        if running is None or running.done():
            self._bot_tasks[state.id] = asyncio.create_task(self._run_bot(state.id))
            if len(self._bot_tasks) > _MAX_CACHED:
                self._bot_tasks = {id: task for id, task in self._bot_tasks.items() if not task.done()}

    async def _run_bot(self, id: str) -> None:
        """Play the bot's moves until a person has to decide. Every process would play the same moves."""
        try:
            while _is_bot_to_move(state := await self._load(id)):
                number = state.number
                await asyncio.sleep(self._pause)
                if state.number != number:
                    continue
                lines = [entry.text for entry in make_play_entries(state.match)]
                decide = partial(decide_bot_move, id, number, state.header, lines, self._programs.get_player)
                actor = state.actor
                asks_program = isinstance(actor, Seat) and is_program(state.kinds[actor])
                change = await (self._programs.workers if asks_program else self._workers).run(decide)
                with suppress(Conflict):
                    await self._store.append(change)
        except asyncio.CancelledError:
            raise
        except Exception as problem:  # any error of a bot; it is asked again at the next request
            log.warning("A bot could not move: %s", problem)


def _check_opponent(rules: AnyRules, name: str, *others: str) -> str:
    """Return `name`. Raises RequestError unless the server offers this player; it lists `others` too."""
    if not is_available(name):
        offered = join_or([*list_opponents(rules), *others])
        raise RequestError(f"'against' must be {offered}, not {quote(name)}.")
    return name


def _is_bot_to_move(state: MatchState) -> bool:
    actor = state.actor
    return actor not in state.people and isinstance(actor, Seat) and state.complete
