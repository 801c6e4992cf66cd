"""The best opponent of a policy as a player: what it wins, and how it plays."""

from abc import ABC, abstractmethod
from functools import cached_property
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray

from duels.core.errors import DuelsError
from duels.core.features import action_numbers
from duels.core.rules import OpenRules, Rules, Seat, Sight
from duels.solving.game_tables import shared_tables
from duels.solving.induction import InductionOracle
from duels.solving.oracle import Exactness
from duels.solving.oracles import oracle_for
from duels.solving.table_response import Response
from duels.solving.tree import Tree


class BestResponse(ABC):
    """A player for one seat that nobody beats, against the policy that it was found for."""

    def __init__(self, rules: Rules[Any, Any, Any], seat: Seat, wins: float) -> None:
        self.rules = rules
        self.seat = seat
        self.wins = wins
        """The probability that it wins against the policy; a draw counts one half."""

    @cached_property
    def gain(self) -> float:
        """How much more that is than perfect play of the other seat would leave it."""
        if not isinstance(self.rules, OpenRules):
            raise DuelsError(
                f"What {self.rules.name} is worth to one seat is not known exactly, so nor is its gain: "
                "duels.exploitability is the mean of both gains."
            )
        start = self.rules.sight(self.rules.initial(), self.seat)
        due = oracle_for(self.rules).value(start)
        if due.exactness is not Exactness.EXACT:  # what can be answered is small enough for that
            due = InductionOracle(self.rules).value(start)
        return self.wins - due.number

    def choose(self, sight: Sight[Any, Any], rng: Random) -> Any:
        """Its action: the same whenever it knows the same."""
        return self._choice(sight)

    def odds(self, sight: Sight[Any, Any]) -> dict[Any, float]:
        """How likely it is to take which action."""
        return {self._choice(sight): 1.0}

    def _choice(self, sight: Sight[Any, Any]) -> Any:
        if sight.seat is not self.seat:
            raise DuelsError(f"This is the best response of {self.seat.label}, not of {sight.seat.label}.")
        return self._best(sight)

    @abstractmethod
    def _best(self, sight: Sight[Any, Any]) -> Any:
        """One of `sight.actions`."""


class TableResponse(BestResponse):
    """A best response in a game that has tables and no secrets."""

    def __init__(self, rules: Rules[Any, Any, Any], seat: Seat, response: Response) -> None:
        super().__init__(rules, seat, response.wins)
        self._taken = response.taken
        self._encoding = rules.game.encoding(rules)
        tables = shared_tables(rules).tables
        mine = np.flatnonzero(tables.actor == seat - 1)
        self._state = {tables.observation[seat - 1, state].tobytes(): int(state) for state in mine}

    @cached_property
    def table(self) -> NDArray[np.float64]:
        """[state, action] what it does; random where the other seat is to move. [clock, …] under a limit."""
        shared = shared_tables(self.rules)
        mine = shared.tables.actor == self.seat - 1
        counts = np.maximum(shared.counts, 1)[:, None]
        tables = []
        for taken in self._taken:
            table = shared.legal / counts
            chosen = np.take_along_axis(shared.choices, np.array(taken)[:, None], axis=1)
            table[mine] = np.eye(table.shape[1])[chosen[mine, 0]]
            tables.append(table)
        return np.stack(tables) if self.rules.limit_value is not None else tables[0]

    def _best(self, sight: Sight[Any, Any]) -> Any:
        clock = getattr(sight.view, self.rules.clock) if self.rules.clock else 0
        state = self._state[self._encoding.encode(sight.view, sight.seat)]
        legal = sorted(sight.actions, key=self._number.__getitem__)
        return legal[self._taken[min(clock, len(self._taken) - 1)][state]]

    @cached_property
    def _number(self) -> dict[Any, int]:
        return action_numbers(self.rules)


class TreeResponse(BestResponse):
    """A best response in a game that was searched whole."""

    def __init__(
        self, rules: Rules[Any, Any, Any], seat: Seat, tree: Tree, wins: float, taken: dict[int, int]
    ) -> None:
        super().__init__(rules, seat, wins)
        self._memories = tree.memories[seat]
        self._taken = taken

    def _best(self, sight: Sight[Any, Any]) -> Any:
        memory = self._memories.find(sight.events)
        return sight.actions[self._taken[memory]] if memory in self._taken else sight.actions[0]
