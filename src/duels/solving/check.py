"""Independent checks of an oracle.

They use only the rules. In games with chance and cycles, they prove that the oracle's numbers are the values
of the game if an endless match counts one half.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import sqrt
from random import Random
from statistics import fmean, stdev
from typing import Generic

from duels.core.match import Match, play_through
from duels.core.options import Option, OptionValue, list_options
from duels.core.rules import CHANCE, A, AnyRules, OpenRules, Rules, S, Seat, V
from duels.solving.graph import HALF, Graph, backup, backward_induction, explore
from duels.solving.oracle import Check, OpenOracle, Oracle, Progress, no_progress

# A correct oracle fails a sampled check with one seed in 16,000. The seed is fixed, so no check can flake.
_STANDARD_ERRORS = 4
_MAX_TURNS = 60


def format_options(rules: AnyRules) -> str:
    """Return the options of a game as text, for the details of a check."""
    values = {option.name: getattr(rules, option.name) for option in list_options(type(rules))}
    return ", ".join(
        f"{name.replace('_', ' ')} {_format_value(v)}" for name, v in values.items() if v is not None
    )


def _format_value(value: OptionValue) -> str:
    return f"{value:,}" if type(value) is int else Option.format(value)


def check_backward_induction(
    rules: OpenRules[S, A],
    starts: Iterable[S],
    state_value: Callable[[S], Fraction],
    progress: Progress = no_progress,
) -> Check:
    """Compare `state_value` with backward induction on every state reachable from `starts`."""
    graph = explore(rules, starts, progress)
    values = backward_induction(graph)
    wrong = [s for s, value in zip(graph.states, values, strict=True) if state_value(s) != value]
    return Check(
        "backward induction over the rules gives the same value everywhere",
        not wrong,
        f"{format_options(rules)}, {len(graph):,} states"
        + (f", wrong at {rules.format_state(wrong[0])}" if wrong else ""),
    )


def check_equations(
    rules: OpenRules[S, A], graph: Graph[S], values: Sequence[Fraction], detail: str
) -> Iterator[Check]:
    """Check that the values satisfy the optimality equations and that no seat can gain by stalling."""
    wrong = next(find_broken_equations(graph, values), None)
    yield Check(
        "every state's value follows exactly from those of the states after it",
        wrong is None,
        detail if wrong is None else f"{detail}, wrong at {rules.format_state(graph.states[wrong])}",
    )
    stallable = [node for seat in Seat for node in find_stallable_states(graph, values, seat)]
    yield Check("nobody can gain by never letting the game end", not stallable, detail)


def check_sampled_play(
    rules: OpenRules[S, A], oracle: OpenOracle[A, S], starts: Sequence[S], games: int, seed: int = 1
) -> Iterator[Check]:
    """Check by sampled play that perfect play scores the value, and no less against a random player."""
    rng = Random(seed)
    for perfect in ({Seat.ONE, Seat.TWO}, {Seat.ONE}, {Seat.TWO}):
        gains = []
        for game in range(games):
            start = starts[game % len(starts)]
            gain = float(play_out(rules, oracle, start, perfect, rng) - oracle.state_value(start))
            gains.append(gain if Seat.ONE in perfect else -gain)
        mean = sum(gains) / games
        error = _STANDARD_ERRORS * sqrt(sum((gain - mean) ** 2 for gain in gains)) / games
        passed = mean >= -error - 1e-12
        name = f"a perfect {min(perfect).label} gets at least the value from a random one"
        if len(perfect) == 2:
            name, passed = "perfect play of both gives the value", passed and mean <= error + 1e-12
        yield Check(name, passed, f"{games} games, mean gain {mean:+.4f} ± {error:.4f}")


def check_self_play(
    rules: Rules[S, A, V], oracle: Oracle[A, V], matches: int, progress: Progress = no_progress
) -> Check:
    """Check that Player 1's mean score in self-play agrees with the value of the opening."""
    rng, scores = Random(1), []

    def decide(match: Match[S, A, V], seat: Seat) -> A:
        sight = match.sight(seat)
        return rng.choices(sight.actions, oracle.weights(sight))[0]

    for number in range(matches):
        progress(f"match {number + 1:,} of {matches:,}")
        *_, match = play_through(Match.start(rules), rng, decide)
        assert match.outcome
        scores.append(float(match.outcome.score(Seat.ONE)))
    mean, error = fmean(scores), _STANDARD_ERRORS * stdev(scores) / sqrt(matches)
    value = oracle.value(rules.sight(rules.initial(), Seat.ONE))
    return Check(
        "self-play gives the value of the opening",
        abs(mean - value.number) <= error + value.error,
        f"{matches:,} matches, mean score {mean:.4f} ± {error:.4f}, {value.number:.4f} expected",
    )


def play_out(
    rules: OpenRules[S, A], oracle: OpenOracle[A, S], state: S, perfect: set[Seat], rng: Random
) -> Fraction:
    """Play to the end and return Player 1's score. A very long match is stopped and scored by its value."""
    for _ in range(_MAX_TURNS):
        actor, actions = rules.actor(state), rules.actions(state)
        if actor is None:
            break
        weights = [1.0] * len(actions)
        if actor is CHANCE:
            weights = [float(odds) for odds in rules.odds(state)]
        elif actor in perfect:
            verdict = oracle.judge(rules.sight(state, Seat(actor)))
            weights = [action_value.weight for action_value in verdict.actions]
        state = rules.apply(state, rng.choices(actions, weights)[0]).state
    return oracle.state_value(state)


def find_broken_equations(graph: Graph[S], values: Sequence[Fraction]) -> Iterator[int]:
    """Yield the states whose value does not follow from the result or from the values of their successors."""
    for node in range(len(graph)):
        expected = graph.result[node] if node in graph.result else backup(graph, node, values)
        if values[node] != expected:
            yield node


def find_stallable_states(graph: Graph[S], values: Sequence[Fraction], seat: Seat) -> Iterator[int]:
    """Yield the states with a value above one half for `seat` in which the other seat can stall for ever.

    If every equation holds and no seat has such a state, the numbers are the values of the game (Everett
    1957 proves more). Proof for player 1: among the actions that keep the value, player 1 takes those that
    lead out of the set of states with the same value. Then the expected value never falls, whatever player 2
    does. It is bounded, so it converges. There are finitely many numbers, so in an endless match the value
    stays at one level from some turn on. From then on player 2 loses nothing either: the losses sum to at
    most 1, so there are finitely many. At a level above one half, this has probability 0: from every state of
    the level, play leaves it within as many turns as there are states, with a probability bounded from below.
    So endless matches, which count one half, stay at levels of at most one half, and player 1 gets at least
    the value. The same argument for player 2 completes the proof.
    """
    sign = 1 if seat is Seat.ONE else -1
    stalled = {node for node in range(len(graph)) if sign * (values[node] - HALF) > 0}
    stalled -= graph.result.keys()

    def can_leave(node: int) -> bool:
        level, successors = values[node], graph.successors[node]
        if graph.actor[node] is CHANCE:
            return any(successor not in stalled or values[successor] != level for successor in successors)
        exits = [successor not in stalled for successor in successors if values[successor] == level]
        return any(exits) if graph.actor[node] is seat else all(exits)

    while leaving := {node for node in stalled if can_leave(node)}:
        stalled -= leaving
    yield from sorted(stalled)


@dataclass
class Brackets(Generic[S]):
    """Lower and upper bounds on every value, narrowed by value iteration.

    The lower bounds start at 0 and the upper bounds at 1. Both converge to the values if every match reaches
    a terminal state or a state with a known value.
    """

    graph: Graph[S]
    known_values: Mapping[int, Fraction]

    def __post_init__(self) -> None:
        fixed_values = {**self.graph.result, **self.known_values}
        self.low = [float(fixed_values.get(node, 0)) for node in range(len(self.graph))]
        self.high = [float(fixed_values.get(node, 1)) for node in range(len(self.graph))]
        # Later nodes are nearer to the end, and values propagate backwards.
        self._order = [node for node in reversed(range(len(self.graph))) if node not in fixed_values]

    def narrow_to(self, width: float, max_sweeps: int = 10_000) -> int:
        """Iterate until no bracket is wider than `width` and return the number of sweeps.

        Raises ArithmeticError after `max_sweeps` sweeps.
        """
        for sweep in range(1, max_sweeps + 1):
            widest = 0.0
            for node in self._order:
                low = self.low[node] = backup(self.graph, node, self.low)
                high = self.high[node] = backup(self.graph, node, self.high)
                widest = max(widest, high - low)
            if widest <= width:
                return sweep
        raise ArithmeticError(f"brackets are still {widest} wide after {max_sweeps} sweeps")
