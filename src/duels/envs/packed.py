"""Moves packed into words for rollouts: one lookup says where a move leads and how the game stands then.

A word holds where the successor's words begin (31 bits), whether the game is drawn (1 bit), whether a seat
has won (10 bits each), whether the clock ticks (1 bit), and how many legal moves the successor has. The
fields of the winners are that wide so that the words of a block of steps can be summed.
"""

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from duels.core.rules import Rules
from duels.envs import dice
from duels.solving.game_tables import GameTables, shared_tables
from duels.solving.tables import DRAWN, FIRST_WON, ONGOING, SECOND_WON

Ints = NDArray[np.int64]

ROW = 0x7FFFFFFF
DRAW_AT = 31
WIN_AT = (32, 42)
WIN_BITS = 10
TICK_AT = 52
COUNT_AT = 53
WINS = (1 << WIN_AT[0]) | (1 << WIN_AT[1])
ENDS = WINS | (1 << DRAW_AT)
LONGEST = (1 << WIN_BITS) - 1
"""The longest block of steps whose words can be summed."""
FIELDS = (ROW, WINS, ENDS, DRAW_AT, *WIN_AT, TICK_AT, COUNT_AT, LONGEST)
"""For compiled code, which keeps constants across changes of this file."""


@lru_cache(maxsize=16)
def packed_moves(rules: Rules[Any, Any, Any]) -> "PackedMoves":
    """The moves of `rules`, packed once a process."""
    return PackedMoves(shared_tables(rules))


class PackedMoves:
    """The packed words of a game that has tables."""

    def __init__(self, shared: GameTables) -> None:
        self.shared = shared
        tables = shared.tables
        self.first: Ints = np.concatenate([[0], shared.counts.cumsum()[:-1]]) * tables.tickets
        """[state] where its words begin."""
        self.draws = bool((tables.result == DRAWN).any())
        """Whether a game can be drawn."""
        self.start_words: Ints = self._going_to(tables.starts.astype(np.int64))
        """[ticket] a word that leads to the state that a game begins with."""

    def _going_to(self, states: Ints) -> Ints:
        words: Ints = self.first[states] | self.shared.counts[states] << COUNT_AT
        return words

    @cached_property
    def owner(self) -> NDArray[np.intp]:
        """[word] the state that it belongs to."""
        return np.repeat(np.nonzero(self.shared.tables.legal)[0], self.shared.tables.tickets)

    @cached_property
    def words(self) -> Ints:
        """The words of all legal moves, state by state, ticket by ticket.

        An ended game goes on from its first start; where there are more starts, `begin` says from which.
        """
        tables = self.shared.tables
        moves = tables.successor[tables.legal].astype(np.int64)
        target, tick = moves >> 1, moves & 1
        result = tables.result[target]
        words = np.where(result == ONGOING, self._going_to(target), self.start_words[0]) | tick << TICK_AT
        for ending, place in ((FIRST_WON, WIN_AT[0]), (SECOND_WON, WIN_AT[1]), (DRAWN, DRAW_AT)):
            words |= (result == ending).astype(np.int64) << place
        return np.ascontiguousarray(words.ravel())

    @property
    def many_starts(self) -> bool:
        return len(self.start_words) > 1

    def begin(self, streams: NDArray[np.uint64]) -> Ints:
        """The words that lead to the starts of games which begin by these streams."""
        tickets = dice.begin_all(streams) * len(self.start_words) >> 32
        words: Ints = self.start_words.take(tickets)
        return words


@dataclass(frozen=True)
class ReadyPolicy:
    """A policy made ready to be sampled from."""

    shared: GameTables
    bounds: Ints
    """[row, k] the 32-bit number below which the k-th legal action, or one before it, is taken."""

    @property
    def clocked(self) -> bool:
        """Whether it depends on the clock of a limit."""
        return len(self.bounds) > self.shared.tables.states

    def rows(self, states: Any, clock: Any) -> Any:
        """The rows of `bounds` of states at readings of the clock: a row a state, for every reading again."""
        return states + self.shared.tables.states * clock if self.clocked else states

    @cached_property
    def packed(self) -> Ints:
        """The same bounds where `PackedMoves.words` has the words of the actions."""
        legal = np.arange(self.bounds.shape[1]) < self.shared.counts[:, None]
        return np.repeat(self.bounds[legal], self.shared.tables.tickets)
