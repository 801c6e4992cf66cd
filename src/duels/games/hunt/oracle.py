"""Play for hunt by the shipped strategy: certified to give away little, never called optimal.

Beliefs follow the rules of probability from what one seat has seen; values are estimates.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from duels.core.errors import DuelsError
from duels.core.match import Resigned
from duels.core.rules import Seat, Sight
from duels.games.hunt.rules import (
    Action,
    Captured,
    Collided,
    Known,
    Move,
    Observe,
    Phase,
    QuantumHunt,
    Tunnel,
)
from duels.games.hunt.strategy import CELLS, OFF, Strategy, row_of, shipped
from duels.solving.oracle import Check, Exactness, Judged, Oracle, Value, Verdict
from duels.solving.pomdp import Bounds

STRAY = 0.02
"""How often the other side is taken to do just anything instead, so that no sight is ever impossible."""

Hidden = tuple[int, bool]
"""Where the other's token is (cells from 0), and whether its tunnel is left."""


def make_oracle(rules: QuantumHunt) -> "HuntOracle":
    """The oracle for the book's seven cells; a limit of turns does not change the strategy."""
    if rules.cells != CELLS:
        raise DuelsError(f"There is a strategy for {CELLS} cells only, not for {rules.cells}.")
    return HuntOracle(rules, shipped())


@dataclass(frozen=True)
class Track:
    """What a seat has worked out: its own place, what both have named, where the other may be."""

    own: int
    names: dict[Seat, tuple[int, ...]]
    other: dict[Hidden, float]


class HuntOracle(Oracle[Action, Known]):
    def __init__(self, rules: QuantumHunt, strategy: Strategy) -> None:
        self.rules = rules
        self.strategy = strategy

    # -- answers --------------------------------------------------------------------------------

    def value(self, sight: Sight[Action, Known]) -> Value:
        view = sight.view
        if view.end is not None or sight.actor is None:
            return self._ended(sight)
        if sight.actor is sight.seat:
            return self.judge(sight).value
        # Between its move and its observation the other has told nothing: judge by what was known before.
        track = self._track(sight, sight.history[: len(sight.history) // 2 * 2])
        row = row_of(track.names[sight.seat], track.names[sight.seat.other])
        tables = self.strategy[sight.seat]
        return _estimate(
            sum(p * tables.chance_waiting(row, track.own, x) for (x, _), p in track.other.items())
        )

    def judge(self, sight: Sight[Action, Known]) -> Verdict[Action]:
        track, seat = self._track(sight), sight.seat
        weights = self.weights(sight)
        values = [self._worth(seat, track, action) for action in sight.actions]
        top = max(values)
        judged = tuple(
            Judged(action, _estimate(value), value == top and not _wasteful(action, sight.actions), weight)
            for action, value, weight in zip(sight.actions, values, weights, strict=True)
        )
        return Verdict(_estimate(sum(j.weight * j.value.number for j in judged)), judged)

    def weights(self, sight: Sight[Action, Known]) -> tuple[float, ...]:
        """The mixed strategy over `sight.actions`, from what the seat remembers and its own cell."""
        seat, view = sight.seat, sight.view
        names = _names(sight.history)
        tables = self.strategy[seat]
        row = row_of(names[seat], names[seat.other])
        if view.phase is Phase.OBSERVE:
            raw = tables.name_weights(row, view.cell - 1)
        else:
            raw = tables.move_weights(row, view.cell - 1 if view.cell else OFF)
        kept = [0 if isinstance(action, Tunnel) else raw[action.cell - 1] for action in sight.actions]
        return tuple(weight / sum(kept) for weight in kept)

    def belief(self, sight: Sight[Action, Known]) -> dict[str, float]:
        other = self._track(sight).other
        found = {
            f"cell {cell + 1}": sum(p for (x, _), p in other.items() if x == cell) for cell in range(CELLS)
        }
        found["off the grid"] = sum(p for (x, _), p in other.items() if x == OFF)
        found["tunnel left"] = sum(p for (_, tunnel), p in other.items() if tunnel)
        return found

    def reason(self, sight: Sight[Action, Known]) -> str:
        belief = self._track(sight).other
        cells = [sum(p for (x, _), p in belief.items() if x == cell) for cell in range(CELLS)]
        likeliest = max(range(CELLS), key=cells.__getitem__)
        if sight.view.phase is Phase.OBSERVE:
            if not any(cells):
                return "The other token is still off the grid: any observation misses, so give nothing away."
            return (
                f"Cell {likeliest + 1} is the likeliest place of the other token, "
                f"about {cells[likeliest]:.0%}; mix your observations so that they cannot be foreseen."
            )
        if sight.view.cell == 0:
            return (
                "Enter where the other is unlikely to look or to stand; a cell just named is safe for a turn."
            )
        return (
            "Moving onto the other token loses and standing still gets found: "
            "stay mostly, and step where the other is unlikely to be "
            f"(cell {likeliest + 1} is its likeliest place)."
        )

    def claim(self) -> str:
        from duels.games.hunt.certificate import claimed

        certificate = claimed()
        one, two = certificate.against[Seat.ONE], certificate.against[Seat.TWO]
        gain, value = certificate.nash_conv, certificate.value
        return (
            f"The strategy is certified to give away at most {gain.high:.3f}, both seats together (at least "
            f"{gain.low:.3f}): a best responder wins {one.low:.3f} to {one.high:.3f} against its Player 1 "
            f"and {two.low:.3f} to {two.high:.3f} against its Player 2. The game's value to Player 1 "
            f"lies between {value.low:.3f} and {value.high:.3f}."
        )

    def verify(self) -> Iterator[Check]:
        """Recompute the certificate of the shipped strategy; needs numpy and numba."""
        from duels.games.hunt.certificate import certify, claimed

        found: dict[Seat, Bounds] = {}
        for seat, progress in certify(self.strategy):
            found[seat] = progress.bounds
            bounds = f"{progress.bounds.low:.4f} to {progress.bounds.high:.4f}"
            self.progress(f"best responder against {seat.label}: {bounds}")
        for seat, claim in claimed().against.items():
            low, high = found[seat].low, found[seat].high
            yield Check(
                f"what a best responder wins against {seat.label}'s strategy",
                claim.low <= low and high <= claim.high,
                f"claimed {claim.low:.4f} to {claim.high:.4f}, found {low:.4f} to {high:.4f}",
            )

    # -- beliefs --------------------------------------------------------------------------------

    def _track(self, sight: Sight[Action, Known], history: Sequence[Action | None] | None = None) -> Track:
        """Follow what the seat has seen, move by move, with the strategy as the other's habit."""
        seat = sight.seat
        own = OFF
        names: dict[Seat, tuple[int, ...]] = {Seat.ONE: (), Seat.TWO: ()}
        other: dict[Hidden, float] = {(OFF, True): 1.0}
        for place, entry in enumerate(sight.history if history is None else history):
            mover = Seat.TWO if place // 2 % 2 else Seat.ONE
            if isinstance(entry, Observe):
                cell = entry.cell - 1
                if mover is seat:
                    other = _scaled({h: p for h, p in other.items() if h[0] not in (cell, own)})
                else:
                    other = self._heard(other, cell, own, names, seat.other)
                names[mover] = (*names[mover], cell)
            elif mover is seat:
                assert entry is not None
                own = entry.cell - 1
            else:
                other = self._moved(other, names, seat.other)
        return Track(own, names, other)

    def _moved(
        self, other: dict[Hidden, float], names: dict[Seat, tuple[int, ...]], mover: Seat
    ) -> dict[Hidden, float]:
        tables, row = self.strategy[mover], row_of(names[mover], names[mover.other])
        after: dict[Hidden, float] = {}
        for (place, tunnel), p in other.items():
            steps = [cell for cell in range(CELLS) if place == OFF or abs(cell - place) <= 1]
            weights = tables.move_weights(row, place)
            legal = len(steps) + tunnel * CELLS
            total = sum(weights)
            for cell in steps:
                share = (1 - STRAY) * weights[cell] / total + STRAY / legal
                after[cell, tunnel] = after.get((cell, tunnel), 0.0) + p * share
            if tunnel:
                for cell in range(CELLS):
                    after[cell, False] = after.get((cell, False), 0.0) + p * STRAY / legal
        return after

    def _heard(
        self,
        other: dict[Hidden, float],
        cell: int,
        own: int,
        names: dict[Seat, tuple[int, ...]],
        mover: Seat,
    ) -> dict[Hidden, float]:
        """The other has named `cell`, was wrong, and has not run into us."""
        tables, row = self.strategy[mover], row_of(names[mover], names[mover.other])
        after: dict[Hidden, float] = {}
        for (place, tunnel), p in other.items():
            if place != own:
                weights = tables.name_weights(row, place)
                chance = (1 - STRAY) * weights[cell] / sum(weights) + STRAY / CELLS
                after[place, tunnel] = p * chance
        return _scaled(after)

    # -- estimates ------------------------------------------------------------------------------

    def _worth(self, seat: Seat, track: Track, action: Action) -> float:
        """The chance to win with `action` now and the strategy from then on, for both."""
        if isinstance(action, Observe):
            return sum(
                p * self._after_naming(seat, track.names, track.own, x, action.cell - 1)
                for (x, _), p in track.other.items()
            )
        assert isinstance(action, Move | Tunnel)
        return sum(
            p * self._after_move(seat, track.names, action.cell - 1, x) for (x, _), p in track.other.items()
        )

    def _after_naming(
        self, seat: Seat, names: dict[Seat, tuple[int, ...]], own: int, other: int, cell: int
    ) -> float:
        """What naming `cell` brings `seat`, whose token is on `own` and the other's on `other`."""
        if own == other:
            return 0.0
        if cell == other:
            return 1.0
        row = row_of((*names[seat], cell), names[seat.other])
        return self.strategy[seat].chance_waiting(row, own, other)

    def _after_move(self, seat: Seat, names: dict[Seat, tuple[int, ...]], own: int, other: int) -> float:
        if own == other:
            return 0.0
        weights = self.strategy[seat].name_weights(row_of(names[seat], names[seat.other]), own)
        total = sum(weights)
        return sum(
            weight / total * self._after_naming(seat, names, own, other, cell)
            for cell, weight in enumerate(weights)
            if weight
        )

    def _ended(self, sight: Sight[Action, Known]) -> Value:
        """What is over is known: read it from the last words."""
        for event in reversed(sight.events):
            if isinstance(event, Resigned):
                return Value(float(event.seat is not sight.seat))
            if isinstance(event, Captured):
                return Value(float(event.seat is sight.seat))
            if isinstance(event, Collided):
                return Value(float(event.seat is not sight.seat))
        return Value(0.5)


def _wasteful(action: Action, actions: tuple[Action, ...]) -> bool:
    """Whether a step would do where the tunnel is used: it can be kept for later."""
    return isinstance(action, Tunnel) and Move(action.cell) in actions


def _names(history: Sequence[Action | None]) -> dict[Seat, tuple[int, ...]]:
    """What each seat has named, oldest first, cells from 0."""
    said = [entry.cell - 1 for entry in history if isinstance(entry, Observe)]
    return {Seat.ONE: tuple(said[::2]), Seat.TWO: tuple(said[1::2])}


def _scaled(weights: dict[Hidden, float]) -> dict[Hidden, float]:
    total = sum(weights.values())
    return {hidden: weight / total for hidden, weight in weights.items()}


def _estimate(chance: float) -> Value:
    return Value(chance, Exactness.ESTIMATE)
