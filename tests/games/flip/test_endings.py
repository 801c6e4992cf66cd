"""Endings of matches without a decision left agree with the rules."""

from fractions import Fraction

import pytest

from duels.core.rules import CHANCE, Seat
from duels.games.flip import verify
from duels.games.flip.oracle import find_endings, make_oracle
from duels.games.flip.rules import QuantumTiles, State

SMALL = QuantumTiles(side=2, values=2, copies=2, target=3)
BOOK = QuantumTiles()


def walk_endings(rules: QuantumTiles, state: State) -> dict[tuple[Seat, bool], Fraction]:
    """Return the chance that each seat ends the match, by winning or losing, along every path of the rules.

    Which tile is flipped does not matter, so the first one is.
    """
    outcome = rules.outcome(state)
    if outcome:
        last = state.mover.other
        return {(last, outcome.winner is last): Fraction(1)}
    actions = rules.actions(state)
    chances = rules.odds(state) if rules.actor(state) is CHANCE else (Fraction(1),)
    total: dict[tuple[Seat, bool], Fraction] = {}
    for action, chance in zip(actions[: len(chances)], chances, strict=True):
        for end, p in walk_endings(rules, rules.apply(state, action).state).items():
            total[end] = total.get(end, Fraction(0)) + chance * p
    return total


@pytest.mark.parametrize(
    ("rules", "position"),
    [
        (SMALL, "../.. 0,0 00 1"),
        (BOOK, "...../44435/5.45./...../..... 17,17 00 2"),
        (BOOK, "...../44435/5445./...../..... 20,18 00 1"),
    ],
)
def test_agrees_with_a_walk_through_the_rules(rules: QuantumTiles, position: str) -> None:
    state = rules.parse_state(position)
    ending, exact = find_endings(rules, state), walk_endings(rules, state)
    assert ending
    for seat in Seat:
        assert ending[seat].hits == pytest.approx(float(exact.get((seat, True), 0)))
        assert ending[seat].passes == pytest.approx(float(exact.get((seat, False), 0)))
    assert sum(map(sum, ending.values())) == pytest.approx(1)


@pytest.mark.parametrize(
    "position",
    [
        "...../...../...../...../..... 0,0 10 1",
        "...../...../...../...../....c 0,0 00 1",
        "...../...../...../...../..... 0,0 00 1 A1",
    ],
)
def test_gives_no_ending_while_a_decision_remains(position: str) -> None:
    assert find_endings(BOOK, BOOK.parse_state(position)) is None


def test_counting_gives_the_value_of_a_match_without_quantum_flips() -> None:
    oracle = make_oracle(BOOK)
    check = verify.check_endings(oracle)
    assert check.passed, check.detail
    (finding,) = oracle.findings(BOOK.parse_position("...../...../...../...../..... 0,0 00 1"))
    value = oracle.value(BOOK.parse_position("...../...../...../...../..... 0,0 00 1"))
    assert finding.data["1"]["hits"] + finding.data["2"]["passes"] == pytest.approx(value.number, abs=2e-5)
    assert "Player 1 reaches 21 with 21.7% and passes it with 39.1%" in finding.text
