"""Opponents in a Gymnasium environment: random play, a policy table, an agent or a player."""

from abc import ABC, abstractmethod
from collections.abc import Hashable, Mapping, Sequence
from random import Random
from typing import Any, TypeAlias, TypeGuard, cast

import numpy as np
from numpy.typing import ArrayLike

from duels.analysis.agents import Agent, accepts_arguments, is_player, parse_probabilities
from duels.analysis.exploitability import BestResponse, PolicyFunction, get_action_odds
from duels.core.errors import DuelsError, IllegalMove
from duels.core.rules import AnyRules, Seat
from duels.envs import dice
from duels.envs.batch import RANDOM
from duels.envs.engine import Engine, RulesEngine, SightTracker
from duels.envs.kernels import find_levels
from duels.envs.observations import ObservationFormat
from duels.envs.table_batch import make_batch
from duels.players import Player, make_player
from duels.players.levels import LevelPlayer

Opponent: TypeAlias = str | Player | Agent | ArrayLike | Mapping[Seat, Any]
"""A player's name, an object with a method `choose`, a function of an observation and a mask, or a policy
table; or one of these for each seat, such as the result of `duels.best_responses`."""


class OpponentAdapter(ABC):
    """An opponent in one game."""

    @abstractmethod
    def choose(self, engine: Engine, seat: int, bits: int) -> int:
        """Return the number of a legal action of `seat`, drawn with 32 random bits."""


class _Random(OpponentAdapter):
    """Random play, with the same draws as in a batch."""

    def choose(self, engine: Engine, seat: int, bits: int) -> int:
        legal = np.flatnonzero(engine.mask())
        return int(legal[dice.pick(bits, len(legal))])


class _Table(OpponentAdapter):
    """A policy table, looked up by observation, with the same draws as in a batch."""

    def __init__(self, table: ArrayLike, rules: AnyRules) -> None:
        self._policy = make_batch(rules, 1).policy(table)
        tables = self._policy.shared.tables
        # States with the same observation have the same row, so any of them will do.
        self._state = [
            {tables.observation[seat, s].tobytes(): s for s in np.flatnonzero(tables.actor == seat)}
            for seat in (0, 1)
        ]
        self._size = tables.observation.shape[2]

    def choose(self, engine: Engine, seat: int, bits: int) -> int:
        assert isinstance(engine, RulesEngine)
        state = self._state[seat][engine.observe(seat)[: self._size].tobytes()]
        row = self._policy.rows(state, engine.clock)
        return int(self._policy.shared.choices[state, (bits >= self._policy.bounds[row]).sum()])


class _Agent(OpponentAdapter):
    """A function of an observation and a mask, also in environments with dictionary observations."""

    def __init__(self, agent: Agent, observations: ObservationFormat) -> None:
        self._agent, self._observations = agent, observations

    def choose(self, engine: Engine, seat: int, bits: int) -> int:
        mask = engine.mask()
        observation = self._observations.cast(engine.observe(seat))
        return int(dice.draw_many(parse_probabilities(self._agent(observation, mask.copy()), mask), bits))


class _Player(OpponentAdapter):
    """A player that decides on a sight. One with `odds` draws as in a batch."""

    def __init__(self, player: Player, sights: SightTracker, rules: AnyRules) -> None:
        self._player, self._sights, self._actions = player, sights, rules.all_actions()
        self._odds: PolicyFunction | None = getattr(player, "odds", None)

    def choose(self, engine: Engine, seat: int, bits: int) -> int:
        sight = self._sights.get(seat)
        if self._odds:
            policy = get_action_odds(self._odds, sight)
            odds = np.array([policy.get(action, 0.0) for action in self._actions])
            return int(dice.draw_many(odds / odds.sum(), bits))
        chosen = self._player.choose(sight, Random(bits))
        if not isinstance(chosen, Hashable) or chosen not in sight.actions:
            raise IllegalMove(f"The opponent chose {chosen!r}, which is not in `sight.actions`.")
        return self._actions.index(chosen)


class _Level(OpponentAdapter):
    """A level that plays by observations, as in a batch."""

    def __init__(self, levels: Any) -> None:
        self._levels = levels

    def choose(self, engine: Engine, seat: int, bits: int) -> int:
        observations, masks = engine.observe(seat)[None], engine.mask()[None]
        (odds,) = self._levels.odds(observations, masks, np.array([seat]), np.ones(1, np.bool_))
        return int(dice.draw_many(odds, bits))


class _BySeat(OpponentAdapter):
    """A different opponent for each seat."""

    def __init__(self, opponents: Mapping[Seat, OpponentAdapter]) -> None:
        self._opponents = opponents

    def choose(self, engine: Engine, seat: int, bits: int) -> int:
        return self._opponents[Seat(seat + 1)].choose(engine, seat, bits)


def make_opponent(
    opponent: Opponent, rules: AnyRules, sights: SightTracker, observations: ObservationFormat
) -> OpponentAdapter:
    """Make the adapter for an opponent. Raises DuelsError if it is none."""
    if isinstance(opponent, Mapping):
        return _BySeat(
            {
                seat: make_opponent(opponent[seat], rules, sights, observations)
                for seat in check_both_seats(opponent)
            }
        )
    if isinstance(opponent, str):
        return _Random() if opponent == RANDOM else _adapt_named(make_player(opponent, rules), rules, sights)
    if is_player(opponent):
        return _Player(opponent, sights, rules)
    if is_agent(opponent):
        return _Agent(opponent, observations)
    check_is_table(opponent)
    return _Table(cast(ArrayLike, opponent), rules)


def _adapt_named(player: Player, rules: AnyRules, sights: SightTracker) -> OpponentAdapter:
    """Make the fastest adapter that plays like this player."""
    if isinstance(player, LevelPlayer) and not rules.has_secrets and (levels := find_levels(rules)):
        return _Level(levels(rules, player.share, 1))
    return _Player(player, sights, rules)


def check_best_response(opponent: Opponent, rules: AnyRules, seats: Sequence[int]) -> None:
    """Raise DuelsError for a best response under other rules, or for one of the agent's own `seats`."""
    if isinstance(opponent, Mapping):
        for place in check_both_seats(opponent):
            check_best_response(opponent[place], rules, [place.other - 1])
    if not isinstance(opponent, BestResponse):
        return
    if opponent.rules != rules:
        raise DuelsError(f"This best response was computed for {opponent.rules}, not for {rules}.")
    if any(opponent.seat == seat + 1 for seat in seats):
        label, seat = opponent.seat.label, int(opponent.seat.other)
        raise DuelsError(
            f"This is the best response of {label}. Make the environment with seat={seat}, or pass the "
            "responses of both seats, as duels.best_responses returns them."
        )


def check_both_seats(opponents: Mapping[Seat, Any]) -> tuple[Seat, ...]:
    """Return both seats. Raises DuelsError unless there is an opponent for each."""
    if set(opponents) != set(Seat):
        raise DuelsError(
            "Opponents by seat must be a dictionary {Seat.ONE: …, Seat.TWO: …}, "
            f"not one with the keys {', '.join(map(repr, opponents)) or '(none)'}."
        )
    return tuple(Seat)


def is_agent(opponent: object) -> TypeGuard[Agent]:
    """Return whether it is a function of an observation and a mask."""
    return callable(opponent) and accepts_arguments(opponent, 2)


def check_is_table(opponent: Any) -> None:
    """Raise DuelsError if it cannot be a policy table either."""
    if callable(opponent) or np.ndim(opponent) == 0:
        raise DuelsError(
            "An opponent must be a player's name, an object with a method `choose`, a function of an "
            f"observation and a mask, or a policy table, not {opponent!r}."
        )
