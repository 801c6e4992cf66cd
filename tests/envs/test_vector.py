"""The vectorized core: rollouts equal steps, batches can be split, and illegal actions are rejected."""

import pickle
from typing import Any

import numpy as np
import pytest

import duels.vector
from duels import vector
from duels.core.errors import DuelsError, IllegalMove
from duels.envs.table_batch import TableBatch
from duels.games import GAMES
from tests.envs.cases import CASES, resolve_rules

TABLED = [case for case, (game, _) in CASES.items() if game not in ("hunt", "flip")]


def make_batch(case: str, num_envs: int, seed: int = 1, **arguments: Any) -> Any:
    return vector.make(resolve_rules(case), num_envs, seed, **arguments)


def snapshot(batch: vector.Batch) -> tuple[bytes, ...]:
    return tuple(a.tobytes() for a in (batch.actor, batch.masks(), batch.observe(0), batch.observe(1)))


@pytest.mark.parametrize("num_envs", [1, 3, 50])
@pytest.mark.parametrize("case", CASES)
def test_a_rollout_equals_random_steps(case: str, num_envs: int) -> None:
    rolled, stepped = make_batch(case, num_envs), make_batch(case, num_envs)
    for _ in range(2):
        tally = rolled.rollout(70)
        wins, truncated = np.zeros((num_envs, 2), int), np.zeros(num_envs, int)
        for _ in range(70):
            steps = stepped.step(stepped.sample())
            wins += steps.rewards > 0
            truncated += steps.truncated
        assert (tally.wins == wins).all()
        assert (tally.truncated == truncated).all()
        assert tally.games == wins.sum() + truncated.sum()
        assert tally.steps == 70 * num_envs
        assert snapshot(rolled) == snapshot(stepped)


@pytest.mark.parametrize("case", CASES)
def test_a_batch_may_be_split_in_any_way(case: str) -> None:
    whole = make_batch(case, 40)
    tally = whole.rollout(90)
    parts = [make_batch(case, count, first=first) for first, count in ((0, 1), (1, 6), (7, 33))]
    tallies = [part.rollout(90) for part in parts]
    for name in ("wins", "truncated"):
        assert (getattr(tally, name) == np.concatenate([getattr(t, name) for t in tallies])).all()
    for seat in (0, 1):
        assert (whole.observe(seat) == np.concatenate([part.observe(seat) for part in parts])).all()
    assert tally.games > 0


@pytest.mark.parametrize("case", CASES)
def test_seeds_matter_and_repeat(case: str) -> None:
    batch = make_batch(case, 30, seed=5)
    batch.rollout(40)
    first = snapshot(batch)
    batch.reset(5)
    batch.rollout(40)
    assert snapshot(batch) == first
    batch.reset()
    batch.rollout(40)
    assert snapshot(batch) != first


@pytest.mark.parametrize("case", CASES)
def test_illegal_actions_change_nothing(case: str) -> None:
    batch = make_batch(case, 3)
    while batch.masks()[1].all():
        batch.step(batch.sample())
    before = snapshot(batch), batch.sample().tolist()
    wrong = int(np.flatnonzero(batch.masks()[1] == 0)[0])
    for action in (wrong, -1, batch.num_actions):
        actions = batch.sample()
        actions[1] = action
        with pytest.raises(IllegalMove, match="environment 1"):
            batch.step(actions)
    for shape in (np.zeros(2, int), np.zeros(3), np.zeros((3, 1), int)):
        with pytest.raises(DuelsError, match="3 integers"):
            batch.step(shape)
    assert (snapshot(batch), batch.sample().tolist()) == before


@pytest.mark.parametrize("game", GAMES)
def test_exactly_the_masked_actions_are_illegal(game: str) -> None:
    batch = vector.make(game, 5, seed=1)
    for _ in range(6):
        batch.step(batch.sample())
    for action, legal in enumerate(batch.masks()[3]):
        copy, actions = pickle.loads(pickle.dumps(batch)), batch.sample()
        actions[3] = action
        if legal:
            copy.step(actions)
            continue
        with pytest.raises(IllegalMove, match=f"Action {action} is illegal in environment 3"):
            copy.step(actions)
        assert snapshot(copy) == snapshot(batch)


@pytest.mark.parametrize("game", GAMES)
def test_returned_arrays_do_not_change(game: str) -> None:
    batch = vector.make(game, 50, seed=2)
    actions = batch.sample()
    arrays: list[Any] = [actions, batch.observe(), batch.masks(), *batch.step(actions)]
    copies = [array.copy() for array in arrays]
    for _ in range(20):
        batch.step(batch.sample())
        batch.observe()
        batch.masks()
    assert all(np.array_equal(one, two) for one, two in zip(arrays, copies, strict=True))


@pytest.mark.parametrize("case", CASES)
def test_masked_environments_do_not_change(case: str) -> None:
    batch, other = make_batch(case, 4), make_batch(case, 4)
    env_mask = np.array([True, False, True, False])
    for _ in range(50):
        still = batch.observe(0)[~env_mask], batch.masks()[~env_mask], batch.sample()[~env_mask]
        actions = np.where(env_mask, batch.sample(), 10**6)
        steps = batch.step(actions, env_mask)
        assert not steps.rewards[~env_mask].any()
        other.step(other.sample())
        assert (batch.observe(0)[~env_mask] == still[0]).all()
        assert (batch.masks()[~env_mask] == still[1]).all()
        assert (batch.sample()[~env_mask] == still[2]).all()
        assert (batch.observe(1)[env_mask] == other.observe(1)[env_mask]).all()


def test_restart_starts_new_games() -> None:
    batch = make_batch("flip", 3)
    start = batch.observe(0)
    batch.rollout(5)
    batch.restart(np.array([True, False, False]))
    assert (batch.observe(0)[0] == start[0]).all()
    assert (batch.observe(0)[1:] != start[1:]).any(axis=1).all()


@pytest.mark.parametrize("case", ["chain of 2 boards", "hunt of 6 turns", "flip of 9"])
def test_final_observations_are_those_of_the_last_step(case: str) -> None:
    batch, single = make_batch(case, 6), make_batch(case, 6, autoreset=False)
    batch.keep_final = True
    cases = set()
    for _ in range(60):
        actions = batch.sample()
        steps = batch.step(actions)
        single.step(actions)
        ended = np.flatnonzero(steps.terminated | steps.truncated)
        cases |= {len(ended) > 0, *(-1 for _ in np.flatnonzero(steps.truncated))}
        assert batch.final_observations.shape == (2, len(ended), batch.observation_size)
        for seat in (0, 1):
            assert (batch.final_observations[seat] == single.observe(seat)[ended]).all()
            assert (batch.final_masks[seat] == single.masks_for(seat)[ended]).all()
        assert ((batch.final_actors >= 0) == steps.truncated[ended]).all()
        single._streams = batch._streams.copy()
        single._start(ended)
    assert cases >= {True, False}
    assert (-1 in cases) == (case != "flip of 9")


def test_rejects_invalid_seats() -> None:
    batch = make_batch("hunt of 6 turns", 3, autoreset=False)
    for wrong in (2, -1, "one", np.array([5, 0, 0]), np.zeros(2, int), np.zeros(3), np.array([-2, 0, 0])):
        for look in (batch.observe, batch.masks_for):
            with pytest.raises(DuelsError, match="'seat' must be 0, 1 or an array of 3"):
                look(wrong)
    while (batch.actor >= 0).any():
        batch.step(batch.sample())
    assert (batch.observe(batch.actor) == batch.observe(0)).all()
    assert (batch.masks_for(batch.actor) == batch.masks_for(0)).all()


def test_rollouts_need_autoreset() -> None:
    with pytest.raises(DuelsError, match="autoreset"):
        make_batch("lights", 2, autoreset=False).rollout(3)


@pytest.mark.parametrize("case", TABLED)
def test_tables_are_policies(case: str) -> None:
    batch = make_batch(case, 20)
    assert isinstance(batch, TableBatch)
    last = batch.tables.legal.shape[1] - 1 - batch.tables.legal[:, ::-1].argmax(axis=1)
    policy = batch.policy(last)
    assert (batch.sample(policy) == last[batch.states]).all()
    uniform = batch.tables.legal / np.maximum(batch.tables.legal.sum(axis=1, keepdims=True), 1)
    mixed = batch.policy(uniform)
    stepped = make_batch(case, 20)
    rolled = make_batch(case, 20)
    tally = rolled.rollout(60, mixed)
    wins = sum((stepped.step(stepped.sample(mixed)).rewards > 0).astype(int) for _ in range(60))
    assert (tally.wins == wins).all()
    assert (rolled.states == stepped.states).all()


def test_tables_can_be_used_without_preparation() -> None:
    """`rollout(steps, policy=table)` and `sample(table)`, without `policy` before."""
    raw, ready = make_batch("lights", 20), make_batch("lights", 20)
    first = raw.tables.legal.argmax(axis=1)
    policy = ready.policy(first)
    assert (raw.sample(first) == ready.sample(policy)).all()
    assert (raw.rollout(50, policy=first).wins == ready.rollout(50, policy=policy).wins).all()
    assert (raw.states == ready.states).all()
    for batch, table in (
        (make_batch("flip", 2), first),
        (make_batch("flip", 2), policy),
        (make_batch("leap", 2), policy),
    ):
        for use in (batch.sample, lambda table, batch=batch: batch.rollout(3, policy=table)):
            with pytest.raises(DuelsError, match="table"):
                use(table)


@pytest.mark.parametrize("game", ["leap", "flip"])
def test_random_is_the_only_named_policy(game: str) -> None:
    named, unnamed = make_batch(game, 6), make_batch(game, 6)
    assert named.sample("random").tolist() == unnamed.sample().tolist()
    assert named.rollout(40, policy="random").wins.tolist() == unnamed.rollout(40).wins.tolist()
    assert snapshot(named) == snapshot(unnamed)
    for use in (named.sample, lambda name: named.rollout(5, policy=name)):
        with pytest.raises(DuelsError, match=r"must be 'random' or a table .*, not 'club'"):
            use("club")


@pytest.mark.parametrize("flag", ["autoreset", "copy"])
@pytest.mark.parametrize("wrong", ["no", 0, None])
def test_rejects_flags_that_are_not_booleans(flag: str, wrong: Any) -> None:
    with pytest.raises(DuelsError, match=f"{flag} must be True or False, not {wrong!r}"):
        duels.vector.make("lights", 2, **{flag: wrong})


def test_accepts_large_seeds() -> None:
    large: Any = np.int64(2**63 - 1)
    seeded = make_batch("lights", 2, seed=large)
    assert (seeded.sample() == make_batch("lights", 2, seed=2**63 - 1).sample()).all()


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"seed": None}, "^seed must be a whole number, not None"),
    ({"seed": "a"}, "^seed must be a whole number, not 'a'"),
    ({"num_envs": 1.5}, "^num_envs must be a whole number of at least 1, not 1.5"),
    ({"num_envs": 0}, "^num_envs must be a whole number of at least 1, not 0"),
    ({"num_envs": True}, "^num_envs must be a whole number of at least 1, not True"),
    ({"first": -1}, "^first must be a whole number of at least 0, not -1"),
    ({"first": 1.5}, "^first must be a whole number of at least 0, not 1.5"),
]


@pytest.mark.parametrize(("arguments", "says"), WRONG)
@pytest.mark.parametrize("game", ["chain", "flip"])
def test_make_rejects_invalid_arguments(game: str, arguments: dict[str, Any], says: str) -> None:
    with pytest.raises(DuelsError, match=says):
        vector.make(game, **arguments)


@pytest.mark.parametrize("game", ["chain", "flip"])
def test_batches_reject_invalid_arguments(game: str) -> None:
    batch: Any = vector.make(game, 3)
    for steps in (-1, 1.5, "a"):
        with pytest.raises(DuelsError, match="steps must be a whole number of at least 0"):
            batch.rollout(steps)
    for seed in (1.5, "a"):
        with pytest.raises(DuelsError, match="seed must be a whole number"):
            batch.reset(seed)


def test_flip_says_that_it_has_no_tables() -> None:
    batch = vector.make("flip", 2)
    for name in ("tables", "states"):
        with pytest.raises(DuelsError, match="flip has no tables"):
            getattr(batch, name)
        assert not hasattr(batch, name)


def test_env_mask_may_be_a_list() -> None:
    batch, other = make_batch("lights", 2), make_batch("lights", 2)
    batch.step([0, 99], [True, False])
    other.step([0, 99], np.array([True, False]))
    assert snapshot(batch) == snapshot(other)


@pytest.mark.parametrize("env_mask", [[True], [[True, False]], [0, 1], True, [True, False, True]])
@pytest.mark.parametrize("autoreset", [True, False])
def test_rejects_invalid_env_masks(env_mask: Any, autoreset: bool) -> None:
    batch = make_batch("lights", 2, autoreset=autoreset)
    before = snapshot(batch)
    with pytest.raises(DuelsError, match="env_mask must be a boolean array of length 2"):
        batch.step([0, 0], env_mask)
    with pytest.raises(DuelsError, match="env_mask must be a boolean array of length 2"):
        batch.restart(env_mask)
    assert snapshot(batch) == before


@pytest.mark.parametrize("case", CASES)
def test_a_finished_game_is_observed_from_seat_0(case: str) -> None:
    batch = make_batch(case, 12, autoreset=False)
    while (batch.actor >= 0).any():
        observations = np.where(batch.actor[:, None] == 1, batch.observe(1), batch.observe(0))
        assert (batch.observe() == observations).all()
        batch.step(batch.sample())
    assert (batch.observe() == batch.observe(0)).all()


def test_environment_numbers_wrap_around() -> None:
    last = make_batch("chain", 3, first=2**64 - 1)
    assert (last.sample()[1:] == make_batch("chain", 2).sample()).all()
    assert (make_batch("chain", 4, first=2**70).sample() == make_batch("chain", 4).sample()).all()


def test_sampling_follows_the_probabilities_of_a_policy() -> None:
    batch = make_batch("lights", 20_000)
    table = np.zeros((batch.tables.states, 13))
    table[:, :] = batch.tables.legal
    table[0] = 0
    table[0, [2, 5, 12]] = 0.5, 0.2, 0.3
    table[1:] /= np.maximum(table[1:].sum(axis=1, keepdims=True), 1)
    counts = np.bincount(batch.sample(batch.policy(table)), minlength=13)
    assert np.flatnonzero(counts).tolist() == [2, 5, 12]
    assert counts[[2, 5, 12]] / 20_000 == pytest.approx([0.5, 0.2, 0.3], abs=0.02)


FORM: dict[str, Any] = {"cells": 4, "run": 3, "max_boards": 2}


def by_the_clock() -> Any:
    """Takes the first action on the first board, then the last."""
    legal = vector.make("chain", **FORM).tables.legal
    first, last = legal.argmax(axis=1), legal.shape[1] - 1 - legal[:, ::-1].argmax(axis=1)
    return np.stack([np.eye(legal.shape[1])[taken] for taken in (first, last)])


def test_a_policy_may_depend_on_the_clock() -> None:
    arguments: dict[str, Any] = {"seed": 1, **FORM}
    batch, rolled = vector.make("chain", 20, **arguments), vector.make("chain", 20, **arguments)
    table = by_the_clock()
    policy, wins = batch.policy(table), np.zeros((20, 2))
    readings = set()
    for _ in range(60):
        taken, clock = batch.sample(policy), batch._clock.copy()
        assert (table[clock, batch.states].argmax(axis=1) == taken).all()
        readings |= set(clock.tolist())
        wins += batch.step(taken).rewards > 0
    assert readings == {0, 1}
    assert rolled.rollout(60, policy=table).wins.tolist() == wins.tolist()


def test_rejects_invalid_policies() -> None:
    batch = make_batch("lights", 2)
    states = batch.tables.states
    with pytest.raises(DuelsError, match="a table of 222 states"):
        batch.policy(np.zeros(5, int))
    with pytest.raises(DuelsError, match="sum to 1"):
        batch.policy(np.zeros((states, 13)))
    with pytest.raises(DuelsError, match="sum to 1"):
        batch.policy(np.full(states, 12))  # illegal almost everywhere
    with pytest.raises(DuelsError, match="no tables"):
        make_batch("flip", 2).policy(np.zeros(3))


def test_duels_exports_vector() -> None:
    batch = duels.vector.make("lights", 2, seed=3)
    assert batch.num_envs == 2
    with pytest.raises(DuelsError, match="no option 'max_turns'"):
        duels.vector.make("lights", 2, max_turns=3)


def test_hunt_policies_depend_only_on_observations() -> None:
    batch: Any = duels.vector.make("hunt", 4, cells=3, max_turns=6)
    tables = batch.tables
    uniform = tables.legal / np.maximum(tables.legal.sum(axis=1, keepdims=True), 1)
    assert batch.rollout(50, batch.policy(uniform)).games > 0
    peeking = uniform.copy()
    deciding = tables.actor >= 0
    groups = batch.shared.observation_groups
    many = np.bincount(groups[deciding]) > 1
    state = np.flatnonzero(deciding & many[groups] & (tables.legal.sum(axis=1) > 1))[0]
    peeking[state] = np.eye(tables.actions)[tables.legal[state].argmax()]
    with pytest.raises(DuelsError, match="acts on secrets"):
        batch.policy(peeking)
