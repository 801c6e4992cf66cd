"""What is learned over several seeds, and agents made of scores."""

from typing import Any

import numpy as np
import pytest

import duels
from duels.core.errors import DuelsError


def test_the_scores_of_a_network_are_masked() -> None:
    agent = duels.masked(lambda seen: seen @ np.array([[5.0, 1, 2], [0, 3, 0]]))
    one, both = np.array([1.0, 1.0]), np.array([[1.0, 0.0], [0.0, 1.0]])
    assert agent(one, np.array([0, 1, 1], np.int8)) == 1
    assert np.asarray(agent(both, np.array([[0, 1, 1], [1, 0, 1]], np.int8))).tolist() == [2, 0]


def test_a_spread_is_that_of_each_seed_graded_by_itself() -> None:
    def learn(seed: int) -> Any:
        weights = np.random.default_rng(seed).random((8, 13))
        return duels.masked(lambda seen: seen @ weights)

    found = duels.over_seeds(learn, "lights", seeds=range(3))
    each = [duels.exploitability(duels.table_of(learn(seed), "lights"), "lights") for seed in range(3)]
    assert list(found.each) == each
    assert (found.best, found.median, found.worst) == tuple(sorted(each))
    assert str(found) == "{1:.4f} ({0:.4f} to {2:.4f}, 3 seeds)".format(*sorted(each))


def test_options_are_those_of_the_game_learned() -> None:
    def learn(seed: int) -> Any:
        return lambda seen, masks: masks / masks.sum(axis=1, keepdims=True)

    form: dict[str, Any] = {"cells": 5, "run": 3, "max_boards": 2}
    found = duels.over_seeds(learn, "chain", seeds=[7], **form)
    assert found.median == pytest.approx(duels.exploitability("random", "chain", **form))
    with pytest.raises(DuelsError, match="no seeds"):
        duels.over_seeds(learn, "chain", seeds=[], **form)
