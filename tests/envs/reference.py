"""A game played as a match of the rules: the reference for the environments."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from duels.analysis.encoding import ObservationEncoder
from duels.core.features import number_actions
from duels.core.match import AnyMatch, Match
from duels.core.rules import AnyRules, AnySight, Ending, Seat
from duels.envs import dice
from duels.envs.engine import Engine, draw_chance
from duels.envs.settings import DEFAULT_SETTINGS, EnvSettings
from duels.solving.tables import DRAWN, NOBODY, encode_result


class MatchEngine(Engine):
    """A game as a match, with all its history."""

    def __init__(self, rules: AnyRules, settings: EnvSettings = DEFAULT_SETTINGS) -> None:
        self.rules, self.settings = rules, settings
        self._actions = rules.all_actions()
        self._number = number_actions(rules)
        self._encoder = ObservationEncoder(rules)
        self._with_left = ObservationEncoder(rules, with_time_left=settings.is_drawn_at_limit)
        self.num_actions = len(self._actions)
        self.observation_size = self._with_left.size
        self.reset(0)

    def reset(self, stream: int) -> None:
        self._set_match(draw_chance(Match.start(self.rules), dice.start_bits(stream)))

    def step(self, action: int, chance: int) -> None:
        assert isinstance(self.match.actor, Seat)
        self._set_match(draw_chance(self.match.play(self.match.actor, self._actions[action]), chance))

    def _set_match(self, match: AnyMatch) -> None:
        self.match = match
        actor, outcome = match.actor, match.outcome
        self.actor = self.next_actor = actor - 1 if isinstance(actor, Seat) else NOBODY
        self.result = encode_result(outcome)
        cut_off = outcome is not None and outcome.ending is Ending.CUT_OFF
        self.truncated = cut_off and not self.settings.is_drawn_at_limit
        if self.truncated:
            following, _ = self._encoder.next_decision(match)
            self.next_actor = following - 1 if following else NOBODY
        elif cut_off:
            self.result = DRAWN

    def sight(self, seat: int) -> AnySight:
        return self.match.sight(Seat(seat + 1))

    def allows(self, action: int) -> bool:
        return 0 <= action < self.num_actions and self._actions[action] in self.match.actions

    def mask(self) -> NDArray[np.int8]:
        actions: Any = self._encoder.next_decision(self.match)[1] if self.truncated else self.match.actions
        mask = np.zeros(self.num_actions, np.int8)
        mask[[self._number[action] for action in actions]] = 1
        return mask

    def observe(self, seat: int) -> NDArray[np.int8]:
        return np.frombuffer(self._with_left.encode(Seat(seat + 1), self.match), np.int8)
