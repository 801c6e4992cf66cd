"""Train hunt's strategy from scratch."""

from array import array
from typing import Any

import numpy as np

from duels.core.rules import Seat
from duels.games.hunt.certify.policies import make_policy_from_tables
from duels.games.hunt.certify.responder_problem import (
    TYPES,
    find_type_after,
    list_mirrored_rows,
    make_problem,
    merge_mirror_images,
)
from duels.games.hunt.strategy import CELLS, OTHERS, OWN, PLACES, ROWS, SCALE, Strategy, Tables
from tools.hunt import best_responders, self_play
from tools.hunt.self_play import Grid, Learned, Plan, Report, Step, Trained


def train(plan: Plan, report: Report) -> Strategy:
    """Build both seats' tables."""
    return {seat: train_seat(seat, plan, report) for seat in Seat}


def train_seat(seat: Seat, plan: Plan, report: Report) -> Tables:
    """Build one seat's tables."""
    after = [[find_type_after(kind, cell) for cell in range(CELLS)] for kind in range(TYPES)]
    plain = [  # the tunnel is left, or was not
        [then is not None and (then < CELLS) == (kind < CELLS) for then in row]
        for kind, row in enumerate(after)
    ]
    grid = Grid(np.array([[-1 if kind is None else kind for kind in row] for row in after]), np.array(plain))
    trained = self_play.train_seat(seat, OWN, OTHERS, grid, plan, report)
    if plan.stages:
        _answer_best_responders(seat, trained, plan, report)
    return tables(trained.learned())


def _answer_best_responders(seat: Seat, trained: Trained, plan: Plan, report: Report) -> None:
    """Improve the learned strategy against its best responders."""
    pupil = trained.pupil
    strategy = best_responders.Strategy(
        pupil.moves[:, CELLS:].astype(float), pupil.names[:, CELLS:].astype(float),
        pupil.can_move[:, CELLS:], pupil.can_name[:, CELLS:], np.array(list_mirrored_rows()),
    )  # fmt: skip
    alike = Tables(array("H", [1]) * (ROWS * PLACES * CELLS), array("H", [1]) * (ROWS * CELLS**2))
    problem = merge_mirror_images(make_problem(make_policy_from_tables(alike), seat))
    opening = 2 * CELLS if seat is Seat.ONE else None
    for done, lost in best_responders.improve(strategy, problem, opening, plan.stages):
        report(Step(f"{seat.label}, best responders", done, 1 - lost))
    trained.get_used_to(strategy.moves, strategy.names, rounds=30)


def tables(learned: Learned) -> Tables:
    """Convert the learned strategy to integers. Every legal action keeps at least weight 1."""

    def weights(chances: Any) -> "array[int]":
        scaled = np.rint(chances.astype(float) * SCALE)
        return shorts(np.where((chances > 0) & (scaled == 0), 1, scaled))

    def shorts(values: Any) -> "array[int]":
        return array("H", np.rint(values).astype(np.uint16).tobytes())

    return Tables(weights(learned.moves), weights(learned.names), shorts(learned.waiting * 65535))
