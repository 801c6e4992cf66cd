"""Who has the other seat of a Gymnasium environment: random play, a table, an agent, or a player."""

from abc import ABC, abstractmethod
from bisect import bisect_right
from collections.abc import Hashable, Mapping, Sequence
from random import Random
from typing import Any, TypeAlias, TypeGuard, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from duels.analysis.agents import Agent, is_player, probabilities, takes
from duels.analysis.exploitability import BestResponse, Chooses, odds_at
from duels.analysis.grading import clock_matters
from duels.core.errors import DuelsError, IllegalMove
from duels.core.rules import AnyRules, AnySight, Seat
from duels.envs import dice
from duels.envs.batch import RANDOM
from duels.envs.engine import Engine, RulesEngine
from duels.envs.kernels import kernel_of, levels_of
from duels.envs.observations import Observations
from duels.envs.sights import Sights
from duels.envs.tabled import make_batch
from duels.players import Player, make_player
from duels.players.levels import LevelPlayer
from duels.solving.game_tables import has_tables
from duels.solving.oracles import oracle_for

Opponent: TypeAlias = str | Player | Agent | ArrayLike | Mapping[Seat, Any]
"""A player's name, an object with a method `choose`, a function of an observation and a mask, or a table; or
one of these for each seat, such as what `duels.best_responses` gives."""


class Opposing(ABC):
    """An opponent of one game."""

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
        return int(dice.draw_all(probabilities(self._agent(shown, mask.copy()), mask), bits))


class _Player(Opposing):
    """Whoever decides by a sight."""

    def __init__(self, player: Player, sights: Sights, rules: AnyRules) -> None:
        self._player, self._sights, self._actions = player, sights, rules.all_actions()

    def choose(self, engine: Engine, seat: int, bits: int) -> int:
        sight = self._sights.of(seat)
        chosen = self._player.choose(sight, Random(bits))
        if not isinstance(chosen, Hashable) or chosen not in sight.actions:
            raise IllegalMove(f"The opponent chose {chosen!r}, which is none of its `sight.actions`.")
        return self._actions.index(chosen)


class _Odds(Opposing):
    """A player that tells how likely it takes which action: drawn as in a batch of games."""

    def __init__(self, odds: Chooses, sights: Sights, rules: AnyRules) -> None:
        self._odds, self._sights, self._actions = odds, sights, rules.all_actions()

    def choose(self, engine: Engine, seat: int, bits: int) -> int:
        return int(dice.draw_all(_odds_at(self._odds, self._sights.of(seat), self._actions), bits))


class _Level(Opposing):
    """A level in a game without secrets; what it does in a position is worked out once for all."""

    def __init__(self, rules: AnyRules, share: float) -> None:
        self._rules, self._share = rules, share

    def choose(self, engine: Engine, seat: int, bits: int) -> int:
        assert isinstance(engine, RulesEngine)
        bounds: list[int] | None = engine.answers.get(self._share)
        if bounds is None:
            player = LevelPlayer(oracle_for(self._rules), self._share)
            sight = self._rules.sight(engine.state, Seat(seat + 1))
            odds = _odds_at(player.odds, sight, self._rules.all_actions())
            bounds = engine.answers[self._share] = dice.bounds(odds).tolist()
        return bisect_right(bounds, bits)


def _odds_at(policy: Chooses, sight: AnySight, actions: tuple[Any, ...]) -> NDArray[np.float64]:
    """[action] the probabilities of a policy of sights."""
    told = odds_at(policy, sight)
    odds = np.array([told.get(action, 0.0) for action in actions])
    weighed: NDArray[np.float64] = odds / odds.sum()
    return weighed


class _Watching(Opposing):
    """A level that may remember what it heard, as for many games."""

    _HERE = np.ones(1, np.bool_)

    def __init__(self, levels: Any) -> None:
        self._levels = levels

    def begin(self) -> None:
        self._levels.begin(self._HERE)

    def saw(self, mover: int, action: int, seat: int) -> None:
        self._levels.saw(np.array([mover]), np.array([action]), np.array([seat]), self._HERE)

    def choose(self, engine: Engine, seat: int, bits: int) -> int:
        shown, masks = engine.observe(seat)[None], engine.mask()[None]
        (odds,) = self._levels.odds(shown, masks, np.array([seat]), self._HERE)
        return int(dice.draw_all(odds, bits))


class _BySeat(Opposing):
    """Another opponent in either seat."""

    def __init__(self, opponents: Mapping[Seat, Opposing]) -> None:
        self._opponents = opponents

    def begin(self) -> None:
        for opponent in self._opponents.values():
            opponent.begin()

    def saw(self, mover: int, action: int, seat: int) -> None:
        self._opponents[Seat(seat + 1)].saw(mover, action, seat)

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
        return _player(opponent, rules, sights)
    if is_agent(opponent):
        return _Agent(opponent, observations)
    refuse_no_opponent(opponent)
    return _Table(cast(ArrayLike, opponent), rules)


def _player(player: Player, rules: AnyRules, sights: Sights) -> Opposing:
    odds = getattr(player, "odds", None)
    return _Odds(odds, sights, rules) if odds else _Player(player, sights, rules)


def _named(player: Player, rules: AnyRules, sights: Sights) -> Opposing:
    """A player that was asked for by name: the quickest that plays like it."""
    if not isinstance(player, LevelPlayer):
        return _player(player, rules, sights)
    if levels := levels_of(rules):
        return _Watching(levels(rules, player.share, 1))
    # What depends on the clock has to be asked at every reading of it.
    if rules.has_secrets or kernel_of(rules, "engine") or not has_tables(rules) or clock_matters(rules):
        return _player(player, rules, sights)
    return _Level(rules, player.share)


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
    return callable(opponent) and takes(opponent, 2)


def refuse_no_opponent(opponent: Any) -> None:
    """Refuse what is no table either."""
    if callable(opponent) or np.ndim(opponent) == 0:
        raise DuelsError(
            "An opponent is a player's name, has a method `choose`, is a function of an observation and a "
            f"mask, or a table, not {opponent!r}."
        )
