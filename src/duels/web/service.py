"""The matches of a server: who may do what, and what then happens. It has no pages and knows no HTTP.

Any process may take any request for any match. Machines and chance are functions of seed and record, so it
does not matter who drives them: what a process left undone when it ended is done by whoever comes next.
"""

import asyncio
import logging
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial

from duels.core.errors import DuelsError, RecordError, UnknownName
from duels.core.rules import AnyRules, Seat
from duels.core.words import join_or
from duels.games import GAMES, find_game
from duels.play import new_match
from duels.players import HUMAN, make_player
from duels.web.decisions import (
    MoveRequest,
    clean_name,
    decide_act,
    decide_for_machine,
    decide_offer,
    make_match,
)
from duels.web.match_state import MatchState, Viewer, lines
from duels.web.opponents import Programs, as_before, is_program, may_play, opponents
from duels.web.refusals import Missing, NoMatch, Refusal, Stale, TooMany
from duels.web.store import Change, Claim, Conflict, Entry, EntryKind, Invite, Store, Stored, StoredMatch
from duels.web.workers import Workers

log = logging.getLogger("duels.web")

_DAY = 24 * 3600.0
_MOST_REMEMBERED = 2_000  # matches, as they stand; any can be read again
_MOST_TRIES = 20  # a conflict means that somebody else got further, so this many never come in a row
_FIRST = {"me": "1", "you": "2", "chance": "random"}
FRIEND = "friend"


class Hub:
    """Everybody who watches a match is known here; all of them belong to one event loop."""

    def __init__(self) -> None:
        self._watching: dict[str, set[Callable[[], object]]] = {}

    @contextmanager
    def watching(self, match: str, wake: Callable[[], object]) -> Iterator[None]:
        """Within, `wake` is called whenever the match is written to."""
        self._watching.setdefault(match, set()).add(wake)
        try:
            yield
        finally:
            self._watching[match].discard(wake)
            if not self._watching[match]:
                del self._watching[match]

    def wake(self, match: str | None) -> None:
        """A match was written to; None if it may have been any."""
        for each in [match] if match is not None else list(self._watching):
            for wake in self._watching.get(each, ()):
                wake()


class MatchService:
    """All matches that this process serves."""

    def __init__(self, store: Store, workers: Workers, pause: float = 0.8, matches_a_day: int = 200) -> None:
        self._store = store
        self._workers = workers
        self._programs = Programs()
        self._pause = pause
        self._matches_a_day = matches_a_day
        self.hub = Hub()
        self._known: OrderedDict[str, MatchState] = OrderedDict()
        self._drivers: dict[str, asyncio.Task[None]] = {}
        self._preparing: set[asyncio.Task[None]] = set()

    async def open(self) -> None:
        """Begin."""
        await self._store.open(self.hub.wake)

    async def close(self) -> None:
        """End: what machines were about to do is left to whoever comes next."""
        tasks = (*self._drivers.values(), *self._preparing)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await asyncio.to_thread(self._programs.close)
        await self._store.close()

    async def check(self) -> None:
        """Return if matches can be served now."""
        await self._store.check()

    # -- reading --------------------------------------------------------------------------------

    async def look(self, id: str, identity: str | None) -> tuple[MatchState, Viewer]:
        """A match as it stands, and as whom this visitor sees it.

        Missing if there is none, and in the same way if the visitor may not see it. If a machine is to move,
        it will.
        """
        return self._seen(await self._read(id), identity)

    def _seen(self, standing: MatchState, identity: str | None) -> tuple[MatchState, Viewer]:
        viewer = standing.seat_of(identity)
        if not standing.may_watch(viewer):
            raise NoMatch()
        self._drive(standing)
        return standing, viewer

    async def seat_of(self, id: str, identity: str | None) -> Viewer:
        """The seat of a visitor at a match."""
        return (await self._read(id)).seat_of(identity)

    async def invite_to(self, id: str) -> Invite | None:
        """The invitation to a match, if it can still be taken up."""
        stored = await self._store.find(id)
        invite = stored.invite if stored else None
        return invite if invite and invite.expires > time.time() else None

    async def joined(self, token: str, identity: str | None) -> str | None:
        """The match that an invitation led to, for whoever sits there: the link leads back to it."""
        id = await self._store.match_of_invite(token)
        return id if id and await self.seat_of(id, identity) else None

    async def invited(self, token: str) -> tuple[MatchState, Invite]:
        """The match that an invitation leads to; Missing if it can no longer be taken up."""
        invite = await self._store.invite(token, time.time())
        if not invite:
            raise Missing("This invitation is unknown, taken up already, or too old. Ask for another one.")
        return await self._read(invite.match), invite

    async def matches_of(self, identity: str, over: bool, most: int) -> list[tuple[StoredMatch, MatchState]]:
        """The matches that are over, or go on, at which a visitor sat down last."""
        found = []
        for each in await self._store.matches_of(identity, over, most):
            known = self._known.get(each.id)
            if known is None or known.number < each.number:
                with suppress(Missing):  # of a game that is no longer installed
                    known = await self._read(each.id)
                await asyncio.sleep(0)  # reading from a file never waits: let others have their turn
            if known:
                found.append((each, known))
        return found

    async def _read(self, id: str) -> MatchState:
        """A match as it stands now."""
        standing = self._known.get(id)
        if standing is None or not standing.all_seated:
            stored = await self._store.find(id)
            if stored is None:
                raise NoMatch()
            if standing is None:
                standing = self._known.setdefault(id, _standing(id, stored))
            standing.identities = stored.seats
        number = standing.number
        new = await self._store.entries(id, number)
        # Another task may have read on while this one waited.
        standing.add(new[standing.number - number :])
        self._known.setdefault(id, standing)
        self._known.move_to_end(id)
        while len(self._known) > _MOST_REMEMBERED:
            self._known.popitem(last=False)
        return standing

    # -- new matches ----------------------------------------------------------------------------

    async def create(
        self, identity: str, game: str, against: str, first: str = "me", name: str = ""
    ) -> tuple[str, Seat]:
        """Begin a match against a level, or one to which a friend is invited; its id, the visitor's seat."""
        try:
            rules = find_game(game).rules()
        except UnknownName as unknown:
            raise Refusal(str(unknown)) from None
        other = HUMAN if against == FRIEND else _opponent(rules, against)
        if first not in _FIRST:
            raise Refusal(f"Who moves first is {', '.join(_FIRST)}, not '{first[:20]}'.")
        await self._check_how_many(identity)
        if other != HUMAN and game not in GAMES:  # of ours there is every level
            await self._check_player(rules, other)
        return await self._begin(rules, identity, name, other, _FIRST[first])

    async def play_on(
        self, identity: str, id: str, entries: int, against: str | None, name: str = ""
    ) -> tuple[str, Seat]:
        """Begin a match with the first lines of another one that is over; whoever is to move goes on.

        It is against the same machine as then, unless another one is asked for.
        """
        standing, viewer = await self.look(id, identity)
        match = standing.match
        if standing.rules.has_secrets or not match.over:
            raise Refusal("Only a match without hidden moves, once it is over, can be played on.")
        if not 0 <= entries < len(match.turns):
            raise Refusal(f"Play on after 0 to {len(match.turns) - 1} entries.")
        begun = match.after(entries)
        seat = viewer or (begun.actor if isinstance(begun.actor, Seat) else Seat.ONE)
        other = _opponent(standing.rules, against or as_before(standing.rules, standing.kinds[seat.other]))
        await self._check_how_many(identity)
        return await self._begin(standing.rules, identity, name, other, str(seat.value), lines(begun))

    async def _begin(
        self,
        rules: AnyRules,
        identity: str,
        name: str,
        other: str,
        first: str,
        begun: tuple[Entry, ...] = (),
    ) -> tuple[str, Seat]:
        new = new_match.MatchSetup(rules, HUMAN, other, first)
        seat = Seat.TWO if new.swapped else Seat.ONE
        made = make_match(new.rules, new.make_headers(), {seat: (identity, name)}, begun)
        await self._store.create(made)
        self._prepare(new.rules, other)
        return made.id, seat

    async def _check_how_many(self, identity: str) -> None:
        if await self._store.count_since(identity, time.time() - _DAY) >= self._matches_a_day:
            raise TooMany("You have begun as many matches as one may in a day. Try again later.", 3600.0)

    async def _check_player(self, rules: AnyRules, name: str) -> None:
        try:
            await self._workers.run(partial(make_player, name, rules))
        except Refusal:
            raise
        except DuelsError as unknown:
            raise Refusal(str(unknown)) from None

    def _prepare(self, rules: AnyRules, name: str) -> None:
        """Have the player ready when its turn comes: some take a moment the first time."""
        if name == HUMAN or is_program(name):
            return

        async def prepare() -> None:
            with suppress(DuelsError):  # it is told when the player is to move
                await self._workers.run(partial(make_player, name, rules))

        task = asyncio.create_task(prepare())
        self._preparing.add(task)
        task.add_done_callback(self._preparing.discard)

    async def sit_down(self, token: str, identity: str, name: str) -> str:
        """Take the seat that an invitation holds free; the id of the match."""
        for _ in range(_MOST_TRIES):
            try:
                standing, invite = await self.invited(token)
            except Missing:
                if id := await self.joined(token, identity):
                    return id
                raise
            if await self.seat_of(standing.id, identity):
                raise Refusal("This is your own invitation: send its link to somebody else.")
            await self._check_how_many(identity)
            before = after = standing.match
            if {*standing.names, invite.seat} >= standing.people:
                after = standing.go_on(before)
            sit = Entry(EntryKind.SIT, clean_name(name), invite.seat)
            claim = Claim(token, identity, time.time())
            entries = (sit, *lines(after, before))
            with suppress(Conflict):
                change = Change(standing.id, standing.number, entries, claim, ends=after.over)
                await self._store.append(change)
                return standing.id
        raise Stale("Somebody else was quicker.")

    # -- at the board ---------------------------------------------------------------------------

    async def act(self, id: str, identity: str | None, asked: MoveRequest) -> None:
        """Play what a seat asks for, once, however often the request comes.

        Stale if the match has gone on since the event that the page showed; Refusal in the game's own words.
        """
        await self._change(id, identity, lambda standing, seat: decide_act(standing, seat, asked))

    async def offer(self, id: str, identity: str | None, what: str, answer: str, event: int) -> None:
        """Offer a takeback or a rematch, or answer with yes or no: once, however often the request comes."""
        await self._change(
            id, identity, lambda standing, seat: decide_offer(standing, seat, what, answer, event)
        )

    async def _change(
        self, id: str, identity: str | None, decide: Callable[[MatchState, Seat], Change | None]
    ) -> None:
        """Write what is decided, and decide again if somebody else wrote first."""
        for _ in range(_MOST_TRIES):
            standing, seat = await self.look(id, identity)
            if seat is None:
                raise NoMatch()
            change = decide(standing, seat)
            if change is None:
                return
            for each in change.creates.seats.values() if change.creates else ():
                await self._check_how_many(each)
            with suppress(Conflict):
                await self._store.append(change)
                if standing.number == change.number:  # else somebody has read it meanwhile
                    standing.add(change.entries)
                self._drive(standing)
                return
        raise Stale("Somebody else was quicker. Try again.")

    # -- machines -------------------------------------------------------------------------------

    def _drive(self, standing: MatchState) -> None:
        """See to it that whatever needs no person happens, in a while, once in this process."""
        if not _waits_for_machine(standing):
            return
        running = self._drivers.get(standing.id)
        if running is None or running.done():
            self._drivers[standing.id] = asyncio.create_task(self._run_machine(standing.id))
            if len(self._drivers) > _MOST_REMEMBERED:
                self._drivers = {id: task for id, task in self._drivers.items() if not task.done()}

    async def _run_machine(self, id: str) -> None:
        """Play for the machine until a person is to decide. Whoever else does so writes the same."""
        try:
            while _waits_for_machine(standing := await self._read(id)):
                number = standing.number
                await asyncio.sleep(self._pause)
                if standing.number != number:
                    continue
                played = [entry.text for entry in lines(standing.match)]
                decide = partial(decide_for_machine, id, number, standing.header, played, self._programs.seat)
                actor = standing.actor
                asks_program = isinstance(actor, Seat) and is_program(standing.kinds[actor])
                change = await (self._programs.workers if asks_program else self._workers).run(decide)
                with suppress(Conflict):
                    await self._store.append(change)
        except asyncio.CancelledError:
            raise
        except Exception as problem:  # whatever a player does; it is asked again when somebody looks
            log.warning("A machine player could not move: %s", problem)


def _standing(id: str, stored: Stored) -> MatchState:
    try:
        return MatchState(id, stored.header)
    except RecordError as problem:
        log.warning("A match cannot be read: %s", problem)
        raise NoMatch() from None


def _opponent(rules: AnyRules, name: str) -> str:
    """The player that a request asks for, which is one that this server offers."""
    if not may_play(name):
        raise Refusal(f"Play against {join_or([*opponents(rules), f'a {FRIEND}'])}.")
    return name


def _waits_for_machine(standing: MatchState) -> bool:
    actor = standing.actor
    return actor not in standing.people and isinstance(actor, Seat) and standing.complete
