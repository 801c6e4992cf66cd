"""Opponents in Gymnasium environments: adapters for one game and for many games at once."""

from abc import ABC, abstractmethod
from collections.abc import Hashable, Mapping, Sequence
from random import Random
from typing import Any, TypeAlias, TypeGuard, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from duels.analysis.agents import (
    Agent,
    PolicyFunction,
    accepts_arguments,
    ask_batch,
    get_action_odds,
    is_player,
    parse_probabilities,
)
from duels.analysis.exploitability import BestResponse, TableResponse, tabulate_policy
from duels.analysis.grading import depends_on_clock
from duels.core.errors import DuelsError, IllegalMove
from duels.core.rules import AnyRules, Seat
from duels.envs import dice
from duels.envs.batch import RANDOM, Batch, Bytes, Flags, PreparedPolicy
from duels.envs.engine import GameSession, RulesEngine
from duels.envs.kernels import find_levels
from duels.envs.observations import ObservationFormat
from duels.envs.table_batch import TableBatch, make_batch
from duels.players import Player, make_player
from duels.players.levels import LevelPlayer

Opponent: TypeAlias = str | Player | Agent | ArrayLike | Mapping[Seat, Any]
"""A player's name, an object with a method `choose`, a function of an observation and a mask, a policy table,
or a dictionary with one of these for each seat."""

Numbers = NDArray[np.int64]

USE_SYNC_MODE = (
    'make the environment with vectorization_mode="sync" or, in Stable-Baselines3, with its make_vec_env'
)


class OpponentAdapter(ABC):
    """An opponent in a single game."""

    @abstractmethod
    def choose(self, session: GameSession, seat: int, bits: int) -> int:
        """Return the number of a legal action for `seat`, drawn with 32 random bits."""


class _Random(OpponentAdapter):
    """Random play. It draws the same actions as in a batch."""

    def choose(self, session: GameSession, seat: int, bits: int) -> int:
        (legal,) = session.engine.mask().nonzero()
        return int(legal[dice.pick(bits, len(legal))])


class _Table(OpponentAdapter):
    """A policy table, looked up by observation. It draws the same actions as in a batch."""

    def __init__(self, table: ArrayLike, rules: AnyRules) -> None:
        self._policy = make_batch(rules, 1).policy(table)
        tables = self._policy.shared.tables
        # States with the same observation have the same row, so keep any of them.
        self._states = [
            {tables.observation[seat, s].tobytes(): s for s in np.flatnonzero(tables.actor == seat)}
            for seat in (0, 1)
        ]
        self._size = tables.observation.shape[2]

    def choose(self, session: GameSession, seat: int, bits: int) -> int:
        engine = session.engine
        assert isinstance(engine, RulesEngine)
        state = self._states[seat][engine.observe(seat)[: self._size].tobytes()]
        row = self._policy.rows(state, engine.clock)
        return int(self._policy.shared.choices[state, (bits >= self._policy.bounds[row]).sum()])


class _Agent(OpponentAdapter):
    """A function of an observation and a mask. It always gets arrays, even if the agent gets dictionaries."""

    def __init__(self, agent: Agent, observations: ObservationFormat) -> None:
        self._agent, self._observations = agent, observations

    def choose(self, session: GameSession, seat: int, bits: int) -> int:
        mask = session.engine.mask()
        observation = self._observations.cast(session.engine.observe(seat))
        return int(dice.draw_many(parse_probabilities(self._agent(observation, mask.copy()), mask), bits))


class _Player(OpponentAdapter):
    """A player that takes a sight. With a method `odds`, it draws the same actions as in a batch."""

    def __init__(self, player: Player) -> None:
        self._player = player
        self._odds: PolicyFunction | None = getattr(player, "odds", None)

    def choose(self, session: GameSession, seat: int, bits: int) -> int:
        sight = session.sight(seat)
        if self._odds:
            policy = get_action_odds(self._odds, sight)
            odds = np.array([policy.get(action, 0.0) for action in session.actions])
            return int(dice.draw_many(odds / odds.sum(), bits))
        chosen = self._player.choose(sight, Random(bits))
        if not isinstance(chosen, Hashable) or chosen not in sight.actions:
            raise IllegalMove(f"The opponent chose {chosen!r}, which is not in `sight.actions`.")
        return session.actions.index(chosen)


class _Level(OpponentAdapter):
    """A level that takes observations. It draws the same actions as in a batch."""

    def __init__(self, levels: Any) -> None:
        self._levels = levels

    def choose(self, session: GameSession, seat: int, bits: int) -> int:
        observations, masks = session.engine.observe(seat)[None], session.engine.mask()[None]
        (odds,) = self._levels.odds(observations, masks, np.array([seat]), np.ones(1, np.bool_))
        return int(dice.draw_many(odds, bits))


def make_opponents(
    opponent: Opponent, rules: AnyRules, observations: ObservationFormat
) -> list[OpponentAdapter]:
    """Return the opponent's adapters, indexed [seat]. Raises DuelsError if the opponent cannot play."""
    by_seat = [_make_adapter(item, rules, observations) for item in split_by_seat(opponent)]
    return by_seat if len(by_seat) == 2 else by_seat * 2


def _make_adapter(opponent: Any, rules: AnyRules, observations: ObservationFormat) -> OpponentAdapter:
    if isinstance(opponent, str):
        if opponent == RANDOM:
            return _Random()
        levels = None if rules.has_hidden_information else _make_levels(opponent, rules, 1)
        return _Level(levels) if levels else _Player(make_player(opponent, rules))
    if is_player(opponent):
        return _Player(opponent)
    if is_agent(opponent):
        return _Agent(opponent, observations)
    check_is_table(opponent)
    return _Table(cast(ArrayLike, opponent), rules)


def check_best_response(opponent: Opponent, rules: AnyRules, seats: Sequence[int]) -> None:
    """Raise DuelsError if a best response has other rules or plays one of the agent's `seats`."""
    if isinstance(opponent, Mapping):
        for seat, response in zip(Seat, split_by_seat(opponent), strict=True):
            check_best_response(response, rules, [seat.other - 1])
    if not isinstance(opponent, BestResponse):
        return
    if opponent.rules != rules:
        raise DuelsError(f"This best response was computed for {opponent.rules}, not for {rules}.")
    if opponent.seat - 1 in seats:
        label, other = opponent.seat.label, int(opponent.seat.other)
        raise DuelsError(
            f"This is the best response of {label}. Make the environment with seat={other}, or pass the "
            "responses of both seats, as duels.best_responses returns them."
        )


def split_by_seat(opponent: Opponent) -> list[Any]:
    """Return the opponents at seat 1 and seat 2, or a list of one for both seats.

    Raises DuelsError if the keys of a dictionary are not both seats.
    """
    if not isinstance(opponent, Mapping):
        return [opponent]
    if set(opponent) != set(Seat):
        raise DuelsError(
            "Opponents by seat must be a dictionary {Seat.ONE: …, Seat.TWO: …}, "
            f"not one with the keys {', '.join(map(repr, opponent)) or '(none)'}."
        )
    return [opponent[seat] for seat in Seat]


def is_agent(opponent: object) -> TypeGuard[Agent]:
    """Return whether the opponent is a function of an observation and a mask."""
    return callable(opponent) and accepts_arguments(opponent, 2)


def check_is_table(opponent: Any) -> None:
    """Raise DuelsError if the opponent cannot be a policy table, the last possibility."""
    if callable(opponent) or np.ndim(opponent) == 0:
        raise DuelsError(
            "An opponent must be a player's name, an object with a method `choose`, a function of an "
            f"observation and a mask, or a policy table, not {opponent!r}."
        )


class VectorOpponent(ABC):
    """An opponent in many games at once."""

    @abstractmethod
    def choose(self, batch: Batch, seats: int | Bytes, env_mask: Flags) -> Numbers:
        """Return the actions of these seats, indexed [env]; undefined where `env_mask` is False."""

    def begin(self, env_mask: Flags) -> None:  # noqa: B027  (most opponents have no memory)
        """Handle the start of the games that `env_mask` selects."""

    def on_actions(self, batch: Batch, actions: Numbers, seats: int | Bytes, env_mask: Flags) -> None:  # noqa: B027
        """Handle the next actions of the selected games. `seats` are the seats that the opponent plays."""


class _Policy(VectorOpponent):
    """A prepared policy, or random play."""

    def __init__(self, policy: PreparedPolicy | None) -> None:
        self._policy = policy

    def choose(self, batch: Batch, seats: int | Bytes, env_mask: Flags) -> Numbers:
        return batch.sample(self._policy)


class _VectorLevel(VectorOpponent):
    """A level that takes observations and may have a memory of each game."""

    def __init__(self, levels: Any) -> None:
        self._levels = levels

    def begin(self, env_mask: Flags) -> None:
        self._levels.begin(env_mask)

    def on_actions(self, batch: Batch, actions: Numbers, seats: int | Bytes, env_mask: Flags) -> None:
        self._levels.on_actions(batch.actor, actions, np.broadcast_to(seats, len(env_mask)), env_mask)

    def choose(self, batch: Batch, seats: int | Bytes, env_mask: Flags) -> Numbers:
        seat_array = np.broadcast_to(seats, len(env_mask))
        odds = self._levels.odds(
            batch.observe(seats)[env_mask], batch.masks()[env_mask], seat_array, env_mask
        )
        return _draw_actions(batch, odds, env_mask)


class _VectorAgent(VectorOpponent):
    """A function of observations and masks, one row per game."""

    def __init__(self, agent: Agent, observations: ObservationFormat) -> None:
        self._agent, self._observations = agent, observations

    def choose(self, batch: Batch, seats: int | Bytes, env_mask: Flags) -> Numbers:
        odds = ask_batch(self._ask_agent, batch.observe(seats)[env_mask], batch.masks()[env_mask])
        return _draw_actions(batch, odds, env_mask)

    def _ask_agent(self, observations: Bytes, masks: Bytes) -> ArrayLike:
        return self._agent(self._observations.cast(observations), masks)


def _draw_actions(batch: Batch, odds: NDArray[np.float64], env_mask: Flags) -> Numbers:
    actions = np.zeros(batch.num_envs, np.int64)
    actions[env_mask] = dice.draw_many(odds, batch.bits()[env_mask])
    return actions


def make_vector_opponents(
    opponent: Opponent, batch: Batch, observations: ObservationFormat
) -> list[VectorOpponent]:
    """Return the opponents for a batch: one per seat, or one for both seats.

    Raises DuelsError if an opponent cannot play many games at once.
    """
    return [_make_vector_opponent(item, batch, observations) for item in split_by_seat(opponent)]


def _make_vector_opponent(opponent: Any, batch: Batch, observations: ObservationFormat) -> VectorOpponent:
    if is_agent(opponent):
        return _VectorAgent(opponent, observations)
    if isinstance(opponent, str) and opponent == RANDOM:
        return _Policy(None)
    if isinstance(opponent, str) and (levels := _make_levels(opponent, batch.rules, batch.num_envs)):
        return _VectorLevel(levels)
    return _Policy(batch.policy(_table_of(opponent, batch)))


def _make_levels(name: str, rules: AnyRules, num_envs: int) -> Any:
    """Return the named level as a player that takes observations, or None if there is none."""
    levels, player = find_levels(rules), make_player(name, rules)
    if levels is None or not isinstance(player, LevelPlayer):
        return None
    return levels(rules, player.share, num_envs)


def _table_of(opponent: Opponent, batch: Batch) -> ArrayLike:
    """Return the opponent's policy as a table. Raises DuelsError if the opponent has no table."""
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
    # A table has no clock, so the policy must not depend on the clock. `check_no_clock` covers levels.
    needs_clock = rules.limit_value is not None and not isinstance(player, LevelPlayer)
    if odds is None or needs_clock or not has_open_tables(batch):
        name = repr(opponent) if isinstance(opponent, str) else f"A {type(opponent).__name__}"
        raise DuelsError(f"{name} can only play single games of {rules.name}: {USE_SYNC_MODE}.")
    check_no_clock(rules)
    return tabulate_policy(odds, rules)


def has_open_tables(batch: Batch) -> bool:
    """Return whether the batch has tables and the game has no hidden information."""
    return isinstance(batch, TableBatch) and not batch.rules.has_hidden_information


def check_no_clock(rules: AnyRules) -> None:
    """Raise DuelsError if values depend on the clock, which tables do not include."""
    if depends_on_clock(rules):
        raise DuelsError(
            f"Under {rules} the value of a position depends on the {rules.clock} played, "
            f"which tables do not include: {USE_SYNC_MODE}."
        )
