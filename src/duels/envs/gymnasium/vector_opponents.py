"""Opponents in a vector environment: random play, a policy table, an agent or a level."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from duels.analysis.agents import Agent, ask_batch, is_player
from duels.analysis.exploitability import TableResponse, tabulate_policy
from duels.analysis.grading import depends_on_clock
from duels.core.errors import DuelsError
from duels.core.rules import AnyRules, Seat
from duels.envs import dice
from duels.envs.batch import RANDOM, Batch, Bytes, Flags, PreparedPolicy
from duels.envs.gymnasium.opponents import Opponent, check_both_seats, check_is_table, is_agent
from duels.envs.kernels import find_levels
from duels.envs.observations import ObservationFormat
from duels.envs.table_batch import TableBatch
from duels.players import Player, make_player
from duels.players.levels import LevelPlayer

Numbers = NDArray[np.int64]

USE_SYNC_MODE = (
    'make the environment with vectorization_mode="sync", for Stable-Baselines3 with its own make_vec_env'
)


class VectorOpponent(ABC):
    """An opponent in many games."""

    @abstractmethod
    def choose(self, batch: Batch, seats: int | Bytes, which: Flags) -> Numbers:
        """[env] actions of these seats; only those in `which` games are used."""

    def begin(self, which: Flags) -> None:  # noqa: B027  (most need nothing)
        """Handle the start of `which` games."""

    def on_actions(self, batch: Batch, actions: Numbers, seats: int | Bytes, which: Flags) -> None:  # noqa: B027
        """Handle the actions about to be played in `which` games; `seats` are the opponent's."""


class _Policy(VectorOpponent):
    """A prepared policy; None for random play."""

    def __init__(self, policy: PreparedPolicy | None) -> None:
        self._policy = policy

    def choose(self, batch: Batch, seats: int | Bytes, which: Flags) -> Numbers:
        return batch.sample(self._policy)


class _BySeat(VectorOpponent):
    """A different opponent for each seat."""

    def __init__(self, opponents: Mapping[Seat, VectorOpponent]) -> None:
        self._opponents = opponents

    def begin(self, which: Flags) -> None:
        for opponent in self._opponents.values():
            opponent.begin(which)

    def on_actions(self, batch: Batch, actions: Numbers, seats: int | Bytes, which: Flags) -> None:
        for opponent in self._opponents.values():
            opponent.on_actions(batch, actions, seats, which)

    def choose(self, batch: Batch, seats: int | Bytes, which: Flags) -> Numbers:
        actions = np.zeros(batch.num_envs, np.int64)
        for seat, opponent in self._opponents.items():
            mine = which & (np.asarray(seats) == seat - 1)
            if mine.any():
                actions[mine] = opponent.choose(batch, seats, mine)[mine]
        return actions


class _MemoryLevel(VectorOpponent):
    """A level that keeps a memory of each game, for games with secrets."""

    def __init__(self, levels: Any) -> None:
        self._levels = levels

    def begin(self, which: Flags) -> None:
        self._levels.begin(which)

    def on_actions(self, batch: Batch, actions: Numbers, seats: int | Bytes, which: Flags) -> None:
        self._levels.on_actions(batch.actor, actions, np.broadcast_to(seats, len(which)), which)

    def choose(self, batch: Batch, seats: int | Bytes, which: Flags) -> Numbers:
        actions = np.zeros(batch.num_envs, np.int64)
        at = np.broadcast_to(seats, len(which))
        odds = self._levels.odds(batch.observe(seats)[which], batch.masks()[which], at, which)
        actions[which] = dice.draw_many(odds, batch.bits()[which])
        return actions


class _Agents(VectorOpponent):
    """A function of observations and masks, one row per game."""

    def __init__(self, agent: Agent, observations: ObservationFormat) -> None:
        self._agent, self._observations = agent, observations

    def choose(self, batch: Batch, seats: int | Bytes, which: Flags) -> Numbers:
        actions = np.zeros(batch.num_envs, np.int64)
        odds = ask_batch(self._ask_agent, batch.observe(seats)[which], batch.masks()[which])
        actions[which] = dice.draw_many(odds, batch.bits()[which])
        return actions

    def _ask_agent(self, observations: Bytes, masks: Bytes) -> ArrayLike:
        return self._agent(self._observations.cast(observations), masks)


def make_vector_opponent(opponent: Opponent, batch: Batch, observations: ObservationFormat) -> VectorOpponent:
    """Make an opponent for a batch. Raises DuelsError if it cannot play many games at once."""
    if isinstance(opponent, Mapping):
        return _BySeat(
            {
                seat: make_vector_opponent(opponent[seat], batch, observations)
                for seat in check_both_seats(opponent)
            }
        )
    if is_agent(opponent):
        return _Agents(opponent, observations)
    if isinstance(opponent, str) and opponent == RANDOM:
        return _Policy(None)
    if isinstance(opponent, str) and (levels := _levels(opponent, batch)):
        return _MemoryLevel(levels)
    return _Policy(batch.policy(_table_of(opponent, batch)))


def _levels(name: str, batch: Batch) -> Any:
    """Return a level that plays many games by observations, or None if the game has none."""
    levels, player = find_levels(batch.rules), make_player(name, batch.rules)
    if levels is None or not isinstance(player, LevelPlayer):
        return None
    return levels(batch.rules, player.share, batch.num_envs)


def _table_of(opponent: Opponent, batch: Batch) -> ArrayLike:
    """Return the opponent's policy as a table. Raises DuelsError if it has none."""
    rules = batch.rules
    if isinstance(opponent, TableResponse) and isinstance(batch, TableBatch):
        return opponent.table
    if isinstance(opponent, str):
        player: Player = make_player(opponent, rules)
    elif is_player(opponent):
        player = opponent
    else:
        check_is_table(opponent)
        return cast(ArrayLike, opponent)
    odds = getattr(player, "odds", None)
    # A table has no clock, so the policy must not depend on it. Levels are checked below.
    clocked = rules.limit_value is not None and not isinstance(player, LevelPlayer)
    if odds is None or clocked or not has_open_tables(batch):
        name = repr(opponent) if isinstance(opponent, str) else f"A {type(opponent).__name__}"
        raise DuelsError(f"{name} plays {rules.name} one game at a time: {USE_SYNC_MODE}.")
    check_no_clock(rules)
    return tabulate_policy(odds, rules)


def has_open_tables(batch: Batch) -> bool:
    """Return whether the batch has tables and the game has no secrets."""
    return isinstance(batch, TableBatch) and not batch.rules.has_secrets


def check_no_clock(rules: AnyRules) -> None:
    """Raise DuelsError if values depend on the clock, which a table of positions does not have."""
    if depends_on_clock(rules):
        raise DuelsError(
            f"Under {rules} the value of a position depends on the {rules.clock} played, "
            f"which tables do not include: {USE_SYNC_MODE}."
        )
