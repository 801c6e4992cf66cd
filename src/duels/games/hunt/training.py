"""Rebuilds the strategy for hunt from nothing; needs numpy and numba."""

from array import array
from collections.abc import Generator
from typing import TYPE_CHECKING, Any

from duels.core.rules import Seat
from duels.games.hunt.certificate import TYPES, type_after
from duels.games.hunt.strategy import CELLS, OTHERS, OWN, SCALE, Strategy, Tables

if TYPE_CHECKING:
    from duels.solving.hide_and_seek import Learned, Plan, Progress


def train(plan: "Plan | None" = None) -> Generator["Progress", None, Strategy]:
    """Build both seats' tables; the generator's return value is the strategy."""
    one = yield from train_seat(Seat.ONE, plan)
    two = yield from train_seat(Seat.TWO, plan)
    return {Seat.ONE: one, Seat.TWO: two}


def train_seat(seat: Seat, plan: "Plan | None" = None) -> Generator["Progress", None, Tables]:
    import numpy as np

    from duels.solving import hide_and_seek

    after = [[type_after(kind, cell) for cell in range(CELLS)] for kind in range(TYPES)]
    plain = [
        [kind == 2 * CELLS or abs(kind % CELLS - cell) <= 1 for cell in range(CELLS)] for kind in range(TYPES)
    ]
    grid = hide_and_seek.Grid(
        np.array([[-1 if kind is None else kind for kind in row] for row in after]), np.array(plain)
    )
    learned = yield from hide_and_seek.train_seat(seat, OWN, OTHERS, grid, plan or hide_and_seek.Plan())
    return tables(learned)


def tables(learned: "Learned") -> Tables:
    """What was learned as integers; whatever is allowed keeps at least weight 1."""
    import numpy as np

    def weights(chances: Any) -> "array[int]":
        scaled = np.rint(chances.astype(float) * SCALE)
        return shorts(np.where((chances > 0) & (scaled == 0), 1, scaled))

    def shorts(values: Any) -> "array[int]":
        return array("H", np.rint(values).astype(np.uint16).tobytes())

    return Tables(
        weights(learned.moves),
        weights(learned.names),
        shorts(learned.to_move * 65535),
        shorts(learned.waiting * 65535),
    )
