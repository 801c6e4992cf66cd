"""Best responses in games that have tables and no hidden information, by policy iteration.

Values are in points: 1 if the responder wins, -1 if it loses, 0 for a draw or an endless match.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal, localcontext

import numpy as np
from numpy.typing import NDArray

from duels.solving.tables import ONGOING, POINTS, Tables

Table = NDArray[np.float64]

# An opponent may err only once in 10 ** 30 games. Then the values of good and bad moves differ by as little.
DIGITS = 60
TOLERANCE = Decimal("1e-40")

STALL = -1  # in place of a move's index: play for an endless match
ZERO = Decimal(0)


@dataclass(frozen=True)
class Response:
    """The best response to a policy."""

    value: float
    """The responder's probability of winning; a draw counts one half."""
    actions: list[list[int]]
    """The index of the responder's legal action, by clock reading and state; 0 if there is none.

    Without a limit there is one clock reading.
    """


def best_response(
    tables: Tables, policy: Callable[[int], Table], responder: int, limit: int | None = None
) -> Response:
    """Return the best response of `responder` (0 or 1) to `policy`.

    `policy` maps a clock reading to the other seat's probabilities, indexed [state, action]. A draw, an
    endless match and a match that is cut off after `limit` ticks count one half.
    """
    with localcontext(prec=DIGITS):
        end_points = _get_end_points(tables, responder)
        chosen_moves: list[list[int]] = []
        if limit is None:
            points, moves = best_points(_moves(tables, policy(0), responder, end_points, None))
            chosen_moves.append(moves)
        else:
            points = [ZERO] * tables.states  # cut off
            for clock in reversed(range(limit)):
                points, moves = best_points(_moves(tables, policy(clock), responder, end_points, points))
                chosen_moves.insert(0, moves)
        starts = tables.starts.tolist()
        return Response(float((1 + sum(points[start] for start in starts) / len(starts)) / 2), chosen_moves)


def _get_end_points(tables: Tables, responder: int) -> list[Decimal | None]:
    """Return the points of every terminal state, and None for the others."""
    results = tables.result.tolist()
    points = [Decimal(value) for value in POINTS[:, responder].tolist()]
    return [None if result == ONGOING else points[result + 1] for result in results]


@dataclass(slots=True)
class MarkovMove:
    """The result of a move: the weights of the next states and of the end, and the end's expected points."""

    successor_weights: dict[int, Decimal]
    end_weight: Decimal = ZERO
    points: Decimal = ZERO

    def state_value(self, points: Sequence[Decimal]) -> Decimal:
        """Return the expected points, given the points of the states."""
        return self.points + sum(
            (share * points[successor] for successor, share in self.successor_weights.items()), ZERO
        )


ENDLESS = MarkovMove({}, end_weight=Decimal(1))


def _moves(
    tables: Tables,
    policy: Table,
    responder: int,
    end_points: list[Decimal | None],
    points_after_tick: list[Decimal] | None,
) -> list[list[MarkovMove]]:
    """Return the responder's moves in each state. Where the opponent moves, the policy's mixture is one move.

    `points_after_tick` has the points of each state after a tick of the clock; None if there is no limit.
    """
    moves: list[list[MarkovMove]] = [[] for _ in range(tables.states)]
    is_responder = tables.actor == responder
    states, actions = np.nonzero(tables.legal & (is_responder[:, None] | (policy > 0)))
    chosen_moves = zip(
        states.tolist(),
        is_responder[states].tolist(),
        policy[states, actions].tolist(),
        tables.successor[states, actions].tolist(),
        strict=True,
    )
    for state, chosen, probability, successors in chosen_moves:
        if chosen or not moves[state]:
            moves[state].append(MarkovMove({}))
        move = moves[state][-1]
        weight = Decimal(1) if chosen else Decimal(probability)
        for code in successors:
            successor, ticks = code >> 1, code & 1
            end = end_points[successor]
            if end is None and ticks and points_after_tick is not None:
                end = points_after_tick[successor]
            if end is None:
                move.successor_weights[successor] = move.successor_weights.get(successor, ZERO) + weight
            else:
                move.end_weight += weight
                move.points += weight * end
    return [[_normalize(move) for move in choices] for choices in moves]


def _normalize(move: MarkovMove) -> MarkovMove:
    """Return the move with weights that sum to 1."""
    total = move.end_weight + sum(move.successor_weights.values())
    successor_weights = {successor: weight / total for successor, weight in move.successor_weights.items()}
    return MarkovMove(successor_weights, move.end_weight / total, move.points / total)


def best_points(moves: list[list[MarkovMove]]) -> tuple[list[Decimal], list[int]]:
    """Return the points of every state under optimal play, and the index of the best move, or 0.

    The first policy plays for an endless match wherever the responder can force one. Later, only a better
    move replaces a move. So no change leads into an endless loop: all states of a loop have the same value,
    and none of its moves is better than the others.
    """
    can_stall = _find_stalling_states(moves)
    chosen_moves = [STALL if endless else 0 for endless in can_stall]
    while True:
        points = expected_points(
            [
                choices[index] if choices and index != STALL else ENDLESS
                for choices, index in zip(moves, chosen_moves, strict=True)
            ]
        )
        changed = False
        for state, choices in enumerate(moves):
            if len(choices) > 1 or chosen_moves[state] == STALL:
                values = [move.state_value(points) for move in choices]
                best = max(values)
                if best - points[state] > TOLERANCE:
                    chosen_moves[state], changed = values.index(best), True
        if not changed:
            return points, [
                (_find_stalling_move(choices, can_stall) or 0) if index == STALL else index
                for choices, index in zip(moves, chosen_moves, strict=True)
            ]


def _find_stalling_move(choices: list[MarkovMove], can_stall: list[bool]) -> int | None:
    """Return a move after which an endless match can still be forced, or None."""
    for index, move in enumerate(choices):
        if not move.end_weight and all(can_stall[successor] for successor in move.successor_weights):
            return index
    return None


def _find_stalling_states(moves: list[list[MarkovMove]]) -> list[bool]:
    """Return for every state whether the responder can force an endless match."""
    can_stall = [bool(choices) for choices in moves]
    while True:
        previous = can_stall
        can_stall = [
            possible and _find_stalling_move(choices, previous) is not None
            for possible, choices in zip(previous, moves, strict=True)
        ]
        if can_stall == previous:
            return can_stall


def expected_points(chain: list[MarkovMove]) -> list[Decimal]:
    """Return the expected points of every state of a Markov chain; 0 if it never ends.

    The states are eliminated from the last to the first. Then the row of each state leads only to earlier
    states. If a state leads to itself, this weight is dropped and the others are scaled up. So nothing is
    subtracted from a probability, and no digits are lost.
    """
    rows = [MarkovMove(dict(move.successor_weights), move.end_weight, move.points) for move in chain]
    for state in reversed(range(len(rows))):
        row = rows[state]
        while row.successor_weights and (later_state := max(row.successor_weights)) > state:
            weight = row.successor_weights.pop(later_state)
            row.end_weight += weight * rows[later_state].end_weight
            row.points += weight * rows[later_state].points
            for successor, share in rows[later_state].successor_weights.items():
                row.successor_weights[successor] = row.successor_weights.get(successor, ZERO) + weight * share
        row.successor_weights.pop(state, None)
        rows[state] = _normalize(row) if row.successor_weights or row.end_weight else ENDLESS
    points: list[Decimal] = []
    for row in rows:
        points.append(row.state_value(points))
    return points


def expected_values(tables: Tables, policy: Table, limit: int | None = None) -> list[float]:
    """Return the probability that seat 0 wins from every state if both seats follow `policy`.

    The policy's probabilities are indexed [state, action]. A draw, an endless match and a match that is cut
    off after `limit` ticks count one half. So do terminal states.
    """
    no_responder = 2  # not a seat: both follow the policy
    with localcontext(prec=DIGITS):
        end_points = _get_end_points(tables, 0)
        points = None if limit is None else [ZERO] * tables.states
        for _ in range(1 if limit is None else limit):
            points, _ = best_points(_moves(tables, policy, no_responder, end_points, points))
        return [float((1 + value) / 2) for value in points or ()]
