"""The proofs accept right values and, above all, reject wrong ones."""

from collections.abc import Sequence
from fractions import Fraction
from graphlib import CycleError

import pytest

from duels.core.rules import CHANCE, Actor, Seat
from duels.solving.check import Brackets, find_broken_equations, find_stallable_states
from duels.solving.graph import Graph, backward_induction

WON, LOST = 0, 1  # nodes at which the game is over, in every graph below
Node = tuple[Actor, tuple[int, ...], tuple[str, ...]]


def graph_of(*nodes: Node) -> Graph[int]:
    """The two ends, then nodes 2, 3, ...: who acts, what follows, and at chance nodes the odds."""
    graph = Graph(states=list(range(len(nodes) + 2)), state_numbers={n: n for n in range(len(nodes) + 2)})
    graph.actor = [None, None, *(actor for actor, _, _ in nodes)]
    graph.successors = [(), (), *(successors for _, successors, _ in nodes)]
    graph.odds = [(), (), *(tuple(map(Fraction, odds)) for _, _, odds in nodes)]
    graph.result = {WON: Fraction(1), LOST: Fraction(0)}
    return graph


def is_proven(graph: Graph[int], values: Sequence[str]) -> bool:
    numbers = [Fraction(1), Fraction(0), *map(Fraction, values)]
    hollow = [node for seat in Seat for node in find_stallable_states(graph, numbers, seat)]
    return not hollow and not list(find_broken_equations(graph, numbers))


WAIT_OR_COIN = graph_of((Seat.ONE, (2, 3), ()), (CHANCE, (WON, LOST), ("3/4", "1/4")))


@pytest.mark.parametrize(
    ("graph", "right", "wrong"),
    [
        # Player 1 may wait or toss a good coin. Waiting for ever keeps any promise without redeeming it.
        (WAIT_OR_COIN, ("3/4", "3/4"), [("1", "3/4"), ("7/8", "3/4"), ("1/2", "3/4")]),
        # Player 2 may wait or give up: the game never ends.
        (graph_of((Seat.TWO, (2, WON), ())), ("1/2",), [("1",), ("3/4",), ("0",)]),
        (graph_of((Seat.ONE, (2, LOST), ())), ("1/2",), [("1",), ("1/4",), ("0",)]),
        # Both players can pass forever, and for each the coin is bad.
        (
            graph_of((Seat.ONE, (3, 4), ()), (Seat.TWO, (2, 4), ()), (CHANCE, (WON, LOST), ("1/2", "1/2"))),
            ("1/2", "1/2", "1/2"),
            [("3/4", "3/4", "1/2"), ("1/4", "1/4", "1/2")],
        ),
        # A coin flip that may repeat: its value comes from its other outcomes.
        (graph_of((CHANCE, (WON, LOST, 2), ("1/3", "1/6", "1/2"))), ("2/3",), [("1/2",), ("1",)]),
    ],
)
def test_proves_only_the_true_values(
    graph: Graph[int], right: Sequence[str], wrong: Sequence[Sequence[str]]
) -> None:
    assert is_proven(graph, right)
    for values in wrong:
        assert not is_proven(graph, values)


def test_a_hollow_promise_satisfies_every_equation() -> None:
    promised = [Fraction(1), Fraction(0), Fraction(1), Fraction(3, 4)]
    assert list(find_broken_equations(WAIT_OR_COIN, promised)) == []
    assert list(find_stallable_states(WAIT_OR_COIN, promised, Seat.ONE)) == [2]
    assert list(find_stallable_states(WAIT_OR_COIN, promised, Seat.TWO)) == []


def test_brackets_converge_to_the_value() -> None:
    again = graph_of((CHANCE, (WON, LOST, 2), ("1/3", "1/6", "1/2")))
    bounds = Brackets(again, {})
    assert bounds.narrow_to(1e-6) > 10
    assert bounds.low[2] <= 2 / 3 <= bounds.high[2]


def test_brackets_stay_open_if_play_may_never_end() -> None:
    with pytest.raises(ArithmeticError, match=r"still 1\.0 wide"):
        Brackets(graph_of((Seat.TWO, (2, WON), ())), {}).narrow_to(0.5, max_sweeps=50)


def test_pinned_states_are_not_expanded() -> None:
    bounds = Brackets(graph_of((Seat.TWO, (2, WON), ()), (Seat.ONE, (2, LOST), ())), {2: Fraction(1, 2)})
    assert bounds.narrow_to(1e-9) == 1
    assert bounds.low[3] == bounds.high[3] == 0.5


def test_backward_induction_handles_chance_and_both_seats() -> None:
    graph = graph_of(
        (CHANCE, (WON, LOST), ("1/3", "2/3")), (Seat.TWO, (WON, 2), ()), (Seat.ONE, (LOST, 3), ())
    )
    assert backward_induction(graph)[2:] == [Fraction(1, 3)] * 3


def test_backward_induction_rejects_cycles() -> None:
    with pytest.raises(CycleError):
        backward_induction(WAIT_OR_COIN)
