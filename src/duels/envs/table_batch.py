"""Batches of games that have tables: a step is a lookup."""

from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from duels.core.rules import AnyRules
from duels.envs import dice
from duels.envs.batch import ALL, Batch, Bytes, Flags, Indices, Ints, PreparedPolicy
from duels.envs.kernels import find_kernel
from duels.envs.settings import DEFAULT_SETTINGS, EnvSettings
from duels.solving.tables import ILLEGAL, ONGOING, Tables, get_tables


class TableBatch(Batch):
    """A batch of a game whose rules are compiled to tables. The batch itself counts towards a limit."""

    def _prepare(self) -> None:
        self.shared = get_tables(self.rules)
        self._states = np.zeros(self.num_envs, np.int64)
        self.num_actions = self.tables.actions
        self.observation_size = self.tables.observation.shape[2]

    @property
    def tables(self) -> Tables:
        """The rules as tables."""
        return self.shared.tables

    @property
    def states(self) -> Ints:
        """Each game's state in the tables, indexed [env]."""
        return self._states.copy()

    def _begin(self, indices: Indices) -> None:
        starts = self.tables.starts
        if len(starts) == 1:
            self._states[indices] = starts[0]
        else:
            self._states[indices] = starts[dice.pick(dice.start_bits(self._streams[indices]), len(starts))]

    def _play(self, actions: Ints, chance: Ints, idle: Flags | None) -> tuple[Bytes, Bytes | None]:
        tickets = self.tables.tickets
        index = self._states * self.num_actions
        index += actions
        if tickets > 1:
            index *= tickets
            index += dice.pick(chance, tickets)
        successors = self.shared.successor.take(index)
        if idle is not None:
            successors = np.where(idle, 2 * self._states, successors)
        if successors.min() < 0:
            self._reject(successors == ILLEGAL, actions)
        self._states = (successors >> 1).astype(np.int64)
        ticks = (successors & 1).astype(np.int8) if self.limit is not None else None
        results = self.tables.result.take(self._states)
        return results if idle is None else np.where(idle, ONGOING, results), ticks

    def _is_hidden(self, actions: Ints) -> Flags:
        hidden: Flags = self.shared.hidden[self._states, actions]
        return hidden

    def _actor(self) -> Bytes:
        return self.tables.actor.take(self._states)

    def _masks(self) -> Bytes:
        return self.shared.legal.take(self._states, axis=0)

    def _sample(self, bits: Ints, policy: PreparedPolicy | None) -> Ints:
        if policy is None:
            k = bits * self.shared.counts.take(self._states) >> 32
        else:
            rows = policy.rows(self._states, self._clock)
            k = (bits[:, None] >= policy.bounds.take(rows, axis=0, mode="clip")).sum(axis=1)
        chosen: Ints = self.shared.choices[self._states, k].astype(np.int64)
        return chosen

    def _observe(self, seats: int | Bytes, indices: Indices = ALL) -> Bytes:
        states = self._states[indices]
        if isinstance(seats, int):
            observations: Bytes = self.tables.observation[seats].take(states, axis=0)
            return observations
        rows = seats.astype(np.intp) * self.tables.states + states
        return self.tables.observation.reshape(-1, self.tables.observation.shape[2]).take(rows, axis=0)

    def policy(self, table: ArrayLike | PreparedPolicy) -> PreparedPolicy:
        """Prepare a policy of both seats for `sample` and `rollout`.

        The table holds actions, indexed [state], or probabilities, indexed [state, action]. With a limit, it
        can also be indexed [clock, state, action]. States that the seat to move cannot distinguish must have
        the same row. Raises DuelsError if the table does not fit the game.
        """
        if isinstance(table, PreparedPolicy) and table.shared.rules == self.shared.rules:
            return table
        array = np.asarray(cast(ArrayLike, table))
        has_clock = array.ndim == 3 and len(array) == self.limit
        return PreparedPolicy(
            self.shared, np.concatenate([self._bounds(odds) for odds in (array if has_clock else (array,))])
        )

    def _bounds(self, table: NDArray[Any]) -> Ints:
        odds = self.shared.probabilities(table)
        if self.rules.has_hidden_information:
            self.shared.check_no_peeking(odds)
        ordered = np.take_along_axis(odds, self.shared.choices, axis=1)
        ordered[np.arange(ordered.shape[1]) >= self.shared.counts[:, None]] = 0
        return dice.bounds(ordered)


def make_batch(
    rules: AnyRules,
    num_envs: int,
    seed: int = 0,
    first: int = 0,
    autoreset: bool = True,
    settings: EnvSettings = DEFAULT_SETTINGS,
    copy: bool = True,
) -> Batch:
    """Make the fastest batch for `rules`."""
    batch_class: type[Batch] = find_kernel(rules, "batch") or TableBatch
    return batch_class(rules, num_envs, seed, first, autoreset, settings, copy)
