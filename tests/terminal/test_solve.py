"""duels solve."""

import json
import shlex
from importlib import import_module

import pytest

from duels.core.rules import CHANCE, AnyRules
from duels.core.words import strip_ink
from duels.games import find_game
from duels.games.chain.rules import QuantumChain
from duels.games.flip.rules import QuantumTiles
from duels.games.lights.rules import Lights, TurnOff
from duels.solving.oracle import ActionValue, Value, Verdict
from duels.solving.oracles import get_oracle
from duels.terminal.commands import run
from duels.terminal.solve import (
    MAX_LINES,
    _list_actions,
    describe_solution,
    format_solve_command,
    parse_position,
    render_solution,
)
from tests.analysis.toys import HideOracle, Steps

pytestmark = pytest.mark.usefixtures("home")


def test_solve_shows_the_opening(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["solve", "lights"]) == 0
    out = capsys.readouterr().out
    assert "Player 1 to move wins 100.0% (exact)." in out
    assert [line.split()[1] for line in out.splitlines() if line.startswith("* ") and "%" in line] == [
        "4",
        "2-3",
        "5-6",
    ]


def test_solve_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["solve", "chain", "--position", "__XX_O_ 1", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["game"] == "chain"
    assert answer["position"] == "__XX_O_ 1"
    assert answer["to_move"] == 1
    assert answer["exactness"] == "exact"
    assert answer["exact"] == "2/3"
    assert answer["value"] == pytest.approx(2 / 3)
    best = [action["action"] for action in answer["actions"] if action["best"]]
    assert best == ["2"]
    assert {action["action"] for action in answer["actions"]} == {"1", "2", "5", "7"}


@pytest.mark.parametrize(
    ("arguments", "value"),
    [
        (["lights", "--lights", "12"], 1),
        (["leap", "--goal", "1000"], 1),
        (["chain", "--cells", "5", "--run", "3"], 0.5),
    ],
)
def test_solve_takes_sizes(arguments: list[str], value: float, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["solve", *arguments, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["value"] == value


@pytest.mark.parametrize(
    "arguments",
    [
        ["solve", "lights", "--position", "nonsense"],
        ["solve", "lights", "--position", "XXXXXXX 1"],
        ["solve", "chain", "--position", "__X!O__ 2"],
        ["solve", "lights", "--goal", "9"],
        ["solve", "chain", "--cells", "0"],
        ["solve", "nogame"],
    ],
)
def test_wrong_positions_and_options_are_rejected(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(arguments) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "Error" in captured.err


def test_large_games_are_refused_at_once(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["solve", "chain", "--cells", "99"]) == 1
    assert "solved for up to 13 cells, not for 99" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (
            ["hunt", "--position", "2: ?"],
            "No player decides in the position '2: ?': Player 1 is to act.",
        ),
        (
            ["hunt", "--position", "2: ?"],
            "Add the entries that Player 2 sees next ('?' for a hidden entry, or for example 'observe",
        ),
        (["chain", "--position", "__X!O__ 2"], "chance is to act."),
        (["lights", "--position", "XXXXXXX 1"], "the match is over."),
    ],
)
def test_a_position_without_a_decision_says_why(
    arguments: list[str], why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["solve", *arguments]) == 2
    assert why in capsys.readouterr().err


def test_verify_runs_second_methods(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["solve", "lights", "--verify"]) == 0
    out = capsys.readouterr().out
    assert "Kayles" in out
    assert out.splitlines()[-1].endswith("passed, 0 failed")


def test_verify_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["solve", "lights", "--verify", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert (answer["game"], answer["passed"]) == ("lights", True)
    names = [check["name"] for check in answer["checks"]]
    assert "nim-values are the published ones of Kayles" in names
    assert all(check["passed"] is True and check["detail"] for check in answer["checks"])


def test_a_failed_check_fails_the_command(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(import_module("duels.games.lights.oracle"), "PUBLISHED_PERIOD", (0,) * 12)
    assert run(["solve", "lights", "--verify", "--json"]) == 1
    answer = json.loads(capsys.readouterr().out)
    assert not answer["passed"]
    assert [check["passed"] for check in answer["checks"]].count(False) == 1


@pytest.mark.parametrize("game", ["lights", "leap", pytest.param("chain", marks=pytest.mark.slow)])
def test_checks_are_printed_in_words(game: str) -> None:
    for check in get_oracle(find_game(game).rules()).verify():
        assert "=" not in str(check), check
        assert "None" not in str(check), check


@pytest.mark.parametrize(
    "arguments",
    [
        ["lights", "--verify", "--position", "OOOOOOO 1"],
        ["lights", "--verify", "--all"],
    ],
)
def test_options_that_verify_would_ignore_are_refused(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["solve", *arguments]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "cannot be combined with --verify" in captured.err


def test_chances_are_aligned(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["solve", "flip"]) == 0
    rows = [line for line in capsys.readouterr().out.splitlines() if "more" in line]
    assert len(rows) == 2
    assert len({row.index("%") for row in rows}) == 1
    assert all(row.endswith(" points") for row in rows)


WIDE = ".2.../4..../...2./1..../...3. 7,5 11 2"


def test_actions_not_proven_worse_are_marked(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["solve", "flip", "--position", WIDE, "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    for action in answer["actions"]:
        assert action["best"] is (action["high"] >= answer["low"])
    assert len({action["value"] for action in answer["actions"] if action["best"]}) > 1
    assert run(["solve", "flip", "--position", WIDE]) == 0
    out = capsys.readouterr().out
    assert "\n* not proven worse than the best. " in out
    assert "you win about " in out
    assert run(["solve", "flip"]) == 0
    assert "\n* best. " in capsys.readouterr().out


@pytest.mark.parametrize(
    ("rules", "position", "command"),
    [
        (Lights(9), "OOOOOOOOO 1", "duels solve lights --lights 9 --position 'OOOOOOOOO 1'"),
        (
            QuantumChain(7, 3, max_boards=50),
            "__X?O__ 2 0",
            "duels solve chain --run 3 --max-boards 50 --position '__X?O__ 2 0'",
        ),
        (QuantumChain(), "__X?O__ 2", "duels solve chain --position '__X?O__ 2'"),
        (
            QuantumTiles(side=3, values=3, copies=3, target=8),
            ".../.../... 0,0 11 1",
            "duels solve flip --side 3 --values 3 --copies 3 --target 8 --position '.../.../... 0,0 11 1'",
        ),
    ],
    ids=repr,
)
def test_the_command_for_a_position_can_be_pasted(
    rules: AnyRules, position: str, command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert format_solve_command(rules, position) == command
    assert run(shlex.split(command)[1:]) == 0
    assert capsys.readouterr().out.startswith(f"{rules.name}: {position}\n")


def test_many_actions_are_grouped_by_value(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["solve", "lights", "--lights", "2000"]) == 0
    out = capsys.readouterr().out
    position, *rest_of_it = out.splitlines()
    assert position == f"lights: {'O' * 2000} 1"
    assert max(len(line) for line in rest_of_it) < 300
    best, rest = [line for line in out.splitlines() if "more" in line]
    assert best.startswith("* ")
    assert rest.startswith("  ")
    assert run(["solve", "lights", "--lights", "2000", "--json"]) == 0
    actions = json.loads(capsys.readouterr().out)["actions"]
    assert len(actions) == 2000 + 1999
    assert best.split(" … and ")[1].split()[0] == f"{sum(action['best'] for action in actions) - 8:,}"
    assert run(["solve", "lights", "--lights", "2000", "--all"]) == 0
    assert sum(line.endswith("%") for line in capsys.readouterr().out.splitlines()) == 2000 + 1999


def test_many_different_values_are_cut_off() -> None:
    rules = Lights(50)
    judged = tuple(ActionValue(TurnOff(n, 1), Value(n / 50), n == 50, float(n == 50)) for n in range(1, 51))
    lines = _list_actions(rules, Verdict(Value(1.0), judged), every_action=False)
    assert len(lines) == MAX_LINES + 1
    assert lines[0].split() == ["*", "50", "100.0%"]
    assert lines[-1] == f"  … and {50 - MAX_LINES} more: pass --all to list them"
    assert len(_list_actions(rules, Verdict(Value(1.0), judged), every_action=True)) == 50


def test_leap_lists_the_shortest_paths(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["solve", "leap"]) == 0
    out = capsys.readouterr().out
    assert "Player 1 has 15 shortest paths of 7 turns. The cells on the way:" in out
    assert sum(line.startswith("  1 - 2 - ") for line in out.splitlines()) == 15
    assert "'closest wins' and 'forfeit' never matter" in out
    assert run(["solve", "leap", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert len(answer["shortest_paths"]["paths"]) == answer["shortest_paths"]["count"] == 15
    assert answer["clauses"]["never_matter"] == ["closest wins", "forfeit"]


def test_chain_lists_where_to_accept(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["solve", "chain"]) == 0
    out = capsys.readouterr().out
    assert "Accepting an observation is better than challenging it in 12 positions" in out
    assert "  _X?_O_O 2   55.6%  5/9      52.8%  19/36\n" in out
    assert "declin" not in out.lower()
    assert run(["solve", "chain", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["accepts"]) == 12


@pytest.mark.parametrize(("size", "accepts"), [("5", []), ("9", None)])
def test_json_includes_empty_and_unknown_values(
    size: str, accepts: object, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["solve", "chain", "--cells", size, "--run", "2", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["accepts"] == accepts


def test_a_lost_position_is_called_lost(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["solve", "leap", "--position", "16 20 1"]) == 0
    out = capsys.readouterr().out
    assert "Every move loses against perfect play." in out
    assert "* best." not in out


def test_the_strategy_of_hunt_is_marked_as_estimated(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["solve", "hunt"]) == 0
    out = capsys.readouterr().out
    assert "(an estimate)" in out
    best = [line for line in out.splitlines() if line.startswith("* move")]
    assert len(best) == 7
    assert all("about" in line and "played" in line for line in best)
    assert "points, both seats together" in out


def test_the_legend_of_the_star_does_not_overclaim(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(["solve", "hunt"]) == 0
    out = capsys.readouterr().out
    assert "* best." not in out
    assert "\n* played often by the strategy. " in out


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
