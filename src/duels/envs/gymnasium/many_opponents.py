"""Who has the other seats of a vector environment: random play, a table, an agent, or a level."""

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
from duels.envs.batch import RANDOM, Batch, Bytes, Flags, ReadyPolicy
from duels.envs.gymnasium.opponents import Opponent, is_agent, refuse_no_opponent, seats_in
from duels.envs.kernels import levels_of
from duels.envs.observations import Observations
from duels.envs.tabled import TableBatch
from duels.players import Player, make_player
from duels.players.levels import LevelPlayer

Numbers = NDArray[np.int64]

ONE_BY_ONE = (
    'make the environment with vectorization_mode="sync", for Stable-Baselines3 with its own make_vec_env'
)


class ManyOpposing(ABC):
    """An opponent of many games."""

    @abstractmethod
    def choose(self, batch: Batch, seats: int | Bytes, which: Flags) -> Numbers:
        """[env] actions of these seats; only those of `which` games are looked at."""

    def begin(self, which: Flags) -> None:  # noqa: B027  (most have nothing to do)
        """Games begin."""

    def saw(self, batch: Batch, actions: Numbers, seats: int | Bytes, which: Flags) -> None:  # noqa: B027
        """Actions are about to be taken in `which` games, where the opponent has these seats."""


class _Policy(ManyOpposing):
    """A policy made ready; None for random play."""

    def __init__(self, policy: ReadyPolicy | None) -> None:
        self._policy = policy

    def choose(self, batch: Batch, seats: int | Bytes, which: Flags) -> Numbers:
        return batch.sample(self._policy)


class _BySeat(ManyOpposing):
    """Another opponent in either seat."""

    def __init__(self, opponents: Mapping[Seat, ManyOpposing]) -> None:
        self._opponents = opponents

    def begin(self, which: Flags) -> None:
        for opponent in self._opponents.values():
            opponent.begin(which)

    def saw(self, batch: Batch, actions: Numbers, seats: int | Bytes, which: Flags) -> None:
        for opponent in self._opponents.values():
            opponent.saw(batch, actions, seats, which)

    def choose(self, batch: Batch, seats: int | Bytes, which: Flags) -> Numbers:
        actions = np.zeros(batch.num_envs, np.int64)
        for seat, opponent in self._opponents.items():
            mine = which & (np.asarray(seats) == seat - 1)
            if mine.any():
                actions[mine] = opponent.choose(batch, seats, mine)[mine]
        return actions


class _Watching(ManyOpposing):
    """A level of a game with secrets, which remembers what it heard."""

    def __init__(self, levels: Any) -> None:
        self._levels = levels

    def begin(self, which: Flags) -> None:
        self._levels.begin(which)

    def saw(self, batch: Batch, actions: Numbers, seats: int | Bytes, which: Flags) -> None:
        self._levels.saw(batch.actor, actions, np.broadcast_to(seats, len(which)), which)

    def choose(self, batch: Batch, seats: int | Bytes, which: Flags) -> Numbers:
        actions = np.zeros(batch.num_envs, np.int64)
        at = np.broadcast_to(seats, len(which))
        odds = self._levels.odds(batch.observe(seats)[which], batch.masks()[which], at, which)
        actions[which] = dice.draw_all(odds, batch.bits()[which])
        return actions


class _Agents(ManyOpposing):
    """A function of observations, of the environment's type, and masks, a row a game."""

    def __init__(self, agent: Agent, observations: Observations) -> None:
        self._agent, self._observations = agent, observations

    def choose(self, batch: Batch, seats: int | Bytes, which: Flags) -> Numbers:
        actions = np.zeros(batch.num_envs, np.int64)
        odds = ask_batch(self._asked, batch.observe(seats)[which], batch.masks()[which])
        actions[which] = dice.draw_all(odds, batch.bits()[which])
        return actions

    def _asked(self, shown: Bytes, masks: Bytes) -> ArrayLike:
        return self._agent(self._observations.typed(shown), masks)


def opposing_many(opponent: Opponent, batch: Batch, observations: Observations) -> ManyOpposing:
    """The opponent of the games of a batch, shown `observations`; DuelsError if it cannot play so many."""
    if isinstance(opponent, Mapping):
        return _BySeat(
            {seat: opposing_many(opponent[seat], batch, observations) for seat in seats_in(opponent)}
        )
    if is_agent(opponent):
        return _Agents(opponent, observations)
    if isinstance(opponent, str) and opponent == RANDOM:
        return _Policy(None)
    if isinstance(opponent, str) and (levels := _levels(opponent, batch)):
        return _Watching(levels)
    return _Policy(batch.policy(_table_of(opponent, batch)))


def _levels(name: str, batch: Batch) -> Any:
    """The level of that name for many games of a game with secrets; None if there is no such."""
    levels, player = levels_of(batch.rules), make_player(name, batch.rules)
    if levels is None or not isinstance(player, LevelPlayer):
        return None
    return levels(batch.rules, player.share, batch.num_envs)


def _table_of(opponent: Opponent, batch: Batch) -> ArrayLike:
    """The opponent's policy as a table: as it is given, or that of a player which can be written down."""
    rules = batch.rules
    if isinstance(opponent, TableResponse) and isinstance(batch, TableBatch):
        return opponent.table
    if isinstance(opponent, str):
        player: Player = make_player(opponent, rules)
    elif is_player(opponent):
        player = opponent
    else:
        refuse_no_opponent(opponent)
        return cast(ArrayLike, opponent)
    odds = getattr(player, "odds", None)
    # What depends on the clock is in no table; of a level, which goes by values, it can be told.
    clocked = rules.limit_value is not None and not isinstance(player, LevelPlayer)
    if odds is None or clocked or not knows_positions(batch):
        named = repr(opponent) if isinstance(opponent, str) else f"A {type(opponent).__name__}"
        raise DuelsError(f"{named} plays {rules.name} one game at a time: {ONE_BY_ONE}.")
    refuse_clock(rules)
    return tabulate_policy(odds, rules)


def knows_positions(batch: Batch) -> bool:
    """Whether a state of the batch is all that a seat knows."""
    return isinstance(batch, TableBatch) and not batch.rules.has_secrets


def refuse_clock(rules: AnyRules) -> None:
    """Refuse rules under which a table of positions does not tell what they are worth."""
    if depends_on_clock(rules):
        raise DuelsError(
            f"Under {rules} what a position is worth depends on the {rules.clock} played, "
            f"which a table of positions does not know: {ONE_BY_ONE}."
        )
