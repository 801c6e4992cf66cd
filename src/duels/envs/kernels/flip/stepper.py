"""Single steps of many games of Quantum Flip in compiled code, on the rows and numbers of a batch.

What `steps` looks up is put together here. Needs the extra `fast`.
"""

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from duels.envs import bits
from duels.envs.kernels.flip import steps
from duels.envs.kernels.flip import tables as form
from duels.envs.kernels.flip.looks import Layout, Looks, layout_of
from duels.envs.kernels.flip.tables import Ints, Small, present
from duels.games.flip.rules import QuantumTiles, neighbours


@lru_cache(maxsize=16)
def _packed(rules: QuantumTiles) -> Ints:
    """What `steps` needs to know, in one array: to hand over twenty takes longer than a small step."""
    layout = layout_of(rules)
    tables = layout.tables
    numbers = (
        *(tables.tiles, layout.actions - tables.tiles, tables.full, tables.bag, tables.start),
        *(tables.first_code, rules.values, layout.size, layout.status.start, layout.other_score),
        *(layout.lifted.start, rules.side, rules.target, (tables.scores - 1).bit_length()),
        *(_field_of_each(rules.values), _not_last_in_row(rules.side)),
    )
    parts = (
        *tables.pair_tiles,
        tables.pair_sets,
        _pairs_of_rows(rules.side),
        _held_up_to(rules),
        tables.taken,
        np.array([0, *((1 << steps.SHARE_AT) // of + 1 for of in range(1, form.ROW))]),
        _first_row(layout).view(np.int64),
    )
    assert (len(numbers), len(parts)) == (steps.NUMBERS, steps.TABLES)
    ends = np.cumsum([len(numbers) + len(parts) + 1, *map(len, parts)])
    return np.concatenate([np.array(numbers, np.int64), ends, *parts])


def _field_of_each(values: int) -> int:
    return sum(1 << steps.FIELD * value for value in range(values))


def _not_last_in_row(side: int) -> int:
    """The set of tiles that have a neighbour to the right."""
    return sum(1 << tile for tile in range(side**2) if (tile + 1) % side)


def _pairs_of_rows(side: int) -> Ints:
    """[tiles of a row and of the one below it] the pairs that begin in the row, as bits in their order.

    Then the same for the last row, which has none below it.
    """
    pairs, last = neighbours(side), side * (side - 1)
    rows = (
        present([(a, b) for a, b in pairs if a < side], 2 * side),
        present([(a - last, b - last) for a, b in pairs if a >= last], side),
    )
    return np.concatenate([row @ (1 << np.arange(row.shape[1])) for row in rows])


def _held_up_to(rules: QuantumTiles) -> Ints:
    """[bag] how many tiles of each value or a lower one it holds, a field each."""
    each = rules.copies + 1
    held = np.arange(each**rules.values)[:, None] // each ** np.arange(rules.values) % each
    fields: Ints = (held.cumsum(axis=1) << steps.FIELD * np.arange(rules.values)).sum(axis=1)
    return fields


def _first_row(layout: Layout) -> Small:
    """The row of a game that begins: what is shown, and then the mask."""
    row = np.zeros(layout.row_width, np.int8)
    row[: layout.size] = layout.start
    row[layout.mask] = layout.allowed[1, : layout.actions]
    return row.view(np.uint8)


class Stepper:
    """Games under way; `state`, `tiles` and `looks` are those of the batch, and are changed here."""

    def __init__(self, rules: QuantumTiles, state: Ints, tiles: Small, looks: Looks) -> None:
        self._packed = _packed(rules)
        self._state, self._tiles, self._looks = state, tiles, looks

    def first_illegal(self, actions: Ints) -> int:
        """The first game whose action is not allowed; -1: all are."""
        return int(steps.first_illegal(actions, self._packed, self._state))

    def play(
        self,
        part: slice,
        actions: Ints,
        streams: NDArray[np.uint64],
        autoreset: bool,
        rewards: NDArray[np.float32],
        ended: NDArray[np.bool_],
    ) -> None:
        """Play actions that `first_illegal` has seen, in a part of the games."""
        looks = self._looks
        games = (self._state, self._tiles, streams)
        told = (rewards, ended, looks.rows)
        steps.play(part.start, part.stop, actions, self._packed, *games, autoreset, *told)
        looks.stepped()

    def sample(self, streams: NDArray[np.uint64], chosen: Ints) -> None:
        """A random legal action everywhere."""
        steps.sample(self._packed, bits.CHOSEN, self._state, streams, chosen)
