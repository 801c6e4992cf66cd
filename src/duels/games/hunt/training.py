"""Rebuilds the strategy for hunt from nothing; needs numpy and numba."""

from array import array
from collections.abc import Generator
from typing import TYPE_CHECKING, Any

from duels.core.rules import Seat
from duels.games.hunt.certificate import TYPES, folded, mirrored_rows, problem_against, type_after
from duels.games.hunt.strategy import CELLS, OTHERS, OWN, PLACES, ROWS, SCALE, Strategy, Tables

if TYPE_CHECKING:
    from duels.solving.hide_and_seek import Learned, Plan, Progress, Trained


def train(plan: "Plan | None" = None) -> Generator["Progress", None, Strategy]:
    """Build both seats' tables; the generator's return value is the strategy."""
    one = yield from train_seat(Seat.ONE, plan)
    two = yield from train_seat(Seat.TWO, plan)
    return {Seat.ONE: one, Seat.TWO: two}


def train_seat(seat: Seat, plan: "Plan | None" = None) -> Generator["Progress", None, Tables]:
    import numpy as np

    from duels.solving import hide_and_seek

    plan = plan or hide_and_seek.Plan()
    after = [[type_after(kind, cell) for cell in range(CELLS)] for kind in range(TYPES)]
    plain = [
        [
            then is not None and (then < CELLS) == (kind < CELLS) for then in row
        ]  # the tunnel is left, or was not
        for kind, row in enumerate(after)
    ]
    grid = hide_and_seek.Grid(
        np.array([[-1 if kind is None else kind for kind in row] for row in after]), np.array(plain)
    )
    trained = yield from hide_and_seek.train_seat(seat, OWN, OTHERS, grid, plan)
    if plan.stages:
        yield from _answer_best_responders(seat, trained, plan)
    return tables(trained.learned())


def _answer_best_responders(
    seat: Seat, trained: "Trained", plan: "Plan"
) -> Generator["Progress", None, None]:
    """Improve what was learned against the responders that do best against it."""
    import numpy as np

    from duels.solving import descent, hide_and_seek

    pupil = trained.pupil
    strategy = descent.Strategy(
        pupil.moves[:, CELLS:].astype(float), pupil.names[:, CELLS:].astype(float),
        pupil.can_move[:, CELLS:], pupil.can_name[:, CELLS:], np.array(mirrored_rows()),
    )  # fmt: skip
    alike = Tables(array("H", [1]) * (ROWS * PLACES * CELLS), array("H", [1]) * (ROWS * CELLS**2))
    problem = folded(problem_against(alike, seat))
    opening = 2 * CELLS if seat is Seat.ONE else None
    for done, lost in descent.improve(strategy, problem, opening, plan.stages):
        yield hide_and_seek.Progress(f"{seat.label}, best responders", done, 1 - lost)
    trained.get_used_to(strategy.moves, strategy.names, rounds=30)


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
        shorts(learned.waiting * 65535),
    )
