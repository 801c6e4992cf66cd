"""The value of a start: the fixpoint nearest to an even chance."""

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from duels.core.rules import CHANCE, Actor, Seat
from duels.games.chain.boards import Round, solve_start
from duels.solving.check import find_broken_equations, find_stallable_states
from duels.solving.graph import Graph

Line = tuple[Fraction, Fraction]  # what a round is worth at u = 0, and its slope


def make_round(rows: list[list[Line]]) -> Round:
    """A round in which the player who begins picks a row and the other picks a line from it."""

    def play_round(u: Fraction, side: int) -> tuple[Fraction, Fraction]:
        def near(line: Line) -> tuple[Fraction, Fraction]:
            return line[0] + line[1] * u, side * line[1]

        value, slope = max(min(map(near, row)) for row in rows)
        return value, side * slope

    return play_round


def line(at_zero: str, slope: str) -> Line:
    return Fraction(at_zero), Fraction(slope)


@pytest.mark.parametrize(
    ("rows", "value"),
    [
        ([[line("0", "1")]], "0"),  # the other can start over for ever
        ([[line("0", "-1")]], "0"),
        ([[line("1/2", "1/2")]], "1"),  # a coin: win, or begin again
        ([[line("-1/2", "1/2")]], "-1"),
        ([[line("1/3", "0")]], "1/3"),
        ([[line("1/9", "-1/3")]], "1/12"),
        ([[line("1/4", "0")], [line("0", "1")]], "1/4"),  # waiting gains nothing: every u above is a zero
        ([[line("-1/4", "0"), line("0", "1")]], "-1/4"),
        ([[line("1/2", "-1/2")], [line("1/3", "0"), line("1/8", "7/8")]], "1/3"),
    ],
)
def test_known_rounds(rows: list[list[Line]], value: str) -> None:
    assert solve_start(make_round(rows)) == Fraction(value)


def lines() -> st.SearchStrategy[Line]:
    """Chances of winning, losing, beginning again and letting the other begin, in twelfths."""
    cuts = st.lists(st.integers(0, 12), min_size=3, max_size=3).map(sorted)

    def make_line(cut: list[int]) -> Line:
        win, lose, again = cut[0], cut[1] - cut[0], cut[2] - cut[1]
        return Fraction(win - lose, 12), Fraction(again - (12 - cut[2]), 12)

    return cuts.map(make_line)


@settings(deadline=None)
@given(st.lists(st.lists(lines(), min_size=1, max_size=4), min_size=1, max_size=4))
def test_the_solution_is_the_fixpoint_nearest_to_zero(rows: list[list[Line]]) -> None:
    play_round = make_round(rows)
    value = solve_start(play_round)
    assert play_round(value, 1)[0] == value
    for nearer in (value * Fraction(10**9 - 1, 10**9), value / 2, Fraction(0)):
        if value:
            assert (play_round(nearer, 1)[0] - nearer) * value > 0


@settings(deadline=None)
@given(st.lists(st.lists(lines(), min_size=1, max_size=4), min_size=1, max_size=4))
def test_the_solution_is_the_proven_value_of_the_match(rows: list[list[Line]]) -> None:
    """Prove the value on the graph of the whole match, without using rounds."""
    value = solve_start(make_round(rows))
    graph, values = make_match(rows, {Seat.ONE: (1 + value) / 2, Seat.TWO: (1 - value) / 2})
    assert list(find_broken_equations(graph, values)) == []
    for seat in Seat:
        assert list(find_stallable_states(graph, values, seat)) == []


def make_match(rows: list[list[Line]], starts: dict[Seat, Fraction]) -> tuple[Graph[int], list[Fraction]]:
    """Return the match as a graph, and every node's value if the two starts have the values `starts`."""
    followers: list[tuple[int, ...]] = [(), (), (), ()]
    actor: list[Actor | None] = [None, None, Seat.ONE, Seat.TWO]  # won, lost, and the starts
    odds: list[tuple[Fraction, ...]] = [(), (), (), ()]
    values = [Fraction(1), Fraction(0), starts[Seat.ONE], starts[Seat.TWO]]

    def add(mover: Actor, after: list[int], chances: tuple[Fraction, ...] = ()) -> int:
        successor_values = [values[node] for node in after]
        if mover is CHANCE:
            values.append(sum((c * w for c, w in zip(chances, successor_values, strict=True)), Fraction(0)))
        else:
            values.append(max(successor_values) if mover is Seat.ONE else min(successor_values))
        actor.append(mover)
        followers.append(tuple(after))
        odds.append(chances)
        return len(values) - 1

    for seat in Seat:
        ends = [0, 1, 2, 3] if seat is Seat.ONE else [1, 0, 3, 2]
        chosen = [add(seat.other, [add(CHANCE, *coin(line, ends)) for line in row]) for row in rows]
        followers[1 + seat] = tuple(chosen)
    return Graph(
        list(range(len(values))), {}, actor, followers, odds, {0: Fraction(1), 1: Fraction(0)}
    ), values


def coin(line: Line, ends: list[int]) -> tuple[list[int], tuple[Fraction, ...]]:
    """Chances of winning, losing, beginning again and not beginning that make up a line."""
    at_zero, slope = line
    rest = (1 - abs(at_zero) - abs(slope)) / 2  # as often won as lost
    win, lose = max(at_zero, Fraction(0)) + rest, max(-at_zero, Fraction(0)) + rest
    all_chances = (win, lose, max(slope, Fraction(0)), max(-slope, Fraction(0)))
    some = [(end, chance) for end, chance in zip(ends, all_chances, strict=True) if chance]
    return [end for end, _ in some], tuple(chance for _, chance in some)
