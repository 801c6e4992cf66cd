"""Steps in compiled code are the steps of the rules, observations and masks included."""

import pickle
from typing import Any

import numpy as np
import pytest

from duels import vector
from duels.core.errors import DuelsError, IllegalMove
from duels.envs import running
from duels.games import GAMES
from tests.envs.cases import CASES, rules_of
from tests.outside.highcard import HighCard

pytest.importorskip("numba")
RULES = [*(rules_of(case) for case in CASES), HighCard()]


def looks(batch: Any) -> list[Any]:
    return [
        batch.actor,
        batch.masks(),
        batch.observe(),
        batch.observe(0),
        batch.observe(1),
        batch.masks_for(0),
        batch.sample(),
    ]


@pytest.mark.parametrize("form", ["autoreset", "not", "final", "few", "draw", "own arrays", "threads"])
@pytest.mark.parametrize("rules", RULES, ids=[*CASES, "highcard"])
def test_compiled_steps_are_those_of_numpy(rules: Any, form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "FEWEST", 13)
    how: dict[str, Any] = {"autoreset": form != "not"}
    run: dict[str, Any] = {"copy": form != "own arrays", "threads": 3 if form == "threads" else 1}
    if form == "draw":
        if rules.limit_value is None:
            return
        how["limit_ends"] = "draw"
    count = 9 if form == "few" else 70  # one after the other in NumPy; more than are stepped abreast
    plain = vector.make(rules, count, seed=5, **how)
    quick = vector.make(rules, count, seed=5, compiled=True, **run, **how)
    for batch in (plain, quick):
        batch.keep_final = form in ("final", "few")
    for step in range(60):
        for one, two in zip(looks(plain), looks(quick), strict=True):
            assert one.dtype == two.dtype
            assert np.array_equal(one, two)
        actions = plain.sample()
        for one, two in zip(plain.step(actions), quick.step(actions.astype(np.int32)), strict=True):
            assert one.dtype == two.dtype
            assert np.array_equal(one, two)
        if step == 20:
            quick = pickle.loads(pickle.dumps(quick))
        if plain.keep_final:
            assert np.array_equal(plain.final_observations, quick.final_observations)
    if form == "autoreset":
        assert np.array_equal(plain.rollout(30).wins, quick.rollout(30).wins)
        assert np.array_equal(plain.observe(), quick.observe())


def test_threads_share_no_work_on_what_is_shown() -> None:
    alone, shared = (vector.make("flip", 12_000, seed=3, compiled=True, threads=n) for n in (1, 2))
    for _ in range(10):
        for batch in (alone, shared):
            batch.rollout(3)  # forgets what is shown
        actions = alone.sample()
        for batch in (alone, shared):
            batch.step(actions)
        assert np.array_equal(alone.observe(), shared.observe())
        assert np.array_equal(alone.masks(), shared.masks())


@pytest.mark.parametrize("game", GAMES)
def test_what_is_not_allowed_changes_nothing(game: str) -> None:
    batch = vector.make(game, 5, seed=1, compiled=True)
    for _ in range(6):
        batch.step(batch.sample())
    masks = batch.masks()
    for wrong in (-1, batch.num_actions, *np.flatnonzero(masks[3] == 0)):
        actions, before = batch.sample(), looks(batch)
        actions[3] = wrong
        with pytest.raises(IllegalMove, match=f"Action {wrong} is not allowed now in environment 3"):
            batch.step(actions)
        assert all(np.array_equal(one, two) for one, two in zip(before, looks(batch), strict=True))
    for action in np.flatnonzero(masks[3]):
        copy, actions = pickle.loads(pickle.dumps(batch)), batch.sample()
        actions[3] = action
        copy.step(actions)


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("game", GAMES)
def test_what_was_given_stays_unless_the_arrays_are_the_batchs_own(game: str, compiled: bool) -> None:
    copying = vector.make(game, 50, seed=2, compiled=compiled)
    actions = copying.sample()
    given: list[Any] = [actions, copying.observe(), copying.masks(), *copying.step(actions)]
    kept = [array.copy() for array in given]
    for _ in range(20):
        copying.step(copying.sample())
        copying.observe()
        copying.masks()
    assert all(np.array_equal(one, two) for one, two in zip(given, kept, strict=True))


@pytest.mark.parametrize("game", GAMES)
def test_own_arrays_are_the_same_ones_every_time(game: str) -> None:
    own = vector.make(game, 50, seed=2, compiled=True, copy=False)
    given: list[Any] = [own.observe(), own.masks(), *own.step(own.sample())]
    again: list[Any] = [own.observe(), own.masks(), *own.step(own.sample())]
    assert all(np.shares_memory(one, two) for one, two in zip(given, again, strict=True))
    assert not own.observe().flags.writeable
    assert not own.masks().flags.writeable


def test_threads_are_for_compiled_code() -> None:
    with pytest.raises(DuelsError, match="compiled=True"):
        vector.make("lights", 4, threads=2)
