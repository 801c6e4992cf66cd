"""Perfect play for flip: the abstraction table, and what the real board can change about it."""

from collections import Counter
from collections.abc import Hashable, Iterator
from typing import NamedTuple

from duels.core.notation import listed
from duels.core.rules import CHANCE, Sight
from duels.games.flip.bounds import ENOUGH, Bounds, Interval, Position, best
from duels.games.flip.endings import endings
from duels.games.flip.rules import UNKNOWN, Action, Drawn, Flip, Keep, QuantumFlip, QuantumTiles, State
from duels.games.flip.table import ROUNDING, Table
from duels.solving.oracle import Check, Exactness, Finding, Judged, Oracle, Value, Verdict
from duels.solving.progress import Progress, quiet
from duels.solving.protocols import Explainer, Verifier

MOST_STEPS = 2
FEW = 15  # unknown tiles, beyond which a second step takes many seconds and is left out
ALIKE = 4 * ROUNDING  # closer values cannot be told apart


def make_oracle(rules: QuantumTiles, progress: Progress = quiet) -> "FlipOracle":
    """The oracle for any of flip's boards; the book's table is shipped, others are solved and cached."""
    return FlipOracle(rules, Table.of(rules, progress))


def how_perfect() -> str:
    return "gives away no more than the bounds of its values leave open, which duels solve flip shows"


class Odds(NamedTuple):
    """What one plain flip can bring: the chance to hit the target, and to pass it."""

    hit: float
    bust: float


class FlipOracle(Oracle[Action, State], Explainer[Action, State], Verifier):
    rules: QuantumTiles
    counts_as_one = "Tiles that nobody has seen count as one answer, and so do tiles known to be alike."

    def __init__(self, rules: QuantumTiles, table: Table) -> None:
        self.rules = rules
        self.bounds = Bounds(rules, table)

    def _value_of(self, sight: Sight[Action, State]) -> Value:
        state = sight.view
        lifted = self.rules.actor(state) is CHANCE
        found = _value(self._lifted(state)) if lifted else self._verdict(state).value
        return found if state.mover is sight.seat else found.for_other()

    def _verdict_on(self, sight: Sight[Action, State]) -> Verdict[Action]:
        return self._verdict(sight.view)

    def idea(self, sight: Sight[Action, State], action: Action) -> Hashable:
        tiles = sight.view.tiles
        if isinstance(action, QuantumFlip):
            return "quantum", *sorted((tiles[action.first], tiles[action.second]))
        assert not isinstance(action, Drawn)
        saved = sight.view.quantum[sight.seat - 1]  # with it, a plain flip says to save it
        return type(action).__name__, tiles[action.tile], saved

    def findings(self, sight: Sight[Action, State]) -> Iterator[Finding]:
        found = endings(self.rules, sight.view)
        if found:
            told = [
                f"{seat.label} reaches {self.rules.target} with {_percent(ending.hits)} "
                f"and passes it with {_percent(ending.passes)}"
                for seat, ending in sorted(found.items())
            ]
            yield Finding(
                "endings",
                f"Nothing is left to decide: {'; '.join(told)}.\n",
                {
                    str(seat.value): {"hits": hits, "passes": passes}
                    for seat, (hits, passes) in sorted(found.items())
                },
            )

    def verify(self, progress: Progress = quiet) -> Iterator[Check]:
        from duels.games.flip.verify import verify  # slow to import, and only one command needs it

        return verify(self, make_oracle, progress)

    def _verdict(self, state: State) -> Verdict[Action]:
        actions = self.rules.actions(state)
        (least, most), intervals = self._at_once(state, actions)
        for steps in self._steps(state):
            if steps:
                intervals = self._intervals(state, actions, steps)
            low, high = best(intervals)
            low, high = max(low, least), min(high, most)
            if high - low <= ENOUGH:
                break
        counts = Counter(intervals)  # many actions, few different intervals
        # No action is better than the position.
        clipped = {(a, b): (min(a, high), min(b, high)) for a, b in counts}
        middles = {interval: (a + b) / 2 for interval, (a, b) in clipped.items()}
        least_taken = max(middles.values()) - ALIKE
        taken = {interval: middle >= least_taken for interval, middle in middles.items()}
        # One of them is worth the position, which may be known better than any action by itself.
        values = {
            interval: _value(bounds, (low + high) / 2 if taken[interval] else None)
            for interval, bounds in clipped.items()
        }
        top = max(values[interval].number for interval, is_taken in taken.items() if is_taken)
        number_taken = sum(counts[interval] for interval, is_taken in taken.items() if is_taken)
        told = {
            # As good as the best, as far as anybody can tell: not proven worse.
            interval: (values[interval], is_taken or clipped[interval][1] >= low, is_taken / number_taken)
            for interval, is_taken in taken.items()
        }
        judged = tuple(
            Judged(action, *told[interval]) for action, interval in zip(actions, intervals, strict=True)
        )
        return Verdict(_value((low, high), top), judged)

    def _steps(self, state: State) -> range:
        """How many steps ahead to look, one after the other, until the interval is narrow enough."""
        return range(MOST_STEPS + (state.tiles.count(UNKNOWN) <= FEW))

    def _at_once(self, state: State, actions: tuple[Action, ...]) -> tuple[Interval, list[Interval]]:
        """The interval of the position by itself and of each action, as far as nobody looks ahead."""
        # While a choice is open there is no such position.
        known = (0.0, 1.0) if state.choosing else self.bounds.of(self._position(state))
        return known, self._intervals(state, actions, 0)

    def _intervals(self, state: State, actions: tuple[Action, ...], steps: int) -> list[Interval]:
        """The interval of each action, after so many steps ahead."""
        at = self._position(state)
        known: dict[object, Interval] = {}
        found = []
        for action in actions:
            kind = self._kind(at, state, action) if steps == 0 else action
            if kind not in known:
                known[kind] = self._interval(at, state, action, steps)
            found.append(known[kind])
        return found

    def _kind(self, at: Position, state: State, action: Action) -> object:
        """What distinguishes an action from others, as far as nobody looks ahead."""
        bounds = self.bounds
        if isinstance(action, QuantumFlip):
            return bounds.kind(at, (action.first, action.second))
        if isinstance(action, Flip) and state.tiles[action.tile] == UNKNOWN and (at.mine or at.theirs):
            return bounds.grid.shape(at.unknown & ~(1 << action.tile), at.seen)
        if isinstance(action, Flip):
            return state.tiles[action.tile]
        return action

    def _interval(self, at: Position, state: State, action: Action, steps: int) -> Interval:
        bounds = self.bounds
        if isinstance(action, QuantumFlip):
            return bounds.quantum(at, (action.first, action.second), steps)
        if isinstance(action, Keep):
            return self._keep(state, action, steps)
        assert isinstance(action, Flip)
        value = self.rules.value_of(state.tiles[action.tile])
        if value is None:
            return bounds.flip(at, action.tile, steps)
        return bounds.take(at, action.tile, value, steps)

    def _keep(self, state: State, action: Keep, steps: int) -> Interval:
        """A choice after a Quantum Flip: both tiles are marked as seen, and one of them leaves."""
        first, second = state.lifted
        shown = (self._shown(state, first), self._shown(state, second))
        at = self._position(state)
        return self.bounds.keep(at, (first, second), shown, state.lifted.index(action.tile), steps)

    def _lifted(self, state: State) -> Interval:
        """The interval while tiles are in the air, wide or narrow as `judge` has it for that action."""
        before = State(state.tiles, state.scores, state.quantum, state.mover)
        lifted = state.lifted
        action = Flip(lifted[0]) if len(lifted) == 1 else QuantumFlip(lifted[0], lifted[1])
        at = self._position(before)
        for steps in self._steps(before):
            interval = self._interval(at, before, action, steps)
            if interval[1] - interval[0] <= ENOUGH:
                break
        return interval

    def _shown(self, state: State, tile: int) -> int:
        value = self.rules.value_of(state.tiles[tile])
        assert value is not None
        return value

    def _position(self, state: State) -> Position:
        unit = self.bounds.places.unit
        mover = state.mover - 1
        return Position(
            sum(1 << i for i, tile in enumerate(state.tiles) if tile == UNKNOWN),
            sum(unit[int(tile) - 1] for tile in state.tiles if tile.isdigit()),
            state.scores[mover],
            tuple((i, self._shown(state, i)) for i, tile in enumerate(state.tiles) if tile.isalpha()),
            state.quantum[mover],
            state.quantum[1 - mover],
        )

    # -- in words ------------------------------------------------------------------------------------

    def reason(self, sight: Sight[Action, State]) -> str:
        state = sight.view
        verdict = self.judge(sight)
        action = max(verdict.actions, key=lambda judged: judged.weight).action
        score, target = state.scores[state.mover - 1], self.rules.target
        wins = f"you win {verdict.value}"
        if isinstance(action, Keep):
            kept = self._shown(state, action.tile)
            (left,) = (self._shown(state, tile) for tile in state.lifted if tile != action.tile)
            (rest,) = (judged.value for judged in verdict.actions if judged.action != action)
            threat = "" if score + kept == target else self._threat(state, action)
            if kept == left:
                return f"{threat}Both tiles show {kept}, which makes {score + kept} with either: {wins}."
            return f"{threat}Keep the {kept}, which makes {score + kept}: {wins}, with the {left} {rest}."
        facts = f"{self._odds_in_words(state)}; the bag still holds {self._bag_in_words(state)}; {wins}"
        threat = self._threat(state, action)
        if isinstance(action, QuantumFlip):
            flips = (judged.value for judged in verdict.actions if isinstance(judged.action, Flip))
            one = max(flips, key=lambda value: value.number)
            return f"{threat}Use the Quantum Flip to choose the better of two: {facts}, with one tile {one}."
        assert isinstance(action, Flip)
        name = self.rules.name_of(action.tile)
        value = self.rules.value_of(state.tiles[action.tile])
        if value is not None and score + value == target:
            return f"{name} is known to be the {value} that makes {target}."
        if value is not None:
            return f"{threat}Take {name}, known to be a {value}, for {score + value}: {facts}."
        later = " and save the Quantum Flip" if state.quantum[state.mover - 1] else ""
        return f"{threat}Flip an unknown tile{later}: {facts}."

    def effect(self, sight: Sight[Action, State], action: Action) -> str:
        state = sight.view
        score, target = state.scores[state.mover - 1], self.rules.target
        left = [self.rules.name_of(tile) for tile in self._left_to_other(state, action)]
        gave = f", and left {listed(left)} to the other player" if left else ""
        if isinstance(action, QuantumFlip):
            return f"You spent the Quantum Flip{gave}."
        assert isinstance(action, Flip | Keep)
        name, value = self.rules.name_of(action.tile), self.rules.value_of(state.tiles[action.tile])
        if value is None:
            return f"You flipped {name}, an unknown tile{gave}."  # what it may bring, the reason says
        over = f", past {target}" if score + value > target else ""
        return f"You took {name}, known to be a {value}, for {score + value}{over}{gave}."

    def manner(self, sight: Sight[Action, State], action: Action) -> str:
        if isinstance(action, QuantumFlip):
            return "spending the Quantum Flip"
        assert not isinstance(action, Drawn)
        tiles = sight.view.tiles
        if isinstance(action, Flip):
            return f"{'flipping an unknown' if tiles[action.tile] == UNKNOWN else 'taking a known'} tile"
        values = [self.rules.value_of(tiles[kept.tile]) for kept in sight.actions if isinstance(kept, Keep)]
        higher = self.rules.value_of(tiles[action.tile]) == max(value or 0 for value in values)
        return f"keeping the {'higher' if higher else 'lower'} value"

    def came_up(self, outcome: Action) -> str:
        assert isinstance(outcome, Drawn)
        if len(outcome.values) == 1:
            return f"the tile was a {outcome.values[0]}"
        return f"the Quantum Flip showed {listed([str(value) for value in outcome.values])}"

    def _threat(self, state: State, action: Action) -> str:
        """What the other player takes unless `action` denies it; empty where there is nothing."""
        tiles = self._winning_tiles(state)
        if not tiles:
            return ""
        missing, names = self.rules.target - self._others(state), [self.rules.name_of(t) for t in tiles]
        are = f"is known to be a {missing}" if len(tiles) == 1 else f"are known to be {missing}s"
        leave = "unless you win now," if self._left_to_other(state, action) else "leave it and"
        return (
            f"The other player stands at {self._others(state)} and {listed(names)} {are}: {leave} the other "
            f"player takes {self.rules.target}. "
        )

    def _winning_tiles(self, state: State) -> list[int]:
        """The tiles, face down but once shown, that make the other player's target."""
        missing = self.rules.target - self._others(state)
        return [i for i, t in enumerate(state.tiles) if t.isalpha() and self._shown(state, i) == missing]

    def _left_to_other(self, state: State, action: Action) -> list[int]:
        """Those of them that `action` leaves; of two in a Quantum Flip either can be kept."""
        assert not isinstance(action, Drawn)
        taken = (action.first, action.second) if isinstance(action, QuantumFlip) else (action.tile,)
        return [tile for tile in self._winning_tiles(state) if tile not in taken]

    def _others(self, state: State) -> int:
        return state.scores[state.mover.other - 1]

    def _odds_in_words(self, state: State) -> str:
        target, odds = self.rules.target, self.odds(state)
        if not odds.hit and not odds.bust:
            return f"no single tile reaches {target} yet"
        hit, bust = _percent(odds.hit), _percent(odds.bust)
        return f"an unknown tile hits {target} with {hit} and passes it with {bust}"

    def odds(self, state: State) -> Odds:
        """What flipping one unknown tile brings the mover at once."""
        bag = self.rules.left_in_bag(state.tiles)
        missing = self.rules.target - state.scores[state.mover - 1]
        total = max(1, sum(bag))
        hit = sum(count for value, count in enumerate(bag, 1) if value == missing)
        bust = sum(count for value, count in enumerate(bag, 1) if value > missing)
        return Odds(hit / total, bust / total)

    def _bag_in_words(self, state: State) -> str:
        bag = self.rules.left_in_bag(state.tiles)
        return ", ".join(f"{count}×{value}" for value, count in enumerate(bag, 1) if count) or "nothing"


def _value(interval: Interval, number: float | None = None) -> Value:
    low, high = interval
    number = (low + high) / 2 if number is None else min(max(number, low), high)
    error = max(high - number, number - low)
    return Value(number, Exactness.BOUND if error else Exactness.EXACT, None, error)


def _percent(chance: float) -> str:
    return f"{100 * chance:.1f}%"
