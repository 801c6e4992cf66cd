"""Options for learners: random seats, new opponents, dict observations, dtypes, names."""

import pickle
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from duels import vector
from duels.core.errors import DuelsError
from duels.envs import pettingzoo
from duels.envs.gymnasium import DuelEnv, DuelVectorEnv
from duels.envs.openspiel import load_game
from duels.envs.settings import UnknownArgument
from duels.games import GAMES
from tests.envs.cases import CASES, resolve_rules
from tests.envs.test_copies import same


def choose_first(observations: Any, masks: Any) -> Any:
    return masks.argmax(axis=-1)


def choose_last(observations: Any, masks: Any) -> Any:
    return masks.shape[-1] - 1 - masks[..., ::-1].argmax(axis=-1)


def choose_uniformly(observations: Any, masks: Any) -> Any:
    return masks / masks.sum(axis=-1, keepdims=True)


@pytest.mark.parametrize("opponent", ["random", choose_uniformly], ids=["random", "agent"])
@pytest.mark.parametrize("case", ["lights", "chain of 2 boards", "hunt of 6 turns", "flip of 9"])
def test_random_seats_agree_in_batches_and_single_games(case: str, opponent: Any) -> None:
    settings: dict[str, Any] = {
        "opponent": opponent,
        "seat": "random",
        "dict_observations": True,
        "dtype": "float32",
    }
    envs: Any = DuelVectorEnv(resolve_rules(case), 6, **settings)
    singles = [DuelEnv(resolve_rules(case), **settings) for _ in range(6)]
    observations, info = envs.reset(seed=9)
    expected = [env.reset(seed=9 + k) for k, env in enumerate(singles)]
    seats, over = set(), np.zeros(6, bool)
    for _ in range(40):
        assert observations in envs.observation_space
        for k, (observation, single_info) in enumerate(expected):
            assert same(observation, {name: numbers[k] for name, numbers in observations.items()})
            assert observation["observation"].dtype == np.float32
            assert same(single_info["action_mask"], info["action_mask"][k])
            assert single_info["seat"] == info["seat"][k] == envs.seats[k] == singles[k].seat
            seats.add((k, single_info["seat"]))
        actions = choose_last(None, info["action_mask"])
        observations, rewards, terminated, truncated, info = envs.step(actions)
        for k, env in enumerate(singles):
            if over[k]:
                expected[k] = env.reset()
            else:
                observation, reward, *ended, single_info = env.step(actions[k])
                assert (reward, *ended) == (rewards[k], terminated[k], truncated[k])
                expected[k] = observation, single_info
        over = terminated | truncated
    assert len(seats) > 6  # at least one game has had both seats


@pytest.mark.parametrize("game", ["chain", "flip"])
def test_dict_observations_hold_the_mask(game: str) -> None:
    check_env(DuelEnv(game, seat="random", dict_observations=True, dtype=np.float64), skip_render_check=True)
    env = DuelEnv(game, dict_observations=True)
    observation, info = env.reset(seed=1)
    assert (observation["action_mask"] == info["action_mask"]).all()
    assert not np.shares_memory(observation["action_mask"], info["action_mask"])
    illegal = np.flatnonzero(observation["action_mask"] == 0)[0]
    assert not env.step(illegal)[0]["action_mask"].any()
    envs: Any = DuelVectorEnv(game, 2, dict_observations=True, autoreset_mode="SameStep")
    envs.reset(seed=1)
    infos = envs.step(np.array([illegal, observation["action_mask"].argmax()]))[-1]
    assert infos["final_obs"][0] in envs.single_observation_space
    assert infos["final_obs"][1] is None


@pytest.mark.parametrize("make", [DuelEnv, DuelVectorEnv])
def test_masks_are_booleans_on_request(make: Any) -> None:
    for dtype, env in ((np.int8, make("flip")), (np.bool_, make("flip", bool_masks=True))):
        _, info = env.reset(seed=1)
        assert info["action_mask"].dtype == dtype
    env = make("flip", bool_masks=True, dict_observations=True)
    observation, info = env.reset(seed=1)
    assert observation in env.observation_space
    assert observation["action_mask"].dtype == np.bool_
    assert (observation["action_mask"] == info["action_mask"]).all()
    assert not np.shares_memory(observation["action_mask"], info["action_mask"])
    with pytest.raises(DuelsError, match="bool_masks"):
        make("flip", bool_masks="yes")


@pytest.mark.parametrize("make", [DuelEnv, DuelVectorEnv, pettingzoo.env, vector.make, load_game])
def test_an_unknown_argument_is_a_type_error(make: Any) -> None:
    """TorchRL passes `frameskip`, and tries again without it after this message."""
    for game in (*GAMES, *(game.rules() for game in GAMES.values())):
        with pytest.raises(UnknownArgument, match="unexpected keyword argument 'frameskip'") as raised:
            make(game, frameskip=1)
        assert isinstance(raised.value, TypeError)
        assert isinstance(raised.value, DuelsError)


@pytest.mark.parametrize("make", [DuelEnv, DuelVectorEnv])
def test_dict_observations_use_the_trainers_keys(make: Any) -> None:
    env = make("lights", dict_observations=["obs", "mask"])
    observation, info = env.reset(seed=1)
    assert observation in env.observation_space
    assert list(observation) == ["obs", "mask"]
    assert (observation["mask"] == info["action_mask"]).all()
    for wrong in ("ab", ("obs",), ("obs", "obs"), ("obs", 1), 2, 0, np.False_):
        with pytest.raises(DuelsError, match="dict_observations must be True, False, or the two keys"):
            make("lights", dict_observations=wrong)


@pytest.mark.parametrize("make", [DuelEnv, DuelVectorEnv])
def test_opponents_get_an_observation_and_a_mask(make: Any) -> None:
    # A function that table_of accepts can be the opponent, whatever the format of the observations.
    calls: list[Any] = []

    def agent(observations: Any, masks: Any) -> Any:
        calls.append((observations, masks))
        return masks.argmax(axis=-1)

    for in_dict in (False, True, ("obs", "mask")):
        for dtype in ("float32", "int8"):
            env = make("lights", opponent=agent, seat=2, dict_observations=in_dict, dtype=dtype)
            env.reset(seed=1)
            observations, masks = calls.pop()
            rows = () if make is DuelEnv else (1,)
            assert (observations.dtype, observations.shape) == (dtype, (*rows, 8))
            assert (masks.dtype, masks.shape) == ("int8", (*rows, 13))


@pytest.mark.parametrize("make", [DuelEnv, DuelVectorEnv])
@pytest.mark.parametrize("game", GAMES)
def test_observations_are_floats_by_default(make: Any, game: str) -> None:
    floats, bytes_ = make(game), make(game, dtype="int8")
    for env, dtype in ((floats, np.float32), (bytes_, np.int8)):
        assert env.observation_space.dtype == env.reset(seed=1)[0].dtype == dtype
        assert env.reset(seed=1)[0] in env.observation_space
    assert (floats.reset(seed=1)[0] == bytes_.reset(seed=1)[0]).all()


def test_observations_have_the_requested_dtype() -> None:
    zoo = pettingzoo.leap_v0.env(dtype=np.float32)
    zoo.reset(seed=1)
    assert zoo.observe("player_1")["observation"].dtype == np.float32
    assert zoo.observe("player_1") in zoo.observation_space("player_1")
    for wrong, message in ((bool, "must be numeric"), ("word", "must be a NumPy dtype")):
        for make in (DuelEnv, DuelVectorEnv, pettingzoo.env):
            with pytest.raises(DuelsError, match=message):
                make("leap", dtype=wrong)


@pytest.mark.parametrize("case", CASES)
def test_features_and_actions_have_names(case: str) -> None:
    rules = resolve_rules(case)
    envs = (DuelEnv(rules), DuelVectorEnv(rules, 2), pettingzoo.env(rules), vector.make(rules, 2))
    assert len({env.feature_names for env in envs}) == len({env.action_names for env in envs}) == 1
    batch = vector.make(rules, 1)
    assert len(set(batch.feature_names)) == batch.observation_size
    assert [rules.parse(name) for name in batch.action_names] == list(rules.all_actions())


def test_names_of_features_and_actions() -> None:
    assert vector.make("lights").feature_names == (*(f"lights[{n}]" for n in range(1, 8)), "my_turn")
    assert vector.make("lights").action_names[:8] == ("1", "2", "3", "4", "5", "6", "7", "1-2")
    limited = DuelEnv("hunt", max_turns=2, limit_ends="draw").feature_names
    assert limited[:2] == ("my_cell=0", "my_cell=1")
    assert limited[-4:] == ("my_phase=observe", "left=0", "left=1", "left=2")


@pytest.mark.parametrize("game", GAMES)
def test_a_new_opponent_starts_with_the_next_game(game: str) -> None:
    env = DuelEnv(game, choose_first, seat=2)
    observation, _ = env.reset(seed=1)
    env.set_opponent(choose_last)
    before = pickle.loads(pickle.dumps(env))
    assert (before.reset(seed=1)[0] == DuelEnv(game, choose_last, seat=2).reset(seed=1)[0]).all()
    for opponent in ("greedy", "random", choose_first):  # from arrays to a match and back
        env.set_opponent(opponent)
        assert (env.reset(seed=1)[0] == DuelEnv(game, opponent, seat=2).reset(seed=1)[0]).all()
    assert (env.reset(seed=1)[0] == observation).all()


def test_each_game_of_a_batch_changes_its_opponent_at_its_start() -> None:
    envs: Any = DuelVectorEnv("chain", 4, choose_first, seat=2, autoreset_mode="Disabled")
    old, _ = envs.reset(seed=1)
    envs.set_opponent(choose_last)
    new = DuelVectorEnv("chain", 4, choose_last, seat=2).reset(seed=1)[0]
    observations, _ = envs.reset(seed=1, options={"reset_mask": np.array([True, False, True, False])})
    assert (observations[[0, 2]] == new[[0, 2]]).all()
    assert (observations[[1, 3]] == old[[1, 3]]).all()
    assert not (new == old).all()
    # Each game keeps its opponent until its own end.
    second = envs.step(np.array([1, 1, 1, 1]))[0]
    assert (second[0] == second[2]).all()
    assert (second[1] == second[3]).all()
    assert not (second[0] == second[1]).all()
    envs.set_opponent("random")
    envs.reset(seed=1)
    assert (envs.step(np.full(4, 1))[0] == play_one_step(DuelVectorEnv("chain", 4, seat=2))).all()


def test_some_games_of_a_batch_change_their_opponent() -> None:
    envs: Any = DuelVectorEnv("chain", 3, choose_first, seat=2)
    selected = np.array([False, True, False])
    old, _ = envs.reset(seed=1)
    envs.set_opponent(choose_last, env_mask=selected)
    observations, _ = envs.reset(seed=1)
    new = DuelVectorEnv("chain", 3, choose_last, seat=2).reset(seed=1)[0]
    assert (observations == np.where(selected[:, None], new, old)).all()
    with pytest.raises(DuelsError, match="env_mask must be a boolean array of length 3"):
        envs.set_opponent(choose_last, env_mask=[1])


def test_unused_opponents_are_dropped() -> None:
    envs: Any = DuelVectorEnv("hunt", 2, "club", max_turns=9)
    envs.reset(seed=1)
    for _ in range(9):
        envs.set_opponent("best")
    assert len(envs._opponents) == 2  # this game's and the next one's
    envs.reset()
    assert len(envs._opponents) == 1


def play_one_step(envs: Any) -> Any:
    envs.reset(seed=1)
    return envs.step(np.full(4, 1))[0]


@pytest.mark.parametrize("make", [DuelEnv, DuelVectorEnv])
def test_rejects_opponents_with_invalid_answers(make: Any) -> None:
    env = make("chain", opponent=lambda observation, mask: np.zeros(99), seat=2)
    with pytest.raises(DuelsError, match=r"probabilities|must return"):
        env.reset(seed=1)
    with pytest.raises(DuelsError, match="An opponent must be a player's name"):
        make("chain", opponent=lambda sight: sight.actions[0])


def test_gymnasium_makes_environments_by_name() -> None:
    env = gymnasium.make("duels/Hunt-v0", seat="random", dict_observations=True, dtype="float32", max_turns=5)
    assert isinstance(env.observation_space, gymnasium.spaces.Dict)
    assert env.get_wrapper_attr("feature_names")[-1] == "my_phase=observe"
