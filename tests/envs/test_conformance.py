"""The environments pass their laws on our games and on others, and every law catches a broken one."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from duels_tictactoe.rules import Mark, TicTacToe

import duels
from duels.analysis.exploitability import exploitability_bounds
from duels.core.errors import DuelsError, TooLarge
from duels.core.match import Match
from duels.core.rules import AnyRules, AnySight, Ending
from duels.envs.batch import BatchTally
from duels.envs.conformance import (
    Environment,
    EnvironmentBroken,
    EnvironmentLaw,
    Snapshot,
    check_environments,
    check_perfect_play,
)
from duels.envs.conformance import environments as adapters
from duels.games import resolve_rules
from duels.solving.oracle import Bounds
from duels.solving.tables import NOBODY
from tests.envs import cases
from tests.envs.cases import CASES
from tests.outside.highcard import HighCard
from tests.outside.nim import Nim

BY_NAME = {kind.name: kind for kind in (*adapters.UNGRADED, *adapters.GRADED)}
EVERYWHERE = set(BY_NAME)
SECOND_SEATS = {"Gymnasium, seat 2", "Gymnasium's vector environment, seat 2"}
UNGRADED = {kind.name for kind in adapters.UNGRADED}


@pytest.mark.parametrize(
    ("game", "options", "endings"),
    [
        ("lights", {"lights": 4}, {Ending.WON}),
        ("leap", {"goal": 9}, {Ending.WON}),
        ("chain", {"cells": 4, "run": 3, "max_boards": 2}, {Ending.WON, Ending.CUT_OFF}),
        ("hunt", {"max_turns": 6}, {Ending.WON, Ending.CUT_OFF}),
        ("flip", {"side": 2, "values": 2, "copies": 2, "target": 3}, {Ending.WON}),
    ],
)
def test_our_games_conform(game: str, options: dict[str, Any], endings: set[Ending]) -> None:
    checked = check_environments(resolve_rules(game, **options))
    assert (set(checked.environments), checked.skip_reasons) == (EVERYWHERE, {})
    assert set(checked.endings) == endings


@pytest.mark.parametrize("case", CASES)
def test_every_form_of_a_game_conforms(case: str) -> None:
    checked = check_environments(cases.resolve_rules(case), adapters.UNGRADED, games=6)
    assert (set(checked.environments), checked.skip_reasons) == (UNGRADED, {})


def test_a_game_with_draws_conforms() -> None:
    checked = check_environments(TicTacToe())
    assert (set(checked.environments), checked.skip_reasons) == (EVERYWHERE, {})
    assert set(checked.endings) == {Ending.WON, Ending.DRAWN}


def test_a_game_with_secrets_and_chance_conforms() -> None:
    """If a game can end before the second seat moves, the second seat has no environment."""
    checked = check_environments(HighCard(cards=3, max_passes=3), games=60)
    assert set(checked.environments) == EVERYWHERE - SECOND_SEATS
    assert set(checked.skip_reasons) == SECOND_SEATS
    assert set(checked.endings) == {Ending.WON, Ending.DRAWN, Ending.CUT_OFF}


@pytest.mark.parametrize(
    "rules", [Nim(heaps=(1, 2, 2)), Nim(heaps=(2, 1), misere=True, starts="two", roll=3), HighCard()]
)
def test_outside_games_conform(rules: AnyRules) -> None:
    checked = check_environments(rules)
    assert set(checked.environments) >= UNGRADED - SECOND_SEATS


def test_reports_games_that_are_too_large_for_tables() -> None:
    checked = check_environments(resolve_rules("lights", lights=25), adapters.UNGRADED, games=2)
    assert "duels.vector" in checked.skip_reasons
    assert all("too many states" in reason for reason in checked.skip_reasons.values())
    assert {"PettingZoo", "OpenSpiel", "Gymnasium, seat 2"} <= set(checked.environments)


# -- one broken environment for every law ----------------------------------------------------------


def altered(base: type[Environment], change: Callable[[Snapshot], Snapshot]) -> type[Environment]:
    """An environment with altered output."""

    class Altered(base):  # type: ignore[valid-type, misc]
        def begin(self, seed: int, outcomes: tuple[Any, ...]) -> Snapshot:
            return change(super().begin(seed, outcomes))

        def step(self, action: int, outcomes: tuple[Any, ...]) -> Snapshot:
            return change(super().step(action, outcomes))

    return Altered


def drawn(snapshot: Snapshot) -> bool:
    return snapshot.terminated and not any(snapshot.rewards.values())


def truncates_draws(snapshot: Snapshot) -> Snapshot:
    return replace(snapshot, terminated=False, truncated=True) if drawn(snapshot) else snapshot


def plays_on_after_draws(snapshot: Snapshot) -> Snapshot:
    return replace(snapshot, terminated=False, actor=0) if drawn(snapshot) else snapshot


def ends_too_early(snapshot: Snapshot) -> Snapshot:
    return replace(snapshot, terminated=True) if sum(map(sum, snapshot.masks.values())) < 4 else snapshot


def allows_everything(snapshot: Snapshot) -> Snapshot:
    return replace(snapshot, masks={seat: [1] * len(mask) for seat, mask in snapshot.masks.items()})


def passes_the_turn(snapshot: Snapshot) -> Snapshot:
    return replace(snapshot, actor=1 - snapshot.actor) if snapshot.actor != NOBODY else snapshot


def costs_both_a_draw(snapshot: Snapshot) -> Snapshot:
    return replace(snapshot, rewards=dict.fromkeys(snapshot.rewards, -1.0)) if drawn(snapshot) else snapshot


def rewards_the_loser(snapshot: Snapshot) -> Snapshot:
    return replace(snapshot, rewards={seat: -reward for seat, reward in snapshot.rewards.items()})


def shows_nothing(snapshot: Snapshot) -> Snapshot:
    return replace(
        snapshot,
        observations={seat: bytes(len(observation)) for seat, observation in snapshot.observations.items()},
    )


def regraded(snapshot: Snapshot, **changes: float) -> Snapshot:
    grades: dict[int, Any] = {seat: {**grade, **changes} for seat, grade in snapshot.grades.items()}
    return replace(snapshot, grades=grades)


def grades_draws_as_lost(snapshot: Snapshot) -> Snapshot:
    return regraded(snapshot, value=0.0) if drawn(snapshot) else snapshot


def regrets_less_than_nothing(snapshot: Snapshot) -> Snapshot:
    return regraded(snapshot, regret=-0.1)


@pytest.mark.parametrize(
    ("law", "base", "change"),
    [
        (EnvironmentLaw.ENDING, BY_NAME["PettingZoo, rendered"], truncates_draws),
        (EnvironmentLaw.ENDING, adapters.Arrays, plays_on_after_draws),
        (EnvironmentLaw.ENDING, adapters.Gymnasium, ends_too_early),
        (EnvironmentLaw.LEGALITY, adapters.GymnasiumVector, allows_everything),
        (EnvironmentLaw.LEGALITY, adapters.OpenSpiel, passes_the_turn),
        (EnvironmentLaw.REWARD, adapters.PettingZoo, costs_both_a_draw),
        (EnvironmentLaw.REWARD, adapters.OpenSpiel, rewards_the_loser),
        (EnvironmentLaw.OBSERVATION, adapters.Arrays, shows_nothing),
        (EnvironmentLaw.GRADING, BY_NAME["PettingZoo, graded"], grades_draws_as_lost),
        (EnvironmentLaw.GRADING, BY_NAME["Gymnasium, graded"], regrets_less_than_nothing),
    ],
)
def test_a_broken_environment_is_caught(
    law: EnvironmentLaw, base: Any, change: Callable[[Snapshot], Snapshot]
) -> None:
    with pytest.raises(EnvironmentBroken, match=f"tictactoe in {base.name}") as caught:
        check_environments(TicTacToe(), [altered(base, change)])
    assert caught.value.law is law
    assert law.value in str(caught.value)


class Uncounted(adapters.Arrays):
    """Rollouts that count no draws."""

    def rollout(self, seed: int, num_envs: int, steps: int) -> BatchTally | None:
        tally = super().rollout(seed, num_envs, steps)
        assert tally
        return replace(tally, draws=np.zeros_like(tally.draws))


def test_catches_rollouts_that_omit_games() -> None:
    with pytest.raises(EnvironmentBroken, match="draws is") as caught:
        check_environments(TicTacToe(), [Uncounted])
    assert caught.value.law is EnvironmentLaw.COUNTING


class Cheat:
    """Plays illegal actions, or probabilities that do not sum to 1."""

    def __init__(self, odds: dict[Any, float]) -> None:
        self._odds = odds

    def choose(self, sight: AnySight, rng: Any) -> Any:
        return next(iter(self._odds))

    def odds(self, sight: AnySight) -> dict[Any, float]:
        return self._odds


@pytest.mark.parametrize("odds", [{Mark(99): 1.0}, {Mark(4): 0.5}, {Mark(4): 1.5, Mark(6): -0.5}])
def test_catches_invalid_perfect_play(odds: dict[Any, float]) -> None:
    matches = [Match.start(TicTacToe()).play_text("5")]
    with pytest.raises(EnvironmentBroken, match="perfect play") as caught:
        check_perfect_play(TicTacToe(), matches, Cheat(odds))
    assert caught.value.law is EnvironmentLaw.POLICY


@pytest.mark.parametrize(
    "bounds", [Bounds(-0.25, -0.25), Bounds(0.0, -0.5), Bounds(0.2, 0.2), Bounds(0.4, 0.6)]
)
def test_catches_impossible_exploitability(bounds: Bounds) -> None:
    with pytest.raises(EnvironmentBroken, match=r"duels\.exploitability") as caught:
        check_perfect_play(TicTacToe(), [], measure=lambda policy, rules: bounds)
    assert caught.value.law is EnvironmentLaw.EXPLOITABILITY


def test_catches_imperfect_perfect_play() -> None:
    with pytest.raises(EnvironmentBroken, match="random is exploitable by") as caught:
        check_perfect_play(TicTacToe(), [], perfect="random")
    assert caught.value.law is EnvironmentLaw.EXPLOITABILITY


def test_mixed_play_must_meet_its_proven_bound() -> None:
    rules = HighCard(cards=3, max_passes=3)
    check_perfect_play(rules, [])
    with pytest.raises(EnvironmentBroken, match="random is exploitable by") as caught:
        check_perfect_play(rules, [], perfect="random")
    assert caught.value.law is EnvironmentLaw.EXPLOITABILITY


def test_skips_measurement_only_if_the_game_is_too_large() -> None:
    def refuses(error: type[DuelsError]) -> Any:
        def measure(policy: Any, rules: Any) -> Bounds:
            raise error("no")

        return measure

    check_perfect_play(TicTacToe(), [], measure=refuses(TooLarge))
    with pytest.raises(DuelsError, match="no"):
        check_perfect_play(TicTacToe(), [], measure=refuses(DuelsError))


def test_every_law_has_a_broken_environment() -> None:
    """Counting, policy and exploitability have tests of their own."""
    marks: Any = test_a_broken_environment_is_caught
    (mark,) = marks.pytestmark
    named = {law for law, _, _ in mark.args[1]}
    assert named | {EnvironmentLaw.COUNTING, EnvironmentLaw.POLICY, EnvironmentLaw.EXPLOITABILITY} == set(
        EnvironmentLaw
    )


# -- what went wrong with draws before there were these laws ---------------------------------------


@pytest.mark.parametrize("by_policy", [False, True])
@pytest.mark.parametrize("num_envs", [2, 40])
def test_rollouts_count_draws(by_policy: bool, num_envs: int) -> None:
    batches = [duels.vector.make(TicTacToe(), num_envs) for _ in range(2)]
    legal = batches[0].tables.legal
    policy = legal / np.maximum(legal.sum(axis=1, keepdims=True), 1) if by_policy else None
    tally = batches[0].rollout(300, policy)
    draws, games = np.zeros(num_envs, int), 0
    for _ in range(300):
        rewards, terminated, _ = batches[1].step(batches[1].sample(policy))
        draws += terminated & (rewards[:, 0] == 0)
        games += int(terminated.sum())
    assert tally.draws.tolist() == draws.tolist()
    assert draws.sum() > 0
    assert tally.games == games == tally.wins.sum() + draws.sum()
    assert (batches[0].states == batches[1].states).all()


def test_perfect_noughts_and_crosses_cannot_be_exploited() -> None:
    assert exploitability_bounds("perfect", TicTacToe()) == Bounds(0.0, 0.0)
    # A player who always takes the first free cell can be beaten from both seats.
    assert duels.exploitability(lambda sight: sight.actions[0], TicTacToe()) == 0.5
