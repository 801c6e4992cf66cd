"""A game reduced to its decisions: chance is part of the moves, and the clock is not part of the state.

For example, a coin flip belongs to the move before it, and a position is one state at every clock reading.
"""

import sys
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Generic, cast

from duels.core.errors import DuelsError
from duels.core.match import Turn
from duels.core.rules import CHANCE, A, AnyRules, Rules, S, Seat, V

CERTAIN = Fraction(1)


@dataclass(frozen=True, slots=True)
class Transition(Generic[S]):
    """A possible result of a move: its probability, the next state, and the ticks of the clock."""

    odds: Fraction
    state: S
    ticks: int


class Decisions(Generic[S, A, V]):
    """The decisions of `rules` as if they had no limit. The attribute `limit` has the real limit.

    With `counts_ticks`, transitions count the ticks of the clock even if there is no limit.
    """

    def __init__(self, rules: Rules[S, A, V], counts_ticks: bool = True) -> None:
        self.limit = rules.limit_value
        # The clock ticks only if there is a limit, so set one that is never reached.
        self.rules = _limited_to(rules, sys.maxsize if counts_ticks else None)
        self.clock = rules.clock
        self.actions = self.rules.all_actions()
        self.action_numbers = {action: number for number, action in enumerate(self.actions)}
        self.starts = self._settle(CERTAIN, self.rules.initial())
        """The possible first decisions: more than one if chance acts first."""
        if any(self.actor(transition.state) is None for transition in self.starts):
            raise DuelsError(f"A match of {rules.name} can be over before the first move.")

    def actor(self, state: S) -> Seat | None:
        """Return the player to move, or None if the game is over."""
        return cast(Seat | None, self.rules.actor(state))

    def legal(self, state: S) -> dict[int, A]:
        """Return the legal actions by action number, in ascending order."""
        return dict(sorted((self.action_numbers[action], action) for action in self.rules.actions(state)))

    def transitions(self, state: S, action: A) -> list[Transition[S]]:
        """Return the possible results of `action`, in the order of the rules' chance outcomes."""
        return self._settle(CERTAIN, self.rules.apply(state, action).state)

    def hides(self, state: S, action: A) -> bool:
        """Return whether the action is hidden from the other seat."""
        actor = self.actor(state)
        assert actor
        return Turn(actor, action, self.rules.apply(state, action).events).hidden_from(actor.other)

    def _settle(self, odds: Fraction, state: S) -> list[Transition[S]]:
        if self.rules.actor(state) is not CHANCE:
            return [Transition(odds, *self._stop_clock(state))]
        outcomes = zip(self.rules.actions(state), self.rules.odds(state), strict=True)
        return [
            transition
            for outcome, chance in outcomes
            for transition in self._settle(odds * chance, self.rules.apply(state, outcome).state)
        ]

    def _stop_clock(self, state: S) -> tuple[S, int]:
        ticks = getattr(state, self.clock) if self.clock else 0
        if not ticks or self.clock is None:
            return state, 0
        return cast(S, replace(cast(Any, state), **{self.clock: 0})), ticks


def max_decisions(rules: AnyRules) -> int | None:
    """Return an upper bound on the number of states if there is no limit, or None if unknown."""
    return _limited_to(rules, None).max_states()


def _limited_to(rules: Rules[S, A, V], limit: int | None) -> Rules[S, A, V]:
    return cast(Rules[S, A, V], replace(cast(Any, rules), **{rules.limit: limit})) if rules.limit else rules
