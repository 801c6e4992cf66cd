"""Flip's integer step agrees with its rules: plain, compiled and in batches."""

import pickle
from collections import Counter
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest

from duels import vector
from duels.core.rules import Seat
from duels.envs import dice
from duels.envs.kernels.flip import batch as kernel
from duels.envs.kernels.flip.step import BAG, FACES, UNSEEN, draw_value, get_first_game, get_layout, lift_pair
from duels.games.flip.rules import Drawn, QuantumTiles, State
from tests.envs.reference import MatchEngine

BOARDS: list[dict[str, Any]] = [
    {"side": 1, "values": 1, "copies": 1, "target": 1},
    {"side": 2, "values": 1, "copies": 4, "target": 1},
    {"side": 2, "values": 2, "copies": 2, "target": 3},
    {"side": 3, "values": 9, "copies": 1, "target": 23},
    {"side": 4, "values": 8, "copies": 2, "target": 9},
    {"side": 5, "values": 1, "copies": 25, "target": 13},
    {"side": 9, "values": 9, "copies": 9, "target": 203},
    {"target": 38},
    {},
]
SMALL = QuantumTiles(side=3, values=3, copies=3, target=7)


@pytest.fixture(params=["plain", "compiled"])
def loops(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Batches in plain Python, as without Numba, or in compiled code."""
    if request.param == "plain":
        monkeypatch.setattr(kernel, "_compile_loops", dict)
    else:
        pytest.importorskip("numba")
    return str(request.param)


@pytest.mark.parametrize("options", BOARDS, ids=str)
def test_random_play_agrees_with_matches(options: dict[str, Any], loops: str) -> None:
    rules, seed, count = QuantumTiles(**options), 5, 4
    batch, rolled = (vector.make(rules, count, seed) for _ in range(2))
    engines = [MatchEngine(rules) for _ in range(count)]
    streams, wins = [dice.stream(seed, env) for env in range(count)], np.zeros((count, 2), int)
    for _ in range(70):
        observations, masks, actions = [batch.observe(seat) for seat in (0, 1)], batch.masks(), batch.sample()
        rewards = batch.step(actions).rewards
        for env, engine in enumerate(engines):
            chance, bits = dice.roll(streams[env])
            streams[env] = dice.advance(streams[env])
            assert masks[env].tolist() == engine.mask().tolist()
            for seat in (0, 1):
                assert observations[seat][env].tolist() == engine.observe(seat).tolist()
            legal = engine.mask().nonzero()[0]
            assert actions[env] == legal[dice.pick(bits, len(legal))]
            engine.step(int(actions[env]), chance)
            assert (rewards[env] > 0).tolist() == [engine.result == seat for seat in (0, 1)]
            if engine.actor < 0:
                wins[env, engine.result] += 1
                engine.reset(0)
    assert (rolled.rollout(70).wins == wins).all()
    assert (rolled.observe() == batch.observe()).all()


@pytest.mark.parametrize("options", BOARDS, ids=str)
def test_plain_and_compiled_steps_agree(options: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("numba")
    rules, rng = QuantumTiles(**options), np.random.default_rng(0)
    compiled = vector.make(rules, 20, seed=3, copy=False)
    monkeypatch.setattr(kernel, "_compile_loops", dict)
    plain = vector.make(rules, 20, seed=3)
    for step in range(60):
        actions, env_mask = plain.sample(), rng.random(20) < 0.7 if step % 9 == 4 else None
        assert (actions == compiled.sample()).all()
        if step % 7 == 6:  # an action that a random player does not take so often
            actions = np.array([np.flatnonzero(mask)[-1] for mask in plain.masks()])
        for one, two in zip(plain.step(actions, env_mask), compiled.step(actions, env_mask), strict=True):
            assert (one == two).all()
        if step % 9 == 8:
            again = rng.random(20) < 0.3
            plain.restart(again)
            compiled.restart(again)
        if step == 30:
            compiled, plain = (pickle.loads(pickle.dumps(batch)) for batch in (compiled, plain))
        assert (plain.observe() == compiled.observe()).all()
        assert (plain.masks() == compiled.masks()).all()


def test_draws_follow_the_odds_of_every_bag() -> None:
    rules, layout = SMALL, get_layout(SMALL)
    for held in product(range(rules.copies + 1), repeat=rules.values):
        left = sum(held)
        removed = "".join(str(value) * (rules.copies - count) for value, count in enumerate(held, 1))
        game = bytearray(get_first_game(rules))
        game[BAG : BAG + rules.values], game[UNSEEN] = bytes(held), left
        faces = (int(tile) for tile in removed)
        game[layout[FACES] : layout[FACES] + 9] = bytes([*faces, *[0] * left])
        if left:
            single = State(removed + "." * left, (0, 0), (True, True), Seat.ONE, (8,))
            _same_odds(rules, single, [(draw_value(game.copy(), ticket),) for ticket in range(left)])
        if left > 1:
            both = State(removed + "." * left, (0, 0), (True, True), Seat.ONE, (7, 8))
            drawn = []
            for ticket in range(ways := left * (left - 1)):
                lifted = game.copy()
                lift_pair(lifted, 7, 8, -(-(ticket << 32) // ways), layout)
                drawn.append(tuple(lifted[layout[FACES] + tile] - rules.values for tile in (7, 8)))
                assert lifted[UNSEEN] == left - 2 == sum(lifted[BAG : BAG + rules.values])
            _same_odds(rules, both, drawn)


def _same_odds(rules: QuantumTiles, state: State, drawn: list[tuple[int, ...]]) -> None:
    """Check that draws have the odds of the rules, in the order of their outcomes."""
    assert drawn == sorted(drawn)
    odds = dict(zip(rules.actions(state), rules.odds(state), strict=True))
    assert {Drawn(values): Fraction(count, len(drawn)) for values, count in Counter(drawn).items()} == odds


def test_batches_without_copies_reuse_their_arrays(loops: str) -> None:
    own = vector.make("flip", 50, seed=2, copy=False)
    arrays = [own.observe(), own.masks()]
    own.step(own.sample())
    again = [own.observe(), own.masks()]
    assert all(np.shares_memory(one, two) for one, two in zip(arrays, again, strict=True))
    assert not any(array.flags.writeable for array in again)


def test_without_numba_a_warning_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel, "find_spec", lambda name: None)
    kernel._compile_loops.cache_clear()
    with pytest.warns(UserWarning, match="extra 'fast'"):
        batch = vector.make("flip", 3)
    assert batch.rollout(30).games > 0
    kernel._compile_loops.cache_clear()
