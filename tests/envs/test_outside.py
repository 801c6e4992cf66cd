"""Games passed in as rules, as a Game, or by a registered name."""

import json
import pickle
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import gymnasium
import numpy as np
import pettingzoo
import pyspiel
import pytest
from duels_tictactoe.rules import TicTacToe
from gymnasium.utils.env_checker import check_env
from pettingzoo import test as their_tests
from pettingzoo.utils.env_logger import EnvLogger

import duels
import duels.envs.gymnasium
from duels.core.errors import BadOption, DuelsError, TooLarge
from duels.core.game import Game
from duels.envs import gymnasium as ours_gymnasium
from duels.envs import openspiel as ours_openspiel
from duels.envs import pettingzoo as ours_pettingzoo
from duels.envs.engine import RulesEngine, make_engine
from duels.envs.gymnasium import DuelEnv, DuelVectorEnv
from duels.envs.kernels.flip.batch import FlipBatch, FlipEngine
from duels.games import GAMES, resolve_rules
from duels.games.flip.rules import QuantumTiles
from tests.outside import highcard, nim
from tests.outside.highcard import HighCard
from tests.outside.nim import Nim


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    EnvLogger.suppress_output()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
    EnvLogger.unsuppress_output()


GIVEN: list[Any] = [nim.GAME, Nim()]


@pytest.mark.parametrize("game", GIVEN, ids=["game", "rules"])
def test_every_interface_accepts_a_game_or_rules(game: Any) -> None:
    assert duels.vector.make(game, 3).rollout(30).games > 0
    assert DuelEnv(game).rules == DuelVectorEnv(game).rules == Nim()
    for make in (ours_pettingzoo.env, ours_pettingzoo.raw_env):
        assert make(game).metadata["name"] == "nim_v0"
    assert ours_openspiel.load_game(game).rules == Nim()
    table = duels.table_of(lambda observation, mask: mask.argmax(), game)
    assert duels.exploitability(table, game) == duels.exploitability(lambda sight: sight.actions[0], game)
    assert duels.exploitability_bounds("random", game).low > 0


def test_options_are_accepted_with_a_game_but_not_with_rules() -> None:
    env = DuelEnv(nim.GAME, heaps=(2, 2), misere=True)
    assert env.rules == Nim(heaps=(2, 2), misere=True)
    assert duels.vector.make(nim.GAME, 2, heaps=(1, 1)).rules == Nim(heaps=(1, 1))
    for make in (DuelEnv, DuelVectorEnv, ours_pettingzoo.env, ours_openspiel.load_game, duels.vector.make):
        with pytest.raises(DuelsError, match="rules already have their options"):
            make(Nim(), misere=True)
        with pytest.raises(BadOption, match="misere must be True or False"):
            make(nim.GAME, misere=1)


def test_rejects_unknown_names() -> None:
    for make in (DuelEnv, DuelVectorEnv, ours_pettingzoo.env, ours_openspiel.load_game, duels.vector.make):
        with pytest.raises(DuelsError, match="no game 'nim'"):
            make("nim")


@pytest.mark.parametrize("game", [TicTacToe.game, nim.GAME])
def test_registered_with_gymnasium(game: Game) -> None:
    name = ours_gymnasium.register(game)
    assert ours_gymnasium.register(game) == name == f"duels/{game.name.title()}-v0"
    check_env(gymnasium.make(name, render_mode="ansi").unwrapped)
    envs: Any = gymnasium.make_vec(name, num_envs=3)
    assert isinstance(envs.unwrapped, DuelVectorEnv)
    assert envs.reset(seed=1)[0].shape[0] == 3


def test_registered_environments_can_be_written_as_json() -> None:
    spec = gymnasium.make("duels/Lights-v0", lights=5).spec
    assert spec
    assert json.loads(spec.to_json())["kwargs"] == {"game": "lights", "lights": 5}


@pytest.mark.parametrize("game", [TicTacToe.game, nim.GAME, highcard.GAME])
def test_registered_with_pettingzoo(game: Game) -> None:
    name = ours_pettingzoo.register(game)
    assert ours_pettingzoo.register(game) == name == f"duels/{game.name}-v0"
    env = pettingzoo.make("aec", name)
    assert isinstance(env, ours_pettingzoo.GuardedDuelEnv)
    their_tests.api_test(env, num_cycles=100)
    their_tests.api_test(ours_pettingzoo.raw_env(game), num_cycles=100)
    their_tests.seed_test(lambda: ours_pettingzoo.env(game), num_cycles=50)
    assert pickle.loads(pickle.dumps(env)).rules == env.rules


@pytest.mark.parametrize("rules", [TicTacToe(), Nim(roll=2), HighCard(max_passes=3)])
def test_registered_with_openspiel(rules: Any, capfd: pytest.CaptureFixture[str]) -> None:
    name = ours_openspiel.register(rules.game)
    assert ours_openspiel.register(rules.game) == name == f"duels_{rules.name}"
    game = ours_openspiel.load_game(rules)
    assert game.rules == rules
    pyspiel.random_sim_test(game, num_sims=5, serialize=True, verbose=False)
    again = pyspiel.load_game(str(game))
    assert again.rules == rules


PARAMETERS = [
    ("duels_nim", Nim()),
    ("duels_nim(heaps=3;5;7)", Nim(heaps=(3, 5, 7))),
    ("duels_nim(heaps=4;)", Nim(heaps=(4,))),
    ("duels_nim(misere=True,starts=two)", Nim(misere=True, starts="two")),
    ("duels_nim(misere=false,roll=2)", Nim(roll=2)),
]


@pytest.mark.parametrize(("text", "rules"), PARAMETERS)
def test_parameters_of_every_kind(text: str, rules: Nim) -> None:
    ours_openspiel.register(nim.GAME)
    loaded = pyspiel.load_game(text)
    assert loaded.rules == rules
    assert pyspiel.load_game(str(loaded)).rules == rules
    assert str(ours_openspiel.load_game(rules)) == str(loaded)


@pytest.mark.parametrize("wrong", ["heaps=a;b", "starts=three", "heaps=;"])
def test_rejects_parameters_that_are_not_options(wrong: str) -> None:
    ours_openspiel.register(nim.GAME)
    with pytest.raises(BadOption):
        pyspiel.load_game(f"duels_nim({wrong})")


def test_a_drawn_game_in_openspiel_is_worth_nothing() -> None:
    state = ours_openspiel.load_game(TicTacToe()).new_initial_state()
    for action in (0, 4, 8, 1, 7, 6, 2, 5, 3):
        assert not state.is_terminal()
        state.apply_action(action)
    assert state.is_terminal()
    assert state.returns() == [0.0, 0.0]


# -- another game that is called flip --------------------------------------------------------------


@dataclass(frozen=True)
class Flip(Nim):
    """Nim under one of our names."""

    game = Game("flip", "Another flip", "no tiles at all", "tests.outside.nim")


@dataclass(frozen=True)
class TwoSteps(QuantumTiles):
    """Flip's own rules, changed: code specific to flip does not apply."""


def test_kernels_belong_to_rules_not_to_names() -> None:
    small: dict[str, Any] = {"side": 2, "values": 2, "copies": 2, "target": 3}
    assert isinstance(duels.vector.make("flip", **small), FlipBatch)
    assert isinstance(make_engine(resolve_rules("flip", **small)), FlipEngine)
    for rules in (Flip(), TwoSteps(**small)):
        batch = duels.vector.make(rules, 2)
        assert isinstance(batch, duels.vector.TableBatch)
        assert batch.rollout(20).games > 0
        assert isinstance(make_engine(rules), RulesEngine)


def test_rejects_an_id_that_is_taken() -> None:
    for ours in (ours_gymnasium, ours_pettingzoo, ours_openspiel):
        with pytest.raises(DuelsError, match=r"is already the id of the game in duels\.games\.flip"):
            ours.register(Flip.game)
    with pytest.raises(DuelsError, match="only if its class is the rules class of"):
        ours_openspiel.load_game(Flip())


def test_importing_registers_installed_games(monkeypatch: pytest.MonkeyPatch) -> None:
    """An entry point adds a game. Its modules are imported again, as in a new process."""
    import importlib

    brought = Game("brought", "Brought", "by another package", "tests.outside.nim")
    every: list[tuple[ModuleType, str, Any]] = [
        (ours_gymnasium, "duels/Brought-v0", lambda: gymnasium.spec("duels/Brought-v0")),
        (ours_pettingzoo, "duels/brought-v0", lambda: pettingzoo.spec("aec", "duels/brought-v0")),
        (ours_openspiel, "duels_brought", lambda: pyspiel.load_game("duels_brought")),
    ]
    monkeypatch.setattr("duels.games.all_games", lambda: (*GAMES.values(), brought))
    for module, _, find in every:
        importlib.reload(module)
        assert find()


# -- counting before exploring ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("game", "options"), [("lights", {"lights": 25}), ("leap", {"goal": 1500}), ("hunt", {"cells": 30})]
)
def test_rejects_very_large_games_without_exploring(
    game: str, options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("duels.solving.tables._explore", None)
    with pytest.raises(TooLarge, match=f"{game} has too many states"):
        duels.vector.make(game, **options)
    with pytest.raises(TooLarge, match=f"{game} has too many states"):
        duels.table_of(lambda observation, mask: 0, game, **options)
    with pytest.raises(DuelsError, match="too large to search"):
        duels.exploitability(lambda sight: sight.actions[0], game, **options)


# -- chance before the first decision --------------------------------------------------------------


def test_games_begin_after_chance() -> None:
    batch = duels.vector.make(Nim(heaps=(1, 1), roll=3), 3000, seed=4)
    shares = np.bincount(batch.states, minlength=3) / 3000
    assert shares[:3] == pytest.approx([1 / 3] * 3, abs=0.03)
    first = batch.states.tolist()
    batch.reset()
    assert batch.states.tolist() != first
    batch.reset(4)
    assert batch.states.tolist() == first


@pytest.mark.parametrize("make", [DuelEnv, ours_pettingzoo.raw_env])
def test_a_reset_during_a_game_starts_another_game(make: Any) -> None:
    env = make(Nim(heaps=(1, 1), roll=4))
    env.reset(seed=3)
    started = set()
    for _ in range(30):
        env.reset()
        started.add(env._engine.observe(0).tobytes())
    assert len(started) == 4


def test_an_illegal_first_move_starts_another_game() -> None:
    rules = Nim(heaps=(1, 1), roll=4)
    env, envs = DuelEnv(rules), DuelVectorEnv(rules, 1, autoreset_mode="SameStep")
    observations = [env.reset(seed=3)[0].tolist()]
    many: list[Any] = [envs.reset(seed=3)[0][0].tolist()]
    for _ in range(20):
        env.step(np.int64(99))
        observations.append(env.reset()[0].tolist())
        many.append(envs.step(np.array([99]))[0][0].tolist())
    assert observations == many
    assert len({str(look) for look in observations}) == 4
