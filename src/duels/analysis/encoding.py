"""What a seat is shown of a match as numbers: what environments show, and what datasets hold."""

from typing import Any

from duels.core.features import Encoding, make_limit_feature
from duels.core.match import AnyMatch
from duels.core.rules import CHANCE, AnyRules, Ending, Seat
from duels.solving.decisions import Decisions


class ObservationEncoder:
    """What a seat is shown of a match as numbers: the same under every limit, and where one cuts it off."""

    def __init__(self, rules: AnyRules, with_left: bool = False) -> None:
        """With what is left of the limit, if there is one and it is asked for."""
        self._endless = Decisions(rules).rules
        left = (make_limit_feature(rules),) if with_left and rules.limit_value is not None else ()
        self._encoding = Encoding((*rules.game.encoding(rules).features, *left))
        self.features = self._encoding.features
        self.names = self._encoding.names
        self.size = self._encoding.size

    def to(self, seat: Seat, match: AnyMatch) -> bytes:
        """The numbers, a byte each."""
        return self._encoding.encode(self._endless.view(self._state(match), seat), seat)

    def next_decision(self, match: AnyMatch) -> tuple[Seat | None, tuple[Any, ...]]:
        """Who would decide next without a limit, and on what: on anything, if chance came first."""
        state = self._state(match)
        actor = self._endless.actor(state)
        if actor is CHANCE:
            return None, self._endless.all_actions()
        return actor, self._endless.actions(state)

    def next_actions(self, seat: Seat, match: AnyMatch) -> tuple[Any, ...]:
        """Where a limit has cut the match off, what could have come next, as far as the seat knows."""
        if not (match.outcome and match.outcome.ending is Ending.CUT_OFF):
            return ()
        actor, actions = self.next_decision(match)
        # What the other may do can tell where it is.
        return self._endless.all_actions() if actor is not seat and self._endless.has_secrets else actions

    def _state(self, match: AnyMatch) -> Any:
        outcome = match.outcome
        if outcome and outcome.ending is Ending.CUT_OFF and match.previous and match.last:
            return self._endless.apply(match.previous.state, match.last.action).state
        return match.state
