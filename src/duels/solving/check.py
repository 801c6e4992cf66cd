"""Checks of an oracle by independent methods, which must come to the same numbers."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from math import sqrt
from random import Random

from duels.core.options import Option, OptionValue, options_of
from duels.core.rules import CHANCE, A, AnyRules, OpenRules, S, Seat
from duels.solving.backward import backward_induction
from duels.solving.graph import Graph, explore
from duels.solving.oracle import Check, OpenOracle
from duels.solving.progress import Progress, quiet
from duels.solving.stochastic import broken_equations, hollow_promises

# A right oracle fails a sampled check once in 16,000 seeds; the seed is fixed, so it does not fail by luck.
_DEVIATIONS = 4
_MOST_TURNS = 60


def in_words(rules: AnyRules) -> str:
    """The options of a game, for people: which size was checked."""
    values = {option.name: getattr(rules, option.name) for option in options_of(type(rules))}
    return ", ".join(f"{name.replace('_', ' ')} {_told(v)}" for name, v in values.items() if v is not None)


def _told(value: OptionValue) -> str:
    return f"{value:,}" if type(value) is int else Option.format(value)


def backward_induction_agrees(
    rules: OpenRules[S, A],
    starts: Iterable[S],
    worth: Callable[[S], Fraction],
    progress: Progress = quiet,
) -> Check:
    """Compare `worth` with brute force on every state that can be reached from `starts`."""
    graph = explore(rules, starts, progress)
    values = backward_induction(graph)
    wrong = [s for s, value in zip(graph.states, values, strict=True) if worth(s) != value]
    return Check(
        "backward induction over the rules gives the same value everywhere",
        not wrong,
        f"{in_words(rules)}, {len(graph):,} states"
        + (f", wrong at {rules.format_state(wrong[0])}" if wrong else ""),
    )


def equations_hold(
    rules: OpenRules[S, A], graph: Graph[S], values: Sequence[Fraction], about: str
) -> Iterator[Check]:
    """Check that values follow from one another, and that no one is had by putting off the end for ever."""
    wrong = next(broken_equations(graph, values), None)
    yield Check(
        "every state's value follows exactly from those of the states after it",
        wrong is None,
        about if wrong is None else f"{about}, wrong at {rules.format_state(graph.states[wrong])}",
    )
    hollow = [node for seat in Seat for node in hollow_promises(graph, values, seat)]
    yield Check("nobody can gain by never letting the game end", not hollow, about)


def sampled_play_agrees(
    rules: OpenRules[S, A], oracle: OpenOracle[A, S], starts: Sequence[S], games: int, seed: int = 1
) -> Iterator[Check]:
    """Play from `starts` in turn: perfect players score what is promised, and no less against random ones."""
    rng = Random(seed)
    for perfect in ({Seat.ONE, Seat.TWO}, {Seat.ONE}, {Seat.TWO}):
        gains = []
        for game in range(games):
            start = starts[game % len(starts)]
            gain = float(playout(rules, oracle, start, perfect, rng) - oracle.worth(start))
            gains.append(gain if Seat.ONE in perfect else -gain)
        mean = sum(gains) / games
        error = _DEVIATIONS * sqrt(sum((gain - mean) ** 2 for gain in gains)) / games
        enough = mean >= -error - 1e-12
        if len(perfect) == 2:
            name, passed = "perfect play of both gives the value", enough and mean <= error + 1e-12
        else:
            name, passed = f"a perfect {min(perfect).label} gets at least the value from a random one", enough
        yield Check(name, passed, f"{games} games, mean gain {mean:+.4f} ± {error:.4f}")


def playout(
    rules: OpenRules[S, A], oracle: OpenOracle[A, S], state: S, perfect: set[Seat], rng: Random
) -> Fraction:
    """Play to the end and give Player 1's score. A very long match is stopped and counted at its value."""
    for _ in range(_MOST_TURNS):
        actor, actions = rules.actor(state), rules.actions(state)
        if actor is None:
            break
        weights = [1.0] * len(actions)
        if actor is CHANCE:
            weights = [float(odds) for odds in rules.odds(state)]
        elif actor in perfect:
            verdict = oracle.judge(rules.sight(state, Seat(actor)))
            weights = [judged.weight for judged in verdict.actions]
        state = rules.apply(state, rng.choices(actions, weights)[0]).state
    return oracle.worth(state)
