"""JAX environments of games that have tables: a step is a lookup."""

from functools import lru_cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from duels.core.errors import TooLarge
from duels.core.rules import AnyRules
from duels.envs.jax.env import MAX_OUTCOMES, Env, StepStatus, pick
from duels.envs.kernels import find_kernel
from duels.envs.settings import DEFAULT_SETTINGS, EnvSettings
from duels.solving.decisions import Decisions
from duels.solving.tables import get_tables

# A state packs these bits: whether seat 2 is to move, the result plus 1 (two bits), and the legal actions.
_RESULT_BIT = 1
_LEGAL_BIT = 3

_WORD_SIZE = 32
_SHIFTS = np.arange(_WORD_SIZE, dtype=np.uint32)


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
        result = tables.result + 1
        bits = np.column_stack([tables.actor == 1, result & 1, result >> 1, tables.legal])
        with jax.ensure_compile_time_eval():
            self._state_bits = jnp.asarray(pack(bits))
            self._successor = jnp.asarray(tables.successor.ravel())
            self._observation = jnp.asarray(pack(tables.observation))
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
        bits = self._state_bits[position, 0].astype(jnp.int32)
        return StepStatus(bits & 1, (bits >> _RESULT_BIT & 3) - 1)

    def _legal(self, position: Any) -> Any:
        return unpack(self._state_bits[position], _LEGAL_BIT, self._tables.actions)

    def _features(self, position: Any, seat: Any) -> Any:
        return unpack(self._observation[seat, position], 0, self._tables.observation.shape[2])

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


def pack(bits: NDArray[Any]) -> NDArray[np.uint32]:
    """Pack bits, indexed [..., bit], into words, indexed [..., word], lowest bit first."""
    count = bits.shape[-1]
    filled = np.zeros((*bits.shape[:-1], -(-count // _WORD_SIZE) * _WORD_SIZE), np.uint8)
    filled[..., :count] = bits
    words: NDArray[np.uint32] = np.packbits(filled, axis=-1, bitorder="little").view("<u4")
    return words.astype(np.uint32)


def unpack(words: Any, first: int, count: int) -> Any:
    """Return `count` bits of a row of words from bit `first` on, indexed [bit]."""
    bits = (words[:, None] >> _SHIFTS) & 1
    return bits.astype(jnp.bool_).reshape(-1)[first : first + count]


@lru_cache(maxsize=16)
def get_env(rules: AnyRules, settings: EnvSettings = DEFAULT_SETTINGS) -> Env:
    """Return the environment of `rules`, cached per process."""
    kernel = find_kernel(rules, "jax")
    env_class: type[Env] = kernel.ENV if kernel else TableEnv
    return env_class(rules, settings)
