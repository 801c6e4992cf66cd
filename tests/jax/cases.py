"""The games for tests of JAX environments, beside a match of the rules."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from duels_tictactoe.rules import TicTacToe

from duels.core.features import DRAW, TRUNCATION
from duels.core.rules import AnyRules
from duels.envs.settings import make_settings
from duels.solving.tables import POINTS
from tests.envs.cases import CASES
from tests.envs.cases import resolve_rules as rules_by_name
from tests.envs.reference import MatchEngine
from tests.outside.highcard import HighCard

LIMITED = ("chain of 2 boards", "hunt of 6 turns")
OTHERS: dict[str, Any] = {
    "tictactoe": TicTacToe(),
    "high card": HighCard(),
    "high card, 3 passes": HighCard(max_passes=3),
}
FORMS: dict[str, tuple[str, str]] = {
    **{case: (case, TRUNCATION) for case in (*CASES, *OTHERS)},
    **{f"{case}, then drawn": (case, DRAW) for case in LIMITED},
}
"""The rules by name, with the effect of their limit."""


def resolve_rules(settings: str) -> AnyRules:
    case, _ = FORMS[settings]
    rules: AnyRules = OTHERS[case] if case in OTHERS else rules_by_name(case)
    return rules


def random_actions(key: Any, masks: Any) -> Any:
    """[env] a legal action each."""
    return jax.random.categorical(key, jnp.where(masks, 0.0, -jnp.inf), axis=-1)


class Beside:
    """A match by the rules, compared with one game of a batch."""

    def __init__(self, settings: str, env: Any, state: Any) -> None:
        rules = resolve_rules(settings)
        self.engine = MatchEngine(rules, make_settings(rules, FORMS[settings][1]))
        self.env = env
        self.first = int(state._first)
        begun = env.rules_state(jax.tree.map(np.asarray, state._position))
        self.engine.reset(0)
        for stream in range(1, 1000):  # chance may come before the first decision
            if self.engine.match.state == begun:
                break
            self.engine.reset(stream)
        assert self.engine.match.state == begun

    @property
    def over(self) -> bool:
        return self.engine.actor < 0

    def check(self, state: Any, observations: Any, just_played: bool) -> None:
        """Compare all output for players; `observations` are both seats', by player."""
        engine = self.engine
        assert bool(state.terminated) == engine.terminated
        assert bool(state.truncated) == engine.truncated
        points = POINTS[engine.result + 1].tolist() if just_played and engine.terminated else [0, 0]
        assert [float(state.rewards[seat ^ self.first]) for seat in (0, 1)] == points
        player = int(state.current_player)
        if engine.terminated:
            assert state.legal_action_mask.all()
        else:
            assert player ^ self.first == engine.next_actor
            assert state.legal_action_mask.tolist() == engine.mask().astype(bool).tolist()
        for seat in (0, 1):
            observation = observations[seat ^ self.first]
            assert observation.tolist() == engine.observe(seat).astype(bool).tolist()
        assert state.observation.tolist() == observations[player].tolist()
