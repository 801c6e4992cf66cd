"""With the balanced bag a match of flip never runs out of tiles before somebody wins.

Proof: until a match ends, nobody has more than 20 points, and the points are those of the flipped tiles.
So the flipped tiles are worth 40 at most, and the bag holds 75.
"""

from dataclasses import replace
from itertools import product

import pytest

from duels.core.errors import BadOption
from duels.core.explore import iter_reachable
from duels.core.rules import CHANCE, Seat
from duels.games.flip.rules import QuantumTiles, State

SMALL = QuantumTiles(side=2, values=4, copies=1, target=5)

AbstractState = tuple[str, tuple[int, int], Seat]


def abstract(state: State) -> AbstractState:
    """The state without the places of tiles: flipped tiles, scores and the mover."""
    return "".join(sorted(filter(str.isdigit, state.tiles))), state.scores, state.mover


def abstract_states(rules: QuantumTiles) -> dict[AbstractState, State]:
    """Return every reachable abstract state with an example.

    Where a tile lies makes no difference to a single flip, so one state stands for all that differ in
    that alone. Quantum Flips add none: one scores a single value of those still face down, as a
    single flip might have.
    """
    start = replace(rules.initial(), quantum=(False, False))
    visited = {abstract(start): start}
    waiting = [start]
    while waiting:
        state = waiting.pop()
        if rules.actor(state) is None:
            continue
        lifted = rules.apply(state, rules.actions(state)[-1]).state
        assert rules.actor(lifted) is CHANCE
        for drawn in rules.actions(lifted):
            after = rules.apply(lifted, drawn).state
            if abstract(after) not in visited:
                visited[abstract(after)] = after
                waiting.append(after)
    return visited


def test_every_unfinished_abstract_state_has_a_tile_left() -> None:
    rules = QuantumTiles()
    left = []
    for (flipped, scores, _), state in abstract_states(rules).items():
        assert sum(map(int, flipped)) == sum(scores)
        if rules.actor(state) is not None:
            assert sum(scores) <= 2 * (rules.target - 1)
            assert rules.actions(state)
            left.append(rules.side**2 - len(flipped))
    assert min(left) == 8


def test_no_set_of_tiles_worth_forty_points_is_the_whole_board() -> None:
    """The same bound without any play: every way to take tiles from the bag."""
    rules = QuantumTiles()
    values = range(1, rules.values + 1)
    taken = [
        sum(copies)
        for copies in product(range(rules.copies + 1), repeat=rules.values)
        if sum(value * n for value, n in zip(values, copies, strict=True)) <= 2 * (rules.target - 1)
    ]
    assert max(taken) == 17


@pytest.mark.parametrize("rules", [SMALL, QuantumTiles(side=2, values=2, copies=2, target=3)])
def test_quantum_flips_add_no_abstract_state(rules: QuantumTiles) -> None:
    everything = {abstract(match.state) for match in iter_reachable(rules)}
    assert everything == set(abstract_states(rules))


def test_rejects_a_bag_that_could_run_out() -> None:
    assert QuantumTiles(target=38).points_in_bag == 75
    with pytest.raises(BadOption, match="could run out"):
        QuantumTiles(target=39)
