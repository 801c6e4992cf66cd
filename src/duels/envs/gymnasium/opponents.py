"""Who has the other seat of a Gymnasium environment: random play, a table, an agent, or a player."""

from abc import ABC, abstractmethod
from collections.abc import Hashable
from random import Random
from typing import Any, TypeAlias, TypeGuard, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from duels.analysis.agents import Agent, is_player, probabilities, takes
from duels.core.errors import DuelsError, IllegalMove
from duels.core.rules import Rules
from duels.envs import dice
from duels.envs.batch import RANDOM
from duels.envs.engine import Engine, MatchEngine
from duels.envs.tabled import make_batch
from duels.players import Player, make_player

Opponent: TypeAlias = str | Player | Agent | ArrayLike
"""A player's name, an object with a method `choose`, a function of an observation and a mask, or a table."""


class Opposing(ABC):
    """An opponent of one game."""

    needs_match = False
    """Whether it decides by what its seat knows, which takes the history of a match."""

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

    def __init__(self, table: ArrayLike, rules: Rules[Any, Any, Any]) -> None:
        policy = make_batch(rules, 1).policy(table)
        self._bounds, self._choices = policy.bounds, policy.shared.choices
        tables = policy.shared.tables
        # States that look alike to the seat are played alike, so any of them will do.
        self._state = [
            {tables.observation[seat, s].tobytes(): s for s in np.flatnonzero(tables.actor == seat)}
            for seat in (0, 1)
        ]
        self._size = tables.observation.shape[2]

    def choose(self, engine: Engine, seat: int, bits: int) -> int:
        state = self._state[seat][engine.observe(seat)[: self._size].tobytes()]
        return int(self._choices[state, (bits >= self._bounds[state]).sum()])


class _Agent(Opposing):
    """A function of an observation and a mask, as `table_of` takes it."""

    def __init__(self, agent: Agent) -> None:
        self._agent = agent

    def choose(self, engine: Engine, seat: int, bits: int) -> int:
        mask = engine.mask()
        return int(drawn(probabilities(self._agent(engine.observe(seat), mask.copy()), mask), bits))


class _Player(Opposing):
    """Whoever decides by a sight."""

    needs_match = True

    def __init__(self, player: Player) -> None:
        self._player = player

    def choose(self, engine: Engine, seat: int, bits: int) -> int:
        assert isinstance(engine, MatchEngine)
        sight = engine.sight(seat)
        chosen = self._player.choose(sight, Random(bits))
        if not isinstance(chosen, Hashable) or chosen not in sight.actions:
            raise IllegalMove(f"The opponent chose {chosen!r}, which is none of its `sight.actions`.")
        return engine.number(chosen)


def opposing(opponent: Opponent, rules: Rules[Any, Any, Any]) -> Opposing:
    """The opponent of one game; DuelsError if it is none."""
    if isinstance(opponent, str):
        return _Random() if opponent == RANDOM else _Player(make_player(opponent, rules))
    if is_player(opponent):
        return _Player(opponent)
    if is_agent(opponent):
        return _Agent(opponent)
    refuse_no_opponent(opponent)
    return _Table(cast(ArrayLike, opponent), rules)


def is_agent(opponent: object) -> TypeGuard[Agent]:
    """Whether it is a function of an observation and a mask."""
    return callable(opponent) and takes(opponent, 2)


def refuse_no_opponent(opponent: Any) -> None:
    """Refuse what is no table either."""
    if callable(opponent) or np.ndim(opponent) == 0:
        raise DuelsError(
            "An opponent is a player's name, has a method `choose`, is a function of an observation and a "
            f"mask, or a table, not {opponent!r}."
        )


def drawn(odds: NDArray[np.float64], bits: int | NDArray[np.int64]) -> NDArray[np.int64]:
    """The action, or that of every row, that 32 random bits draw from probabilities."""
    bounds = (np.cumsum(odds, axis=-1) * 2**32).round()
    # Rounding must not leave anything beyond the last action that can be taken.
    bounds = np.where(bounds >= bounds.max(axis=-1, keepdims=True), 2**32, bounds)
    below = np.asarray(bits)[..., None] < bounds
    return np.asarray(below.argmax(axis=-1), np.int64)
