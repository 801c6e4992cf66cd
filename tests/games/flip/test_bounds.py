"""What bounds make of the board, held to the rules: neighbours, what can come up, what is left."""

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from random import Random

import pytest

from duels.core.match import Match, playing
from duels.core.rules import CHANCE, Seat
from duels.games.flip.abstraction import Abstraction
from duels.games.flip.bounds import Bounds, Grid, Interval, Position, chance_to_last, most_turns
from duels.games.flip.oracle import make_oracle
from duels.games.flip.rules import UNKNOWN, Drawn, Flip, QuantumFlip, QuantumTiles, State

BOOK = QuantumTiles()
SMALL = QuantumTiles(side=3, values=3, copies=3, target=6)


class Asked(Bounds):
    """Bounds that remember which positions they look up, all of them worth a half."""

    def __init__(self, rules: QuantumTiles) -> None:
        super().__init__(rules, make_oracle(rules).bounds.table)
        self.positions: list[Position] = []

    def search(self, at: Position, steps: int) -> Interval:
        self.positions.append(at)
        return 0.5, 0.5

    def act(self, at: Position, action: Flip | QuantumFlip, value: int | None) -> set[Position]:
        """The positions that an action is made of; `value` is that of a tile flipped, where it is known."""
        self.positions = []
        if isinstance(action, QuantumFlip):
            self.quantum(at, (action.first, action.second), 0)
        elif value is None:
            self.flip(at, action.tile, 0)
        else:
            self.take(at, action.tile, value, 0)
        return set(self.positions)


def random_turns(rules: QuantumTiles, matches: int) -> Iterator[State]:
    """Positions before a turn, as matches at random come to them."""
    rng = Random(6)
    for _ in range(matches):
        for match in playing(Match.start(rules), rng, lambda match, _: rng.choice(match.actions)):
            if isinstance(match.actor, Seat) and not match.state.lifted:
                yield match.state


def drawn(rules: QuantumTiles, state: State) -> dict[tuple[int, ...], Fraction]:
    """What chance may put under the lifted tiles, by the rules."""
    actions = [action for action in rules.actions(state) if isinstance(action, Drawn)]
    return {action.values: odds for action, odds in zip(actions, rules.odds(state), strict=True)}


@pytest.mark.parametrize(("rules", "matches"), [(BOOK, 12), (SMALL, 60)], ids=["book", "small"])
def test_pairs_bag_and_odds_are_those_of_the_rules(rules: QuantumTiles, matches: int) -> None:
    oracle, chances = make_oracle(rules), 0
    bounds, seen = oracle.bounds, 0
    for state in random_turns(rules, matches):
        at = oracle._position(state)
        assert bounds.bag(at) == list(rules.left_in_bag(state.tiles))
        holding = replace(state, quantum=(True, True))
        pairs = [(a.first, a.second) for a in rules.actions(holding) if isinstance(a, QuantumFlip)]
        assert sorted(bounds.open_pairs(at)) == sorted(pairs)
        for pair in pairs:
            showings = dict(bounds.showings(at, pair))
            total = sum(showings.values())
            lifted = rules.apply(holding, QuantumFlip(*pair)).state
            if rules.actor(lifted) is CHANCE:
                chances += 1
                odds = drawn(rules, lifted)
            else:  # both have been seen
                values = tuple(rules.value_of(state.tiles[tile]) or 0 for tile in pair)
                odds = {values: Fraction(1)}
            seen += any(state.tiles[tile] != UNKNOWN for tile in pair)
            assert {shown: Fraction(weight, total) for shown, weight in showings.items()} == odds
    assert chances > 1000
    assert seen > 50


@pytest.mark.parametrize(("rules", "matches"), [(BOOK, 3), (SMALL, 40)], ids=["book", "small"])
def test_every_action_leads_where_the_rules_lead(rules: QuantumTiles, matches: int) -> None:
    oracle, bounds, doubles = make_oracle(rules), Asked(rules), 0

    def after(state: State) -> set[Position]:
        """The positions before the other's turn that the rules lead to from the middle of a turn."""
        if rules.outcome(state):
            return set()
        if not state.lifted:
            return {oracle._position(state)}
        return set().union(*(after(rules.apply(state, action).state) for action in rules.actions(state)))

    for state in random_turns(rules, matches):
        at = oracle._position(state)
        for action in rules.actions(state):
            assert isinstance(action, Flip | QuantumFlip)
            doubles += isinstance(action, QuantumFlip)
            value = rules.value_of(state.tiles[action.tile]) if isinstance(action, Flip) else None
            assert bounds.act(at, action, value) == after(rules.apply(state, action).state)
    assert doubles > 100


@pytest.mark.parametrize("rules", [SMALL, QuantumTiles(side=2, values=4, copies=1, target=5)], ids=repr)
def test_nobody_has_more_turns_than_most_turns_says(rules: QuantumTiles) -> None:
    abstraction, oracle = Abstraction(rules), make_oracle(rules)
    rng, closest = Random(8), 99
    for _ in range(400):
        *steps, end = playing(Match.start(rules), rng, lambda match, _: rng.choice(match.actions))
        turns = [match.state for match in steps if isinstance(match.actor, Seat) and not match.state.lifted]
        for place, state in enumerate(turns):
            at = oracle._position(state)
            for mover in (True, False):
                seat = state.mover if mover else state.mover.other
                had = sum(later.mover is seat for later in turns[place:])
                most = most_turns(abstraction, at.code, at.score, mover)
                assert had <= most
                closest = min(closest, most - had)
        assert end.over
    assert closest == 0


# -- pairs ---------------------------------------------------------------------------------------------


def test_the_empty_board_holds_twelve_pairs() -> None:
    assert Grid(5).most_pairs((1 << 25) - 1) == 12
    assert Grid(5).most_pairs(Grid(5).dark) == 0


def test_the_most_pairs_are_found_on_every_small_board() -> None:
    grid = Grid(3)

    def by_trying(tiles: int) -> int:
        pairs = [1 << a | 1 << b for a, b in grid.pairs]
        return max((1 + by_trying(tiles & ~pair) for pair in pairs if tiles & pair == pair), default=0)

    assert all(grid.most_pairs(tiles) == by_trying(tiles) for tiles in range(1 << 9))


@pytest.mark.parametrize("seen", [(), (1,), (3,)])
@pytest.mark.parametrize("spared", [0, 1])
@pytest.mark.parametrize("flips", [1, 3, 5])
def test_the_chance_that_a_match_lasts_counts_every_way_the_tiles_can_come_up(
    seen: tuple[int, ...], spared: int, flips: int
) -> None:
    abstraction = Abstraction(SMALL)
    for code, flipped in abstraction.places.flipped.items():
        bag = [v for v, f in enumerate(flipped, 1) for _ in range(3 - f - seen.count(v))]
        if any(f + seen.count(v) > 3 for v, f in enumerate(flipped, 1)) or len(bag) < flips + spared:
            continue
        room = 2 * (SMALL.target - 1) - abstraction.places.points[code]
        ways = [sum(sorted((*shown, *seen))[:flips]) <= room for shown in combinations(bag, flips + spared)]
        assert chance_to_last(abstraction, code, seen, flips, spared) == pytest.approx(sum(ways) / len(ways))
