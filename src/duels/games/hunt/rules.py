"""Quantum Duel: the hunt. Two hidden tokens on a line: observe the opponent's cell, do not collide."""

import re
from dataclasses import dataclass
from enum import Enum

from duels.core.errors import NotationError, quote
from duels.core.information_sets import InformationSet
from duels.core.narration import say, victory, whose, wins
from duels.core.options import option
from duels.core.rules import Event, Outcome, Rules, Seat, Sight, Step
from duels.games.hunt import GAME

OFF_GRID = 0
NONE_OBSERVED = 0


class Phase(Enum):
    """The two halves of a turn."""

    MOVE = "move"
    OBSERVE = "observe"


class End(Enum):
    """How a game of hunt ends."""

    CAPTURE = "capture"
    COLLISION = "collision"
    TURNS = "turns"


@dataclass(frozen=True, slots=True)
class State:
    """The whole state. Pairs list Player 1 first.

    A cell may be OFF_GRID, and a last observation NONE_OBSERVED. `turns` counts finished turns if there is a
    limit; otherwise it stays 0.
    """

    cells: tuple[int, int]
    tunnels: tuple[bool, bool]
    last_observed: tuple[int, int]
    mover: Seat
    phase: Phase
    turns: int = 0
    end: End | None = None


@dataclass(frozen=True, slots=True)
class View:
    """A player's view: the player's own token and tunnel, and all public information."""

    seat: Seat
    cell: int
    tunnel: bool
    last_observed: tuple[int, int]
    mover: Seat
    phase: Phase | None
    """None on the opponent's turn, because the opponent's phase is hidden."""
    turns: int
    end: End | None


@dataclass(frozen=True, slots=True)
class Move:
    """Move to `cell`: stay, step to a neighbour or, from off the grid, enter anywhere."""

    cell: int


@dataclass(frozen=True, slots=True)
class Tunnel:
    """Go to any `cell`, once per match."""

    cell: int


@dataclass(frozen=True, slots=True)
class Observe:
    """Observe `cell`. It is a hit if the opponent's token is there."""

    cell: int


Action = Move | Tunnel | Observe
VERBS: dict[type[Action], str] = {Move: "move", Tunnel: "tunnel", Observe: "observe"}
"""The verb of each action type in notation."""
_ACTION_TYPES = {verb: action_type for action_type, verb in VERBS.items()}


@dataclass(frozen=True, slots=True)
class Moved(Event):
    """`seat` moved its token to `cell`. Only `seat` sees this event."""

    seat: Seat
    cell: int
    tunnel: bool


@dataclass(frozen=True, slots=True)
class Observed(Event):
    """`seat` observed `cell`."""

    reveals = True

    seat: Seat
    cell: int
    hit: bool


@dataclass(frozen=True, slots=True)
class Captured(Event):
    """`seat` captured the opponent's token and wins."""

    seat: Seat


@dataclass(frozen=True, slots=True)
class Collided(Event):
    """`seat` moved onto the opponent's token on `cell` and loses."""

    seat: Seat
    cell: int


@dataclass(frozen=True, slots=True)
class TurnsUsedUp(Event):
    """The match reached its turn limit, and nobody wins."""

    turns: int


@dataclass(frozen=True)
class QuantumHunt(Rules[State, Action, View]):
    """Move a hidden token, then observe a cell. Observing the other token wins; moving onto it loses."""

    cells: int = option(7, "number of positions")
    max_turns: int | None = option(None, "number of turns after which nobody wins")

    game = GAME
    limit = "max_turns"
    clock = "turns"
    has_hidden_information = True

    def initial(self) -> State:
        cells, last_observed = (OFF_GRID, OFF_GRID), (NONE_OBSERVED, NONE_OBSERVED)
        return State(cells, (True, True), last_observed, Seat.ONE, Phase.MOVE)

    def actor(self, state: State) -> Seat | None:
        return None if state.end else state.mover

    def actions(self, state: State) -> tuple[Action, ...]:
        if state.end:
            return ()
        me = state.mover - 1
        if state.phase is Phase.OBSERVE:
            # A player may not observe a cell twice in a row.
            return tuple(Observe(c) for c in _list_cells(self.cells) if c != state.last_observed[me])
        return _list_movements(self.cells, state.cells[me], state.tunnels[me])

    def apply(self, state: State, action: Action) -> Step[State]:
        mover = state.mover
        if isinstance(action, Observe):
            return self._observe(state, action.cell)
        tunnelled = isinstance(action, Tunnel)
        tunnels = _replace_entry(state.tunnels, mover, False) if tunnelled else state.tunnels
        cells = _replace_entry(state.cells, mover, action.cell)
        moved = State(cells, tunnels, state.last_observed, mover, Phase.OBSERVE, state.turns)
        return Step(moved, (Moved(mover, action.cell, tunnelled, seen_by=frozenset({mover})),))

    def _observe(self, state: State, cell: int) -> Step[State]:
        mover = state.mover
        own, target = state.cells[mover - 1], state.cells[mover.other - 1]
        hit = cell == target
        events: tuple[Event, ...] = (Observed(mover, cell, hit),)
        turns = state.turns + (self.max_turns is not None)
        end = None
        # The Movement Phase comes first: a player who collided loses even if the observation hits.
        if own == target:
            end = End.COLLISION
            events += (Collided(mover, own),)
        elif hit:
            end = End.CAPTURE
            events += (Captured(mover),)
        elif turns == self.max_turns:
            end = End.TURNS
            events += (TurnsUsedUp(turns),)
        next_state = State(
            state.cells,
            state.tunnels,
            _replace_entry(state.last_observed, mover, cell),
            mover.other,
            Phase.MOVE,
            turns,
            end,
        )
        return Step(next_state, events)

    def outcome(self, state: State) -> Outcome | None:
        observer = state.mover.other  # every match ends with an observation
        if state.end is End.CAPTURE:
            return Outcome.win(
                observer, say(observer, wins(observer), "by capturing", whose(observer.other), "token!")
            )
        if state.end is End.COLLISION:
            why = say(victory(observer.other), whose(observer), "token destabilized in collision.")
            return Outcome.win(observer.other, why)
        if state.end is End.TURNS:
            return Outcome.cut(f"Nobody is caught after {state.turns} turns.")
        return None

    def view(self, state: State, seat: Seat) -> View:
        me = seat - 1
        phase = state.phase if state.mover is seat else None
        return View(
            seat,
            state.cells[me],
            state.tunnels[me],
            state.last_observed,
            state.mover,
            phase,
            state.turns,
            state.end,
        )

    def all_actions(self) -> tuple[Action, ...]:
        return tuple(action_type(cell) for action_type in VERBS for cell in _list_cells(self.cells))

    def max_states(self) -> int:
        pairs = (self.cells + 1) ** 2  # of both tokens' cells, or of both players' last observations
        tunnels, movers = 4, 2
        ongoing = len(Phase) * pairs * pairs
        # A captured token is on the observed cell; collided tokens share one cell.
        caught = self.cells**2 * (self.cells + 1) + self.cells * pairs
        cut_off = pairs * pairs if self.max_turns else 0
        return tunnels * movers * (ongoing + caught + cut_off) * ((self.max_turns or 0) + 1)

    def parse(self, text: str) -> Action:
        match = re.fullmatch(r"\s*(move|tunnel|observe)\s+([0-9]{1,9})\s*", text.lower())
        if not match:
            raise NotationError(f"Cannot read {quote(text)}: write move 3, tunnel 7 or observe 5.")
        return _ACTION_TYPES[match[1]](int(match[2]))

    def format(self, action: Action) -> str:
        return f"{VERBS[type(action)]} {action.cell}"

    def parse_position(self, text: str) -> Sight[Action, View]:
        """Parse `SEAT: entry, entry, …`, the entries that the seat saw. `?` is a hidden entry.

        A finished match ends with `capture`, `collision` or `turns`. Raises NotationError.
        """
        match = re.fullmatch(r"\s*([12])\s*:(.*)", text, flags=re.DOTALL)
        if not match:
            raise NotationError(
                f"Cannot read {quote(text)} as a position: write the seat and the entries it saw, "
                "like '1: move 3, observe 5, ?, observe 2'."
            )
        information_set = InformationSet.start(self, Seat(int(match[1])))
        entries = [entry.strip() for entry in match[2].split(",") if entry.strip()]
        end = next((end for end in End if entries and entries[-1].lower() == end.value), None)
        if end:
            entries.pop()
        actions = [None if entry == "?" else self.parse(entry) for entry in entries]
        for action in actions[:-1] if end else actions:
            information_set = information_set.add_entry(action)
        if not end:
            return information_set.match.sight(information_set.seat)
        for branch in information_set.branch(actions[-1]) if actions else ():
            if branch.match.state.end is end:
                return branch.match.sight(branch.seat)
        raise NotationError(f"Cannot read {quote(text)}: a match cannot end there by {end.value}.")

    def format_position(self, sight: Sight[Action, View]) -> str:
        entries = ["?" if action is None else self.format(action) for action in sight.history]
        if sight.view.end:
            entries.append(sight.view.end.value)
        return f"{sight.seat.value}: {', '.join(entries)}".rstrip()


def _list_cells(cells: int) -> range:
    return range(1, cells + 1)


def _list_movements(cells: int, here: int, tunnel: bool) -> tuple[Action, ...]:
    steps = tuple(Move(cell) for cell in _list_cells(cells) if here == OFF_GRID or abs(cell - here) <= 1)
    return steps + tuple(Tunnel(cell) for cell in _list_cells(cells)) if tunnel else steps


def _replace_entry(pair: tuple, seat: Seat, value: object) -> tuple:  # type: ignore[type-arg]
    return (value, pair[1]) if seat is Seat.ONE else (pair[0], value)


RULES = QuantumHunt
