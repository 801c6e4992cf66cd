"""Flip's compiled levels play like the players of the same names."""

import pickle
from collections.abc import Iterator
from random import Random
from typing import Any

import numpy as np
import pytest

from duels.envs.gymnasium import DuelEnv, DuelVectorEnv
from duels.envs.kernels import find_levels
from duels.envs.kernels.flip import levels as kernel
from duels.envs.kernels.flip.levels import FlipLevels
from duels.games.flip.rules import QuantumTiles
from duels.players import make_player
from duels.players.levels import LEVEL_SHARES, LevelPlayer
from duels.solving.oracles import get_oracle
from tests.envs.reference import MatchEngine

pytest.importorskip("numba")
BOOK = QuantumTiles()
FORMS = [BOOK, QuantumTiles(side=2, values=2, copies=2, target=3)]


def decisions(rules: QuantumTiles, seed: int, games: int) -> Iterator[MatchEngine]:
    engine, rng = MatchEngine(rules), Random(seed)
    for _ in range(games):
        engine.reset(0)
        while engine.actor >= 0:
            yield engine
            engine.step(int(rng.choice(engine.mask().nonzero()[0])), rng.getrandbits(32))


def player_odds(player: LevelPlayer, engine: MatchEngine) -> list[float]:
    odds = player.odds(engine.sight(engine.actor))
    return [odds.get(action, 0.0) for action in engine.rules.all_actions()]


@pytest.mark.parametrize("rules", FORMS, ids=str)
def test_odds_equal_those_of_the_player(rules: QuantumTiles) -> None:
    for number, (name, share) in enumerate(LEVEL_SHARES.items()):
        player: Any = make_player(name, rules)
        levels = FlipLevels(rules, share)
        for engine in decisions(rules, number, 2):
            observations = engine.observe(engine.actor)[None]
            (odds,) = levels.odds(observations, engine.mask()[None], engine.actor, np.ones(1, np.bool_))
            assert odds.tolist() == pytest.approx(player_odds(player, engine), abs=1e-9)


def test_batches_reuse_the_code_compiled_for_one_game() -> None:
    """To compile it takes seconds, for every other layout of its arrays."""
    levels, engine = FlipLevels(BOOK, LEVEL_SHARES["club"]), MatchEngine(BOOK)
    engine.reset(0)
    for games in (1, 3):
        observations, masks = (
            np.tile(row, (games, 1)) for row in (engine.observe(engine.actor), engine.mask())
        )
        levels.odds(observations, masks, engine.actor, np.ones(games, np.bool_))
    assert len(kernel._compile().signatures) == 1


@pytest.mark.parametrize(
    ("position", "ahead"),
    [
        ("...../.4.../..5../...2e/..... 6,5 01 2", False),
        ("c.1.2/.a.../...../...../..... 2,1 00 1", False),
        ("...../.de../...../...../..... 0,0 11 1 B2|B3", False),
        (".2.1./..5.4/12..3/21..3/.53.. 15,17 11 1", False),
        ("..3.2/43.../2.2.4/2..3./1...3 15,14 01 2", False),
        ("..115/.2.43/3.2../.224./3.... 16,16 11 1", False),
        ("..414/.3332/..4../...1./.c2.. 12,15 01 1", False),
        (".3.../1..3./124.5/1..5./.32.2 15,17 11 1", False),
        ("4.3.2/.1.../.2351/..1../..333 15,16 11 1", True),
    ],
)
def test_odds_agree_in_every_kind_of_position(
    position: str, ahead: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    state, results = BOOK.parse_state(position), []

    def asking(rules: Any) -> Any:
        results.append(rules)
        return get_oracle(rules)

    monkeypatch.setattr(kernel, "get_oracle", asking)
    player: Any = make_player("casual", BOOK)
    want = player.odds(BOOK.sight(state, state.mover))
    observations = np.frombuffer(BOOK.game.encoding(BOOK).encode(state, state.mover), np.int8)[None]
    (odds,) = FlipLevels(BOOK, LEVEL_SHARES["casual"]).odds(
        observations, observations, 0, np.ones(1, np.bool_)
    )
    assert odds.tolist() == pytest.approx([want.get(a, 0.0) for a in BOOK.all_actions()], abs=1e-9)
    assert bool(results) == ahead  # whether the player had to look ahead


def test_environments_with_level_opponents_can_be_copied() -> None:
    env: Any = DuelEnv("flip", opponent="expert")
    env.reset(seed=4)
    copy = pickle.loads(pickle.dumps(env))
    many: Any = DuelVectorEnv("flip", 5, opponent="best", seat="random")
    observations, info = many.reset(seed=4)
    rng = Random(4)
    for _ in range(12):
        action = int(rng.choice(env.action_masks().nonzero()[0]))
        one, two = env.step(action), copy.step(action)
        assert one[0].tolist() == two[0].tolist()
        if one[2]:
            env.reset()
            copy.reset()
        observations, _, _, _, info = many.step(
            np.array([rng.choice([*mask.nonzero()[0], 0]) for mask in info["action_mask"]])
        )
    assert observations.shape == (5, many.single_observation_space.shape[0])


def test_larger_boards_have_no_level_kernel() -> None:
    assert find_levels(QuantumTiles(side=6, values=6, copies=6, target=30)) is None
