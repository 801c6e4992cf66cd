"""The solution of a position, also of games that no registry knows."""

import json

import pytest

from duels.core.errors import DuelsError
from duels.core.rules import CHANCE
from duels.core.words import strip_ink
from duels.solving.oracles import get_oracle
from duels.terminal.solve import describe_solution, parse_position, render_solution
from tests.analysis.toys import HideOracle, Steps


def test_an_oracle_of_values_alone_is_enough() -> None:
    sight, oracle = parse_position(Steps(), "3 2 0"), get_oracle(Steps())
    assert describe_solution(sight, oracle) == {
        "game": "steps",
        "position": "3 2 0",
        "to_move": 2,
        "value": 1.0,
        "exactness": "exact",
        "exact": "1",
        "actions": [
            {"action": "1", "value": 1.0, "exactness": "exact", "exact": "1", "best": True, "weight": 1.0},
            {"action": "2", "value": 0.5, "exactness": "exact", "exact": "1/2", "best": False, "weight": 0.0},
        ],
    }
    assert strip_ink(render_solution(sight, oracle)) == (
        "steps: 3 2 0\n"
        "Player 2 to move is at 100.0% (exact).\n\n"
        "* 1              100.0%\n"
        "  2               50.0%  1/2\n\n"
        "* best. Best is 1, worth 100.0%; anything else is worth 50.0% at most.\n"
    )


def test_a_chance_opening_has_a_value_and_no_actions() -> None:
    oracle = HideOracle()
    sight = parse_position(oracle.rules, None)
    assert sight.actor is CHANCE
    data = json.loads(json.dumps(describe_solution(sight, oracle)))
    assert (data["to_move"], data["value"], data["actions"], data["belief"]) == ("chance", 0.5, [], {})
    text = render_solution(sight, oracle)
    assert text.endswith("Player 1 wins 50.0% (exact).\n\nChance acts first.\n")


def test_a_position_without_a_decision_says_why() -> None:
    with pytest.raises(DuelsError, match="No player decides in the position"):
        parse_position(Steps(), "4 1 0")
    with pytest.raises(DuelsError, match="chance is to act"):
        parse_position(HideOracle().rules, "1 - - - -")
