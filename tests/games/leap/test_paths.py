"""Shortest paths, against a table filled in cell by cell from the rules."""

from itertools import pairwise

import pytest

from duels.games.leap.paths import Paths, divisors
from duels.games.leap.rules import QuantumLeap


def table_of(rules: QuantumLeap) -> dict[int, int]:
    needed = {rules.goal: 0}
    for cell in range(rules.goal - 1, 0, -1):
        needed[cell] = 1 + min(needed[cell + by] for by in rules.leaps(cell))
    return needed


def all_paths(rules: QuantumLeap, needed: dict[int, int], cell: int) -> set[tuple[int, ...]]:
    if cell == rules.goal:
        return {()}
    nearer = [cell + by for by in rules.leaps(cell) if needed[cell + by] < needed[cell]]
    return {(target, *rest) for target in nearer for rest in all_paths(rules, needed, target)}


def test_divisors() -> None:
    for n in range(1, 400):
        expected = [d for d in range(1, n + 1) if n % d == 0]
        assert sorted(divisors(n)) == expected
        for least in (-3, 0, 1, 2, 3, n // 50, n // 3, n // 2, n, n + 1):
            assert sorted(divisors(n, least)) == [d for d in expected if d >= least]
    large_semiprime = 15_485_863 * 32_452_843 % 10**9
    assert all(large_semiprime % d == 0 for d in divisors(large_semiprime))
    assert sorted(divisors(9973 * 9967)) == [1, 9967, 9973, 9973 * 9967]


@pytest.mark.parametrize("goal", [*range(1, 41), 64, 97, 120])
def test_every_shortest_path_is_found(goal: int) -> None:
    rules = QuantumLeap(goal)
    table, paths = table_of(rules), Paths(goal)
    for cell in table:
        found = list(paths.all_shortest(cell))
        assert paths.needed(cell) == table[cell]
        assert len(found) == paths.count(cell)
        assert set(found) == all_paths(rules, table, cell)


@pytest.mark.parametrize("goal", [64, 97, 120])
def test_leaps_that_are_in_time(goal: int) -> None:
    rules = QuantumLeap(goal)
    table = table_of(rules)
    for cell in range(1, goal):
        ahead = [cell + by for by in rules.leaps(cell)]
        for turns in range(-1, 9):
            paths = Paths(goal)
            assert paths.within(cell, turns) == (table[cell] <= turns)
            assert paths.in_time(cell, turns) == {target for target in ahead if table[target] <= turns}


@pytest.mark.parametrize("goal", [720, 997])
def test_distances_on_longer_lines(goal: int) -> None:
    table, paths = table_of(QuantumLeap(goal)), Paths(goal)
    assert all(paths.needed(cell) == needed for cell, needed in table.items())


def test_a_million_cells() -> None:
    rules, paths = QuantumLeap(10**6), Paths(10**6)
    assert paths.needed(0) == 24
    path = next(paths.all_shortest(0))
    assert len(path) == 24
    assert path[0] == 1
    assert all(b - a in rules.leaps(a) for a, b in pairwise(path))
