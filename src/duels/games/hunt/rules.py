"""Quantum Duel, hidden movement: two unseen tokens on a line; name the other's cell, never run into it."""

import re
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache

from duels.core.errors import NotationError, quote
from duels.core.information_sets import InformationSet
from duels.core.narration import say, victory, whose, wins
from duels.core.options import option
from duels.core.rules import Event, Outcome, Rules, Seat, Sight, Step
from duels.games.hunt import GAME

OFF_GRID = 0
NONE_NAMED = 0


class Phase(Enum):
    MOVE = "move"
    OBSERVE = "observe"


class End(Enum):
    """How a game of hunt ends."""

    CAPTURE = "capture"
    COLLISION = "collision"
    TURNS = "turns"


@dataclass(frozen=True, slots=True)
class State:
    """Where both tokens are (0: off the grid), which tunnels are left, the cell each named last (0: none).

    Pairs are player 1's, then player 2's. `turns` counts finished turns, only where the rules limit them.
    """

    cells: tuple[int, int]
    tunnels: tuple[bool, bool]
    named: tuple[int, int]
    mover: Seat
    phase: Phase
    turns: int = 0
    end: End | None = None


@dataclass(frozen=True, slots=True)
class Known:
    """What `seat` knows of a state: its own token and tunnel, and all that was said aloud."""

    seat: Seat
    cell: int
    tunnel: bool
    named: tuple[int, int]
    mover: Seat
    phase: Phase | None
    """None while the other is at its turn: its phase is its own affair."""
    turns: int
    end: End | None


@dataclass(frozen=True, slots=True)
class Move:
    """Be on `cell`: the same, a neighbour, or, from off the grid, any."""

    cell: int


@dataclass(frozen=True, slots=True)
class Tunnel:
    """Go to any `cell`, once a game."""

    cell: int


@dataclass(frozen=True, slots=True)
class Observe:
    """Name `cell` as the place of the other's token."""

    cell: int


Action = Move | Tunnel | Observe
VERBS: dict[type[Action], str] = {Move: "move", Tunnel: "tunnel", Observe: "observe"}
"""What the notation calls each kind of action."""
_KINDS = {word: kind for kind, word in VERBS.items()}


@dataclass(frozen=True, slots=True)
class Moved(Event):
    """`seat`'s token is on `cell` now; only that seat knows."""

    seat: Seat
    cell: int
    tunnel: bool


@dataclass(frozen=True, slots=True)
class Observed(Event):
    """`seat` named `cell`, and the other answered."""

    reveals = True

    seat: Seat
    cell: int
    hit: bool


@dataclass(frozen=True, slots=True)
class Captured(Event):
    """`seat` captured the other's token and wins."""

    seat: Seat


@dataclass(frozen=True, slots=True)
class Collided(Event):
    """`seat` moved onto the other's token, on `cell`, and loses."""

    seat: Seat
    cell: int


@dataclass(frozen=True, slots=True)
class TurnsUsedUp(Event):
    """The agreed number of turns is used up; nobody wins."""

    turns: int


@dataclass(frozen=True)
class QuantumHunt(Rules[State, Action, Known]):
    cells: int = option(7, "how many positions there are")
    max_turns: int | None = option(None, "turns until the match is cut off")

    game = GAME
    limit = "max_turns"
    clock = "turns"
    has_secrets = True

    def initial(self) -> State:
        return State((OFF_GRID, OFF_GRID), (True, True), (NONE_NAMED, NONE_NAMED), Seat.ONE, Phase.MOVE)

    def actor(self, state: State) -> Seat | None:
        return None if state.end else state.mover

    def actions(self, state: State) -> tuple[Action, ...]:
        if state.end:
            return ()
        me = state.mover - 1
        if state.phase is Phase.OBSERVE:
            return _observations(self.cells, state.named[me])
        return _movements(self.cells, state.cells[me], state.tunnels[me])

    def apply(self, state: State, action: Action) -> Step[State]:
        mover = state.mover
        if isinstance(action, Observe):
            return self._observe(state, action.cell)
        tunnelled = isinstance(action, Tunnel)
        tunnels = _with(state.tunnels, mover, False) if tunnelled else state.tunnels
        cells = _with(state.cells, mover, action.cell)
        moved = State(cells, tunnels, state.named, mover, Phase.OBSERVE, state.turns)
        return Step(moved, (Moved(mover, action.cell, tunnelled, seen_by=frozenset({mover})),))

    def _observe(self, state: State, cell: int) -> Step[State]:
        """Answer the observation, settle a collision, pass the turn."""
        mover = state.mover
        own, target = state.cells[mover - 1], state.cells[mover.other - 1]
        hit = cell == target
        events: tuple[Event, ...] = (Observed(mover, cell, hit),)
        turns = state.turns + (self.max_turns is not None)
        end = None
        # The Movement Phase comes first: who has run into the other loses, whatever it then names.
        if own == target:
            end = End.COLLISION
            events += (Collided(mover, own),)
        elif hit:
            end = End.CAPTURE
            events += (Captured(mover),)
        elif turns == self.max_turns:
            end = End.TURNS
            events += (TurnsUsedUp(turns),)
        after = State(
            state.cells,
            state.tunnels,
            _with(state.named, mover, cell),
            mover.other,
            Phase.MOVE,
            turns,
            end,
        )
        return Step(after, events)

    def outcome(self, state: State) -> Outcome | None:
        last = state.mover.other
        if state.end is End.CAPTURE:
            return Outcome.win(last, say(last, wins(last), "by capturing", whose(last.other), "token!"))
        if state.end is End.COLLISION:
            why = say(victory(last.other), whose(last), "token destabilized in collision.")
            return Outcome.win(last.other, why)
        if state.end is End.TURNS:
            return Outcome.cut(f"Nobody is caught after {state.turns} turns.")
        return None

    def view(self, state: State, seat: Seat) -> Known:
        me = seat - 1
        phase = state.phase if state.mover is seat else None
        return Known(
            seat,
            state.cells[me],
            state.tunnels[me],
            state.named,
            state.mover,
            phase,
            state.turns,
            state.end,
        )

    def all_actions(self) -> tuple[Action, ...]:
        return tuple(kind(cell) for kind in VERBS for cell in _grid(self.cells))

    def max_states(self) -> int:
        cells = (self.cells + 1) ** 2  # of both tokens, and of what both named last
        tunnels, movers = 4, 2
        going_on = len(Phase) * cells * cells
        # A token that was caught is where it was named; tokens that collided are on one cell.
        caught = self.cells**2 * (self.cells + 1) + self.cells * cells
        cut_off = cells * cells if self.max_turns else 0
        return tunnels * movers * (going_on + caught + cut_off) * ((self.max_turns or 0) + 1)

    def parse(self, text: str) -> Action:
        found = re.fullmatch(r"\s*(move|tunnel|observe)\s+([0-9]{1,9})\s*", text.lower())
        if not found:
            raise NotationError(f"Cannot read {quote(text)}: write move 3, tunnel 7 or observe 5.")
        return _KINDS[found[1]](int(found[2]))

    def format(self, action: Action) -> str:
        return f"{VERBS[type(action)]} {action.cell}"

    def parse_position(self, text: str) -> Sight[Action, Known]:
        """Read `SEAT: entry, entry, …`: the entries that the seat has seen, `?` for a hidden one.

        Of a match that is over, the last entry tells how it ended: `capture`, `collision` or `turns`.
        """
        found = re.fullmatch(r"\s*([12])\s*:(.*)", text, flags=re.DOTALL)
        if not found:
            raise NotationError(
                f"Cannot read {quote(text)} as a position: write what a seat has seen, "
                "like '1: move 3, observe 5, ?, observe 2'."
            )
        information_set = InformationSet.start(self, Seat(int(found[1])))
        entries = [entry.strip() for entry in found[2].split(",") if entry.strip()]
        end = next((end for end in End if entries and entries[-1].lower() == end.value), None)
        seen = [None if entry == "?" else self.parse(entry) for entry in (entries[:-1] if end else entries)]
        for action in seen[:-1] if end else seen:
            information_set = information_set.add_entry(action)
        if not end:
            return information_set.match.sight(information_set.seat)
        for way in information_set.branch(seen[-1]) if seen else ():
            if way.match.state.end is end:
                return way.match.sight(way.seat)
        raise NotationError(f"Cannot read {quote(text)}: the match cannot have ended there by {end.value}.")

    def format_position(self, sight: Sight[Action, Known]) -> str:
        entries = ["?" if action is None else self.format(action) for action in sight.history]
        if sight.view.end:
            entries.append(sight.view.end.value)
        return f"{sight.seat.value}: {', '.join(entries)}".rstrip()


def _grid(cells: int) -> range:
    return range(1, cells + 1)


# A handful of answers serve every state, so they are worked out once.
@lru_cache
def _movements(cells: int, here: int, tunnel: bool) -> tuple[Action, ...]:
    """Where a token may go that stands `here`, with or without its `tunnel`."""
    steps = tuple(Move(cell) for cell in _grid(cells) if here == OFF_GRID or abs(cell - here) <= 1)
    return steps + tuple(Tunnel(cell) for cell in _grid(cells)) if tunnel else steps


@lru_cache
def _observations(cells: int, named: int) -> tuple[Action, ...]:
    """What may be named by a player who `named` a cell on its previous turn."""
    return tuple(Observe(cell) for cell in _grid(cells) if cell != named)


def _with(pair: tuple, seat: Seat, value: object) -> tuple:  # type: ignore[type-arg]
    """`pair` with the entry of `seat` replaced."""
    return (value, pair[1]) if seat is Seat.ONE else (pair[0], value)


RULES = QuantumHunt
