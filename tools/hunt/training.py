"""Train hunt's strategy from scratch."""

from array import array
from typing import Any

import numpy as np

from duels.core.rules import Seat
from duels.games.hunt.certify.policies import make_policy_from_tables
from duels.games.hunt.certify.responder_problem import (
    TYPES,
    find_next_type,
    list_mirrored_rows,
    make_problem,
    merge_mirror_images,
)
from duels.games.hunt.strategy import (
    CELLS,
    OTHER_MEMORY,
    OWN_MEMORY,
    POSITIONS,
    ROWS,
    SCALE,
    Strategy,
    Tables,
)
from tools.hunt import best_responders, self_play
from tools.hunt.self_play import Grid, Learned, Plan, Report, Step, Trained


def train(plan: Plan, report: Report) -> Strategy:
    """Build both seats' tables."""
    return {seat: train_seat(seat, plan, report) for seat in Seat}


def train_seat(seat: Seat, plan: Plan, report: Report) -> Tables:
    """Build one seat's tables."""
    next_types = [[find_next_type(kind, cell) for cell in range(CELLS)] for kind in range(TYPES)]
    is_step = [  # a step does not change whether the tunnel is left
        [new is not None and (new < CELLS) == (kind < CELLS) for new in row]
        for kind, row in enumerate(next_types)
    ]
    grid = Grid(
        np.array([[-1 if kind is None else kind for kind in row] for row in next_types]), np.array(is_step)
    )
    trained = self_play.train_seat(seat, OWN_MEMORY, OTHER_MEMORY, grid, plan, report)
    if plan.stages:
        _answer_best_responders(seat, trained, plan, report)
    return tables(trained.learned())


def _answer_best_responders(seat: Seat, trained: Trained, plan: Plan, report: Report) -> None:
    """Improve the learned strategy against its best responders."""
    pupil = trained.pupil
    strategy = best_responders.Strategy(
        pupil.move_probs[:, CELLS:].astype(float), pupil.observation_probs[:, CELLS:].astype(float),
        pupil.can_move[:, CELLS:], pupil.can_observe[:, CELLS:], np.array(list_mirrored_rows()),
    )  # fmt: skip
    uniform = Tables(array("H", [1]) * (ROWS * POSITIONS * CELLS), array("H", [1]) * (ROWS * CELLS**2))
    problem = merge_mirror_images(make_problem(make_policy_from_tables(uniform), seat))
    opening = 2 * CELLS if seat is Seat.ONE else None
    for done, lost in best_responders.improve(strategy, problem, opening, plan.stages):
        report(Step(f"{seat.label}, best responders", done, 1 - lost))
    trained.adapt_adversary(strategy.move_probs, strategy.observation_probs, rounds=30)


def tables(learned: Learned) -> Tables:
    """Return the learned strategy with integer weights. Every legal action keeps at least weight 1."""

    def weights(chances: Any) -> "array[int]":
        scaled = np.rint(chances.astype(float) * SCALE)
        return shorts(np.where((chances > 0) & (scaled == 0), 1, scaled))

    def shorts(values: Any) -> "array[int]":
        return array("H", np.rint(values).astype(np.uint16).tobytes())

    return Tables(
        weights(learned.move_probs), weights(learned.observation_probs), shorts(learned.waiting * 65535)
    )
