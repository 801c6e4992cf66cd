"""Perfect play for flip: the abstraction table, and what the real board can change about it."""

from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from functools import cache
from typing import NamedTuple

from duels.core.notation import join_and
from duels.core.rules import CHANCE, Seat, Sight
from duels.games.flip import bounds
from duels.games.flip.bounds import ENOUGH, NOWHERE, Interval, Position
from duels.games.flip.rules import (
    SEEN_AS,
    UNKNOWN,
    Action,
    Drawn,
    Flip,
    Keep,
    QuantumFlip,
    QuantumTiles,
    State,
)
from duels.games.flip.table import ROUNDING, Table
from duels.games.flip.values import make_tables
from duels.solving.oracle import ActionValue, Check, Exactness, Finding, Oracle, Value, Verdict
from duels.solving.progress import Progress, no_progress

MOST_STEPS = 2
FEW = 15  # unknown tiles, beyond which a second step takes many seconds and is left out
ALIKE = 4 * ROUNDING  # closer values cannot be told apart


def make_oracle(rules: QuantumTiles, progress: Progress = no_progress) -> "FlipOracle":
    """The oracle for any of flip's boards; the book's table is shipped, others are solved and cached."""
    return FlipOracle(rules, Table.of(rules, progress))


def how_perfect() -> str:
    return "gives away no more than the bounds of its values leave open, which duels solve flip shows"


class FlipOracle(Oracle[Action, State]):
    rules: QuantumTiles
    equivalence_note = "Tiles that nobody has seen count as one answer, and so do tiles known to be alike."

    def __init__(self, rules: QuantumTiles, table: Table) -> None:
        self.rules, self.table = rules, table
        self.tables = make_tables(table.abstraction, table.numbers, rules.side)
        values = range(1, rules.values + 1)
        faces = (UNKNOWN, *map(str, values), *(SEEN_AS[value - 1] for value in values))
        self._faces = {face: number for number, face in enumerate(faces)}

    def _value_of(self, sight: Sight[Action, State]) -> Value:
        state = sight.view
        lifted = self.rules.actor(state) is CHANCE
        found = self._lifted(state) if lifted else self._verdict_on(sight).value
        return found if state.mover is sight.seat else found.for_other()

    def action_class(self, sight: Sight[Action, State], action: Action) -> Hashable:
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

    def verify(self, progress: Progress = no_progress) -> Iterator[Check]:
        from duels.games.flip.verify import verify  # slow to import, and only one command needs it

        return verify(self, make_oracle, progress)

    def _verdict_on(self, sight: Sight[Action, State]) -> Verdict[Action]:
        state = sight.view
        actions = self.rules.actions(state)
        lows, highs, least, most = self._at_once(state)
        for steps in self._steps(state):
            if steps:
                lows, highs = map(list, zip(*(self._interval(state, a, steps) for a in actions), strict=True))
            low, high = max(least, *lows), min(most, max(highs))
            if high - low <= ENOUGH:
                break
        counts = Counter(zip(lows, highs, strict=True))  # many actions, few different intervals
        grades = grade([a for a, _ in counts], [b for _, b in counts], [*counts.values()], low, high)
        judged = {
            (a, b): (_value(min(a, high), min(b, high), number), best, weight)
            for (a, b), number, best, weight in zip(counts, *grades, strict=True)
        }
        top = max(value.number for value, _, weight in judged.values() if weight)
        intervals = zip(lows, highs, strict=True)
        return Verdict(
            _value(low, high, top),
            tuple(
                ActionValue(action, *judged[pair]) for action, pair in zip(actions, intervals, strict=True)
            ),
        )

    def _steps(self, state: State) -> range:
        """How many steps ahead to look, one after the other, until the interval is narrow enough."""
        return range(MOST_STEPS + (state.tiles.count(UNKNOWN) <= FEW))

    def _at_once(self, state: State) -> tuple[list[float], list[float], float, float]:
        """The intervals of the legal actions without looking ahead, then that of the position by itself."""
        lows, highs = ([-1.0] * len(self.rules.all_actions()) for _ in range(2))
        least, most = bounds.judge(self.tables, *self._read(state), lows, highs)
        # Legal actions are in the order of all.
        return [low for low in lows if low >= 0], [high for high in highs if high >= 0], least, most

    def _interval(self, state: State, action: Action, steps: int) -> Interval:
        tables = self.tables
        if isinstance(action, Keep):
            faces, score, _, theirs, _ = self._read(state)
            left = bounds.read_position(tables, faces, score, False, theirs, action.tile)
            return bounds.score_value(tables, left, self._shown(state, action.tile), steps)
        assert not isinstance(action, Drawn)
        at = self.position(state)
        if isinstance(action, QuantumFlip):
            return bounds.use_quantum(tables, at, action.first, action.second, steps)
        if action.tile in at.tiles:
            return bounds.take_tile(tables, at, at.tiles.index(action.tile), steps)
        return bounds.flip_tile(tables, bounds.remove_tile(tables, at, action.tile), steps)

    def _lifted(self, state: State) -> Value:
        """The value while tiles are in the air, wide or narrow as `judge` has it for that action."""
        before = State(state.tiles, state.scores, state.quantum, state.mover)
        lifted = state.lifted
        action = Flip(lifted[0]) if len(lifted) == 1 else QuantumFlip(lifted[0], lifted[1])
        for steps in self._steps(before):
            low, high = self._interval(before, action, steps)
            if high - low <= ENOUGH:
                break
        return _value(low, high, (low + high) / 2)

    def _shown(self, state: State, tile: int) -> int:
        value = self.rules.value_of(state.tiles[tile])
        assert value is not None
        return value

    def bound(self, state: State) -> Interval:
        """The interval of a position before a turn, without looking ahead."""
        return bounds.bound(self.tables, self.position(state))

    def position(self, state: State) -> Position:
        """A position before a turn, as the bounds have it."""
        return bounds.read_position(self.tables, *self._read(state)[:4], NOWHERE)

    def _read(self, state: State) -> tuple[list[int], int, bool, bool, tuple[int, int]]:
        """What `judge` asks for: the faces, the mover's score, who holds a Quantum Flip, the tiles lifted."""
        mover = state.mover - 1
        lifted = (state.lifted[0], state.lifted[1]) if state.choosing else (NOWHERE, NOWHERE)
        return (
            [self._faces[tile] for tile in state.tiles],
            state.scores[mover],
            state.quantum[mover],
            state.quantum[1 - mover],
            lifted,
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
        gave = f", and left {join_and(left)} to the other player" if left else ""
        if isinstance(action, QuantumFlip):
            return f"You spent the Quantum Flip{gave}."
        assert isinstance(action, Flip | Keep)
        name, value = self.rules.name_of(action.tile), self.rules.value_of(state.tiles[action.tile])
        if value is None:
            return f"You flipped {name}, an unknown tile{gave}."  # what it may bring, the reason says
        over = f", past {target}" if score + value > target else ""
        return f"You took {name}, known to be a {value}, for {score + value}{over}{gave}."

    def mistake_category(self, sight: Sight[Action, State], action: Action) -> str:
        if isinstance(action, QuantumFlip):
            return "spending the Quantum Flip"
        assert not isinstance(action, Drawn)
        tiles = sight.view.tiles
        if isinstance(action, Flip):
            return f"{'flipping an unknown' if tiles[action.tile] == UNKNOWN else 'taking a known'} tile"
        values = [self.rules.value_of(tiles[kept.tile]) for kept in sight.actions if isinstance(kept, Keep)]
        higher = self.rules.value_of(tiles[action.tile]) == max(value or 0 for value in values)
        return f"keeping the {'higher' if higher else 'lower'} value"

    def describe_outcome(self, outcome: Action) -> str:
        assert isinstance(outcome, Drawn)
        if len(outcome.values) == 1:
            return f"the tile was a {outcome.values[0]}"
        return f"the Quantum Flip showed {join_and([str(value) for value in outcome.values])}"

    def _threat(self, state: State, action: Action) -> str:
        """What the other player takes unless `action` denies it; empty where there is nothing."""
        tiles = self._winning_tiles(state)
        if not tiles:
            return ""
        missing, names = self.rules.target - self._others(state), [self.rules.name_of(t) for t in tiles]
        are = f"is known to be a {missing}" if len(tiles) == 1 else f"are known to be {missing}s"
        leave = "unless you win now," if self._left_to_other(state, action) else "leave it and"
        return (
            f"The other player stands at {self._others(state)} and {join_and(names)} {are}: {leave} the "
            f"other player takes {self.rules.target}. "
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
        """What flipping one unknown tile brings the mover at once."""
        bag, target = self.rules.left_in_bag(state.tiles), self.rules.target
        missing, total = target - state.scores[state.mover - 1], max(1, sum(bag))
        hit, bust = sum(bag[missing - 1 : missing]), sum(bag[missing:])
        if not hit and not bust:
            return f"no single tile reaches {target} yet"
        chances = _percent(hit / total), _percent(bust / total)
        return f"an unknown tile hits {target} with {chances[0]} and passes it with {chances[1]}"

    def _bag_in_words(self, state: State) -> str:
        bag = self.rules.left_in_bag(state.tiles)
        return ", ".join(f"{count}×{value}" for value, count in enumerate(bag, 1) if count) or "nothing"


class Ending(NamedTuple):
    """The chance that a player ends the match by reaching the target, and by passing it."""

    hits: float
    passes: float


def endings(rules: QuantumTiles, state: State) -> dict[Seat, Ending] | None:
    """The chances of every end, once nothing is left to decide; None before that."""
    if any(state.quantum) or state.lifted or any(tile.isalpha() for tile in state.tiles):
        return None

    @cache
    def chances(bag: tuple[int, ...], mine: int, theirs: int) -> tuple[float, float, float, float]:
        """That the mover hits, that it passes, that the other hits, that it passes."""
        tiles = sum(bag)
        hits = passes = other_hits = other_passes = 0.0
        for value, count in enumerate(bag, 1):
            if not count:
                continue
            chance, score = count / tiles, mine + value
            if score >= rules.target:
                hits += chance * (score == rules.target)
                passes += chance * (score > rules.target)
                continue
            then = chances((*bag[: value - 1], count - 1, *bag[value:]), theirs, score)
            other_hits += chance * then[0]
            other_passes += chance * then[1]
            hits += chance * then[2]
            passes += chance * then[3]
        return hits, passes, other_hits, other_passes

    mover = state.mover
    mine, theirs = (state.scores[seat - 1] for seat in (mover, mover.other))
    found = chances(rules.left_in_bag(state.tiles), mine, theirs)
    return {mover: Ending(*found[:2]), mover.other: Ending(*found[2:])}


def grade(
    lows: Sequence[float], highs: Sequence[float], counts: Sequence[int], low: float, high: float
) -> tuple[list[float], list[bool], list[float]]:
    """Return the number of each action in a position with these bounds, whether it is best, and its weight.

    There may be several actions with the same interval, or none. As `bounds.py`, this can be compiled.
    """
    # No action is better than the position.
    numbers = [(min(lows[i], high) + min(highs[i], high)) / 2 for i in range(len(lows))]
    least = max(numbers) - ALIKE
    best, weights = [False] * len(lows), [0.0] * len(lows)
    total = 0
    for i in range(len(lows)):
        if numbers[i] >= least:
            # One of these is worth the position, which may be known better than any action by itself.
            numbers[i] = min(max((low + high) / 2, min(lows[i], high)), min(highs[i], high))
            weights[i] = 1.0
            total += counts[i]
        # As good as the best, as far as anybody can tell: not proven worse.
        best[i] = weights[i] > 0 or min(highs[i], high) >= low
    return numbers, best, [weight / total for weight in weights]


def _value(low: float, high: float, number: float) -> Value:
    number = min(max(number, low), high)
    error = max(high - number, number - low)
    return Value(number, Exactness.BOUND if error else Exactness.EXACT, None, error)


def _percent(chance: float) -> str:
    return f"{100 * chance:.1f}%"
