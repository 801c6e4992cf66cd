"""Computes exploitability and results against known opponents from answers to every position of a game.

A question without an answer forfeits the match, as in a run. If a player chooses at random, its answers to a
position are a sample. The delta method then gives standard errors, from the expected visits to each position
and the variance of its answers.
"""

from collections.abc import Iterator
from dataclasses import replace
from math import ceil, hypot, sqrt
from typing import Any

from duels.arena.confidence import Interval, Z
from duels.arena.config import LADDER
from duels.arena.probe import Probe, estimate_policy
from duels.core.errors import require_extra
from duels.core.rules import Seat
from duels.solving.oracle import Progress, no_progress

with require_extra("arena"):
    import numpy as np
    from numpy.typing import NDArray

    from duels.analysis.agents import get_player_odds
    from duels.analysis.exploitability import tabulate_policy
    from duels.solving.table_response import Response, best_response, expected_values
    from duels.solving.tables import (
        FIRST_WON,
        ILLEGAL,
        NOBODY,
        ONGOING,
        POINTS,
        SECOND_WON,
        Tables,
        get_tables,
    )

    Table = NDArray[np.float64]

OPPONENTS = LADDER
PRIOR_ANSWERS = 2
"""Uniform answers added to each sample. With fewer, intervals of small samples are too narrow."""
Samples = slice | list[int]
ALL = slice(None)
_MAX_FOLDS = 5
_MAX_MOVES = 5000
_EPSILON = 1e-9
_TOLERANCE = 1e-7  # small, because in cycles the remaining error is many times the last change


class AnswerTables:
    """A probe's answers to every position of a game, as policy tables indexed [state, action]."""

    def __init__(self, probe: Probe) -> None:
        self.rules = probe.rules
        plain = get_tables(probe.rules).tables  # without forfeits
        indices, votes, questions, exact = [], [], [], []
        question_numbers: dict[str, int] = {}
        for index, state in enumerate(plain.rules_states(self.rules)):
            if plain.actor[index] >= 0:
                sight = self.rules.sight(state, Seat(int(plain.actor[index]) + 1))
                rows = probe.answers.get((sight.seat, self.rules.format_position(sight)))
                if rows:
                    indices.append(index)
                    votes.append([self._make_vector(estimate_policy([row], sight)) for row in rows])
                    exact.append(all(row["policy"] for row in rows))
                    # Mirror images may share one question: their answers are the same sample.
                    questions.append(question_numbers.setdefault(rows[0]["key"], len(question_numbers)))
        self._asked_states, self._questions = np.array(indices, np.int64), np.array(questions, np.int64)
        self._votes: Table = np.array(votes)  # indexed [asked position, sample, action]
        self._is_exact = np.array(exact)  # by asked position: whether the player reported its policy
        self.samples = len(votes[0])
        self.questions = self.samples * len(question_numbers)
        self._uniform = _pad_policy(plain.legal / np.maximum(1, plain.legal.sum(axis=1, keepdims=True)))
        self.tables = add_forfeits(plain, self._asked_states[self._votes[:, :, -1].any(axis=1)])

    def _make_vector(self, policy: dict[Any, float]) -> list[float]:
        """Return the probabilities of all actions, and of a forfeit if there is no answer."""
        odds = [policy.get(action, 0.0) for action in self.rules.all_actions()]
        return [*odds, 0.0 if policy else 1.0]

    def make_opponent(self, name: str) -> "Table":
        return _pad_policy(tabulate_policy(get_player_odds(name, self.rules), self.rules))

    def make_policy(self, samples: Samples) -> "Table":
        """Return the policy estimated from some samples; uniform in states that were not asked about."""
        table: Table = self._uniform.copy()
        table[self._asked_states] = self._votes[:, samples].mean(axis=1)
        return table

    def result(
        self,
        opponent: "Table",
        seat: int,
        samples: slice = ALL,
        limit: int | None = None,
        vary_unasked: bool = False,
    ) -> tuple[float, float, float]:
        """Return the player's result at a seat (0 or 1) and its lower and upper standard errors.

        The player was not asked about positions after actions that it never chose. With `vary_unasked`, the
        lower error assumes the worst play in these positions, and the upper error the best play. Otherwise
        both errors are equal. Both are 0 if there is a single sample.
        """
        policy = np.where((self.tables.actor == seat)[:, None], self.make_policy(samples), opponent)
        values = np.array(expected_values(self.tables, policy, limit))
        first = float(values[self.tables.starts].mean())
        result = 1 - first if seat else first
        if self.samples == 1:
            return result, 0.0, 0.0
        moves, bounds = MoveTable(self.tables, limit), [values]
        visits = moves.count_visits(policy)
        if vary_unasked:
            free = self.tables.actor == seat
            free[self._asked_states] = False
            bounds = list(moves.value_bounds(policy, values, free))
        errors = [self._error(seat, moves.action_values(bound), visits, samples) for bound in bounds]
        return (result, errors[-1], errors[0]) if seat else (result, errors[0], errors[-1])

    def count_requests(self, opponent: "Table") -> float:
        """Return the questions that the player is expected to answer in a match, averaged over both seats."""
        moves, total = MoveTable(self.tables, None), 0.0
        for seat in (0, 1):
            own = self.tables.actor == seat
            visits = moves.count_visits(np.where(own[:, None], self.make_policy(ALL), opponent))
            total += float(visits[self._asked_states][own[self._asked_states]].sum())
        return total / 2

    def _error(self, seat: int, action_values: "Table", visits: "Table", samples: slice) -> float:
        """Return the standard error of a result, from the variance of a seat's answers."""
        own = (self.tables.actor == seat)[self._asked_states]
        indices = self._asked_states[own]
        spread = answer_deviation(
            self._votes[own].mean(axis=1), action_values[indices], self._uniform[indices], self.samples
        )
        errors = visits[indices] * spread * ~self._is_exact[own]
        by_question = np.bincount(self._questions[own], errors)
        return sqrt(float((by_question**2).sum()) / self._votes[:1, samples].shape[1])


def answer_deviation(odds: "Table", values: "Table", uniform: "Table", samples: int) -> "Table":
    """Return the standard deviation of an answer's value at each position, from two samples or more.

    Equal answers may be a coincidence, so PRIOR_ANSWERS more answers are added, distributed as in `uniform`.
    The factor samples / (samples - 1) corrects the bias of small samples.
    """
    odds = (samples * odds + PRIOR_ANSWERS * uniform) / (samples + PRIOR_ANSWERS)
    variance = (odds * values**2).sum(axis=-1) - (odds * values).sum(axis=-1) ** 2
    deviation: Table = np.sqrt(np.maximum(0.0, variance) * samples / (samples - 1))
    return deviation


def add_forfeits(tables: Tables, indices: "NDArray[np.int64]") -> Tables:
    """Return the tables with one more action, legal in these states, which forfeits the match."""
    states, actions, tickets = tables.successor.shape
    successor = np.full((states + 2, actions + 1, tickets), ILLEGAL, tables.successor.dtype)
    successor[:states, :actions] = tables.successor
    successor[indices, actions] = 2 * (states + tables.actor[indices].astype(np.int64))[:, None]
    return replace(
        tables,
        actor=np.append(tables.actor, np.array([NOBODY] * 2, tables.actor.dtype)),
        result=np.append(tables.result, np.array([SECOND_WON, FIRST_WON], tables.result.dtype)),
        successor=successor,
    )


def _pad_policy(policy: "Table") -> "Table":
    return np.pad(policy, ((0, 2), (0, 1)))


class MoveTable:
    """The successors of all moves. With a limit, play ends at the first tick of the game's clock."""

    def __init__(self, tables: Tables, limit: int | None) -> None:
        self._tables = tables
        self._successors = np.where(tables.legal[:, :, None], tables.successor >> 1, 0)
        self._is_over = tables.result[self._successors] != ONGOING
        self._is_cut_off = (tables.successor & 1).astype(bool) & (limit is not None)
        self._final_values = (1 + POINTS[:, 0][tables.result + 1].astype(np.float64)) / 2

    def action_values(self, values: "Table") -> "Table":
        """Return seat 0's value after each action, indexed [state, action], from the values of all states."""
        ongoing = np.where(self._is_cut_off, 0.5, values[self._successors])
        after = np.where(self._is_over, self._final_values[self._successors], ongoing)
        means: Table = after.mean(axis=2)
        return means

    def value_bounds(self, policy: "Table", values: "Table", free: "NDArray[np.bool_]") -> "Iterator[Table]":
        """Yield the lowest and then the highest values of all states for seat 0.

        Play follows `policy`, whose values are `values`, except in the `free` states.
        """
        legal = self._tables.legal
        for sign in (-1.0, 1.0):
            bound = values
            for _ in range(_MAX_MOVES):
                after = self.action_values(bound)
                best = sign * np.where(legal, sign * after, -1.0).max(axis=1)
                previous, bound = bound, np.where(free, best, (policy * after).sum(axis=1))
                if np.abs(bound - previous).max() < _TOLERANCE:
                    break
            yield bound

    def count_visits(self, policy: "Table") -> "Table":
        """Return how often a match is expected to visit each state."""
        tables = self._tables
        states, actions = np.nonzero(tables.legal & (policy > 0))
        onward = ~(self._is_over | self._is_cut_off)[states, actions]
        targets, tickets = self._successors[states, actions], tables.successor.shape[2]
        weights = onward * policy[states, actions][:, None] / tickets
        visits: Table = np.bincount(tables.starts, minlength=tables.states) / len(tables.starts)
        total: Table = visits.copy()
        for _ in range(_MAX_MOVES):
            flow = weights * visits[states][:, None]
            visits = np.asarray(np.bincount(targets.ravel(), flow.ravel(), minlength=tables.states), float)
            total += visits
            if visits.sum() < _EPSILON:
                break
        return total


def compute_exploitability(answers: AnswerTables, limit: int | None) -> Interval:
    """Return the best opponent's gain over its fair share.

    The best opponent of a sample also exploits coincidences, so its gain against the same sample is too high.
    The estimate is cross-fitted: the best opponent of all answers but one fold plays against that fold, and
    the gains of all folds are averaged. The gain against the same sample still limits the upper bound.
    """
    fitted = [_best_opponent(answers, ALL, responder, limit) for responder in (0, 1)]
    highest = max(0.0, (sum(each.value for each in fitted) - 1) / 2)
    if answers.samples == 1:
        return Interval(highest, highest, highest)
    _, error = _gain(answers, fitted, ALL, limit)
    folds = min(answers.samples, _MAX_FOLDS)
    gains = []
    for fold in range(folds):
        others = [sample for sample in range(answers.samples) if sample % folds != fold]
        opponents = [_best_opponent(answers, others, responder, limit) for responder in (0, 1)]
        gains.append(_gain(answers, opponents, slice(fold, None, folds), limit))
    estimate = max(0.0, sum(gain for gain, _ in gains) / folds)
    low = estimate - Z * hypot(*(each for _, each in gains)) / folds
    high = min(highest + Z * error, max(highest, estimate + Z * error))
    return Interval(estimate, max(0.0, low), max(min(0.5, high), estimate))


def _best_opponent(answers: AnswerTables, samples: Samples, responder: int, limit: int | None) -> Response:
    policy = answers.make_policy(samples)
    return best_response(answers.tables, lambda clock: policy, responder, limit)


def _gain(
    answers: AnswerTables, opponents: list[Response], samples: slice, limit: int | None
) -> tuple[float, float]:
    """Return by how much two opponents, one per seat, exceed their fair share, and the standard error."""
    (one, first, _), (two, second, _) = (
        answers.result(_make_policy(answers.tables, opponent, seat), 1 - seat, samples, limit)
        for seat, opponent in enumerate(opponents)
    )
    return (1 - one - two) / 2, hypot(first, second) / 2


def _make_policy(tables: Tables, response: Response, responder: int) -> "Table":
    """Return a best response as a policy table, for the first tick of the clock."""
    table = np.zeros(tables.legal.shape)
    for state in np.flatnonzero(tables.actor == responder):
        legal = np.flatnonzero(tables.legal[state])
        table[state, legal[response.actions[0][state]]] = 1.0
    return table


def compute_results(answers: AnswerTables, progress: Progress = no_progress) -> dict[str, Interval]:
    """Return the results against built-in players, averaged over both seats."""
    intervals = {}
    for name in OPPONENTS:
        progress(f"results against {name}")
        opponent = answers.make_opponent(name)
        by_seat = (answers.result(opponent, seat, vary_unasked=True) for seat in (0, 1))
        results, downs, ups = zip(*by_seat, strict=True)
        result, down, up = sum(results) / 2, Z * hypot(*downs) / 2, Z * hypot(*ups) / 2
        intervals[name] = Interval(result, max(0.0, result - down), min(1.0, result + up))
    return intervals


def count_cheaper_matches(answers: AnswerTables, result: Interval, opponent: str) -> tuple[int, int] | None:
    """Return how many matches, and how many requests, measure a result as precisely as the probe did.

    None if the matches take at least as many requests as the probe, or its result is exact. The two matches
    of a pair are counted as independent.
    """
    if not result.margin:
        return None
    matches = 2 * ceil(Z**2 * result.estimate * (1 - result.estimate) / result.margin**2 / 2)
    requests = ceil(matches * answers.count_requests(answers.make_opponent(opponent)))
    return (matches, requests) if 0 < requests < answers.questions else None
