"""Training of openings: it can be resumed, and rounding changes little."""

from pathlib import Path

import numpy as np
import pytest

from duels.core.rules import Seat

pytest.importorskip("numba")

from duels.games.hunt.certify.opening import Opening
from duels.games.hunt.strategy import CELLS, POSITIONS, ROWS, SCALE, Tables, load_strategy
from tools.hunt.opening_training import OPENING_UNIT, OpeningTrainer, Plan, add_opening, make_trainer


def start_training() -> OpeningTrainer:
    return make_trainer(Seat.ONE, load_strategy()[Seat.ONE])


@pytest.mark.parametrize("seat", Seat)
def test_a_new_opening_plays_like_the_memory_rows(seat: Seat) -> None:
    shipped = load_strategy()[seat]
    memory_rows = Tables(shipped.moves[: ROWS * POSITIONS * CELLS], shipped.observations[: ROWS * CELLS**2])
    tables = add_opening(seat, memory_rows)
    assert (tables == shipped) == (seat is Seat.TWO)  # only Player 1's opening is trained
    opening = Opening(seat)
    opening.read_tables(tables)
    for turn, probs in enumerate(opening.move_probs):
        parents, legal = opening.own_paths[turn + 1].parents, opening.legal[opening.digits[turn]]
        for parent in range(parents.max() + 1):
            assert np.allclose(probs[legal][:, parents == parent].sum(axis=1), 1)
        assert np.allclose(opening.observation_probs[turn][legal].sum(axis=2), 1)


@pytest.mark.slow
def test_training_can_be_resumed_at_the_end_of_a_section(tmp_path: Path) -> None:
    checkpoint = tmp_path / "checkpoint.npz"
    whole, first, second = start_training(), start_training(), start_training()
    plan = Plan(iterations=2, section=1, initial_regret=100.0, tail_interval=1)
    list(whole.train(plan))
    first.begin_section(plan)
    first.iterate(plan)
    first.finished = 1
    first.tail.symmetrize()
    first.save(checkpoint)
    list(second.train(plan, checkpoint))
    assert second.finished == 2
    assert np.array_equal(whole.tail.move_probs, second.tail.move_probs)
    for tables in zip(whole.opening.observation_probs, second.opening.observation_probs, strict=True):
        assert np.array_equal(*tables)


def test_rounded_probabilities_stay_close() -> None:
    trainer = start_training()
    opening, rounded = trainer.opening, Opening(Seat.ONE)
    rounded.read_tables(trainer.make_tables())
    for turn, digits in enumerate(opening.digits):
        legal = opening.legal[digits]
        before, after = (each.observation_probs[turn][legal] for each in (opening, rounded))
        assert np.allclose(after.sum(axis=2), 1)
        assert np.abs(after - before).max() < 2 * CELLS * OPENING_UNIT / SCALE
