"""The bounds of flip agree with the rules: successors, their odds, and the remaining turns."""

from array import array
from collections.abc import Iterator
from itertools import combinations
from random import Random

import pytest

from duels.core.match import Match, play_through
from duels.core.rules import CHANCE, Seat
from duels.games.flip import bounds
from duels.games.flip.abstraction import Abstraction
from duels.games.flip.bounds import Interval, Position
from duels.games.flip.grid import count_max_pairs, find_smallest_symmetric, make_grid
from duels.games.flip.oracle import FlipOracle, make_oracle
from duels.games.flip.rules import QuantumFlip, QuantumTiles, State
from duels.games.flip.values import Tables, bound_lasting_chance, count_bag, count_max_turns, make_tables

BOOK = QuantumTiles()
SMALL = QuantumTiles(side=3, values=3, copies=3, target=6)


def random_turns(rules: QuantumTiles, matches: int) -> Iterator[State]:
    """Return positions before a turn from random matches."""
    rng = Random(6)
    for _ in range(matches):
        for match in play_through(Match.start(rules), rng, lambda match, _: rng.choice(match.actions)):
            if isinstance(match.actor, Seat) and not match.state.lifted:
                yield match.state


def made_up(t: Tables, position: Position) -> Interval:
    """Return an arbitrary value for each position."""
    known_tiles = sorted(zip(position.tiles, position.values, strict=True))
    value = Random(
        repr(
            (
                position.unknown,
                position.code,
                position.score,
                known_tiles,
                position.my_quantum,
                position.their_quantum,
            )
        )
    ).random()
    return value, value


def by_the_rules(oracle: FlipOracle, state: State, seat: Seat) -> float:
    """Return the value for `seat` during its turn, if later positions have the arbitrary values."""
    rules = oracle.rules
    if outcome := rules.outcome(state):
        return float(outcome.score(seat))
    if not state.lifted:
        return 1 - made_up(oracle.tables, oracle.make_position(state))[0]
    after = [by_the_rules(oracle, rules.apply(state, action).state, seat) for action in rules.actions(state)]
    if rules.actor(state) is CHANCE:
        return sum(float(p) * value for p, value in zip(rules.odds(state), after, strict=True))
    return max(after)


@pytest.mark.parametrize(("rules", "matches"), [(BOOK, 6), (SMALL, 60)], ids=["book", "small"])
def test_successors_and_odds_agree_with_the_rules(
    rules: QuantumTiles, matches: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bounds, "bound", made_up)
    oracle, doubles, mixed = make_oracle(rules), 0, 0
    for state in random_turns(rules, matches):
        position = oracle.make_position(state)
        bag = count_bag(oracle.tables, position.code, *position.values)
        assert bag == list(rules.left_in_bag(state.tiles))
        for action in rules.actions(state):
            if isinstance(action, QuantumFlip):
                doubles += 1
                mixed += state.tiles[action.first].isalpha() or state.tiles[action.second].isalpha()
            value = by_the_rules(oracle, rules.apply(state, action).state, state.mover)
            assert oracle.bound_action(state, action, 0) == pytest.approx((value, value), abs=1e-12)
    assert doubles > 100
    assert mixed > 10


@pytest.mark.parametrize(("rules", "matches"), [(BOOK, 3), (SMALL, 20)], ids=["book", "small"])
def test_equivalent_actions_share_an_interval(rules: QuantumTiles, matches: int) -> None:
    oracle = make_oracle(rules)
    for state in random_turns(rules, matches):
        lows, highs, *_ = oracle.bound_actions(state)
        for action, low, high in zip(rules.actions(state), lows, highs, strict=True):
            assert oracle.bound_action(state, action, 0) == pytest.approx((low, high), abs=1e-12)


@pytest.mark.parametrize("rules", [SMALL, QuantumTiles(side=2, values=4, copies=1, target=5)], ids=repr)
def test_no_match_exceeds_the_bound_on_turns(rules: QuantumTiles) -> None:
    oracle, rng, closest = make_oracle(rules), Random(8), 99
    for _ in range(400):
        *steps, end = play_through(Match.start(rules), rng, lambda match, _: rng.choice(match.actions))
        turns = [match.state for match in steps if isinstance(match.actor, Seat) and not match.state.lifted]
        for turn, state in enumerate(turns):
            position = oracle.make_position(state)
            for mover in (True, False):
                seat = state.mover if mover else state.mover.other
                turns_left = sum(later.mover is seat for later in turns[turn:])
                most = count_max_turns(oracle.tables, position.code, position.score, mover)
                assert turns_left <= most
                closest = min(closest, most - turns_left)
        assert end.over
    assert closest == 0


# -- pairs ---------------------------------------------------------------------------------------------


def test_the_empty_board_holds_twelve_pairs() -> None:
    grid = make_grid(5)
    assert count_max_pairs(grid, (1 << 25) - 1) == 12
    assert count_max_pairs(grid, grid.dark) == 0


def test_finds_the_most_pairs_on_every_small_board() -> None:
    grid = make_grid(3)

    def by_trying(tiles: int) -> int:
        pairs = [1 << a | 1 << b for a, b in grid.pairs]
        return max((1 + by_trying(tiles & ~pair) for pair in pairs if tiles & pair == pair), default=0)

    assert all(count_max_pairs(grid, tiles) == by_trying(tiles) for tiles in range(1 << 9))


@pytest.mark.parametrize(("side", "boards"), [(1, 2), (2, 6), (3, 102)])
def test_rotations_and_reflections_of_a_board_are_one_board(side: int, boards: int) -> None:
    """The counts are those of OEIS A054247."""
    assert len({find_smallest_symmetric(side, tiles, -1) for tiles in range(1 << side**2)}) == boards


@pytest.mark.parametrize("seen", [0, 1, 3])
@pytest.mark.parametrize("spared", [0, 1])
@pytest.mark.parametrize("flips", [1, 3, 5])
def test_the_chance_that_a_match_lasts_counts_every_order_of_tiles(
    seen: int, spared: int, flips: int
) -> None:
    abstraction = Abstraction(SMALL)
    tables = make_tables(abstraction, array("H"), SMALL.side)
    for code in abstraction.layout.flipped:
        counts = count_bag(tables, code, seen, 0)
        bag = [v for v, count in enumerate(counts, 1) for _ in range(count)]
        if min(counts) < 0 or len(bag) < flips + spared:
            continue
        room = 2 * (SMALL.target - 1) - abstraction.layout.points[code]
        revealed = (seen,) if seen else ()
        is_low_enough = [
            sum(sorted((*drawn, *revealed))[:flips]) <= room for drawn in combinations(bag, flips + spared)
        ]
        assert bound_lasting_chance(tables, code, seen, flips, spared) == pytest.approx(
            sum(is_low_enough) / len(is_low_enough)
        )
