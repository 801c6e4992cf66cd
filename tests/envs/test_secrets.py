"""Observations never depend on information hidden from the seat, in any adapter.

hunt hides moves: two matches that a seat cannot tell apart must give its agent the same data throughout. In
flip the future is hidden: before a tile is turned, nothing may depend on the seed.
"""

from random import Random
from typing import Any
from unittest import mock

import numpy as np
import pyspiel
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import duels.envs.openspiel  # noqa: F401  (registers the games)
from duels import vector
from duels.analysis.export import Export, build_rows, play_match
from duels.core.match import Turn
from duels.core.rules import AnySight, Seat
from duels.envs import pettingzoo as duels_pettingzoo
from duels.envs.gymnasium import DuelEnv, DuelVectorEnv
from duels.solving.oracles import get_oracle
from tests.envs.alike import HUNT, NUMBER, OPTIONS, actions_of, pair_of
from tests.envs.test_copies import same

seats = st.sampled_from(list(Seat))
seeds = st.integers(0, 2**32)


@settings(max_examples=60, deadline=None)
@given(seeds, seats)
def test_pettingzoo(seed: int, seat: Seat) -> None:
    env: Any = duels_pettingzoo
    agent = env.AGENTS[seat - 1]
    histories = []
    for match in pair_of(seed, seat):
        game = env.hunt_v0.env(grade=True, **OPTIONS)
        game.reset(seed=0)
        history = []
        for action in actions_of(match):
            history.append(
                (game.observe(agent), game.infos[agent], game.rewards[agent], game.terminations[agent])
            )
            game.step(action)
        history.append(
            (game.observe(agent), game.infos[agent], game.rewards[agent], game.terminations[agent])
        )
        histories.append(history)
    assert len(histories[0]) == len(histories[1])
    for one, two in zip(*histories, strict=True):
        assert all(same(a, b) for a, b in zip(one, two, strict=True))


class Script:
    """An opponent with scripted actions."""

    def __init__(self, turns: list[Turn[Any]]) -> None:
        self._actions = [turn.action for turn in turns]

    def choose(self, sight: AnySight, rng: Random) -> Any:
        return self._actions.pop(0)


@settings(max_examples=60, deadline=None)
@given(seeds, seats)
def test_gymnasium(seed: int, seat: Seat) -> None:
    histories: list[list[Any]] = []
    for match in pair_of(seed, seat):
        theirs = [turn for turn in match.turns if turn.actor is not seat]
        env = DuelEnv("hunt", Script(theirs), seat.value, grade=True, **OPTIONS)
        history: list[Any] = [env.reset(seed=0)]
        for turn in match.turns:
            if turn.actor is seat:
                history.append(env.step(np.int64(NUMBER[turn.action])))
        histories.append(history)
    for one, two in zip(*histories, strict=True):
        assert all(same(a, b) for a, b in zip(one, two, strict=True))


def rows_alike(results: Any) -> bool:
    """Return whether two environments have the same results, through dictionaries and arrays."""
    if isinstance(results, dict):
        return all(rows_alike(part) for part in results.values())
    return bool(np.array_equal(results[0], results[1]))


@settings(max_examples=60, deadline=None)
@given(seeds, seats)
def test_gymnasium_vector(seed: int, seat: Seat) -> None:
    """Both matches side by side in one vector environment; the opponent plays by the script."""
    both = list(zip(*(match.turns for match in pair_of(seed, seat)), strict=True))
    envs: Any = DuelVectorEnv("hunt", 2, seat=seat.value, autoreset_mode="SameStep", **OPTIONS)
    theirs = iter([pair for pair in both if pair[0].actor is not seat])

    def scripted(policy: Any) -> Any:
        pair = next(theirs, None)  # None: the next game has begun
        return [NUMBER[turn.action] for turn in pair] if pair else envs._batch.masks().argmax(axis=1)

    envs._batch.sample = scripted
    history: list[Any] = [envs.reset(seed=0)]
    for pair in both:
        if pair[0].actor is seat:
            history.append(envs.step(np.array([NUMBER[turn.action] for turn in pair])))
    assert next(theirs, None) is None
    assert "final_obs" in history[-1][-1]  # the whole of both matches was played
    assert all(rows_alike(part) for look in history for part in look)


@settings(max_examples=60, deadline=None)
@given(seeds, seats)
def test_openspiel(seed: int, seat: Seat) -> None:
    game = pyspiel.load_game(f"duels_hunt(max_turns={OPTIONS['max_turns']})")
    player = seat - 1
    histories = []
    for match in pair_of(seed, seat):
        state = game.new_initial_state()
        history = []
        for action in actions_of(match):
            history.append(
                (
                    state.information_state_string(player),
                    state.information_state_tensor(player),
                    state.observation_string(player),
                    state.observation_tensor(player),
                    state.legal_actions(player),
                )
            )
            state.apply_action(action)
        histories.append(history)
    assert histories[0] == histories[1]


@settings(max_examples=60, deadline=None)
@given(seeds, seats)
def test_vector_core(seed: int, seat: Seat) -> None:
    batch = vector.make(HUNT, 2, autoreset=False)
    for actions in zip(*(actions_of(match) for match in pair_of(seed, seat)), strict=True):
        observations = batch.observe(seat - 1)
        assert (observations[0] == observations[1]).all()
        if batch.actor[0] == seat - 1:
            assert (batch.masks()[0] == batch.masks()[1]).all()
        steps = batch.step(np.array(actions))
        assert all((column[0] == column[1]).all() for column in steps)
        masks = batch.masks_for(seat - 1)  # where the game is cut off, too
        assert (masks[0] == masks[1]).all()
    observations = batch.observe(seat - 1)
    assert (observations[0] == observations[1]).all()


RUN = Export(HUNT, ("random", "random"), "s", 1)
ORACLE = get_oracle(HUNT)


@settings(max_examples=8, deadline=None)
@given(seeds, seats)
def test_exported_rows_of_a_seat(seed: int, seat: Seat) -> None:
    """A dataset's decisions of one seat: what it was shown, its grades, how the match ended for it."""
    rows = []
    for match in pair_of(seed, seat):
        scripts = {actor: Script([turn for turn in match.turns if turn.actor is actor]) for actor in Seat}
        with mock.patch("duels.analysis.export._make_oracle_and_players", return_value=(ORACLE, scripts)):
            data = play_match(RUN, 0)
        rows.append([row for row in build_rows(RUN, data) if row["seat"] == seat])
    assert rows[0]
    assert rows[0] == rows[1]


def test_the_pairs_differ() -> None:
    """The properties above would hold of two equal matches; these are not."""
    match, other = pair_of(3, Seat.ONE)
    assert actions_of(match) != actions_of(other)
    assert match.events_seen_by(Seat.ONE) == other.events_seen_by(Seat.ONE)


def test_flip_does_not_reveal_tiles_that_are_not_drawn() -> None:
    count = 400
    batch = vector.make("flip", count, seed=5, autoreset=False)
    histories: list[list[bytes]] = [[] for _ in range(count)]
    rng = Random(5)
    before = dict[tuple[bytes, ...], bytes]()
    for _ in range(4):
        # Games with equal histories show equal data now, although they will draw different tiles.
        for history, first_seat, second_seat, mask in zip(
            histories, batch.observe(0), batch.observe(1), batch.masks(), strict=True
        ):
            history.append(first_seat.tobytes())
            now = second_seat.tobytes() + mask.tobytes()
            assert before.setdefault(tuple(history), now) == now
        if batch.masks()[:, :25].any(axis=1).all():
            common = np.flatnonzero(batch.masks().all(axis=0))
            batch.step(np.full(count, int(rng.choice(common.tolist()))))
        else:
            batch.step(batch.masks().argmax(axis=1))
    assert len({row[-1] for row in histories}) > 10  # and chance did come into it
    assert len({row[0] for row in histories}) == 1


def test_flip_is_the_same_for_every_seed_until_a_tile_is_turned() -> None:
    outputs = set()
    for seed in range(20):
        env = duels_pettingzoo.flip_v0.env()
        env.reset(seed=seed)
        both = [env.observe(agent) for agent in env.agents]
        observation, info = DuelEnv("flip").reset(seed=seed)
        many, infos = DuelVectorEnv("flip", 2).reset(seed=seed)
        outputs.add(
            (
                *(many[k].tobytes() + infos["action_mask"][k].tobytes() for k in range(2)),
                *(numbers.tobytes() for look in both for numbers in look.values()),
                observation.tobytes(),
                info.pop("action_mask").tobytes(),
                str(info),
                str(env.infos),
            )
        )
    assert len(outputs) == 1


def first_of(legal: Any, step: int) -> np.int64:
    """A script: flips and a Quantum Flip, then any legal action."""
    actions = np.flatnonzero(legal)
    return np.int64(actions[-1] if step == 1 else actions[0])


class Last:
    """A deterministic opponent."""

    def choose(self, sight: AnySight, rng: Random) -> Any:
        return sight.actions[-1]


def flip_in_pettingzoo(seed: int, steps: int) -> list[tuple[bytes, str]]:
    env = duels_pettingzoo.flip_v0.env(grade=True)
    env.reset(seed=seed)
    history = []
    for step in range(steps):
        both = [env.observe(agent) for agent in env.agents]
        masks = [look["action_mask"].tolist() for look in both]
        history.append((b"".join(look["observation"].tobytes() for look in both), f"{masks} {env.infos}"))
        env.step(int(first_of(env.observe(env.agent_selection)["action_mask"], step)))
    return history


def flip_in_gymnasium(seed: int, steps: int) -> list[tuple[bytes, str]]:
    env = DuelEnv("flip", Last(), grade=True)
    observation, info = env.reset(seed=seed)
    history = []
    for step in range(steps):
        history.append((observation.tobytes(), str({**info, "action_mask": info["action_mask"].tolist()})))
        observation, _, _, _, info = env.step(first_of(info["action_mask"], step))
    return history


def flip_in_a_vector_env(seed: int, steps: int) -> list[tuple[bytes, str]]:
    envs: Any = DuelVectorEnv("flip", 2)
    envs._batch.sample = lambda policy: np.array([np.flatnonzero(row)[-1] for row in envs._batch.masks()])
    observations, info = envs.reset(seed=seed)
    history = []
    for step in range(steps):
        history.append(
            (observations[1].tobytes(), str({name: values[1].tolist() for name, values in info.items()}))
        )
        actions = np.array([first_of(mask, step) for mask in info["action_mask"]])
        observations, _, _, _, info = envs.step(actions)
    return history


@pytest.mark.parametrize("play", [flip_in_pettingzoo, flip_in_gymnasium, flip_in_a_vector_env])
def test_flip_reveals_only_drawn_tiles(play: Any) -> None:
    """Equal histories give equal masks, values and regrets, although different tiles will be drawn."""
    drawn_by_history: dict[tuple[bytes, ...], str] = {}
    repeats = 0
    for seed in range(30):
        history: tuple[bytes, ...] = ()
        for observation, rest in play(seed, 3):
            history = (*history, observation)
            repeats += history in drawn_by_history
            assert drawn_by_history.setdefault(history, rest) == rest
    assert repeats > 30  # histories did come twice
    assert len(drawn_by_history) > 5  # and chance did come into it


def test_flip_in_openspiel_has_no_value_before_chance() -> None:
    state = pyspiel.load_game("duels_flip").new_initial_state()
    state.apply_action(0)
    assert state.current_player() == pyspiel.PlayerId.CHANCE
    assert len(state.chance_outcomes()) == 5
    for player in (0, 1):
        assert state.observation_string(player).startswith("tiles=" + 25 * ".")
        assert state.information_state_string(player) == f"p{player}: A1"
