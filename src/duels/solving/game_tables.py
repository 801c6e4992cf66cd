"""A game's tables, and what stepping and grading derive from them."""

from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from duels.core.errors import DuelsError
from duels.core.rules import AnyRules
from duels.solving.decisions import Decisions
from duels.solving.tables import NOBODY, Tables, refuse_many_states, tables_of

Ints = NDArray[np.int64]


@lru_cache(maxsize=16)
def shared_tables(rules: AnyRules) -> "GameTables":
    """The tables of `rules`, loaded once a process; TooLarge where there are none."""
    refuse_many_states(rules)  # first: a game that states no features is explored to find them
    return GameTables(rules, tables_of(rules, rules.game.encoding(rules)))


@lru_cache(maxsize=64)
def has_tables(rules: AnyRules) -> bool:
    """Whether tables can be made of the game: whether it is small enough."""
    try:
        shared_tables(rules)
    except DuelsError:
        return False
    return True


class GameTables:
    """A game's tables and what is derived from them, each when it is first needed."""

    def __init__(self, rules: AnyRules, tables: Tables) -> None:
        self.rules = rules
        self.tables = tables
        self.legal = tables.legal.astype(np.int8)
        self.counts = tables.legal.sum(axis=1, dtype=np.int64)
        self.successor = tables.successor.ravel()

    def __reduce__(self) -> tuple[Any, ...]:
        return shared_tables, (self.rules,)  # a copy shares them, in another process too

    @cached_property
    def choices(self) -> NDArray[np.int16]:
        """[state, k] the k-th legal action; 0 beyond the last. Small numbers: more of them fit the cache."""
        order = np.argsort(~self.tables.legal, axis=1, kind="stable")[:, : int(self.counts.max())]
        return np.where(np.arange(order.shape[1]) < self.counts[:, None], order, 0).astype(np.int16)

    @cached_property
    def hidden(self) -> NDArray[np.bool_]:
        """[state, action] whether the other seat is not told that the seat to move takes the action."""
        decisions = Decisions(self.rules)
        hidden = np.zeros(self.legal.shape, np.bool_)
        for place, state in enumerate(self.tables.rules_states(self.rules)):
            for number, action in decisions.legal(state).items():
                hidden[place, number] = decisions.hides(state, action)
        return hidden

    @cached_property
    def shown_to_mover(self) -> NDArray[np.int8]:
        """[state, number] what the seat to move is shown; seat 0 where nobody is."""
        actor = np.maximum(self.tables.actor, 0)
        return np.ascontiguousarray(self.tables.observation[actor, np.arange(self.tables.states)])

    @cached_property
    def observation_groups(self) -> NDArray[np.intp]:
        """[state] a number that is equal for states which the seat to move cannot tell apart."""
        actor = np.maximum(self.tables.actor, 0)
        return np.unique(np.column_stack([actor, self.shown_to_mover]), axis=0, return_inverse=True)[
            1
        ].ravel()

    def probabilities(self, table: ArrayLike) -> NDArray[np.float64]:
        """[state, action] a policy given as [state] the action or [state, action] its probability.

        Of legal actions only, and summing to 1 exactly where somebody decides; DuelsError if it is no policy.
        """
        tables, given = self.tables, np.asarray(table)
        decisions = tables.actor != NOBODY
        if given.shape == (tables.states,) and given.dtype.kind in "iu":
            given = given[:, None] == np.arange(tables.actions)
        if given.shape != (tables.states, tables.actions) or given.dtype.kind not in "biuf":
            raise DuelsError(
                f"A policy is a table of {tables.states} states, "
                f"[state] the action or [state, action] of {tables.actions} probabilities; "
                "under a limit, also one such table for each reading of the clock."
            )
        odds = np.where(tables.legal, given, 0).astype(np.float64)
        totals = odds.sum(axis=1, keepdims=True)
        if not ((given[decisions] >= 0).all() and np.allclose(totals[decisions], 1)):
            raise DuelsError("A policy's probabilities of the legal actions must sum to 1 in every state.")
        odds[decisions] /= totals[decisions]
        return odds

    def refuse_peeking(self, odds: NDArray[np.float64]) -> None:
        """Refuse probabilities that differ where the seat to move is shown the same."""
        decisions = self.tables.actor != NOBODY
        odds = odds[decisions]
        _, example, group = np.unique(
            self.observation_groups[decisions], return_index=True, return_inverse=True
        )
        if (odds != odds[example[group]]).any():
            raise DuelsError(
                "This policy acts on secrets: it tells states apart that look alike to the seat."
            )
