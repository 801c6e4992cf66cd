"""Gymnasium's own checks, and one seat against an opponent."""

import re
import warnings
from random import Random
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode

from duels.analysis.agents import table_of
from duels.core.errors import DuelsError, IllegalMove
from duels.core.rules import AnySight
from duels.envs.gymnasium import DuelEnv, DuelVectorEnv
from duels.games import GAMES
from duels.solving.tables import get_tables
from tests.envs.cases import CASES


def make_env(game: str, **options: Any) -> Any:
    return gymnasium.make(f"duels/{game.title()}-v0", **options)


@pytest.mark.parametrize("seat", [1, 2])
@pytest.mark.parametrize("case", CASES)
def test_check_env_is_clean(case: str, seat: int, capsys: pytest.CaptureFixture[str]) -> None:
    game, options = CASES[case]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(make_env(game, seat=seat, **options).unwrapped, skip_render_check=True)
        check_env(make_env(game, seat=seat, render_mode="ansi", **options).unwrapped)
    assert "WARN" not in capsys.readouterr().err


@pytest.mark.parametrize("seat", [1, 2])
def test_illegal_action_loses(seat: int) -> None:
    env = make_env("chain", seat=seat)
    observation, info = env.reset(seed=2)
    illegal = int(np.flatnonzero(info["action_mask"] == 0)[0])
    after, reward, terminated, truncated, info = env.step(illegal)
    assert (reward, terminated, truncated, info["illegal"]) == (-1.0, True, False, True)
    assert (after == observation).all()
    assert not info["action_mask"].any()
    assert not env.unwrapped.action_masks().any()
    with pytest.raises(DuelsError, match="over"):
        env.unwrapped.step(0)
    _, info = env.reset()
    assert info["action_mask"].any()


@pytest.mark.parametrize("wrong", [-1, 8, 99])
def test_an_illegal_action_loses_the_whole_value(wrong: int) -> None:
    env = DuelEnv("chain", grade=True)
    envs: Any = DuelVectorEnv("chain", 2, grade=True, autoreset_mode="SameStep")
    env.reset(seed=1)
    envs.reset(seed=1)
    one = env.step(np.int64(wrong))
    _, rewards, terminated, _, info = envs.step(np.array([wrong, 3]))
    assert (one[1], one[2], one[4]["value"], one[4]["regret"]) == (-1.0, True, 0.0, 0.5)
    assert (rewards[0], terminated.tolist()) == (-1.0, [True, False])
    assert info["final_info"]["value"][0] == 0.0
    assert info["final_info"]["regret"][0] == 0.5
    assert (info["regret"][0], info["value"][0]) == (0.0, 0.5)  # a new game


def test_rejects_invalid_actions() -> None:
    envs: Any = DuelVectorEnv("chain", 2)
    envs.reset(seed=1)
    for actions in (np.zeros(2), np.zeros(3, int), [[0, 0]]):
        with pytest.raises(DuelsError, match="2 integers"):
            envs.step(actions)


def test_finished_games_must_be_reset() -> None:
    env = make_env("lights", lights=3).unwrapped
    _, info = env.reset(seed=1)
    over = False
    while not over:
        _, _, over, _, info = env.step(np.flatnonzero(info["action_mask"])[0])
    with pytest.raises(DuelsError, match="over"):
        env.step(0)


class First:
    """Takes the first legal action and records its arguments."""

    def __init__(self) -> None:
        self.sights: list[AnySight] = []

    def choose(self, sight: AnySight, rng: Random) -> Any:
        self.sights.append(sight)
        return sight.actions[0]


def test_opponents_get_sights_of_their_own_seat() -> None:
    opponent = First()
    env = DuelEnv("hunt", opponent, seat=2, max_turns=6)
    _, info = env.reset(seed=3)
    over = False
    while not over:
        _, _, terminated, truncated, info = env.step(np.flatnonzero(info["action_mask"])[-1])
        over = terminated or truncated
    assert opponent.sights
    assert all(sight.seat == 1 == sight.view.seat for sight in opponent.sights)


def test_opponents_may_be_names_of_players() -> None:
    env = make_env("leap", opponent="greedy")
    plays = []
    for _ in range(2):
        observation, info = env.reset(seed=9)
        observations, over = [observation.tobytes()], False
        while not over:
            observation, _, over, _, info = env.step(np.flatnonzero(info["action_mask"])[0])
            observations.append(observation.tobytes())
        plays.append(observations)
    assert plays[0] == plays[1]
    with pytest.raises(DuelsError, match="no player 'nobody'"):
        make_env("leap", opponent="nobody")
    with pytest.raises(DuelsError, match="must be 1, 2 or"):
        make_env("leap", seat=3)


@pytest.mark.parametrize("game", GAMES)
def test_seeds(game: str) -> None:
    def play(seed: int) -> list[Any]:
        env = make_env(game, seat=2).unwrapped
        observation, info = env.reset(seed=seed)
        observations = [observation.tobytes()]
        for _ in range(30):
            observation, _, terminated, truncated, info = env.step(np.flatnonzero(info["action_mask"])[0])
            if terminated or truncated:
                observation, info = env.reset()
            observations.append(observation.tobytes())
        return observations

    assert play(1) == play(1)
    assert len({str(play(seed)) for seed in range(5)}) > 1


@pytest.mark.parametrize("game", ["chain", "flip"])
def test_vector_env_uses_seeds_like_gymnasium(game: str) -> None:
    def first_looks(envs: Any, seed: Any) -> list[list[int]]:
        _, info = envs.reset(seed=seed)
        actions = info["action_mask"].argmax(axis=1)
        return [row.tolist() for row in envs.step(actions)[0]]

    ours: Any = gymnasium.make_vec(f"duels/{game.title()}-v0", num_envs=3, seat=2)
    theirs = gymnasium.make_vec(f"duels/{game.title()}-v0", num_envs=3, seat=2, vectorization_mode="sync")
    for seed in (7, [4, 11, 2**64 - 1]):
        assert first_looks(ours, seed) == first_looks(theirs, seed)
    assert len({str(look) for look in first_looks(ours, list(range(3)))}) > 1
    assert first_looks(ours, [4, None, 5])[::2] == first_looks(ours, [4, 9, 5])[::2]
    with pytest.raises(DuelsError, match="a list of 3 integers"):
        ours.reset(seed=[1, 2])


def test_vector_env_declares_its_autoreset_mode() -> None:
    envs = gymnasium.make_vec("duels/Lights-v0", num_envs=3)
    assert isinstance(envs.unwrapped, DuelVectorEnv)
    assert envs.metadata["autoreset_mode"] is AutoresetMode.NEXT_STEP  # as Gymnasium's own
    observations, info = envs.reset(seed=1)
    assert observations in envs.observation_space
    assert info["action_mask"].shape == (3, 13)


def test_vector_env_loses_only_the_games_with_illegal_actions() -> None:
    envs: Any = DuelVectorEnv("chain", 3, autoreset_mode="SameStep")
    before, _ = envs.reset(seed=1)
    after, rewards, terminated, truncated, info = envs.step(np.array([8, 0, 7]))
    assert rewards.tolist() == [-1.0, 0.0, -1.0]
    assert terminated.tolist() == [True, False, True]
    assert not truncated.any()
    assert (info["final_obs"][0] == before[0]).all()
    assert info["final_info"]["illegal"].tolist() == [True, False, True]
    assert info["final_info"]["_illegal"].tolist() == [True, False, True]
    assert (after[0] == before[0]).all()  # a new game
    assert (after[1] != before[1]).any()


def test_vector_env_reports_illegal_actions_only_if_there_are_any() -> None:
    envs: Any = DuelVectorEnv("lights", 2, seat=2, lights=3, autoreset_mode="SameStep")
    _, info = envs.reset(seed=1)
    for _ in range(9):
        _, _, terminated, _, info = envs.step(info["action_mask"].argmax(axis=1))
        if terminated.any():
            assert "illegal" not in info["final_info"]


def test_vector_env_accepts_a_table_as_opponent() -> None:
    envs: Any = DuelVectorEnv("lights", 4, seat=2)
    tables = envs._batch.tables
    lowest = tables.legal.argmax(axis=1)
    envs = DuelVectorEnv("lights", 4, opponent=lowest, seat=2)
    observations, _ = envs.reset(seed=1)
    assert (observations == observations[0]).all()
    assert observations[0][:7].tolist() == [0, 1, 1, 1, 1, 1, 1]


SYNC = 'make the environment with vectorization_mode="sync"'


def in_sync(game: str, **arguments: Any) -> Any:
    return gymnasium.make_vec(f"duels/{game.title()}-v0", num_envs=2, vectorization_mode="sync", **arguments)


@pytest.mark.parametrize(
    ("game", "arguments"),
    [
        *(
            (game, arguments)
            for game in ("hunt", "flip")
            for arguments in ({"opponent": First()}, {"grade": True})
        ),
        ("hunt", {"opponent": "greedy"}),
        ("flip", {"opponent": "greedy"}),
    ],
)
def test_vector_env_errors_suggest_a_sync_environment(game: str, arguments: dict[str, Any]) -> None:
    with pytest.raises(DuelsError, match=SYNC):
        gymnasium.make_vec(f"duels/{game.title()}-v0", num_envs=2, **arguments)
    envs = in_sync(game, **arguments)
    _, info = envs.reset(seed=1)
    assert info["action_mask"].shape[0] == 2
    assert ("value" in info) == ("grade" in arguments)


def test_vector_env_rejects_render_modes() -> None:
    with pytest.raises(DuelsError, match=SYNC):
        DuelVectorEnv("chain", 2, render_mode="ansi")


class Biased:
    """Takes the first action two times in three, else the last, and states these odds."""

    def choose(self, sight: AnySight, rng: Random) -> Any:
        return sight.actions[0 if rng.random() < 2 / 3 else -1]

    def odds(self, sight: AnySight) -> dict[Any, float]:
        first, last = sight.actions[0], sight.actions[-1]
        return {first: 1.0} if first == last else {first: 2 / 3, last: 1 / 3}


def test_vector_env_accepts_a_player_with_odds() -> None:
    envs: Any = DuelVectorEnv("lights", 3000, opponent=Biased(), seat=2)
    observations, _ = envs.reset(seed=1)
    first = (observations[:, 0] == 0).mean()
    assert first == pytest.approx(2 / 3, abs=0.05)
    assert (observations[observations[:, 0] == 1, 5:7] == 0).all()  # else the last pair
    DuelVectorEnv("lights", 2, opponent="greedy").reset(seed=1)
    with pytest.raises(DuelsError, match=f"^A First can only play single games of lights: {SYNC}"):
        DuelVectorEnv("lights", 2, opponent=First())  # nobody knows what else it would have chosen
    with pytest.raises(DuelsError, match=SYNC):
        DuelVectorEnv("chain", 2, opponent=Biased(), max_boards=2)  # it may look at the boards played


@pytest.mark.parametrize("opponent", [3, None, object(), np.zeros(3)])
def test_rejects_invalid_opponents(opponent: Any) -> None:
    message = (
        "must be a table"
        if isinstance(opponent, np.ndarray)
        else "An opponent must be a player's name, an object"
    )
    with pytest.raises(DuelsError, match=message):
        make_env("chain", opponent=opponent)
    with pytest.raises(DuelsError, match=message):
        gymnasium.make_vec("duels/Chain-v0", num_envs=2, opponent=opponent)


@pytest.mark.parametrize("seat", [1, 2])
@pytest.mark.parametrize(
    ("game", "options"),
    [("lights", {}), ("leap", {"goal": 9}), ("chain", {"max_boards": 2}), ("hunt", {"cells": 3})],
)
def test_a_table_plays_single_games_and_batches_alike(game: str, options: dict[str, Any], seat: int) -> None:
    def leaning(observation: Any, mask: Any) -> Any:
        weights = mask * (1 + np.arange(len(mask)) + observation[: len(mask)].sum())
        return weights / weights.sum()

    arguments = {"opponent": table_of(leaning, game, **options), "seat": seat, **options}
    envs: Any = gymnasium.make_vec(f"duels/{game.title()}-v0", 5, autoreset_mode="SameStep", **arguments)
    singles = [make_env(game, **arguments).unwrapped for _ in range(5)]
    observations, info = envs.reset(seed=3)
    firsts = [env.reset(seed=3 + number) for number, env in enumerate(singles)]
    assert observations.tolist() == [first.tolist() for first, _ in firsts]
    masks, ended = info["action_mask"], 0
    for _ in range(60):
        actions = masks.argmax(axis=1)
        observations, rewards, terminated, truncated, info = envs.step(actions)
        masks = info["action_mask"]
        for number, env in enumerate(singles):
            row, reward, over, cut, _ = env.step(actions[number])
            assert (reward, over, cut) == (rewards[number], terminated[number], truncated[number])
            if over or cut:
                ended += 1
                assert row.tolist() == info["final_obs"][number].tolist()
                row, _ = env.reset()
            assert row.tolist() == observations[number].tolist()
    assert ended


@pytest.mark.parametrize("game", ["lights", "leap", "chain"])
def test_observations_distinguish_states(game: str) -> None:
    tables = get_tables(GAMES[game].rules()).tables
    for seat in (0, 1):
        observations = tables.observation[seat, tables.actor == seat]
        assert len(np.unique(observations, axis=0)) == len(observations)


def test_rejects_tables_for_flip_and_tables_that_use_hidden_information() -> None:
    with pytest.raises(DuelsError, match="flip has no tables"):
        make_env("flip", opponent=np.zeros(3, int))
    tables = get_tables(GAMES["hunt"].rules(cells=3)).tables
    first, last = tables.legal.argmax(axis=1), tables.actions - 1 - tables.legal[:, ::-1].argmax(axis=1)
    peeping = np.where(np.arange(tables.states) % 2, first, last)
    with pytest.raises(DuelsError, match="acts on secrets"):
        make_env("hunt", opponent=peeping, cells=3)


@pytest.mark.parametrize("make", [DuelEnv, DuelVectorEnv])
@pytest.mark.parametrize("wrong", [{"grade": "yes"}, {"grade": 1}, {"seat": 1.0}, {"seat": True}])
def test_rejects_invalid_flags_and_seats(make: Any, wrong: dict[str, Any]) -> None:
    with pytest.raises(DuelsError, match=r"True or False|must be 1, 2 or"):
        make("lights", **wrong)
    make("lights", grade=False, seat=np.int64(2))


@pytest.mark.parametrize("make", [DuelEnv, DuelVectorEnv])
def test_reset_rejects_unknown_options(make: Any) -> None:
    env = make("lights")
    with pytest.raises(DuelsError, match=r"takes no options. Pass seat to `make`"):
        env.reset(options={"seat": 2})
    env.reset(options={})


class Stubborn:
    """Always gives the same answer."""

    def __init__(self, answer: Any) -> None:
        self._answer = answer

    def choose(self, sight: AnySight, rng: Random) -> Any:
        return self._answer


@pytest.mark.parametrize("answer", [3, "4", None, [1], np.array([1, 2]), {}])
def test_rejects_opponents_that_choose_illegal_actions(answer: Any) -> None:
    env = make_env("chain", opponent=Stubborn(answer), seat=2)
    with pytest.raises(IllegalMove, match="The opponent chose"):
        env.reset(seed=1)


@pytest.mark.parametrize("action", [1.5, "x", None, np.array(1.0), np.array([1]), True])
def test_rejects_actions_that_are_not_integers(action: Any) -> None:
    env = DuelEnv("chain")
    env.reset(seed=1)
    with pytest.raises(DuelsError, match="An action must be an integer"):
        env.step(action)
    number: Any = np.array(1)
    env.step(number)


def test_an_environment_must_be_reset_first() -> None:
    with pytest.raises(DuelsError, match="reset\\(\\) before the first step"):
        DuelEnv("chain").step(np.int64(0))
    envs: Any = DuelVectorEnv("chain", 2)
    with pytest.raises(DuelsError, match="reset\\(\\) before the first step"):
        envs.step(np.zeros(2, int))


@pytest.mark.parametrize("seed", ["a", 1.5, "ab", [1.5, 2], ["a", 2], [1, 2, 3]])
def test_rejects_seeds_that_are_not_integers(seed: Any) -> None:
    envs: Any = DuelVectorEnv("chain", 2)
    with pytest.raises(DuelsError, match="seed"):
        envs.reset(seed=seed)


def test_rejects_rules_under_which_the_agent_never_moves() -> None:
    with pytest.raises(DuelsError, match="before the agent moves"):
        make_env("lights", lights=1, seat=2).reset(seed=1)
    envs: Any = DuelVectorEnv("lights", 2, seat=2, lights=1)
    with pytest.raises(DuelsError, match="before the agent"):
        envs.reset(seed=1)
    # One opening in three ends a game of two lights, so some of a hundred environments start with it.
    envs = DuelVectorEnv("lights", 100, seat=2, lights=2)
    with pytest.raises(DuelsError, match="before the agent"):
        envs.reset(seed=1)


def test_text_shows_both_tiles_during_a_quantum_flip() -> None:
    env = make_env("flip", render_mode="ansi")
    env.reset(seed=0)
    env.step(env.unwrapped.action_names.index("A1+A2"))
    assert re.search(r"^A \[[1-5]\] \[[1-5]\] \[ \]", env.render(), re.MULTILINE)
