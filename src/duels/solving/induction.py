"""Perfect play for games without hidden information whose states can be listed."""

from collections.abc import Iterator
from fractions import Fraction
from graphlib import CycleError

from duels.core.errors import DuelsError
from duels.core.rules import CHANCE, A, Ending, OpenRules, S, Seat, Sight
from duels.core.words import join_or
from duels.solving.check import check_equations, check_sampled_play
from duels.solving.graph import (
    HALF,
    Graph,
    backward_induction,
    check_state_count,
    explore,
    forced_wins,
    has_cycle,
    retrograde_values,
)
from duels.solving.oracle import Check, OpenOracle, Progress, no_progress

MAX_STATES = 200_000
"""The maximum number of states: listing more would take minutes."""
_MAX_LISTED = 4
_SAMPLED_GAMES = 200


class InductionOracle(OpenOracle[A, S]):
    """Exact values of every state. Equally good actions are chosen for a quick win or a slow loss."""

    rules: OpenRules[S, A]

    def __init__(self, rules: OpenRules[S, A], progress: Progress = no_progress) -> None:
        super().__init__(rules)
        check_state_count(rules, rules.max_states(), MAX_STATES)
        self._values: dict[S, Fraction] = {}
        self._entries: dict[S, int] = {}
        """The number of entries until a forced win, by state."""
        self._half_is_drawn = True
        """Whether the value one half always means a draw, never a limit or an endless match."""
        self._solve(explore(rules, [rules.initial()], progress, MAX_STATES))

    def _solve(self, graph: Graph[S]) -> None:
        self._values |= zip(graph.states, _values(self.rules, graph), strict=True)
        for seat in Seat:
            self._entries |= {graph.states[node]: n for node, n in forced_wins(graph, seat).items()}
        if CHANCE not in graph.actor:  # with chance, one half can be a mean of other results
            self._half_is_drawn &= self._has_only_draws(graph)

    def _has_only_draws(self, graph: Graph[S]) -> bool:
        halves = [graph.states[node] for node, result in graph.result.items() if result == HALF]
        outcomes = [self.rules.outcome(state) for state in halves]
        has_only_draws = all(outcome and outcome.ending is Ending.DRAWN for outcome in outcomes)
        return has_only_draws and not has_cycle(graph)

    def state_value(self, state: S) -> Fraction:
        if state not in self._values:  # a user may enter an unreachable position
            self._solve(explore(self.rules, [state], limit=MAX_STATES))
        return self._values[state]

    def select_quickest(self, state: S, best: tuple[A, ...]) -> tuple[A, ...]:
        value = self.state_value(state)
        own_value = value if self.rules.actor(state) is Seat.ONE else 1 - value
        if own_value not in (0, 1):
            return best
        lengths = [self._count_entries_left(state, action) for action in best]
        target = min(lengths) if own_value == 1 else max(lengths)
        return tuple(action for action, length in zip(best, lengths, strict=True) if length == target)

    def _count_entries_left(self, state: S, action: A) -> int:
        next_state = self.rules.apply(state, action).state
        self.state_value(next_state)
        return self._entries[next_state]

    # -- in words -------------------------------------------------------------------------------

    def reason(self, sight: Sight[A, S]) -> str:
        verdict = self.judge(sight)
        value = verdict.value.fraction
        moves = [action_value.action for action_value in verdict.actions if action_value.weight]
        worse = [action_value.value.number for action_value in verdict.actions if not action_value.best]
        names = [self.rules.format(action) for action in moves]
        best_moves = join_or(names) if len(names) <= _MAX_LISTED else f"any of {len(names)} moves"
        warning = "every other move loses."
        if value == 1:
            remaining = self._count_entries_left(sight.view, moves[0])
            return (
                f"{best_moves} wins {f'by force within {remaining + 1} moves' if remaining else 'at once'}."
            )
        if value == 0:
            return f"Every move loses by force; {best_moves} holds out longest."
        if value == HALF and not self.rules.all_outcomes():
            if self._half_is_drawn:
                return f"{best_moves} keeps the draw; {warning}" if worse else "Every move keeps the draw."
            return (
                f"After {best_moves} nobody can force a win; {warning}"
                if worse
                else "Nobody can force a win."
            )
        if not worse:
            return f"Every move leaves you {verdict.value.number:.1%}."
        return f"{best_moves} leaves you {verdict.value.number:.1%}, the next best {max(worse):.1%}."

    def effect(self, sight: Sight[A, S], action: A) -> str:
        value = self.judge(sight).get_action_value(action).value
        move = f"You played {self.rules.format(action)}"
        if value.fraction == 0:
            return f"{move}, after which the other player wins by force."
        if value.fraction == HALF and not self.rules.all_outcomes():
            clause = (
                "which lets a win become a draw"
                if self._half_is_drawn
                else "after which nobody can force a win"
            )
            return f"{move}, {clause}."
        return f"{move}, which left you {value.number:.1%}."

    # -- second methods -------------------------------------------------------------------------

    def verify(self, progress: Progress = no_progress) -> Iterator[Check]:
        graph = explore(self.rules, progress=progress)
        values = [self.state_value(state) for state in graph.states]
        yield from check_equations(self.rules, graph, values, f"{len(graph):,} states")
        yield from check_sampled_play(self.rules, self, [self.rules.initial()], _SAMPLED_GAMES)


def _values(rules: OpenRules[S, A], graph: Graph[S]) -> list[Fraction]:
    if CHANCE not in graph.actor:
        return retrograde_values(graph)
    try:
        return backward_induction(graph)
    except CycleError:
        raise DuelsError(f"{rules.name} has chance and cycles: write an oracle for the game.") from None
