"""What follows from answers about a whole game: the best opponent's gain, results against known opponents.

A question without an answer forfeits the match there, as in a run. Of a player that draws, every position's
answers are a sample. How far a result may be off is then found by the delta method: from how often play comes
to a position, and how much its answers differ in what follows.
"""

from collections.abc import Iterator
from dataclasses import replace
from math import hypot, sqrt
from typing import Any

from duels.arena.confidence import Interval, Z
from duels.arena.probe import Probe, policy_of
from duels.core.extras import require_extra
from duels.core.rules import Seat
from duels.players.levels import LEVEL_SHARES
from duels.solving.progress import Progress, no_progress

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

OPPONENTS = ("random", "greedy", *LEVEL_SHARES)
UNSEEN = 2
"""Answers that are added to the spread of those that came: with less, intervals of a few do not hold."""
_LONGEST = 5000  # moves of a match
_NOTHING = 1e-9
_CLOSE = 1e-7  # where play goes round in circles, what is left is many times the last change


class Answers:
    """A probe's answers to a whole game as tables of policies, [state, action]."""

    def __init__(self, probe: Probe) -> None:
        self.rules = probe.rules
        plain = get_tables(probe.rules).tables
        places, votes, questions, told = [], [], [], []
        known: dict[str, int] = {}
        for place, state in enumerate(plain.rules_states(self.rules)):
            if plain.actor[place] >= 0:
                sight = self.rules.sight(state, Seat(int(plain.actor[place]) + 1))
                rows = probe.answers.get((sight.seat, self.rules.format_position(sight)))
                if rows:
                    places.append(place)
                    votes.append([self._vector(policy_of([row], sight)) for row in rows])
                    told.append(all(row["policy"] for row in rows))
                    # Of mirror images only one may have been asked: their answers are the same sample.
                    questions.append(known.setdefault(rows[0]["key"], len(known)))
        self._places, self._questions = np.array(places, np.int64), np.array(questions, np.int64)
        self._votes: Table = np.array(votes)  # [asked position, sample, action]
        self._told = np.array(told)  # [asked position] whether the policy is told, and no sample
        self.samples = len(votes[0])
        self._elsewhere = _wider(plain.legal / np.maximum(1, plain.legal.sum(axis=1, keepdims=True)))
        self.tables = with_forfeits(plain, self._places[self._votes[:, :, -1].any(axis=1)])

    def _vector(self, policy: dict[Any, float]) -> list[float]:
        """The probabilities of all actions, and of giving no answer, which forfeits."""
        odds = [policy.get(action, 0.0) for action in self.rules.all_actions()]
        return [*odds, 0.0 if policy else 1.0]

    def opponent(self, name: str) -> "Table":
        """The policy of a built-in player."""
        return _wider(tabulate_policy(get_player_odds(name, self.rules), self.rules))

    def policy(self, samples: slice) -> "Table":
        """The policy that some samples show; where nobody can lead the player, it does not matter which."""
        table: Table = self._elsewhere.copy()
        table[self._places] = self._votes[:, samples].mean(axis=1)
        return table

    def result(
        self, theirs: "Table", seat: int, samples: slice, limit: int | None = None
    ) -> tuple[float, float]:
        """What the player that some samples show gets at a seat (0 or 1), and the standard error of that.

        Of a single sample there is none: 0.
        """
        policy = self._against(theirs, seat, samples)
        values = np.array(expected_values(self.tables, policy, limit))
        error = 0.0
        if self.samples > 1:
            moves = Moves(self.tables, limit)
            error = self._error(seat, moves.worths(values), moves.visits(policy), samples)
        return self._to(seat, values), error

    def result_between(self, theirs: "Table", seat: int) -> tuple[float, float, float]:
        """What the player gets at a seat, and how far that may be too high and too low: standard errors.

        Where an action leads that was never answered, the player was not asked, and may do anything. For one
        error we take it that it does the worst there, for the other the best.
        """
        every = slice(None)
        policy = self._against(theirs, seat, every)
        values = np.array(expected_values(self.tables, policy))
        result = self._to(seat, values)
        if self.samples == 1:
            return result, 0.0, 0.0
        moves = Moves(self.tables, None)
        visits, free = moves.visits(policy), self.tables.actor == seat
        free[self._places] = False
        lowest, highest = (
            self._error(seat, moves.worths(bound), visits, every)
            for bound in moves.extremes(policy, values, free)
        )
        return (result, highest, lowest) if seat else (result, lowest, highest)

    def _against(self, theirs: "Table", seat: int, samples: slice) -> "Table":
        """The policies of both seats: what some samples show at one, and an opponent's."""
        return np.where((self.tables.actor == seat)[:, None], self.policy(samples), theirs)

    def _to(self, seat: int, values: "Table") -> float:
        """What a match is worth to a seat, given what positions are to seat 0."""
        first = float(values[self.tables.starts].mean())
        return 1 - first if seat else first

    def _error(self, seat: int, worths: "Table", visits: "Table", samples: slice) -> float:
        """The standard error of a result, from the spread of answers at positions of one seat."""
        mine = (self.tables.actor == seat)[self._places]
        places = self._places[mine]
        spread = spread_of_answers(
            self._votes[mine].mean(axis=1), worths[places], self._elsewhere[places], self.samples
        )
        each = visits[places] * spread * ~self._told[mine]
        by_question = np.bincount(self._questions[mine], each)
        return sqrt(float((by_question**2).sum()) / self._votes[:1, samples].shape[1])


def spread_of_answers(odds: "Table", worths: "Table", even: "Table", samples: int) -> "Table":
    """[position] the standard deviation of what an answer is worth, from two samples or more.

    `odds` are those that samples show, `even` those of random play. Answers that are all alike may be so by
    chance, so what was never answered counts too: as if `UNSEEN` answers more were spread evenly over the
    legal actions. Few answers spread less than the player does, which samples - 1 makes good.
    """
    odds = (samples * odds + UNSEEN * even) / (samples + UNSEEN)
    variance = (odds * worths**2).sum(axis=-1) - (odds * worths).sum(axis=-1) ** 2
    found: Table = np.sqrt(np.maximum(0.0, variance) * samples / (samples - 1))
    return found


def with_forfeits(tables: Tables, places: "NDArray[np.int64]") -> Tables:
    """The tables with one action more, legal at these places: it ends the match, and the other seat wins."""
    states, actions, tickets = tables.successor.shape
    successor = np.full((states + 2, actions + 1, tickets), ILLEGAL, tables.successor.dtype)
    successor[:states, :actions] = tables.successor
    successor[places, actions] = 2 * (states + tables.actor[places].astype(np.int64))[:, None]
    return replace(
        tables,
        actor=np.append(tables.actor, np.array([NOBODY] * 2, tables.actor.dtype)),
        result=np.append(tables.result, np.array([SECOND_WON, FIRST_WON], tables.result.dtype)),
        successor=successor,
    )


def _wider(policy: "Table") -> "Table":
    """A policy for tables with forfeits, which it never does."""
    return np.pad(policy, ((0, 2), (0, 1)))


class Moves:
    """What moves lead to, in floats; under a limit, play is cut off at the first tick of the clock."""

    def __init__(self, tables: Tables, limit: int | None) -> None:
        self._tables = tables
        to = tables.successor >> 1
        self._to = np.where(tables.legal[:, :, None], to, 0)
        self._over = tables.result[self._to] != ONGOING
        self._cut = (tables.successor & 1).astype(bool) & (limit is not None)
        self._ends = (1 + POINTS[:, 0][tables.result + 1].astype(np.float64)) / 2

    def worths(self, values: "Table") -> "Table":
        """[state, action] how often seat 0 wins after it, given how often it does from every state."""
        after = np.where(self._over, self._ends[self._to], np.where(self._cut, 0.5, values[self._to]))
        found: Table = after.mean(axis=2)
        return found

    def extremes(self, policy: "Table", values: "Table", free: "NDArray[np.bool_]") -> "Iterator[Table]":
        """[state] the least, then the most, that seat 0 can win if play departs from a policy where it may.

        `values` are those without departing.
        """
        legal = self._tables.legal
        for sign in (-1.0, 1.0):
            found = values
            for _ in range(_LONGEST):
                worths = self.worths(found)
                chosen = sign * np.where(legal, sign * worths, -1.0).max(axis=1)
                before, found = found, np.where(free, chosen, (policy * worths).sum(axis=1))
                if np.abs(found - before).max() < _CLOSE:
                    break
            yield found

    def visits(self, policy: "Table") -> "Table":
        """[state] how often a match comes there."""
        tables = self._tables
        states, actions = np.nonzero(tables.legal & (policy > 0))
        onward = ~(self._over | self._cut)[states, actions]
        targets, tickets = self._to[states, actions], tables.successor.shape[2]
        weights = onward * policy[states, actions][:, None] / tickets
        now: Table = np.bincount(tables.starts, minlength=tables.states) / len(tables.starts)
        total: Table = now.copy()
        for _ in range(_LONGEST):
            flow = weights * now[states][:, None]
            now = np.asarray(np.bincount(targets.ravel(), flow.ravel(), minlength=tables.states), float)
            total += now
            if now.sum() < _NOTHING:
                break
        return total


def exploitability(answers: Answers, limit: int | None) -> Interval:
    """What the best opponent wins beyond its due.

    The best opponent of a sample finds what came by chance too, so the estimate is too high rather than too
    low: from it, the upper bound is one for the truth. The best opponent of one half of the answers, scored
    by the other half, is somebody who may be bettered: from what it wins, the lower bound is.
    """
    every = slice(None)
    best = [_best(answers, every, responder, limit) for responder in (0, 1)]
    estimate = max(0.0, (sum(each.value for each in best) - 1) / 2)
    if answers.samples == 1:
        return Interval(estimate, estimate, estimate)
    _, error = _gain(answers, best, every, limit)
    half = answers.samples // 2
    gains = []
    for shown, scored in ((slice(half), slice(half, None)), (slice(half, None), slice(half))):
        theirs = [_best(answers, shown, responder, limit) for responder in (0, 1)]
        gains.append(_gain(answers, theirs, scored, limit))
    scored_gain, scored_error = (sum(each) / 2 for each in zip(*gains, strict=True))
    low, high = scored_gain - Z * scored_error, estimate + Z * error
    return Interval(estimate, min(max(0.0, low), estimate), max(min(0.5, high), estimate))


def _best(answers: Answers, samples: slice, responder: int, limit: int | None) -> Response:
    """The best opponent of the player that some samples show."""
    policy = answers.policy(samples)
    return best_response(answers.tables, lambda clock: policy, responder, limit)


def _gain(
    answers: Answers, opponents: list[Response], samples: slice, limit: int | None
) -> tuple[float, float]:
    """What opponents, one at each seat, win beyond their due of the player that some samples show.

    With its standard error.
    """
    (one, first), (two, second) = (
        answers.result(_table(answers.tables, opponent, seat), 1 - seat, samples, limit)
        for seat, opponent in enumerate(opponents)
    )
    return (1 - one - two) / 2, hypot(first, second) / 2


def _table(tables: Tables, response: Response, responder: int) -> "Table":
    """A best response as a policy, at the first reading of the clock."""
    table = np.zeros(tables.legal.shape)
    for state in np.flatnonzero(tables.actor == responder):
        legal = np.flatnonzero(tables.legal[state])
        table[state, legal[response.actions[0][state]]] = 1.0
    return table


def against_all(answers: Answers, progress: Progress = no_progress) -> dict[str, Interval]:
    """The results against the built-in players, the mean of both seats."""
    found = {}
    for name in OPPONENTS:
        progress(f"results against {name}")
        theirs = answers.opponent(name)
        results, downs, ups = zip(*(answers.result_between(theirs, seat) for seat in (0, 1)), strict=True)
        result, down, up = sum(results) / 2, Z * hypot(*downs) / 2, Z * hypot(*ups) / 2
        found[name] = Interval(result, max(0.0, result - down), min(1.0, result + up))
    return found
