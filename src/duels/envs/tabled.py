"""A batch of a game that has tables: a step is a lookup, a rollout a chain of lookups."""

from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from duels.core.rules import Rules
from duels.envs import dice
from duels.envs import packed as form
from duels.envs.batch import Batch, Bytes, Flags, Ints, Places
from duels.envs.form import PLAIN, Form
from duels.envs.kernels import kernel_of
from duels.envs.packed import ReadyPolicy, packed_moves
from duels.envs.results import Tally
from duels.envs.running import PLAINLY, Running
from duels.solving.lines import in_lines
from duels.solving.tables import ILLEGAL, POINTS, Tables

_NEVER = (1 << 63) - 1  # as a limit
_FEW = 8  # games: up to there one after the other is quicker than arrays


class TableBatch(Batch):
    """Games whose rules are compiled to tables; their limit, if any, is counted beside the tables."""

    def _prepare(self) -> None:
        self._packed = packed_moves(self.rules)
        self.shared = self._packed.shared
        self.num_actions = self.tables.actions
        self.observation_size = self.tables.observation.shape[2]
        self._moves = np.empty(self.num_envs if self.running.compiled else 0, np.int32)
        """[env] the moves that compiled code has looked up."""
        kept = self.shared.looks if not self.running.copy else np.empty((1, 0), np.int64)
        self._looks = kept
        """[state, word] what is shown and allowed, if the batch keeps that."""
        self._rows = in_lines(self.num_envs, kept.itemsize * kept.shape[1]).view(np.int64)
        """[env, word] what is kept of it, in an array that is given away."""
        self._looked = False
        """Whether these are the rows of the games as they are now."""

    @property
    def tables(self) -> Tables:
        """The rules as tables."""
        return self.shared.tables

    @property
    def states(self) -> Ints:
        """[env] the state of every game, as the tables number them."""
        return self._states.copy()

    def _position(self) -> Ints:
        return self._states

    def _place(self, position: Ints) -> None:
        self._states = position
        self._looked = False

    def _begin(self, which: Places | None) -> None:
        starts = self.tables.starts
        self._looked = False
        if which is None:
            self._states = np.full(self.num_envs, starts[0], np.int64)
        else:
            self._states[which] = starts[0]
        if len(starts) > 1:
            places = slice(None) if which is None else which
            tickets = dice.begin_all(self._streams[places]) * len(starts) >> 32
            self._states[places] = starts.take(tickets)

    def _play(self, actions: Ints, chance: Ints, idle: Flags | None) -> tuple[Bytes, Bytes | None]:
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
        self._looked = False
        ticks = (moves & 1).astype(np.int8) if self.limit is not None else None
        return self.tables.result.take(self._states), ticks

    def _first_illegal(self, actions: Ints) -> int:
        from duels.envs import compiled

        return int(compiled.look_up(self._streams, self._states, actions, self.tables.successor, self._moves))

    def _play_part(
        self, part: slice, actions: Ints, rewards: NDArray[np.float32], ended: Flags, cut: Flags
    ) -> None:
        from duels.envs import compiled

        tables = self.tables
        compiled.step(
            part.start,
            part.stop,
            self._streams,
            self._states,
            self._moves,
            tables.result,
            POINTS,
            self._clock,
            _NEVER if self.limit is None else self.limit,
            tables.starts,
            self.autoreset,
            rewards,
            ended,
            cut,
            self._looks,
            self._rows,
        )
        self._looked = True

    def _hides(self, actions: Ints) -> Flags:
        hidden: Flags = self.shared.hidden[self._states, actions]
        return hidden

    def _actor(self) -> Bytes:
        return self.tables.actor.take(self._states)

    def _masks(self) -> Bytes:
        return self.shared.legal.take(self._states, axis=0)

    def sample(self, policy: ArrayLike | ReadyPolicy | None = None) -> Ints:
        if not self.running.compiled or self._ready(policy) is not None:
            return super().sample(policy)
        from duels.envs import compiled

        chosen = self._own_array("chosen", (self.num_envs,), np.int64)
        compiled.sample(self._streams, self._states, self.shared.counts, self.shared.choices, chosen)
        return chosen

    def _sample(self, bits: Ints, policy: ReadyPolicy | None) -> Ints:
        if policy is None:
            k = bits * self.shared.counts.take(self._states) >> 32
        else:
            rows = policy.rows(self._states, self._clock)
            k = (bits[:, None] >= policy.bounds.take(rows, axis=0, mode="clip")).sum(axis=1)
        chosen: Ints = self.shared.choices[self._states, k].astype(np.int64)
        return chosen

    def _shown_to_mover(self) -> Bytes:
        if self.running.copy:
            return self.shared.shown_to_mover.take(self._states, axis=0)
        return self._given("shown", self._kept()[:, : self.observation_size])

    def _masks_given(self) -> Bytes:
        if self.running.copy:
            return self._masks()
        shown = self.shared.shown_to_mover.shape[1]
        return self._given("masks", self._kept()[:, shown : shown + self.num_actions])

    def _kept(self) -> Bytes:
        """[env, number] what the seat to move is shown, and then what it may do; changed by the next step."""
        if not self._looked:
            # Any other mode than the default writes to `out` itself, not to a copy of it.
            self._looks.take(self._states, axis=0, out=self._rows, mode="clip")
            self._looked = True
        return self._rows.view(np.int8)

    def _observe(self, seats: int | Bytes, which: Places | None = None) -> Bytes:
        states = self._states if which is None else self._states[which]
        if isinstance(seats, int):
            shown: Bytes = self.tables.observation[seats].take(states, axis=0)
            return shown
        rows = seats.astype(np.intp) * self.tables.states + states
        return self.tables.observation.reshape(-1, self.tables.observation.shape[2]).take(rows, axis=0)

    # -- whole playouts ----------------------------------------------------------------------------

    def policy(self, table: ArrayLike | ReadyPolicy) -> ReadyPolicy:
        """A policy for both seats, from a table over `tables`, made ready for `sample` and `rollout`.

        The table is [state] the action, or [state, action] its probability; under a limit also [clock,
        state, action]. In a game with secrets it must treat alike what the seat to move cannot tell apart.
        """
        if isinstance(table, ReadyPolicy) and table.shared.rules == self.shared.rules:
            return table
        given = np.asarray(cast(ArrayLike, table))
        clocked = given.ndim == 3 and len(given) == self.limit
        return ReadyPolicy(
            self.shared, np.concatenate([self._bounds(odds) for odds in (given if clocked else (given,))])
        )

    def _bounds(self, table: NDArray[Any]) -> Ints:
        odds = self.shared.probabilities(table)
        if self.rules.has_secrets:
            self.shared.refuse_peeking(odds)
        ordered = np.take_along_axis(odds, self.shared.choices, axis=1)
        ordered[np.arange(ordered.shape[1]) >= self.shared.counts[:, None]] = 0
        return dice.bounds(ordered)

    def _roll(self, part: slice, steps: int, policy: ReadyPolicy | None) -> Tally:
        states = self._states[part]
        start = _Rows(self._packed.first[states], self.shared.counts[states])
        if self.running.compiled and not (policy and policy.clocked):
            tally = self._roll_compiled(part, steps, policy, start)
        elif len(start.row) <= _FEW and policy is None and not self._packed.many_starts:
            blocks = self._blocks(steps, len(start.row), steps)
            tally = self._total([self._roll_few(part, block, start) for block in blocks], len(start.row))
        else:
            blocks = self._blocks(steps, len(start.row), form.LONGEST)
            tally = self._total(
                [self._roll_block(part, block, policy, start) for block in blocks], len(start.row)
            )
        self._states[part] = self._packed.owner[start.row]
        self._looked = False
        return tally

    def _roll_block(self, part: slice, steps: int, policy: ReadyPolicy | None, at: "_Rows") -> Tally:
        begins = self._begins(part, steps)
        chance, bits = self._draw(part, steps)
        tickets = self.tables.tickets
        if tickets > 1:
            chance = chance * tickets >> 32
        packed, row, count = self._packed, at.row, at.count
        words, owner = packed.words, packed.owner
        seen = np.empty((steps, len(row)), np.int64)
        index = np.empty_like(row)
        tally = Tally.of(len(row), steps)
        for step in range(steps):
            if policy is None:
                np.multiply(bits[step], count, out=index)
                np.right_shift(index, 32, out=index)
            else:
                bounds = policy.bounds.take(policy.rows(owner.take(row), self._clock[part]), axis=0)
                np.sum(bits[step][:, None] >= bounds, axis=1, out=index)
            if tickets > 1:
                np.multiply(index, tickets, out=index)
                np.add(index, chance[step], out=index)
            np.add(index, row, out=index)
            word = seen[step]
            words.take(index, out=word, mode="clip")
            if self.limit is not None:
                cut = self._cut_off(part, word, self.limit)
                np.add(tally.truncated, cut, out=tally.truncated)
            if begins is not None:
                over = (word & form.ENDS) != 0
                if self.limit is not None:
                    over |= cut
                word[over] = word[over] & form.ENDS | begins[step, over]
            np.bitwise_and(word, form.ROW, out=row)
            np.right_shift(word, form.COUNT_AT, out=count)
        if packed.draws:
            np.sum(seen >> form.DRAW_AT & 1, axis=0, out=tally.draws)
        seen &= form.WINS
        sums = seen.sum(axis=0)
        for seat, place in enumerate(form.WIN_AT):
            tally.wins[:, seat] = sums >> place & form.LONGEST
        return tally

    def _begins(self, part: slice, steps: int) -> Ints | None:
        """[step, env] the words that lead to a game that begins there; None where all begin alike."""
        if not self._packed.many_starts:
            return None
        ticks = np.arange(1, steps + 1, dtype=np.uint64) * np.uint64(dice.GAMMA)
        return self._packed.begin(self._streams[part] + ticks[:, None])

    def _roll_few(self, part: slice, steps: int, at: "_Rows") -> Tally:
        """One game after the other: a few are not worth arrays."""
        chance, bits = (numbers.T.tolist() for numbers in self._draw(part, steps))
        words, tickets = self._packed.words.data, self.tables.tickets
        start = int(self._packed.start_words[0])
        row_mask, count_at, tick_at, ends = form.ROW, form.COUNT_AT, form.TICK_AT, form.ENDS
        limit, clock = self.limit, self._clock[part]
        tally = Tally.of(len(at.row), steps)
        for env in range(len(at.row)):
            row, count, ticks = int(at.row[env]), int(at.count[env]), int(clock[env])
            for fallen, drawn in zip(chance[env], bits[env], strict=True):
                word = words[row + (drawn * count >> 32) * tickets + (fallen * tickets >> 32)]
                row, count = word & row_mask, word >> count_at
                ticks += word >> tick_at & 1
                if word & ends:
                    ticks = 0
                    if word & form.WINS:
                        tally.wins[env, 0 if word >> form.WIN_AT[0] & 1 else 1] += 1
                    else:
                        tally.draws[env] += 1
                elif limit is not None and ticks >= limit:
                    tally.truncated[env] += 1
                    row, count, ticks = start & row_mask, start >> count_at, 0
            at.row[env], at.count[env], clock[env] = row, count, ticks
        return tally

    def _roll_compiled(self, part: slice, steps: int, policy: ReadyPolicy | None, at: "_Rows") -> Tally:
        from duels.envs import compiled

        tally, packed = Tally.of(len(at.row), steps), self._packed
        counts = (tally.wins, tally.draws, tally.truncated)
        where = (self._streams[part], at.row, at.count, packed.words, self.tables.tickets)
        limit = _NEVER if self.limit is None else self.limit
        clocks = (self._clock[part], limit, packed.start_words)
        if policy is not None:
            compiled.roll_policy(where, policy.packed, form.FIELDS, steps, counts, clocks)
        elif self.limit is None and not packed.draws and not packed.many_starts:
            compiled.roll_wins(where, form.FIELDS, steps, tally.wins)
        else:
            compiled.roll_random(where, form.FIELDS, steps, counts, clocks)
        return tally

    def _cut_off(self, part: slice, word: Ints, limit: int) -> Flags:
        """Let the clocks go on and start again, in `word`, what has reached the limit."""
        clock = self._clock[part]
        clock += word >> form.TICK_AT & 1
        over = (word & form.ENDS) != 0
        cut: Flags = (clock >= limit) & ~over
        clock[cut | over] = 0
        word[cut] = self._packed.start_words[0]
        return cut


class _Rows:
    """Where a part of a batch stands during a rollout: rows of the packed table, and their length."""

    def __init__(self, row: Ints, count: Ints) -> None:
        self.row = row
        self.count = count


def make_batch(
    rules: Rules[Any, Any, Any],
    num_envs: int,
    seed: int = 0,
    first: int = 0,
    autoreset: bool = True,
    form: Form = PLAIN,
    running: Running = PLAINLY,
) -> Batch:
    """The quickest way to play many games of `rules`."""
    kernel = kernel_of(rules, "batch")
    kind: type[Batch] = kernel.BATCH if kernel else TableBatch
    return kind(rules, num_envs, seed, first, autoreset, form, running)
