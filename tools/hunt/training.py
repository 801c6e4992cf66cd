"""The first two parts of training: tables without an opening, from scratch."""

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
    Tables,
)
from tools.hunt import best_responders, self_play
from tools.hunt.self_play import Grid, Plan, Report, Step, Trained


def train_seat(seat: Seat, plan: Plan, report: Report) -> Tables:
    """Build one seat's tables without an opening."""
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
    return make_tables(*trained.get_strategy())


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
    pupil.move_probs[:, CELLS:], pupil.observation_probs[:, CELLS:] = (
        strategy.move_probs,
        strategy.observation_probs,
    )


def make_tables(move_probs: Any, observation_probs: Any) -> Tables:
    """Return tables without an opening."""
    weights = (round_weights(probs, probs > 0) for probs in (move_probs, observation_probs))
    return Tables(*(flatten_weights([part]) for part in weights))


def round_weights(probs: Any, is_legal: Any, unit: int = 1) -> Any:
    """Return integer weights, multiples of `unit`. Every legal action keeps at least weight 1."""
    weights = np.rint(probs.astype(float) * SCALE / unit) * unit
    return np.where(is_legal & (weights == 0), 1, weights).astype(np.uint16)


def flatten_weights(parts: list[Any]) -> "array[int]":
    return array("H", np.concatenate([part.ravel() for part in parts]).tobytes())
