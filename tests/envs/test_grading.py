"""Exploitability: exact, and the same as OpenSpiel's."""

from typing import Any

import numpy as np
import pyspiel
import pytest
from open_spiel.python.algorithms import exploitability as theirs
from open_spiel.python.policy import TabularPolicy

import duels.envs.openspiel  # noqa: F401  (registers the games)
from duels.core.errors import DuelsError
from duels.core.rules import Seat, Sight
from duels.envs.grading import exploitability
from duels.envs.tabled import shared_tables
from duels.games import GAMES

FORMS: list[tuple[str, dict[str, Any]]] = [
    ("lights", {"lights": 4}),
    ("lights", {"lights": 5}),
    ("leap", {"goal": 6}),
    ("leap", {"goal": 8}),
    ("chain", {"cells": 3, "run": 2, "max_boards": 1}),
]


def skewed(sight: Sight[Any, Any]) -> dict[Any, float]:
    """A policy with no reason to it, but always the same: weights from the position's text."""
    weights = [1 + (hash_of(sight) + 7 * place) % 5 for place in range(len(sight.actions))]
    return {action: weight / sum(weights) for action, weight in zip(sight.actions, weights, strict=True)}


def hash_of(sight: Sight[Any, Any]) -> int:
    return sum(map(ord, repr(sight.view)))


@pytest.mark.parametrize(("game", "options"), FORMS)
def test_it_is_openspiels_by_half(game: str, options: dict[str, Any]) -> None:
    given = ",".join(f"{name}={value}" for name, value in options.items())
    spiel = pyspiel.load_game(f"duels_{game}({given})")
    policy = TabularPolicy(spiel)
    for number, state in enumerate(policy.states):
        sight = state.match.sight(Seat(state.current_player() + 1))
        for action, probability in skewed(sight).items():
            policy.action_probability_array[number, state._at.game.number[action]] = probability
        untaken = [a for a in range(spiel.num_distinct_actions()) if a not in state.legal_actions()]
        policy.action_probability_array[number, untaken] = 0
    ours = exploitability(skewed, game, **options)
    assert ours > 0
    assert theirs.exploitability(spiel, policy) == pytest.approx(2 * ours)


def test_perfect_leap_of_small_goal_cannot_be_exploited() -> None:
    """Backward induction by hand, over the rules: a policy that keeps every win it has."""
    rules: Any = GAMES["leap"].rules(goal=9)

    def wins(state: Any) -> bool:
        """Whether whoever is to move wins."""
        return any(not wins(rules.apply(state, action).state) for action in rules.actions(state))

    def perfect(sight: Sight[Any, Any]) -> Any:
        winning = [a for a in sight.actions if not wins(rules.apply(sight.view, a).state)]
        return (winning or sight.actions)[0]

    assert exploitability(perfect, "leap", goal=9) == 0
    assert exploitability(skewed, "leap", goal=9) > 0.1


def test_random_play_of_chain_is_exploitable_and_a_one_move_policy_more_so() -> None:
    rules = GAMES["chain"].rules()
    tables = shared_tables(rules).tables
    uniform = tables.legal / np.maximum(tables.legal.sum(axis=1, keepdims=True), 1)
    random = exploitability(uniform, "chain")
    assert 0.2 < random < 0.5
    assert exploitability(uniform.argmax(axis=1), "chain") > random


def test_what_cannot_be_graded_is_refused() -> None:
    with pytest.raises(DuelsError, match="secrets"):
        exploitability(np.zeros(3), "hunt")
    with pytest.raises(DuelsError, match="on all of them"):
        exploitability(np.zeros(3), "flip")
    with pytest.raises(DuelsError, match="a table of 222 states"):
        exploitability(np.zeros(3, int), "lights")
