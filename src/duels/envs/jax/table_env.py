"""JAX environments of games that have tables: a step is a lookup."""

from functools import lru_cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from duels.core.errors import TooLarge
from duels.core.rules import AnyRules
from duels.envs.jax.env import MAX_OUTCOMES, Env, StepStatus, pick
from duels.envs.kernels import find_kernel
from duels.envs.settings import DEFAULT_SETTINGS, EnvSettings
from duels.solving.decisions import Decisions
from duels.solving.tables import get_tables


class TableEnv(Env):
    """A game whose rules are compiled to tables. A position is the number of a state."""

    def __init__(self, rules: AnyRules, settings: EnvSettings) -> None:
        super().__init__(rules, settings)
        tables = self._tables = get_tables(rules).tables
        if (starts := len(tables.starts)) > MAX_OUTCOMES:
            raise TooLarge(
                f"{rules.name} has too many openings for JAX: {starts}, at most {MAX_OUTCOMES} are possible."
            )
        self.has_chance = tables.tickets > 1
        self.begins_by_chance = len(tables.starts) > 1
        with jax.ensure_compile_time_eval():
            self._seat = jnp.asarray(np.maximum(tables.actor, 0), jnp.int32)
            self._result = jnp.asarray(tables.result, jnp.int32)
            self._legal_actions = jnp.asarray(tables.legal)
            self._successor = jnp.asarray(tables.successor.ravel())
            self._observation = jnp.asarray(tables.observation, jnp.bool_)
            self._starts = jnp.asarray(tables.starts)

    def _begin(self, bits: Any) -> Any:
        return self._starts[pick(bits, len(self._starts)) if self.begins_by_chance else 0]

    def _play(self, position: Any, action: Any, bits: Any) -> tuple[Any, Any]:
        index = position * self._tables.actions + action
        if self.has_chance:
            index = index * self._tables.tickets + pick(bits, self._tables.tickets)
        move = self._successor[index]
        return move >> 1, move & 1

    def _status(self, position: Any) -> StepStatus:
        return StepStatus(self._seat[position], self._result[position])

    def _legal(self, position: Any) -> Any:
        return self._legal_actions[position]

    def _features(self, position: Any, seat: Any) -> Any:
        return self._observation[seat, position]

    def rules_state(self, position: Any) -> Any:
        decisions, moves = Decisions(self.rules), []
        state_number = int(position)
        while state_number >= 0:
            state_number, *move = map(int, self._tables.origin[state_number])
            moves.append(move)
        _, outcome = moves.pop()
        state = decisions.starts[outcome].state
        for action, outcome in reversed(moves):
            state = decisions.transitions(state, decisions.actions[action])[outcome].state
        return state


@lru_cache(maxsize=16)
def get_env(rules: AnyRules, settings: EnvSettings = DEFAULT_SETTINGS) -> Env:
    """Return the environment of `rules`, cached per process."""
    env_class: type[Env] = find_kernel(rules, "jax") or TableEnv
    return env_class(rules, settings)
