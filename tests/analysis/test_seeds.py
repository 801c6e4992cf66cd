"""Exploitability over several seeds, and agents made of scores."""

from typing import Any

import numpy as np
import pytest

import duels
from duels.analysis.seed_grades import Spread
from duels.core.errors import DuelsError, TooLarge
from duels.envs.gymnasium import DuelEnv
from duels.solving.oracle import Bounds


def test_network_scores_are_masked() -> None:
    agent = duels.mask_agent(lambda observation: observation @ np.array([[5.0, 1, 2], [0, 3, 0]]))
    one, both = np.array([1.0, 1.0]), np.array([[1.0, 0.0], [0.0, 1.0]])
    assert agent(one, np.array([0, 1, 1], np.int8)) == 1
    assert np.asarray(agent(both, np.array([[0, 1, 1], [1, 0, 1]], np.int8))).tolist() == [2, 0]


def test_rejects_nan_for_legal_actions() -> None:
    agent = duels.mask_agent(lambda observation: np.array([np.nan, 1.0, 2.0]))
    assert agent(None, np.array([0, 1, 1], np.int8)) == 2
    with pytest.raises(DuelsError, match="NaN for a legal action"):
        agent(None, np.array([1, 1, 0], np.int8))


def test_prefers_minus_infinity_to_an_illegal_action() -> None:
    agent = duels.mask_agent(lambda observation: np.array([3.0, -np.inf, -np.inf]))
    assert agent(None, np.array([0, 1, 1], np.int8)) == 1


def test_detaches_tensors_that_record_gradients() -> None:
    class Tensor:
        """Like a PyTorch tensor, it must be detached before it becomes an array."""

        def detach(self) -> Any:
            return np.array([1.0, 3.0, 2.0])

        def __array__(self, *arguments: Any, **more: Any) -> Any:
            raise RuntimeError("Can't call numpy() on Tensor that requires grad.")

    agent = duels.mask_agent(lambda observation: Tensor())
    assert agent(None, np.array([1, 0, 1], np.int8)) == 2


def test_softmax_covers_legal_actions() -> None:
    agent = duels.mask_agent(lambda observation: np.log([[8.0, 1.0, 3.0]] * 2), softmax=True)
    masks = np.array([[0, 1, 1], [1, 1, 1]], np.int8)
    assert np.asarray(agent(None, masks)).tolist() == [
        pytest.approx([0, 1 / 4, 3 / 4]),
        pytest.approx([2 / 3, 1 / 12, 1 / 4]),
    ]
    infinite = duels.mask_agent(lambda observation: np.array([-np.inf, -np.inf, np.inf]), softmax=True)
    assert np.asarray(infinite(None, np.array([1, 1, 0], np.int8))).tolist() == [0.5, 0.5, 0]
    assert np.asarray(infinite(None, np.array([1, 0, 1], np.int8))).tolist() == [0, 0, 1]
    assert np.asarray(infinite(None, np.zeros(3, np.int8))).tolist() == [1 / 3] * 3, "of a game that is over"
    with pytest.raises(DuelsError, match="softmax"):
        duels.mask_agent(lambda observation: observation, softmax=1)  # type: ignore[arg-type]


def test_a_spread_combines_the_grades_of_single_seeds() -> None:
    def learn(seed: int) -> Any:
        weights = np.random.default_rng(seed).random((8, 13))
        return duels.mask_agent(lambda observation: observation @ weights)

    spread = duels.exploitability_over_seeds(learn, "lights", seeds=range(3))
    each = [duels.exploitability(duels.table_of(learn(seed), "lights"), "lights") for seed in range(3)]
    assert list(spread.highs) == each
    assert (spread.best, spread.median, spread.worst) == tuple(sorted(each))
    assert str(spread) == "{1:.4f} ({0:.4f} to {2:.4f}, 3 seeds)".format(*sorted(each))


def test_a_spread_keeps_the_bounds_of_each_seed() -> None:
    agent = duels.mask_agent(
        lambda observation: np.tile(np.arange(9.0) / 4, (len(observation), 1)), softmax=True
    )
    spread = duels.exploitability_over_seeds(lambda seed: agent, "hunt", seeds=1, cells=3)
    table = duels.table_of(agent, "hunt", batch=True, cells=3)
    assert Bounds(*spread.lows, *spread.highs) == duels.exploitability_bounds(table, "hunt", cells=3)
    assert spread.lows < spread.highs


def test_the_median_and_the_range_of_bounds_are_bounds() -> None:
    spread = Spread(highs=(0.3, 0.125, 0.2), lows=(0.25, 0.125, 0.15))
    assert str(spread) == "between 0.1500 and 0.2000 (0.1250 to 0.3000, 3 seeds)"


def test_agents_without_tables_are_graded_in_short_forms() -> None:
    form: dict[str, Any] = {"side": 2, "values": 4, "copies": 1, "target": 4}
    spread = duels.exploitability_over_seeds(
        lambda seed: lambda observation, masks: masks.argmax(axis=1), "flip", seeds=1, **form
    )
    policy = duels.policy_of(lambda observation, mask: mask.argmax(), "flip", **form)
    assert spread.highs == (duels.exploitability(policy, "flip", **form),)


@pytest.mark.parametrize("batch", [True, False])
def test_rejects_agents_that_sample_actions(batch: bool) -> None:
    rng = np.random.default_rng(1)

    def agent(observation: Any, mask: Any) -> Any:
        return (mask * rng.random(mask.shape)).argmax(axis=-1)

    for arguments in ({}, {"game": "hunt", "cells": 2, "max_turns": 2, "memory": 2}):
        form: dict[str, Any] = {"game": "lights", **arguments}
        with pytest.raises(DuelsError, match=r"different answers .*deterministic=True"):
            duels.exploitability_over_seeds(lambda seed: agent, seeds=1, batch=batch, **form)


def test_ignores_rounding_differences_between_answers() -> None:
    rng = np.random.default_rng(1)

    def agent(observation: Any, masks: Any) -> Any:
        weights = masks * (1 + 1e-6 * rng.random(masks.shape))
        return weights / weights.sum(axis=1, keepdims=True)

    spread = duels.exploitability_over_seeds(lambda seed: agent, "lights", seeds=1)
    assert spread.median == pytest.approx(duels.exploitability("random", "lights"), abs=1e-4)


@pytest.mark.parametrize("wrong", [2.5, True, None, "ab", [0.5]])
def test_rejects_invalid_seeds(wrong: Any) -> None:
    with pytest.raises(DuelsError, match="whole numbers"):
        duels.exploitability_over_seeds(
            lambda seed: lambda observation, masks: masks.argmax(axis=1), "lights", seeds=wrong
        )


def test_passes_options_to_grading() -> None:
    def learn(seed: int) -> Any:
        return lambda observation, masks: masks / masks.sum(axis=1, keepdims=True)

    form: dict[str, Any] = {"cells": 5, "run": 3, "max_boards": 2}
    spread = duels.exploitability_over_seeds(learn, "chain", seeds=[7], **form)
    assert spread.median == pytest.approx(duels.exploitability("random", "chain", **form))
    with pytest.raises(DuelsError, match="at least one seed"):
        duels.exploitability_over_seeds(learn, "chain", seeds=[], **form)


def test_agents_get_the_observations_of_their_training() -> None:
    form: dict[str, Any] = {"cells": 3, "run": 2, "max_boards": 2}
    inputs = set()

    def learn(seed: int) -> Any:
        def agent(observation: Any, mask: Any) -> Any:
            inputs.add((observation.ndim, observation.dtype.name))
            return mask.argmax() if observation[-2] else np.flatnonzero(mask)[-1]  # one board is left

        return agent

    arguments: dict[str, Any] = {"limit_ends": "draw", "dtype": "int8"}
    spread = duels.exploitability_over_seeds(learn, "chain", seeds=[7], batch=False, **arguments, **form)
    assert inputs == {(1, "int8")}
    table = duels.table_of(learn(7), "chain", **arguments, **form)
    assert spread.highs == (duels.exploitability(table, "chain", **form),)
    assert str(spread) == "{0:.4f} ({0:.4f} to {0:.4f}, 1 seed)".format(*spread.highs)


@pytest.mark.parametrize(
    "arguments", [{"memory": 3}, {"limit_ends": "draw"}, {"memory": 3, "limit_ends": "draw"}]
)
def test_agents_without_a_table_are_graded(arguments: dict[str, Any]) -> None:
    form: dict[str, Any] = {"cells": 2, "max_turns": 2}
    shapes: set[tuple[int, ...]] = set()

    def learn(seed: int) -> Any:
        def agent(observations: Any, masks: Any) -> Any:
            shapes.add(observations.shape)
            return masks.argmax(axis=1)

        return agent

    spread = duels.exploitability_over_seeds(learn, "hunt", seeds=[7], **arguments, **form)
    assert shapes == {(1, len(DuelEnv("hunt", **arguments, **form).feature_names))}
    policy = duels.policy_of(lambda observation, mask: mask.argmax(), "hunt", **arguments, **form)
    assert spread.highs == (duels.exploitability(policy, "hunt", **form),)


@pytest.mark.parametrize(
    "wrong", [{"limit_ends": "drawn"}, {"dtype": bool}, {"batch": 2}, {"memory": 3}, {"speed": 1}]
)
def test_rejects_invalid_arguments_before_training(wrong: dict[str, Any]) -> None:
    def learn(seed: int) -> Any:
        raise AssertionError("trained in vain")

    with pytest.raises(DuelsError):
        duels.exploitability_over_seeds(learn, "lights", **wrong)


@pytest.mark.parametrize(("game", "form"), [("flip", {}), ("hunt", {"cells": 4, "max_turns": 50})])
def test_rejects_large_games_before_training(
    game: str, form: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("duels.solving.tree.MAX_HISTORIES", 10_000)  # sooner than for a user

    def learn(seed: int) -> Any:
        raise AssertionError("trained in vain")

    with pytest.raises(TooLarge):
        duels.exploitability_over_seeds(learn, game, **form)


def test_rejects_clock_tables_for_games_with_secrets() -> None:
    form: dict[str, Any] = {"cells": 3, "max_turns": 4}
    table = duels.table_of(lambda observation, mask: mask.argmax(), "hunt", limit_ends="draw", **form)
    with pytest.raises(DuelsError, match=r"duels.policy_of\(agent, 'hunt', limit_ends='draw'\)"):
        duels.exploitability(table, "hunt", **form)
