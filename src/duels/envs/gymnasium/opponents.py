"""Who has the other seat of a Gymnasium environment: random play, a table, an agent, or a player."""

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
from duels.envs.engine import Engine, RulesEngine, Sights
from duels.envs.kernels import levels_of
from duels.envs.observations import Observations
from duels.envs.tabled import make_batch
from duels.players import Player, make_player
from duels.players.levels import LevelPlayer

Opponent: TypeAlias = str | Player | Agent | ArrayLike | Mapping[Seat, Any]
"""A player's name, an object with a method `choose`, a function of an observation and a mask, or a table; or
one of these for each seat, such as what `duels.best_responses` gives."""


class Opposing(ABC):
    """An opponent of one game."""

    @abstractmethod
    def choose(self, engine: Engine, seat: int, bits: int) -> int:
        """The number of a legal action of `seat`, with 32 random bits."""


class _Random(Opposing):
    """Plays by the environment's own dice, as in a batch of games."""

    def choose(self, engine: Engine, seat: int, bits: int) -> int:
        legal = np.flatnonzero(engine.mask())
        return int(legal[dice.pick(bits, len(legal))])


class _Table(Opposing):
    """A policy given as a table, by what the seat that plays it is shown; it draws as in a batch of games."""

    def __init__(self, table: ArrayLike, rules: AnyRules) -> None:
        self._policy = make_batch(rules, 1).policy(table)
        tables = self._policy.shared.tables
        # States that look alike to the seat are played alike, so any of them will do.
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


class _Agent(Opposing):
    """A function of an observation, of the environment's type, and a mask; never of a dictionary of both."""

    def __init__(self, agent: Agent, observations: Observations) -> None:
        self._agent, self._observations = agent, observations

    def choose(self, engine: Engine, seat: int, bits: int) -> int:
        mask = engine.mask()
        shown = self._observations.typed(engine.observe(seat))
        return int(dice.draw_all(parse_probabilities(self._agent(shown, mask.copy()), mask), bits))


class _Player(Opposing):
    """A player that decides by a sight; one that tells its odds draws as in a batch of games."""

    def __init__(self, player: Player, sights: Sights, rules: AnyRules) -> None:
        self._player, self._sights, self._actions = player, sights, rules.all_actions()
        self._odds: PolicyFunction | None = getattr(player, "odds", None)

    def choose(self, engine: Engine, seat: int, bits: int) -> int:
        sight = self._sights.of(seat)
        if self._odds:
            told = get_action_odds(self._odds, sight)
            odds = np.array([told.get(action, 0.0) for action in self._actions])
            return int(dice.draw_all(odds / odds.sum(), bits))
        chosen = self._player.choose(sight, Random(bits))
        if not isinstance(chosen, Hashable) or chosen not in sight.actions:
            raise IllegalMove(f"The opponent chose {chosen!r}, which is none of its `sight.actions`.")
        return self._actions.index(chosen)


class _Level(Opposing):
    """A level that needs no more than what its seat is shown, as for many games."""

    def __init__(self, levels: Any) -> None:
        self._levels = levels

    def choose(self, engine: Engine, seat: int, bits: int) -> int:
        shown, masks = engine.observe(seat)[None], engine.mask()[None]
        (odds,) = self._levels.odds(shown, masks, np.array([seat]), np.ones(1, np.bool_))
        return int(dice.draw_all(odds, bits))


class _BySeat(Opposing):
    """Another opponent in either seat."""

    def __init__(self, opponents: Mapping[Seat, Opposing]) -> None:
        self._opponents = opponents

    def choose(self, engine: Engine, seat: int, bits: int) -> int:
        return self._opponents[Seat(seat + 1)].choose(engine, seat, bits)


def opposing(opponent: Opponent, rules: AnyRules, sights: Sights, observations: Observations) -> Opposing:
    """The opponent of one game, of which there are `sights` and `observations`; DuelsError if it is none."""
    if isinstance(opponent, Mapping):
        return _BySeat(
            {seat: opposing(opponent[seat], rules, sights, observations) for seat in seats_in(opponent)}
        )
    if isinstance(opponent, str):
        return _Random() if opponent == RANDOM else _named(make_player(opponent, rules), rules, sights)
    if is_player(opponent):
        return _Player(opponent, sights, rules)
    if is_agent(opponent):
        return _Agent(opponent, observations)
    refuse_no_opponent(opponent)
    return _Table(cast(ArrayLike, opponent), rules)


def _named(player: Player, rules: AnyRules, sights: Sights) -> Opposing:
    """A player that was asked for by name: the quickest that plays like it."""
    if isinstance(player, LevelPlayer) and not rules.has_secrets and (levels := levels_of(rules)):
        return _Level(levels(rules, player.share, 1))
    return _Player(player, sights, rules)


def refuse_other_response(opponent: Opponent, rules: AnyRules, seats: Sequence[int]) -> None:
    """Refuse a best response under other rules, or of a seat that the agent, at one of `seats`, can have."""
    if isinstance(opponent, Mapping):
        for place in seats_in(opponent):
            refuse_other_response(opponent[place], rules, [place.other - 1])
    if not isinstance(opponent, BestResponse):
        return
    if opponent.rules != rules:
        raise DuelsError(f"This is a best response under {opponent.rules}, not under {rules}.")
    if any(opponent.seat == seat + 1 for seat in seats):
        label, seat = opponent.seat.label, int(opponent.seat.other)
        raise DuelsError(
            f"This is the best response of {label}: make the environment with seat={seat}, or hand in those "
            "of both seats, as duels.best_responses gives them."
        )


def seats_in(opponents: Mapping[Seat, Any]) -> tuple[Seat, ...]:
    """Both seats, if there is an opponent for each of them."""
    if set(opponents) != set(Seat):
        raise DuelsError(
            "Opponents by seat are a dictionary {Seat.ONE: …, Seat.TWO: …} of one for each seat, "
            f"not of {', '.join(map(repr, opponents)) or 'none'}."
        )
    return tuple(Seat)


def is_agent(opponent: object) -> TypeGuard[Agent]:
    """Whether it is a function of an observation and a mask."""
    return callable(opponent) and accepts_arguments(opponent, 2)


def refuse_no_opponent(opponent: Any) -> None:
    """Refuse what is no table either."""
    if callable(opponent) or np.ndim(opponent) == 0:
        raise DuelsError(
            "An opponent is a player's name, has a method `choose`, is a function of an observation and a "
            f"mask, or a table, not {opponent!r}."
        )
