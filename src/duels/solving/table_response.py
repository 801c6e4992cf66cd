"""The best response to a policy, in a game that has tables and no secrets, by policy iteration.

Values are in points here: 1 for a win of the responder, -1 for a loss, 0 for a draw or play that never ends.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal, localcontext

import numpy as np
from numpy.typing import NDArray

from duels.solving.tables import ONGOING, POINTS, Tables

Table = NDArray[np.float64]

# Where an opponent errs once in a million games, all that tells a good move from a bad one is a
# millionth; with so many digits it may as well be once in 10 ** 30.
DIGITS = 60
CLOSE = Decimal("1e-40")

SETTLED = -1  # in place of a move: the responder makes the game last for ever from here on
NOTHING = Decimal(0)


@dataclass(frozen=True)
class Response:
    """The best response to a policy."""

    wins: float
    """The probability that it wins; a draw counts one half."""
    taken: list[list[int]]
    """[clock][state] which of its legal actions the responder takes, counted from 0; 0 where it has none.

    Without a limit there is one reading of the clock.
    """


def best_response(
    tables: Tables, policy: Callable[[int], Table], responder: int, limit: int | None = None
) -> Response:
    """The best `responder` (0 or 1) against `policy`; a draw counts one half.

    `policy` gives [state, action], the other seat's probabilities, for a reading of the clock. Never-ending
    play, and play that is cut off at `limit` ticks of the clock, counts one half too.
    """
    with localcontext(prec=DIGITS):
        ends = _ends(tables, responder)
        taken: list[list[int]] = []
        if limit is None:
            points, moves = best_points(_moves(tables, policy(0), responder, ends, None))
            taken.append(moves)
        else:
            points = [NOTHING] * tables.states  # cut off
            for clock in reversed(range(limit)):
                points, moves = best_points(_moves(tables, policy(clock), responder, ends, points))
                taken.insert(0, moves)
        starts = tables.starts.tolist()
        return Response(float((1 + sum(points[start] for start in starts) / len(starts)) / 2), taken)


def _ends(tables: Tables, responder: int) -> list[Decimal | None]:
    """[state] the points that it ends with; None while the game goes on."""
    results = tables.result.tolist()
    points = [Decimal(worth) for worth in POINTS[:, responder].tolist()]
    return [None if result == ONGOING else points[result + 1] for result in results]


@dataclass(slots=True)
class Move:
    """Where a move leads: the weights of states, that of ending at once, and the points that brings."""

    onward: dict[int, Decimal]
    ended: Decimal = NOTHING
    points: Decimal = NOTHING

    def state_value(self, points: Sequence[Decimal]) -> Decimal:
        """The points to be expected, given those of the states."""
        return self.points + sum((share * points[to] for to, share in self.onward.items()), NOTHING)


ENDLESS = Move({}, ended=Decimal(1))


def _moves(
    tables: Tables,
    policy: Table,
    responder: int,
    ends: list[Decimal | None],
    after_tick: list[Decimal] | None,
) -> list[list[Move]]:
    """[state] the moves that the responder can choose from; where the policy decides, one: its mixture.

    A game that goes on after a tick of the clock is settled, with the points given; None: it just goes on.
    """
    moves: list[list[Move]] = [[] for _ in range(tables.states)]
    chooses = tables.actor == responder
    states, actions = np.nonzero(tables.legal & (chooses[:, None] | (policy > 0)))
    taken = zip(
        states.tolist(),
        chooses[states].tolist(),
        policy[states, actions].tolist(),
        tables.successor[states, actions].tolist(),
        strict=True,
    )
    for state, chosen, probability, successors in taken:
        if chosen or not moves[state]:
            moves[state].append(Move({}))
        move = moves[state][-1]
        weight = Decimal(1) if chosen else Decimal(probability)
        for code in successors:
            to, ticks = code >> 1, code & 1
            end = ends[to]
            if end is None and ticks and after_tick is not None:
                end = after_tick[to]
            if end is None:
                move.onward[to] = move.onward.get(to, NOTHING) + weight
            else:
                move.ended += weight
                move.points += weight * end
    return [[_scaled(move) for move in choices] for choices in moves]


def _scaled(move: Move) -> Move:
    """The same move with weights that sum to 1."""
    total = move.ended + sum(move.onward.values())
    onward = {to: weight / total for to, weight in move.onward.items()}
    return Move(onward, move.ended / total, move.points / total)


def best_points(moves: list[list[Move]]) -> tuple[list[Decimal], list[int]]:
    """The points of every state if the best of its moves is always taken, and which that is; 0 without any.

    At first we settle for never-ending play wherever we can have it; elsewhere the game ends, whatever we
    do. Then moves are changed, for better ones only. So no change leads into a loop without end: all states
    of one are worth the same, and none of its moves is better than another.
    """
    safe = _safe(moves)
    taken = [SETTLED if endless else 0 for endless in safe]
    while True:
        points = expected_points(
            [
                choices[place] if choices and place != SETTLED else ENDLESS
                for choices, place in zip(moves, taken, strict=True)
            ]
        )
        changed = False
        for state, choices in enumerate(moves):
            if len(choices) > 1 or taken[state] == SETTLED:
                worths = [move.state_value(points) for move in choices]
                best = max(worths)
                if best - points[state] > CLOSE:
                    taken[state], changed = worths.index(best), True
        if not changed:
            return points, [
                _staying_safe(choices, safe) if place == SETTLED else place
                for choices, place in zip(moves, taken, strict=True)
            ]


def _staying_safe(choices: list[Move], safe: list[bool]) -> int:
    """A move after which the game can still be made to last for ever."""
    return next(place for place, move in enumerate(choices) if _stays(move, safe))


def _stays(move: Move, safe: list[bool]) -> bool:
    return not move.ended and all(safe[to] for to in move.onward)


def _safe(moves: list[list[Move]]) -> list[bool]:
    """Where the game can be made to last for ever, whatever policy and chance do."""
    safe = [bool(choices) for choices in moves]
    while True:
        lost = [
            state
            for state, choices in enumerate(moves)
            if safe[state] and not any(_stays(move, safe) for move in choices)
        ]
        if not lost:
            return safe
        for state in lost:
            safe[state] = False


def expected_points(chain: list[Move]) -> list[Decimal]:
    """The points to be expected from every state of a Markov chain, 0 where it never ends.

    States are eliminated from the last back to the first, so that what is left of a row leads to earlier
    states only. Nothing is ever subtracted from a probability (a loop from a state to itself is left out
    and the rest scaled up), so no digits are lost however long the chain goes on.
    """
    rows = [Move(dict(move.onward), move.ended, move.points) for move in chain]
    for state in reversed(range(len(rows))):
        row = rows[state]
        while row.onward and (later := max(row.onward)) > state:
            weight = row.onward.pop(later)
            row.ended += weight * rows[later].ended
            row.points += weight * rows[later].points
            for to, share in rows[later].onward.items():
                row.onward[to] = row.onward.get(to, NOTHING) + weight * share
        row.onward.pop(state, None)
        rows[state] = _scaled(row) if row.onward or row.ended else ENDLESS
    points: list[Decimal] = []
    for row in rows:
        points.append(row.state_value(points))
    return points


def expected_values(tables: Tables, policy: Table, limit: int | None = None) -> list[float]:
    """[state] the probability that seat 0 wins from there when both seats follow `policy`, [state, action].

    A draw, never-ending play, and play that is cut off at `limit` ticks of the clock count one half; so do
    states where the game is over.
    """
    nobody = 2  # no seat responds: every state has one move, the policy's mixture
    with localcontext(prec=DIGITS):
        ends, after_tick = _ends(tables, 0), None if limit is None else [NOTHING] * tables.states
        for _ in range(1 if limit is None else limit):
            moves = _moves(tables, policy, nobody, ends, after_tick)
            points = expected_points([choices[0] if choices else ENDLESS for choices in moves])
            after_tick = points
        return [float((1 + each) / 2) for each in points]
