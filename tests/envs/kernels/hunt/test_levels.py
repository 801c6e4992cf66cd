"""Hunt's levels on arrays play like the players of the same names."""

import pickle
from random import Random
from typing import Any

import numpy as np
import pytest

from duels import vector
from duels.core.match import Match
from duels.core.rules import Seat
from duels.envs.gymnasium import DuelEnv, DuelVectorEnv
from duels.envs.kernels.hunt.levels import HuntLevels
from duels.games.hunt.rules import QuantumHunt
from duels.players import make_player

EVERYWHERE = np.array([True])


@pytest.mark.parametrize("seat", Seat)
@pytest.mark.parametrize("level", ["best", "club"])
def test_odds_equal_those_of_the_player(level: str, seat: Seat) -> None:
    rules, rng = QuantumHunt(max_turns=20), Random(3)
    player: Any = make_player(level, rules)
    batch, levels = vector.make(rules, 1), HuntLevels(rules, player.share, 1)
    seats, numbers = np.array([seat - 1]), {action: n for n, action in enumerate(rules.all_actions())}
    decisions = 0
    for _ in range(12):
        match: Any = Match.start(rules)
        batch.reset()
        levels.begin(EVERYWHERE)
        while match.actor is not None:
            if match.actor is seat:
                odds = levels.odds(batch.observe(), batch.masks(), seats, EVERYWHERE)[0]
                expected = {numbers[action]: p for action, p in player.odds(match.sight(seat)).items() if p}
                assert {int(n): odds[n] for n in np.flatnonzero(odds)} == pytest.approx(expected)
                decisions += 1
            action = rng.choice(match.actions)
            played = np.array([numbers[action]])
            levels.on_actions(batch.actor.astype(np.int64), played, seats, EVERYWHERE)
            match = match.play(match.actor, action)
            batch.step(played)
    assert decisions > 20


def test_batches_equal_single_games() -> None:
    arguments: dict[str, Any] = {"opponent": "expert", "seat": "random", "max_turns": 8}
    envs: Any = DuelVectorEnv("hunt", 5, autoreset_mode="NextStep", **arguments)
    singles = [DuelEnv("hunt", **arguments) for _ in range(5)]
    observations, info = envs.reset(seed=2)
    expected = [env.reset(seed=2 + k) for k, env in enumerate(singles)]
    over = np.zeros(5, bool)
    for step in range(60):
        assert (observations == [one[0] for one in expected]).all()
        if step == 10:
            envs, singles = pickle.loads(pickle.dumps((envs, singles)))
        actions = info["action_mask"].argmax(axis=1)
        observations, _, terminated, truncated, info = envs.step(actions)
        expected = [
            env.reset() if over[k] else (lambda t: (t[0], t[-1]))(env.step(actions[k]))
            for k, env in enumerate(singles)
        ]
        over = terminated | truncated


@pytest.mark.parametrize("game", ["lights", "leap", "chain"])
def test_a_single_game_draws_like_its_player(game: str) -> None:
    """Over many games from one position, the level takes every action with its stated probability."""
    env = DuelEnv(game, "novice", seat=2)
    player: Any = make_player("novice", env.rules)
    odds = player.odds(Match.start(env.rules).sight(Seat.ONE))
    counts: dict[bytes, int] = {}
    for seed in range(600):
        observation = env.reset(seed=seed)[0].tobytes()
        counts[observation] = counts.get(observation, 0) + 1
    if game == "leap":
        return  # its first turn is no choice
    expected = sorted(p for p in odds.values() if p)
    assert len(counts) == len(expected)
    for count, share in zip(sorted(counts.values()), expected, strict=True):
        assert abs(count / 600 - share) < 0.06
