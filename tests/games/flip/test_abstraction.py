"""The abstraction of flip: its layout, and its size limit."""

from itertools import product

import pytest

from duels.core.errors import DuelsError
from duels.games.flip.abstraction import Abstraction, Layout, list_counts
from duels.games.flip.oracle import make_oracle
from duels.games.flip.rules import QuantumTiles


@pytest.mark.parametrize(("values", "copies", "target"), [(5, 5, 21), (4, 1, 5), (3, 3, 6), (9, 1, 8)])
def test_counts_include_every_combination_of_flipped_tiles(values: int, copies: int, target: int) -> None:
    every = [
        counts
        for counts in product(range(copies + 1), repeat=values)
        if sum(v * count for v, count in enumerate(counts, 1)) <= 2 * (target - 1)
    ]
    assert list_counts(values, copies, 2 * (target - 1)) == every
    layout = Layout(values, copies, target)
    assert sorted(layout.flipped.values()) == every  # so no two share a code
    for code, counts in layout.flipped.items():
        for unit, v in zip(layout.units, range(values), strict=True):
            more = tuple(count + (v == i) for i, count in enumerate(counts))
            if more in every:
                assert layout.flipped[code + unit] == more


@pytest.mark.parametrize("target", [21, 100])
def test_rejects_boards_that_need_too_much_memory(target: int) -> None:
    rules = QuantumTiles(side=8, values=8, copies=8, target=target)
    with pytest.raises(DuelsError, match=r"8 tiles each of 1 to 8 .* too large to solve"):
        make_oracle(rules)
    assert Abstraction(QuantumTiles(side=7, values=7, copies=7)).layout.row_size
