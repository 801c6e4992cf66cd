"""Shortest paths, against a table computed from the rules."""

from itertools import pairwise

import pytest

from duels.core.errors import BadOption
from duels.games import resolve_rules
from duels.games.leap.oracle import Paths
from duels.games.leap.rules import QuantumLeap


def table_of(rules: QuantumLeap) -> dict[int, int]:
    needed = {rules.goal: 0}
    for cell in range(rules.goal - 1, 0, -1):
        needed[cell] = 1 + min(needed[cell + leap] for leap in rules.leaps(cell))
    return needed


def all_paths(rules: QuantumLeap, needed: dict[int, int], cell: int) -> set[tuple[int, ...]]:
    if cell == rules.goal:
        return {()}
    nearer = [cell + leap for leap in rules.leaps(cell) if needed[cell + leap] < needed[cell]]
    return {(target, *rest) for target in nearer for rest in all_paths(rules, needed, target)}


@pytest.mark.parametrize("goal", [*range(1, 41), 64, 97, 120])
def test_finds_every_shortest_path(goal: int) -> None:
    rules = QuantumLeap(goal)
    table, paths = table_of(rules), Paths(rules)
    for cell in table:
        cell_paths = list(paths.iter_paths(cell))
        assert paths.count_turns(cell) == table[cell]
        assert len(cell_paths) == paths.count_paths(cell)
        assert set(cell_paths) == all_paths(rules, table, cell)


@pytest.mark.parametrize("goal", [720, 997])
def test_distances_on_longer_lines(goal: int) -> None:
    table, paths = table_of(QuantumLeap(goal)), Paths(QuantumLeap(goal))
    assert all(paths.count_turns(cell) == needed for cell, needed in table.items())


def test_the_longest_line() -> None:
    rules = QuantumLeap(100_000)
    paths = Paths(rules)
    assert paths.count_turns(0) == 20
    path = next(paths.iter_paths(0))
    assert len(path) == 20
    assert path[0] == 1
    assert all(b - a in rules.leaps(a) for a, b in pairwise(path))


def test_rejects_a_longer_line() -> None:
    with pytest.raises(BadOption, match="goal must be at most 100000 in leap, not 100001"):
        resolve_rules("leap", goal=100_001)
