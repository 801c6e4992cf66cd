"""Perfect play in leap."""

from itertools import pairwise
from typing import Any

import pytest

from duels.core.match import Match
from duels.core.rules import Seat
from duels.games.leap.oracle import Paths, make_oracle
from duels.games.leap.rules import Leap, QuantumLeap

RULES = QuantumLeap()
ORACLE = make_oracle(RULES)


@pytest.mark.parametrize("goal", [1, 2, 21, 23, 1000])
def test_independent_methods_agree(goal: int) -> None:
    for check in make_oracle(QuantumLeap(goal)).verify():
        assert check.passed, check


def test_independent_methods_detect_a_wrong_distance(monkeypatch: pytest.MonkeyPatch) -> None:
    right = Paths.count_turns
    monkeypatch.setattr(Paths, "count_turns", lambda self, cell: right(self, cell) + (cell == 6))
    failed = [check.name for check in ORACLE.verify() if not check.passed]
    assert "backward induction over the rules gives the same value everywhere" in failed


@pytest.mark.parametrize("goal", [*range(1, 30), 100_000])
def test_the_first_player_wins_at_every_goal(goal: int) -> None:
    rules = QuantumLeap(goal)
    verdict = make_oracle(rules).judge(rules.sight(rules.initial(), Seat.ONE))
    assert verdict.value.fraction == 1


def test_fifteen_shortest_paths_lead_to_cell_21() -> None:
    assert ORACLE.paths.count_turns(0) == 7
    assert ORACLE.paths.count_paths(0) == 15


def findings(goal: int, position: str = "- - 1") -> dict[str, Any]:
    rules = QuantumLeap(goal)
    return {f.name: f.data for f in make_oracle(rules).findings(rules.parse_position(position))}


def test_the_shortest_paths_are_listed() -> None:
    finding = findings(21)["shortest_paths"]
    assert (finding["count"], finding["turns"]) == (15, 7)
    assert len({tuple(path) for path in finding["paths"]}) == 15
    for path in finding["paths"]:
        assert (path[0], path[-1]) == (1, 21)
        assert len(path) == 7
        assert all(cell % (to - cell) == 0 for cell, to in pairwise(path))
    assert findings(21, "16 12 2")["shortest_paths"]["paths"] == [[18, 21], [14, 21]]


def test_counts_many_shortest_paths() -> None:
    finding = findings(1000)["shortest_paths"]
    assert finding["count"] == Paths(QuantumLeap(1000)).count_paths(0) > len(finding["paths"]) == 20


@pytest.mark.parametrize(("goal", "cost"), [(16, 0), (21, 1), (1000, 2), (100_000, 2)])
def test_the_cost_of_landing_exactly(goal: int, cost: int) -> None:
    """From 1, doubling passes 16, 21, 1000 and 100,000 after 4, 5, 10 and 17 leaps."""
    assert findings(goal)["clauses"]["exact_landing_costs"] == cost


@pytest.mark.parametrize("goal", [21, 26, 27, 100])
def test_positions_where_the_longest_leap_costs_a_turn(goal: int) -> None:
    rules, paths = QuantumLeap(goal), Paths(QuantumLeap(goal))
    costly = [c for c in range(1, goal) if c + max(rules.leaps(c)) not in paths.list_next_cells(c)]
    assert findings(goal)["longest_leaps"]["costs_a_turn_from"] == costly
    assert bool(costly) == (goal >= 27)


@pytest.mark.parametrize(
    ("position", "best", "reason"),
    [
        (
            "16 12 1",
            ["2", "4"],
            "You need 2 more turns to the goal, the other player needs 2, and it is your turn: "
            "leaping 4 leaves you enough time to be there first.",
        ),
        (
            "- - 1",
            ["enter"],
            "You need 7 more turns to the goal, the other player needs 7, and it is your turn: "
            "entering leaves you enough time to be there first.",
        ),
        (
            "16 20 1",
            ["1", "2", "4"],
            "You need 2 more turns to the goal, the other player needs 1: the other player is ahead "
            "and stays ahead by taking a shortest path.",
        ),
        (
            "20 18 1",
            ["1"],
            "You need 1 more turn to the goal, the other player needs 1: leaping 1 ends the race.",
        ),
    ],
)
def test_reasons_of_leaps(position: str, best: list[str], reason: str) -> None:
    sight = RULES.parse_position(position)
    assert [RULES.format(action) for action in ORACLE.judge(sight).best] == best
    assert ORACLE.reason(sight) == reason


def test_names_the_fastest_win_if_every_leap_wins() -> None:
    rules = QuantumLeap(20)
    sight = rules.parse_position("10 1 1")
    oracle = make_oracle(rules)
    assert len(oracle.judge(sight).best) > 1
    assert oracle.reason(sight).endswith(": leaping 10 ends the race.")


def test_finished_matches_have_their_result_as_value() -> None:
    match = Match.start(QuantumLeap(2)).play_text("enter", "enter", "1")
    oracle = make_oracle(QuantumLeap(2))
    assert oracle.value(match.sight(Seat.ONE)).fraction == 1
    assert oracle.value(match.sight(Seat.TWO)).fraction == 0


@pytest.mark.parametrize("position", ["20 1 1", "10 1 1", "16 12 1", "12 1 2", "16 20 1"])
def test_perfect_play_wastes_no_turn(position: str) -> None:
    """Among equally good leaps only those that leave the fewest turns are taken, in lost races too."""
    sight = RULES.parse_position(position)
    verdict = ORACLE.judge(sight)
    turns = {
        j.action: ORACLE.paths.count_turns(RULES.apply(sight.view, j.action).state.cell_of(sight.seat))
        for j in verdict.actions
    }
    fewest = min(turns[action] for action in verdict.best)
    for judged in verdict.actions:
        assert (judged.weight > 0) == (judged.best and turns[judged.action] == fewest)


def test_some_good_leap_is_slower() -> None:
    """Else the test above could not fail."""
    verdict = ORACLE.judge(RULES.parse_position("16 1 1"))
    assert any(judged.best and not judged.weight for judged in verdict.actions)


def test_the_effect_of_a_slip_is_the_turns_still_needed() -> None:
    assert ORACLE.effect(RULES.parse_position("9 7 1"), Leap(1)) == (
        "After leaping 1 you needed 2 more turns; the other player, whose turn it was, needed 2."
    )
