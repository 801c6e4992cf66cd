"""A batch of a game that has tables: a step is a lookup, a rollout a chain of lookups."""

from dataclasses import dataclass
from functools import cached_property
from typing import cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from duels.envs.batch import Batch, Bytes, Flags, Tally, Whole
from duels.solving.game_tables import GameTables, shared_tables
from duels.solving.tables import ILLEGAL, Tables

# One lookup of a rollout gives a packed word: where the successor's words begin (32 bits), whether a
# seat has won, whether the clock ticks, and how many legal moves the successor has. The fields of the
# winners are as wide as they are so that a block's words can be summed.
_ROW = 0xFFFFFFFF
_WIN = (32, 42)
_FIELD = 10
_TICK = 52
_COUNT = 53
_WINS = (1 << _WIN[0]) | (1 << _WIN[1])
_LONGEST = (1 << _FIELD) - 1
_NEVER = (1 << 63) - 1  # as a limit

_FEW = 8  # games: up to there one after the other is quicker than arrays


@dataclass(frozen=True)
class ReadyPolicy:
    """A policy made ready to be sampled from."""

    shared: GameTables
    bounds: Whole
    """[state, k] the 32-bit number below which the k-th legal action, or one before it, is taken."""

    @cached_property
    def packed(self) -> Whole:
        """The same bounds where `GameTables.packed` has the words of the actions."""
        legal = np.arange(self.bounds.shape[1]) < self.shared.counts[:, None]
        return np.repeat(self.bounds[legal], self.shared.tables.tickets)


class TableBatch(Batch):
    """Games whose rules are compiled to tables; their limit, if any, is counted beside the tables."""

    def _prepare(self) -> None:
        self.shared = shared_tables(self.rules)
        self.num_actions = self.tables.actions
        self.observation_size = self.tables.observation.shape[2]

    @property
    def tables(self) -> Tables:
        """The rules as tables."""
        return self.shared.tables

    @property
    def states(self) -> Whole:
        """[env] the state of every game, as the tables number them."""
        return self._states.copy()

    def _restart(self, which: Flags | None) -> None:
        if which is None:
            self._states = np.zeros(self.num_envs, np.int64)
        else:
            self._states[which] = 0

    def _play(self, actions: Whole, chance: Whole, idle: Flags | None) -> tuple[Bytes, Bytes | None]:
        tickets = self.tables.tickets
        index = self._states * self.num_actions
        index += actions
        if tickets > 1:
            index *= tickets
            index += chance * tickets >> 32
        moves = self.shared.successor.take(index)
        if idle is not None:
            moves = np.where(idle, 2 * self._states, moves)
        if moves.min() < 0:
            self._refuse(moves == ILLEGAL, actions)
        self._states = (moves >> 1).astype(np.int64)
        ticks = (moves & 1).astype(np.int8) if self.limit is not None else None
        return self.tables.winner.take(self._states), ticks

    def _actor(self) -> Bytes:
        return self.tables.actor.take(self._states)

    def _masks(self) -> Bytes:
        return self.shared.legal.take(self._states, axis=0)

    def _sample(self, bits: Whole, policy: ReadyPolicy | None) -> Whole:
        if policy is None:
            k = bits * self.shared.counts.take(self._states) >> 32
        else:
            k = (bits[:, None] >= policy.bounds.take(self._states, axis=0)).sum(axis=1)
        chosen: Whole = self.shared.choices[self._states, k]
        return chosen

    def _observe(self, seats: int | Bytes, which: NDArray[np.intp] | None = None) -> Bytes:
        states = self._states if which is None else self._states[which]
        if isinstance(seats, int):
            shown: Bytes = self.tables.observation[seats].take(states, axis=0)
            return shown
        rows = seats.astype(np.intp) * self.tables.states + states
        return self.tables.observation.reshape(-1, self.observation_size).take(rows, axis=0)

    # -- whole playouts ----------------------------------------------------------------------------

    def policy(self, table: ArrayLike | ReadyPolicy) -> ReadyPolicy:
        """A policy for both seats, from a table over `tables`, made ready for `sample` and `rollout`.

        The table is [state] the action, or [state, action] its probability. In a game with secrets it
        must treat alike what the seat to move cannot tell apart.
        """
        if isinstance(table, ReadyPolicy) and table.shared is self.shared:
            return table
        odds = self.shared.probabilities(cast(ArrayLike, table))
        if self.rules.has_secrets:
            self.shared.refuse_peeking(odds)
        ordered = np.take_along_axis(odds, self.shared.choices, axis=1)
        ordered[np.arange(ordered.shape[1]) >= self.shared.counts[:, None]] = 0
        bounds = (np.cumsum(ordered, axis=1) * 2**32).round().astype(np.int64)
        # The last action that can be taken gets what rounding left over.
        bounds[bounds >= bounds.max(axis=1, keepdims=True)] = 1 << 32
        return ReadyPolicy(self.shared, bounds)

    def _roll(self, part: slice, steps: int, policy: ReadyPolicy | None) -> Tally:
        states = self._states[part]
        start = _Rows(self.shared.first[states], self.shared.counts[states])
        if self.compiled:
            tally = self._roll_compiled(part, steps, policy, start)
        elif len(start.row) <= _FEW and policy is None:
            blocks = self._blocks(steps, len(start.row), steps)
            tally = self._total([self._roll_few(part, block, start) for block in blocks], len(start.row))
        else:
            blocks = self._blocks(steps, len(start.row), _LONGEST)
            tally = self._total(
                [self._roll_block(part, block, policy, start) for block in blocks], len(start.row)
            )
        self._states[part] = self.shared.owner[start.row]
        return tally

    def _roll_block(self, part: slice, steps: int, policy: ReadyPolicy | None, at: "_Rows") -> Tally:
        chance, bits = self._draw(part, steps)
        tickets = self.tables.tickets
        if tickets > 1:
            chance = chance * tickets >> 32
        packed, row, count = self.shared.packed, at.row, at.count
        seen = np.empty((steps, len(row)), np.int64)
        index = np.empty_like(row)
        truncated = np.zeros(len(row), np.int64)
        for step in range(steps):
            if policy is None:
                np.multiply(bits[step], count, out=index)
                np.right_shift(index, 32, out=index)
            else:
                bounds = policy.bounds.take(self.shared.owner.take(row), axis=0)
                np.sum(bits[step][:, None] >= bounds, axis=1, out=index)
            if tickets > 1:
                np.multiply(index, tickets, out=index)
                np.add(index, chance[step], out=index)
            np.add(index, row, out=index)
            word = seen[step]
            packed.take(index, out=word, mode="clip")
            if self.limit is not None:
                truncated += self._cut_off(part, word, self.limit)
            np.bitwise_and(word, _ROW, out=row)
            np.right_shift(word, _COUNT, out=count)
        seen &= _WINS
        sums = seen.sum(axis=0)
        wins = np.stack([sums >> _WIN[0] & _LONGEST, sums >> _WIN[1] & _LONGEST], axis=1)
        return Tally(steps * len(row), wins, truncated)

    def _roll_few(self, part: slice, steps: int, at: "_Rows") -> Tally:
        """One game after the other: a few are not worth arrays."""
        chance, bits = (numbers.T.tolist() for numbers in self._draw(part, steps))
        packed, tickets = self.shared.packed.data, self.tables.tickets
        limit, clock = self.limit, self._clock[part]
        wins = np.zeros((len(at.row), 2), np.int64)
        truncated = np.zeros(len(at.row), np.int64)
        for env in range(len(at.row)):
            row, count, ticks = int(at.row[env]), int(at.count[env]), int(clock[env])
            for fallen, drawn in zip(chance[env], bits[env], strict=True):
                word = packed[row + (drawn * count >> 32) * tickets + (fallen * tickets >> 32)]
                row, count = word & _ROW, word >> _COUNT
                ticks += word >> _TICK & 1
                if word & _WINS:
                    wins[env, 0 if word >> _WIN[0] & 1 else 1] += 1
                    ticks = 0
                elif limit is not None and ticks >= limit:
                    truncated[env] += 1
                    row, count, ticks = 0, int(self.shared.counts[0]), 0
            at.row[env], at.count[env], clock[env] = row, count, ticks
        return Tally(steps * len(at.row), wins, truncated)

    def _roll_compiled(self, part: slice, steps: int, policy: ReadyPolicy | None, at: "_Rows") -> Tally:
        from duels.envs import compiled

        wins = np.zeros((len(at.row), 2), np.int64)
        truncated = np.zeros(len(at.row), np.int64)
        fields = (_ROW, *_WIN, _COUNT, _FIELD)
        where = (self._streams[part], at.row, at.count, self.shared.packed, self.tables.tickets)
        limit = _NEVER if self.limit is None else self.limit
        clocks = (self._clock[part], _TICK, limit, int(self.shared.counts[0]))
        if policy is not None:
            compiled.roll_policy(where, policy.packed, fields, steps, wins, clocks, truncated)
        elif self.limit is None:
            compiled.roll_random(where, fields, steps, wins)
        else:
            compiled.roll_random_limited(where, fields, steps, wins, clocks, truncated)
        return Tally(steps * len(at.row), wins, truncated)

    def _cut_off(self, part: slice, word: Whole, limit: int) -> Flags:
        """Let the clock go on and start again, in `word`, what has reached the limit."""
        clock = self._clock[part]
        clock += word >> _TICK & 1
        won = (word & _WINS) != 0
        cut: Flags = (clock >= limit) & ~won
        clock[cut | won] = 0
        word[cut] = int(self.shared.counts[0]) << _COUNT
        return cut


class _Rows:
    """Where a part of a batch stands during a rollout: rows of the packed table, and their length."""

    def __init__(self, row: Whole, count: Whole) -> None:
        self.row = row
        self.count = count
