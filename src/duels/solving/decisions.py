"""A game as its decisions: chance folded into the moves, the clock of a limit kept beside the state.

So a coin is part of the move that called for it, and a position is there once, not once per turn.
"""

import sys
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Generic, cast

from duels.core.rules import CHANCE, A, Rules, S, Seat, V

CERTAIN = Fraction(1)


@dataclass(frozen=True, slots=True)
class Way(Generic[S]):
    """One way a move can turn out: how likely, where it leads, how far the clock went on."""

    odds: Fraction
    state: S
    ticks: int


class Decisions(Generic[S, A, V]):
    """The decisions of `rules`, without the limit; `limit` is what the clock may reach, if anything."""

    def __init__(self, rules: Rules[S, A, V]) -> None:
        self.limit = rules.limit_value
        # A clock ticks only under a limit: one that is never reached.
        far: Any = replace(cast(Any, rules), **{rules.limit: sys.maxsize}) if rules.limit else rules
        self.rules: Rules[S, A, V] = far
        self.clock = rules.clock
        self.actions = self.rules.all_actions()
        self.number = {action: number for number, action in enumerate(self.actions)}
        self.initial = self.rules.initial()

    def actor(self, state: S) -> Seat | None:
        """Who decides at a state; None when the game is over."""
        return cast(Seat | None, self.rules.actor(state))

    def legal(self, state: S) -> dict[int, A]:
        """The legal actions, by their integers, in ascending order."""
        return dict(sorted((self.number[action], action) for action in self.rules.actions(state)))

    def ways(self, state: S, action: A) -> list[Way[S]]:
        """Every way `action` can turn out, in the order of the rules' chance outcomes."""
        return self._settle(CERTAIN, self.rules.apply(state, action).state)

    def _settle(self, odds: Fraction, state: S) -> list[Way[S]]:
        if self.rules.actor(state) is not CHANCE:
            return [Way(odds, *self._stop_clock(state))]
        outcomes = zip(self.rules.actions(state), self.rules.odds(state), strict=True)
        return [
            way
            for outcome, chance in outcomes
            for way in self._settle(odds * chance, self.rules.apply(state, outcome).state)
        ]

    def _stop_clock(self, state: S) -> tuple[S, int]:
        ticks = getattr(state, self.clock) if self.clock else 0
        if not ticks or self.clock is None:
            return state, 0
        return cast(S, replace(cast(Any, state), **{self.clock: 0})), ticks
