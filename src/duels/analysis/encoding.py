"""Numeric observations of matches, for environments and datasets."""

from typing import Any

from duels.core.features import Encoding, make_limit_feature
from duels.core.match import AnyMatch, EarlyEnd
from duels.core.rules import CHANCE, AnyRules, Ending, Seat
from duels.solving.decisions import Decisions


class ObservationEncoder:
    """Encodes a seat's view of a match as numbers. Neither a limit nor a cut-off changes them."""

    def __init__(self, rules: AnyRules, with_time_left: bool = False) -> None:
        """`with_time_left` adds the time left until the limit, if there is one."""
        self._endless = Decisions(rules).rules
        extra = (make_limit_feature(rules),) if with_time_left and rules.limit_value is not None else ()
        self._encoding = Encoding((*rules.game.encoding(rules).features, *extra))
        self.features = self._encoding.features
        self.names = self._encoding.names
        self.size = self._encoding.size

    def encode(self, seat: Seat, match: AnyMatch) -> bytes:
        """Return the numbers, one byte each."""
        return self._encoding.encode(self._endless.view(self._state(match), seat), seat)

    def next_decision(self, match: AnyMatch) -> tuple[Seat | None, tuple[Any, ...]]:
        """Return the seat that would decide next if there were no limit, and its actions.

        If chance is next, return None and all actions.
        """
        state = self._state(match)
        actor = self._endless.actor(state)
        if actor is CHANCE:
            return None, self._endless.all_actions()
        return actor, self._endless.actions(state)

    def next_actions(self, seat: Seat, match: AnyMatch) -> tuple[Any, ...]:
        """Return the actions after a cut-off, as far as the seat knows; empty without a cut-off."""
        if not (match.outcome and match.outcome.ending is Ending.CUT_OFF):
            return ()
        actor, actions = self.next_decision(match)
        # The other player's legal actions can reveal a secret.
        hides = actor is not seat and self._endless.has_hidden_information
        return self._endless.all_actions() if hides else actions

    def _state(self, match: AnyMatch) -> Any:
        outcome, last = match.outcome, match.last
        is_cut_off = outcome is not None and outcome.ending is Ending.CUT_OFF
        if is_cut_off and match.previous and last and not isinstance(last.action, EarlyEnd):
            return self._endless.apply(match.previous.state, last.action).state
        return match.state
