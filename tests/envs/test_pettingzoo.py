"""PettingZoo's own tests, its registry, and the checks of its usual wrappers."""

import dataclasses
import inspect
import pickle
import re
import sys
import warnings
from collections.abc import Iterator
from copy import deepcopy
from types import SimpleNamespace
from typing import Any

import numpy as np
import pettingzoo
import pytest
from pettingzoo import test as their_tests
from pettingzoo.utils import wrappers
from pettingzoo.utils.env_logger import EnvLogger

from duels.core.errors import DuelsError, IllegalMove
from duels.envs import pettingzoo as ours
from duels.games import GAMES
from tests.envs.cases import CASES


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    """PettingZoo's suite warns about masks in observations of games that are not its own."""
    EnvLogger.suppress_output()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
    EnvLogger.unsuppress_output()


def module_of(game: str) -> Any:
    return getattr(ours, f"{game}_v0")


@pytest.mark.parametrize("case", CASES)
def test_api(case: str) -> None:
    game, options = CASES[case]
    their_tests.api_test(module_of(game).env(**options), num_cycles=200)
    their_tests.api_test(module_of(game).raw_env(**options), num_cycles=200)


@pytest.mark.parametrize("game", GAMES)
def test_seed(game: str) -> None:
    their_tests.seed_test(module_of(game).env, num_cycles=100)


@pytest.mark.parametrize("game", GAMES)
def test_render(game: str, capsys: pytest.CaptureFixture[str]) -> None:
    their_tests.render_test(module_of(game).env)
    assert capsys.readouterr().out  # what mode `human` prints


@pytest.mark.parametrize("kind", ["env", "raw_env"])
@pytest.mark.parametrize("agent", ["player_0", "player_3", "", None, 1])
def test_observe_rejects_unknown_agents(kind: str, agent: Any) -> None:
    env = getattr(module_of("hunt"), kind)()
    env.reset(seed=1)
    with pytest.raises(DuelsError, match=r"Unknown agent .*player_1, player_2"):
        env.observe(agent)


def test_metadata_has_the_name_of_the_game() -> None:
    assert ours.DuelEnv(" Chain ").metadata["name"] == "chain_v0"


def test_performance_benchmark_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    # It measures for five seconds by the clock; here the clock is a minute further at every look.
    minutes = iter(range(0, 60 * 60, 60))
    clock = SimpleNamespace(time=lambda: next(minutes))
    monkeypatch.setattr(sys.modules["pettingzoo.test.performance_benchmark"], "time", clock)
    their_tests.performance_benchmark(module_of("lights").env())


@pytest.mark.parametrize("game", GAMES)
def test_registry(game: str) -> None:
    env = pettingzoo.make("aec", f"duels/{game}-v0")
    env.reset(seed=1)
    assert str(env) == f"{game}_v0"
    assert env.agents == ["player_1", "player_2"]


def test_rejects_invalid_options_and_modes() -> None:
    with pytest.raises(TypeError, match="unexpected keyword argument 'max_turns'"):
        module_of("lights").env(max_turns=3)
    with pytest.raises(DuelsError, match="no option 'max_turns'"):
        ours.env("lights", max_turns=3)
    with pytest.raises(DuelsError, match=r"Unknown render mode 'rgb'. Use one of human, ansi, rgb_array"):
        module_of("lights").env(render_mode="rgb")


def test_options_are_keyword_arguments() -> None:
    with pytest.raises(TypeError, match="positional"):
        module_of("lights").env(7)
    with pytest.raises(DuelsError, match="grade must be True or False, not 'yes'"):
        module_of("lights").env(grade="yes")


def test_reset_rejects_options_of_the_game() -> None:
    for make in (module_of("lights").env, module_of("lights").raw_env):
        with pytest.raises(DuelsError, match=r"takes no options. Pass lights to `make`"):
            make().reset(options={"lights": 9})


def test_rejects_true_as_an_action() -> None:
    env = module_of("lights").env()
    env.reset(seed=1)
    with pytest.raises(AssertionError, match="not in action space"):
        env.step(True)


def test_no_action_is_legal_after_an_illegal_action() -> None:
    env = module_of("chain").env()
    env.reset(seed=1)
    env.step(8)
    assert env.rewards == {"player_1": -1, "player_2": 0}
    for agent in env.possible_agents:
        assert not env.observe(agent)["action_mask"].any()
    env.reset(seed=1)
    assert env.observe("player_1")["action_mask"].any()


def test_raw_environment_rejects_illegal_actions() -> None:
    env = module_of("chain").raw_env()
    env.reset(seed=1)
    for action in (7, 99, -1, None):
        with pytest.raises(IllegalMove):
            env.step(action)
    env.step(3)
    with pytest.raises(IllegalMove):
        env.step(3)


@pytest.mark.parametrize("action", [1.0, "x", [1], np.array([1]), 2.5, True])
def test_raw_environment_accepts_only_integers(action: Any) -> None:
    env = module_of("chain").raw_env()
    env.reset(seed=1)
    with pytest.raises(IllegalMove, match="is illegal"):
        env.step(action)
    for number in (np.int64(1), np.array(2)):
        env.step(number)


def test_raw_environment_must_be_reset_first() -> None:
    for render_mode in (None, "ansi"):
        env = module_of("chain").raw_env(render_mode=render_mode)
        for call in (
            lambda env=env: env.step(0),
            lambda env=env: env.observe("player_1"),
            lambda env=env: env.last(),
            lambda env=env: list(env.agent_iter()),
            lambda env=env: env.agents,
            lambda env=env: env.rewards,
        ):
            with pytest.raises(DuelsError, match=r"^Call reset\(\) first\.$"):
                call()
    assert not hasattr(env, "agent_selection")
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        env.nothing  # noqa: B018
    with pytest.raises(DuelsError, match="seed must be a whole number, not 'a'"):
        module_of("chain").env().reset(seed="a")


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("name", ["env", "raw_env"])
def test_help_lists_the_options_of_the_rules(game: str, name: str) -> None:
    make = getattr(module_of(game), name)
    fields = {field.name: field.default for field in dataclasses.fields(GAMES[game].rules())}  # type: ignore[arg-type]
    parameters = inspect.signature(make).parameters
    assert {option: parameters[option].default for option in fields} == fields
    assert [*parameters][:2] == ["render_mode", "grade"]
    text = inspect.getdoc(module_of(game))
    assert text
    assert re.findall(r"^- `(\w+)`: \w", text, flags=re.MULTILINE) == list(fields)
    assert inspect.getdoc(make)
    assert pickle.loads(pickle.dumps(make)) is make


def wrapped(game: str, options: dict[str, Any]) -> Any:
    """The raw environment in the wrappers that PettingZoo's own games wear."""
    env = module_of(game).raw_env(**options)
    env = wrappers.TerminateIllegalWrapper(env, illegal_reward=-1)
    env = NothingLeft(wrappers.AssertOutOfBoundsWrapper(env))
    return wrappers.OrderEnforcingWrapper(env)


class NothingLeft(wrappers.BaseWrapper):  # type: ignore[misc]
    """Adds to the wrappers: after a loss by an illegal action, no action is legal."""

    def observe(self, agent: Any) -> Any:
        observation = super().observe(agent)
        if self.terminations.get(agent) and self.truncations.get(agent):
            observation["action_mask"][:] = 0
        return observation


def collect_output(env: Any, actions: list[Any]) -> list[Any]:
    """Return everything observable of `env` during play, legal or not, and its errors."""
    results: list[Any] = []

    def attempt(name: str, call: Any) -> None:
        try:
            results.append((name, str(call())))
        except (AssertionError, AttributeError, KeyError, ValueError) as error:
            results.append((name, type(error).__name__, str(error)))

    attempt("observe", lambda: env.observe("player_1"))
    attempt("step", lambda: env.step(0))
    attempt("render", env.render)
    attempt("agent_iter", lambda: env.agent_iter())
    attempt("rewards", lambda: isinstance(env.rewards, dict))
    env.reset(seed=4)
    for action in actions:
        attempt("last", env.last)
        attempt("step", lambda action=action: env.step(action))
        results.append(deepcopy((env.agents, env.rewards, env.terminations, env.truncations, env.infos)))
        if env.agents:
            results.append((env.agent_selection, dict(env._cumulative_rewards)))
    env.reset(seed=4)
    attempt("loop that does not step", lambda: list(env.agent_iter(3)))
    return results


PLAYS: list[tuple[str, list[Any]]] = [
    ("lights", [0, 1, 12, None, None, 0]),  # an overlapping pair: the game is lost, both are taken out
    ("lights", [0, 13, 1]),  # outside the space
    ("lights", [0, -1, np.int64(1), np.int32(2), 2.5, None, "3", 3]),
    ("lights", [0, 1, 2, 3, 4, 5, 6, None, None, None]),  # to the end and beyond
    ("lights", [0, 1, 2, 3, 4, 5, 6, 3, None]),  # the dead take no actions
    ("chain", [0, 0, None, None]),
    ("hunt", [0, 15, 20, None, None]),
    ("flip", [0, 0, None, None]),
]


@pytest.mark.parametrize(("game", "actions"), PLAYS)
def test_checks_agree_with_the_usual_wrappers(game: str, actions: list[Any]) -> None:
    our_outputs = collect_output(module_of(game).env(), actions)
    their_outputs = collect_output(wrapped(game, {}), actions)
    assert len(our_outputs) == len(their_outputs)
    for ours_entry, theirs_entry in zip(our_outputs, their_outputs, strict=True):
        if ours_entry[0] == "rewards":  # said in other words
            assert (ours_entry[1], theirs_entry[1]) == ("NotReset", "AttributeError")
        else:
            assert ours_entry == theirs_entry
