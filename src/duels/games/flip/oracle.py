"""Perfect play in flip, from the table of the abstraction and bounds for the real board."""

from collections.abc import Hashable, Iterator, Sequence
from functools import cache
from typing import NamedTuple

from duels.core.rules import CHANCE, Seat, Sight
from duels.core.words import join_and
from duels.games.flip import bounds
from duels.games.flip.abstraction import ROUNDING
from duels.games.flip.bounds import MAX_WIDTH, NO_TILE, Interval, Position
from duels.games.flip.rules import UNKNOWN, Action, Drawn, Flip, Keep, QuantumFlip, QuantumTiles, State
from duels.games.flip.table import Table
from duels.games.flip.values import make_tables
from duels.solving.oracle import (
    ActionValue,
    Check,
    Exactness,
    Finding,
    Oracle,
    Progress,
    Value,
    Verdict,
    no_progress,
)

DEPTHS = 2  # of look-ahead: none, and one step
MAX_UNKNOWN = 15  # with more unknown tiles, a second step of look-ahead takes many seconds
SMALL_SIDE, SMALL_VALUES = 3, 4  # look-ahead reaches the end of a board of at most these in seconds
TOLERANCE = 4 * ROUNDING  # closer values count as equal


def make_oracle(rules: QuantumTiles, progress: Progress = no_progress) -> "FlipOracle":
    """Return the oracle. The table of the book's game is shipped; others are solved and cached."""
    return FlipOracle(rules, Table.of(rules, progress))


def how_perfect() -> str:
    """Return the qualification of `perfect` in the list of players."""
    return "perfect within the bounds that duels solve flip shows"


class FlipOracle(Oracle[Action, State]):
    """Values from a table of abstract positions, with bounds for the abstraction's error."""

    rules: QuantumTiles
    equivalence_note = "All unseen tiles count as one answer, and so do known tiles of the same value."

    def __init__(self, rules: QuantumTiles, table: Table) -> None:
        self.rules, self.table = rules, table
        self.tables = make_tables(table.abstraction, table.stored_values, rules.side)
        self._face_numbers = {face: number for number, face in enumerate(rules.faces)}

    def _value_of(self, sight: Sight[Action, State]) -> Value:
        state = sight.view
        lifted = self.rules.actor(state) is CHANCE
        value = self._get_lifted_value(state) if lifted else self._verdict_on(sight).value
        return value if state.mover is sight.seat else value.for_other()

    def action_class(self, sight: Sight[Action, State], action: Action) -> Hashable:
        tiles = sight.view.tiles
        if isinstance(action, QuantumFlip):
            return "quantum", *sorted((tiles[action.first], tiles[action.second]))
        assert not isinstance(action, Drawn)
        has_quantum = sight.view.quantum[sight.seat - 1]  # if so, a single flip also saves the Quantum Flip
        return type(action).__name__, tiles[action.tile], has_quantum

    def findings(self, sight: Sight[Action, State]) -> Iterator[Finding]:
        endings = find_endings(self.rules, sight.view)
        if endings:
            clauses = [
                f"{seat.label} reaches {self.rules.target} with {_format_percent(ending.hits)} "
                f"and passes it with {_format_percent(ending.passes)}"
                for seat, ending in sorted(endings.items())
            ]
            yield Finding(
                "endings",
                f"Nothing is left to decide: {'; '.join(clauses)}.\n",
                {
                    str(seat.value): {"hits": hits, "passes": passes}
                    for seat, (hits, passes) in sorted(endings.items())
                },
            )

    def verify(self, progress: Progress = no_progress) -> Iterator[Check]:
        from duels.games.flip.verify import verify  # slow to import, and only one command needs it

        return verify(self, make_oracle, progress)

    def _verdict_on(self, sight: Sight[Action, State]) -> Verdict[Action]:
        state = sight.view
        actions = self.rules.actions(state)
        lows, highs, position_low, position_high = self.bound_actions(state)
        for steps in self._list_depths(state):
            if steps:
                lows, highs = map(
                    list, zip(*(self.bound_action(state, a, steps) for a in actions), strict=True)
                )
            low, high = max(position_low, *lows), min(position_high, max(highs))
            if high - low <= MAX_WIDTH:
                break
        numbers, best, weights = grade(lows, highs, low, high)
        action_values = tuple(
            ActionValue(action, _make_value(min(a, high), min(b, high), number), is_best, weight)
            for action, a, b, number, is_best, weight in zip(
                actions, lows, highs, numbers, best, weights, strict=True
            )
        )
        best_number = max(judged.value.number for judged in action_values if judged.weight)
        return Verdict(_make_value(low, high, best_number), action_values)

    def _list_depths(self, state: State) -> Sequence[int]:
        """Return the depths of look-ahead to try until the interval is narrow enough."""
        if self.rules.side <= SMALL_SIDE and self.rules.values <= SMALL_VALUES:
            return 0, sum(not tile.isdigit() for tile in state.tiles)
        return range(DEPTHS + (state.tiles.count(UNKNOWN) <= MAX_UNKNOWN))

    def bound_actions(self, state: State) -> tuple[list[float], list[float], float, float]:
        """Return the lower and upper bounds of the legal actions and of the position, without look-ahead."""
        lows, highs = ([-1.0] * len(self.rules.all_actions()) for _ in range(2))
        interval = bounds.judge(self.tables, *self._read_state(state), lows, highs)
        # Legal actions keep the order of all_actions.
        return [low for low in lows if low >= 0], [high for high in highs if high >= 0], *interval

    def bound_action(self, state: State, action: Action, steps: int) -> Interval:
        tables = self.tables
        if isinstance(action, Keep):
            faces, score, _, their_quantum, _ = self._read_state(state)
            board = bounds.read_position(tables, faces, score, False, their_quantum, action.tile)
            return bounds.score_value(tables, board, self._get_known_value(state, action.tile), steps)
        assert not isinstance(action, Drawn)
        pos = self.make_position(state)
        if isinstance(action, QuantumFlip):
            return bounds.use_quantum(tables, pos, action.first, action.second, steps)
        if action.tile in pos.tiles:
            return bounds.take_tile(tables, pos, pos.tiles.index(action.tile), steps)
        return bounds.flip_tile(tables, bounds.remove_tile(tables, pos, action.tile), steps)

    def _get_lifted_value(self, state: State) -> Value:
        """Return the value while tiles are lifted: the value that `judge` gives to lifting them."""
        before = State(state.tiles, state.scores, state.quantum, state.mover)
        lifted = state.lifted
        action = Flip(lifted[0]) if len(lifted) == 1 else QuantumFlip(lifted[0], lifted[1])
        for steps in self._list_depths(before):
            low, high = self.bound_action(before, action, steps)
            if high - low <= MAX_WIDTH:
                break
        return _make_value(low, high, (low + high) / 2)

    def _get_known_value(self, state: State, tile: int) -> int:
        value = self.rules.value_of(state.tiles[tile])
        assert value is not None
        return value

    def quick_value(self, state: State) -> float:
        """Return the midpoint of the bounds without look-ahead, which takes a hundred times as long."""
        if outcome := self.rules.outcome(state):
            return float(outcome.score(Seat.ONE))
        if state.choosing:
            successors = (self.rules.apply(state, action).state for action in self.rules.actions(state))
            return (max if state.mover is Seat.ONE else min)(map(self.quick_value, successors))
        chance = sum(bounds.bound(self.tables, self.make_position(state))) / 2
        return chance if state.mover is Seat.ONE else 1 - chance

    def make_position(self, state: State) -> Position:
        """Return the position for `bounds`."""
        return bounds.read_position(self.tables, *self._read_state(state)[:4], NO_TILE)

    def _read_state(self, state: State) -> tuple[list[int], int, bool, bool, tuple[int, int]]:
        """Return the arguments of `bounds.judge`: faces, score, holders of Quantum Flips, lifted tiles."""
        mover = state.mover - 1
        lifted = (state.lifted[0], state.lifted[1]) if state.choosing else (NO_TILE, NO_TILE)
        return (
            [self._face_numbers[tile] for tile in state.tiles],
            state.scores[mover],
            state.quantum[mover],
            state.quantum[1 - mover],
            lifted,
        )

    def reason(self, sight: Sight[Action, State]) -> str:
        state = sight.view
        verdict = self.judge(sight)
        action = max(verdict.actions, key=lambda judged: judged.weight).action
        score, target = state.scores[state.mover - 1], self.rules.target
        wins = f"you win {verdict.value}"
        if isinstance(action, Keep):
            value = self._get_known_value(state, action.tile)
            (other,) = (self._get_known_value(state, tile) for tile in state.lifted if tile != action.tile)
            (odds,) = (judged.value for judged in verdict.actions if judged.action != action)
            threat = "" if score + value == target else self._describe_threat(state, action)
            if value == other:
                return f"{threat}Both tiles show {value}, which makes {score + value} with either: {wins}."
            return f"{threat}Keep the {value}, which makes {score + value}: {wins}, with the {other} {odds}."
        facts = f"{self._describe_odds(state)}; the bag still holds {self._describe_bag(state)}; {wins}"
        threat = self._describe_threat(state, action)
        if isinstance(action, QuantumFlip):
            flips = (judged.value for judged in verdict.actions if isinstance(judged.action, Flip))
            flip = max(flips, key=lambda value: value.number)
            return f"{threat}Use the Quantum Flip to choose the better of two: {facts}, with one tile {flip}."
        assert isinstance(action, Flip)
        name = self.rules.name_of(action.tile)
        known_value = self.rules.value_of(state.tiles[action.tile])
        if known_value is not None and score + known_value == target:
            return f"{name} is known to be the {known_value} that makes {target}."
        if known_value is not None:
            return f"{threat}Take {name}, known to be a {known_value}, for {score + known_value}: {facts}."
        saving = " and save the Quantum Flip" if state.quantum[state.mover - 1] else ""
        return f"{threat}Flip an unknown tile{saving}: {facts}."

    def pointer(self, sight: Sight[Action, State]) -> str:
        state, target = sight.view, self.rules.target
        score = state.scores[state.mover - 1]
        if state.choosing:
            return (
                f"Add each value to your {score}: which total is better, and which tile can the other player "
                "use, who will know the one that you turn back?"
            )
        if any(self.rules.value_of(t) == target - score for t in state.tiles if t.isalpha()):
            return f"Remember the tiles that were turned back: one of them makes exactly {target}."
        if self._list_winning_tiles(state):
            return f"The other player needs exactly {target - self._get_opponent_score(state)}. Who saw one?"
        if any(isinstance(a, Flip) and state.tiles[a.tile] != UNKNOWN for a in self.judge(sight).best):
            return "Remember the tiles that were turned back: a value that you know can beat a surprise."
        holder = state.quantum[state.mover - 1]
        quantum = " Do you need the Quantum Flip now, or more at the end?" if holder else ""
        return f"You have {score}: {self._describe_odds(state)}.{quantum}"

    def effect(self, sight: Sight[Action, State], action: Action) -> str:
        state = sight.view
        score, target = state.scores[state.mover - 1], self.rules.target
        names = [self.rules.name_of(tile) for tile in self._list_tiles_left(state, action)]
        consequence = f", and left {join_and(names)} to the other player" if names else ""
        if isinstance(action, QuantumFlip):
            return f"You spent the Quantum Flip{consequence}."
        assert isinstance(action, Flip | Keep)
        name, value = self.rules.name_of(action.tile), self.rules.value_of(state.tiles[action.tile])
        if value is None:
            return f"You flipped {name}, an unknown tile{consequence}."  # `reason` describes the chances
        excess = f", past {target}" if score + value > target else ""
        return f"You took {name}, known to be a {value}, for {score + value}{excess}{consequence}."

    def mistake_category(self, sight: Sight[Action, State], action: Action) -> str:
        if isinstance(action, QuantumFlip):
            return "spending the Quantum Flip"
        assert not isinstance(action, Drawn)
        tiles = sight.view.tiles
        if isinstance(action, Flip):
            return f"{'flipping an unknown' if tiles[action.tile] == UNKNOWN else 'taking a known'} tile"
        values = [self.rules.value_of(tiles[keep.tile]) for keep in sight.actions if isinstance(keep, Keep)]
        higher = self.rules.value_of(tiles[action.tile]) == max(value or 0 for value in values)
        return f"keeping the {'higher' if higher else 'lower'} value"

    def describe_outcome(self, outcome: Action) -> str:
        assert isinstance(outcome, Drawn)
        if len(outcome.values) == 1:
            return f"the tile was a {outcome.values[0]}"
        return f"the Quantum Flip showed {join_and([str(value) for value in outcome.values])}"

    def _describe_threat(self, state: State, action: Action) -> str:
        """Describe the opponent's threat to win with a known tile. Return '' if there is none."""
        tiles = self._list_winning_tiles(state)
        if not tiles:
            return ""
        missing = self.rules.target - self._get_opponent_score(state)
        names = [self.rules.name_of(tile) for tile in tiles]
        are = f"is known to be a {missing}" if len(tiles) == 1 else f"are known to be {missing}s"
        leave = "unless you win now," if self._list_tiles_left(state, action) else "leave it and"
        return (
            f"The other player stands at {self._get_opponent_score(state)} and {join_and(names)} {are}: "
            f"{leave} the other player takes {self.rules.target}. "
        )

    def _list_winning_tiles(self, state: State) -> list[int]:
        """Return the known tiles that win for the opponent."""
        missing = self.rules.target - self._get_opponent_score(state)
        return [
            i for i, t in enumerate(state.tiles) if t.isalpha() and self._get_known_value(state, i) == missing
        ]

    def _list_tiles_left(self, state: State, action: Action) -> list[int]:
        """Return the winning tiles that `action` leaves to the opponent."""
        assert not isinstance(action, Drawn)
        tiles = (action.first, action.second) if isinstance(action, QuantumFlip) else (action.tile,)
        return [tile for tile in self._list_winning_tiles(state) if tile not in tiles]

    def _get_opponent_score(self, state: State) -> int:
        return state.scores[state.mover.other - 1]

    def _describe_odds(self, state: State) -> str:
        bag, target = self.rules.left_in_bag(state.tiles), self.rules.target
        missing, total = target - state.scores[state.mover - 1], max(1, sum(bag))
        hit, bust = sum(bag[missing - 1 : missing]), sum(bag[missing:])
        if not hit and not bust:
            return f"no single tile reaches {target} yet"
        chances = _format_percent(hit / total), _format_percent(bust / total)
        return f"an unknown tile hits {target} with {chances[0]} and passes it with {chances[1]}"

    def _describe_bag(self, state: State) -> str:
        bag = self.rules.left_in_bag(state.tiles)
        return ", ".join(f"{count}×{value}" for value, count in enumerate(bag, 1) if count) or "nothing"


class Ending(NamedTuple):
    """A player's chances to reach the target and to pass it."""

    hits: float
    passes: float


def find_endings(rules: QuantumTiles, state: State) -> dict[Seat, Ending] | None:
    """Return each player's chances if no decision is left in the match, otherwise None."""
    if any(state.quantum) or state.lifted or any(tile.isalpha() for tile in state.tiles):
        return None

    @cache
    def compute(bag: tuple[int, ...], own_score: int, other_score: int) -> tuple[float, float, float, float]:
        """Return the mover's chances to hit and to pass, then the opponent's."""
        tiles = sum(bag)
        hits = passes = other_hits = other_passes = 0.0
        for value, count in enumerate(bag, 1):
            if not count:
                continue
            chance, score = count / tiles, own_score + value
            if score >= rules.target:
                hits += chance * (score == rules.target)
                passes += chance * (score > rules.target)
                continue
            reply = compute((*bag[: value - 1], count - 1, *bag[value:]), other_score, score)
            other_hits += chance * reply[0]
            other_passes += chance * reply[1]
            hits += chance * reply[2]
            passes += chance * reply[3]
        return hits, passes, other_hits, other_passes

    mover = state.mover
    scores = (state.scores[seat - 1] for seat in (mover, mover.other))
    result = compute(rules.left_in_bag(state.tiles), *scores)
    return {mover: Ending(*result[:2]), mover.other: Ending(*result[2:])}


def grade(
    lows: Sequence[float], highs: Sequence[float], low: float, high: float
) -> tuple[list[float], list[bool], list[float]]:
    """Return the number, whether it is best, and the weight of each action, given the bounds of its value.

    `low` and `high` bound the position. The environments compile this function.
    """
    # No action is better than the position.
    numbers = [(min(lows[i], high) + min(highs[i], high)) / 2 for i in range(len(lows))]
    min_best = max(numbers) - TOLERANCE
    best, weights = [False] * len(lows), [0.0] * len(lows)
    for i in range(len(lows)):
        if numbers[i] >= min_best:
            # The best action has the position's value, whose bounds may be tighter than those of any action.
            numbers[i] = min(max((low + high) / 2, min(lows[i], high)), min(highs[i], high))
            weights[i] = 1.0
        # Best means: not proven worse than another action.
        best[i] = weights[i] > 0 or min(highs[i], high) >= low
    total = sum(weights)
    return numbers, best, [weight / total for weight in weights]


def _make_value(low: float, high: float, number: float) -> Value:
    number = min(max(number, low), high)
    error = max(high - number, number - low)
    return Value(number, Exactness.BOUND if error else Exactness.EXACT, None, error)


def _format_percent(chance: float) -> str:
    return f"{100 * chance:.1f}%"
