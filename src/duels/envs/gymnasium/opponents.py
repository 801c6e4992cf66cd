"""Who has the other seat of a Gymnasium environment: random play, a table, an agent, or a player."""

from abc import ABC, abstractmethod
from bisect import bisect_right
from collections.abc import Hashable
from itertools import accumulate
from random import Random
from typing import Any, TypeAlias, TypeGuard, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from duels.analysis.agents import Agent, is_player, probabilities, takes
from duels.analysis.grading import clock_matters
from duels.core.errors import DuelsError, IllegalMove
from duels.core.rules import Rules
from duels.envs import dice
from duels.envs.batch import RANDOM
from duels.envs.engine import Engine, MatchEngine, RulesEngine
from duels.envs.kernels import kernel_of, levels_of
from duels.envs.tabled import make_batch
from duels.players import Player, make_player
from duels.players.levels import LevelPlayer
from duels.solving.game_tables import has_tables
from duels.solving.oracles import oracle_for

Opponent: TypeAlias = str | Player | Agent | ArrayLike
"""A player's name, an object with a method `choose`, a function of an observation and a mask, or a table."""


class Opposing(ABC):
    """An opponent of one game."""

    needs_match = False
    """Whether it decides by what its seat knows, which takes the history of a match."""

    @abstractmethod
    def choose(self, engine: Engine, seat: int, bits: int) -> int:
        """The number of a legal action of `seat`, with 32 random bits."""

    def begin(self) -> None:  # noqa: B027  (most have nothing to do)
        """A game begins."""

    def saw(self, mover: int, action: int, seat: int) -> None:  # noqa: B027
        """`mover` is about to take an action, in a game where this opponent is `seat`."""


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


class _Level(Opposing):
    """A level in a game without secrets; what it does in a position is worked out once for all."""

    def __init__(self, rules: Rules[Any, Any, Any], share: float) -> None:
        self._rules, self._share = rules, share

    def choose(self, engine: Engine, seat: int, bits: int) -> int:
        assert isinstance(engine, RulesEngine)
        found = engine.answers.get(self._share)
        if found is None:
            found = engine.answers[self._share] = self._work_out(engine, seat)
        bounds, actions = found
        return actions[bisect_right(bounds, bits)]

    def _work_out(self, engine: RulesEngine, seat: int) -> "_Answer":
        number = {action: place for place, action in enumerate(self._rules.all_actions())}
        odds = LevelPlayer(oracle_for(self._rules), self._share).odds(engine.open_sight(seat))
        likely = sorted((number[action], weight) for action, weight in odds.items() if weight)
        total = sum(weight for _, weight in likely)
        reached = accumulate(weight for _, weight in likely)
        bounds = [round(weight / total * 2**32) for weight in reached]
        return bounds[:-1], [action for action, _ in likely]


_Answer = tuple[list[int], list[int]]
"""The 32-bit numbers below which all actions but the last, or one before, are taken; and the actions."""


class _Watching(Opposing):
    """A level of a game with secrets, which remembers what it heard."""

    def __init__(self, level: Any) -> None:
        self._level = level

    def begin(self) -> None:
        self._level.begin()

    def saw(self, mover: int, action: int, seat: int) -> None:
        self._level.saw(mover, action, seat)

    def choose(self, engine: Engine, seat: int, bits: int) -> int:
        action: int = self._level.choose(engine.observe(seat), engine.mask(), seat, bits)
        return action


def opposing(opponent: Opponent, rules: Rules[Any, Any, Any], needs_match: bool) -> Opposing:
    """The opponent of one game; DuelsError if it is none. A match is played if it `needs_match` anyway."""
    if isinstance(opponent, str):
        return _Random() if opponent == RANDOM else _named(make_player(opponent, rules), rules, needs_match)
    if is_player(opponent):
        return _Player(opponent)
    if is_agent(opponent):
        return _Agent(opponent)
    refuse_no_opponent(opponent)
    return _Table(cast(ArrayLike, opponent), rules)


def _named(player: Player, rules: Rules[Any, Any, Any], needs_match: bool) -> Opposing:
    """A player that was asked for by name: the quickest that plays like it."""
    if not isinstance(player, LevelPlayer) or needs_match:
        return _Player(player)
    if levels := levels_of(rules):
        return _Watching(levels.ONE(rules, player.share))
    # What depends on the clock has to be asked at every reading of it.
    if rules.has_secrets or kernel_of(rules, "engine") or not has_tables(rules) or clock_matters(rules):
        return _Player(player)
    return _Level(rules, player.share)


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
