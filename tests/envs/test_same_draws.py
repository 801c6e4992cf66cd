"""A seed gives the same games rendered, graded, single or in a batch."""

from typing import Any

import numpy as np
import pytest

from duels import best_responses
from duels.core.errors import DuelsError
from duels.core.rules import Seat
from duels.envs import dice, pettingzoo
from duels.envs.gymnasium import DuelEnv, DuelVectorEnv
from duels.games import GAMES
from tests.envs.cases import resolve_rules
from tests.envs.test_gymnasium import Biased
from tests.envs.test_vector import FORM, by_the_clock


def evenly(observations: Any, masks: Any) -> Any:
    """A random agent for one game or many."""
    return masks / masks.sum(axis=-1, keepdims=True)


def play_steps(env: Any, steps: int, seed: int = 3) -> list[bytes]:
    observation, info = env.reset(seed=seed)
    history = [observation.tobytes()]
    for _ in range(steps):
        observation, _, terminated, truncated, info = env.step(info["action_mask"].argmax())
        if terminated or truncated:
            history.append(observation.tobytes())
            observation, info = env.reset()
        history.append(observation.tobytes())
        if env.render_mode:
            env.render()
    return history


def check_alike(rules: Any, opponent: Any, seat: int | str) -> None:
    """Check that each game of a batch equals the single one of its seed."""
    envs: Any = DuelVectorEnv(rules, 3, opponent, seat=seat, autoreset_mode="SameStep")
    observations, info = envs.reset(seed=3)
    histories = [[one.tobytes()] for one in observations]
    for _ in range(20):
        observations, _, terminated, truncated, info = envs.step(info["action_mask"].argmax(axis=1))
        for env, one in enumerate(histories):
            if (terminated | truncated)[env]:
                one.append(info["final_obs"][env].tobytes())
            one.append(observations[env].tobytes())
    single = DuelEnv(rules, opponent, seat=seat)
    assert histories == [play_steps(single, 20, seed=3 + env) for env in range(3)]


@pytest.mark.parametrize(
    ("case", "opponent"),
    [
        *((case, "club") for case in ("lights", "chain of 2 boards", "hunt")),
        ("flip of 9", "greedy"),
    ],
)
def test_rendering_and_grading_do_not_change_the_game(case: str, opponent: str) -> None:
    def played(**arguments: Any) -> list[bytes]:
        return play_steps(DuelEnv(resolve_rules(case), opponent, seat=2, **arguments), 20)

    plain = played()
    assert plain == played(render_mode="ansi")
    if case != "flip of 9":  # whose oracle is slow
        assert plain == played(grade=True)


@pytest.mark.parametrize(
    ("game", "options", "opponent"),
    [
        ("lights", {}, "club"),
        ("lights", {}, Biased()),
        ("leap", {}, evenly),
        ("chain", {"cells": 5, "run": 3}, "club"),
        ("chain", FORM, by_the_clock),
        ("hunt", {}, "club"),
        ("flip", {"side": 2, "values": 2, "copies": 2, "target": 3}, "club"),
    ],
)
def test_batches_equal_single_games(game: str, options: dict[str, Any], opponent: Any) -> None:
    opponent = opponent() if opponent is by_the_clock else opponent  # a table
    check_alike(GAMES[game].rules(**options), opponent, seat=1 if game == "flip" else 2)


@pytest.mark.parametrize(("game", "options"), [("leap", {}), ("chain", FORM)])
def test_a_best_response_can_oppose_a_batch(game: str, options: dict[str, Any]) -> None:
    responses = best_responses("random", game, **options)
    for make in (DuelEnv, DuelVectorEnv):
        with pytest.raises(DuelsError, match=r"best response of Player 1. Make the environment with seat=2"):
            make(game, opponent=responses[Seat.ONE], **options)
        with pytest.raises(DuelsError, match="best response of Player 2"):
            make(game, opponent=responses[Seat.TWO], seat="random", **options)
        with pytest.raises(DuelsError, match="best response of Player 2"):
            make(game, opponent=dict(zip(Seat, reversed(responses.values()), strict=True)), **options)
        with pytest.raises(DuelsError, match=r"not one with the keys <Seat\.TWO: 2>"):
            make(game, opponent={Seat.TWO: "random"}, **options)
    check_alike(GAMES[game].rules(**options), responses[Seat.TWO], seat=1)
    check_alike(GAMES[game].rules(**options), responses, seat="random")


def test_errors_suggest_single_environments_for_a_best_response() -> None:
    settings: dict[str, Any] = {"side": 2, "values": 2, "copies": 2, "target": 2}
    with pytest.raises(DuelsError, match=r'can only play single games of flip: .*vectorization_mode="sync"'):
        DuelVectorEnv("flip", opponent=best_responses("random", "flip", **settings), **settings)


def test_levels_can_take_different_seats_in_games_with_secrets() -> None:
    check_alike(GAMES["hunt"].rules(), {Seat.ONE: "club", Seat.TWO: "random"}, seat="random")


@pytest.mark.parametrize("make", [DuelEnv, DuelVectorEnv])
def test_rejects_a_best_response_of_other_rules(make: Any) -> None:
    response = best_responses("random", "chain", **FORM)[Seat.TWO]
    with pytest.raises(DuelsError, match=r"computed for QuantumChain.*run=3.*, not for .*run=4"):
        make("chain", opponent=response, **FORM | {"run": 4})


def test_single_and_batch_draws_agree() -> None:
    rng = np.random.default_rng(1)
    for _ in range(200):
        odds = rng.random(5) * (rng.random(5) < 0.6)
        odds[2] += 0.1
        odds /= odds.sum()
        for bits in (0, 1, int(rng.integers(2**32)), 2**32 - 1):
            drawn = dice.draw_many(odds, bits)
            assert drawn == dice.draw_many(odds[None], np.array([bits]))[0]
            assert odds[drawn] > 0


@pytest.mark.parametrize("game", GAMES)
def test_pettingzoo_draws_the_same_game(game: str) -> None:
    def play(**arguments: Any) -> list[Any]:
        env: Any = pettingzoo.env(resolve_rules(game), **arguments)
        env.reset(seed=1)
        history = []
        for agent in env.agent_iter(12):
            observation, _, terminated, truncated, _ = env.last()
            history.append((agent, observation["observation"].tobytes()))
            env.step(None if terminated or truncated else int(observation["action_mask"].argmax()))
            env.render()
        return history

    assert play() == play(render_mode="ansi")
