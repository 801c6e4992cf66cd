"""What an oracle says, in words: values, hints, marks, beliefs."""

import io

import pytest

from duels.analysis.advice import MARKS, belief_strip, hint, how_sure, mark_of, percent, points, shaded
from duels.core.words import plain
from duels.games import find_game
from duels.solving.oracle import Exactness, Value
from duels.terminal.commands import run


@pytest.fixture(autouse=True)
def home(tmp_path: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DUELS_HOME", str(tmp_path))


def test_hint_at_the_prompt(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("hint\n1\nhint\nback\n2\nhint\nback\n1\n4\nquit\n"))
    assert run(["play", "lights"]) == 0
    out = capsys.readouterr().out
    assert "Hint: 4, 2-3 or 5-6 (100.0% to win; for 4 enter 1, then 4)." in out
    assert "(100.0% to win; for 4 enter 4)" not in out  # that is what 4 is called anyway
    assert out.count("Hint: 4, 2-3 or 5-6 (100.0% to win).") == 1
    assert "(100.0% to win; for 4 enter back, then 1, then 4)" in out
    assert "nim-sum" in out
    assert "Turning OFF light 4." in out


def test_marks_cover_every_loss() -> None:
    assert [mark_of(mark.most) for mark in MARKS] == [mark.name for mark in MARKS]
    assert mark_of(0) == "best"
    assert mark_of(1.5) == "blunder"


def test_values_say_how_sure_they_are() -> None:
    assert percent(Value(0.5)) == "50.0%"
    assert percent(Value(0.5, Exactness.BOUND, error=0.001)) == "50.0% ± 0.1 points"
    assert percent(Value(0.5, Exactness.ESTIMATE)) == "about 50.0%"


def test_a_bound_is_in_points_everywhere_and_never_rounded_down() -> None:
    value = Value(0.5, Exactness.BOUND, error=0.000191)
    assert percent(value) == "50.000% ± 0.02 points"
    assert how_sure(value) == "proven to within 0.02 points"
    assert how_sure(Value(0.5, Exactness.BOUND, error=1e-9)) == "proven to within 0.001 points"


def test_a_loss_tells_how_far_it_may_be_off_where_that_shows() -> None:
    assert points(0.0712, Exactness.EXACT) == "7.1 points"
    assert points(0.0712, Exactness.BOUND, 0.0004) == "7.1 points"
    assert points(0.0712, Exactness.BOUND, 0.0101) == "7.1 ± 1.1 points"
    assert points(0.0712, Exactness.ESTIMATE) == "about 7.1 points"


@pytest.mark.parametrize("error", [1e-9, 0.0000076, 0.00019, 0.0009, 0.004, 0.0717])
@pytest.mark.parametrize("number", [0.0, 0.39612345, 0.50196, 0.49949, 1.0])
def test_a_shown_bound_holds_for_the_number_that_is_shown(number: float, error: float) -> None:
    shown, bound = percent(Value(number, Exactness.BOUND, error=error)).split("% ± ")
    low, high = (float(shown) + sign * float(bound.split()[0]) for sign in (-1, 1))
    assert low <= 100 * (number - error) + 1e-9
    assert high >= 100 * (number + error) - 1e-9


def test_a_bound_of_one_point_is_one_point() -> None:
    assert percent(Value(0.5, Exactness.BOUND, error=0.01)) == "50.0% ± 1 point"


def test_a_hint_on_a_challenge_gives_the_rule_of_thumb() -> None:
    room = find_game("chain")
    rules = room.rules()

    def hint_at(position: str) -> str:
        return plain(hint(room.oracle(rules), rules, rules.parse_position(position), room.words(rules)))

    rule = (
        "challenge, unless a free cell beside the symbol in doubt belongs to a chain of 4 that you can still"
    )
    assert f"{rule} make; here none does." in hint_at("?OO_XX_ 1")
    assert f"{rule} make; here one does." in hint_at("_X?_O_O 2")


def test_a_hint_tells_how_often_where_that_matters() -> None:
    room = find_game("hunt")
    rules = room.rules()
    sight = rules.parse_position("1: move 3, observe 4, ?, observe 4, tunnel 2")
    verdict = room.oracle(rules).judge(sight)
    most = max(verdict.actions, key=lambda judged: judged.weight)
    told = plain(hint(room.oracle(rules), rules, sight, room.words(rules)))
    assert told.startswith(f"Hint: mix {rules.format(most.action)} {most.weight:.0%}, ")
    assert f"({percent(verdict.value)} to win)" in told
    assert "about" in percent(verdict.value)


@pytest.mark.parametrize(
    ("game", "position", "told"),
    [
        ("lights", "OXOXXXX 1", "Hint: All actions lose alike (0.0% to win)."),
        ("lights", "OXOXOXX 1", "Hint: All actions win alike (100.0% to win)."),
        ("chain", "_______ 1", "Hint: All actions are equally good (50.0% to win)."),
        ("lights", "OOXXXXX 1", "Hint: 1-2 (100.0% to win; enter 2, then 1)."),
        ("chain", "?OO_XX_ 1", "Hint: challenge (44.4% to win; enter yes)."),
        ("leap", "20 1 1", "Hint: 1 (100.0% to win)."),
        ("leap", "12 1 1", "Hint: All actions win alike, most quickly 2 or 6 (100.0% to win)."),
    ],
)
def test_a_hint_says_where_there_is_nothing_to_choose(game: str, position: str, told: str) -> None:
    room = find_game(game)
    rules = room.rules()
    words = room.words(rules)
    assert plain(hint(room.oracle(rules), rules, rules.parse_position(position), words)).startswith(told)


def test_a_belief_is_drawn_cell_by_cell() -> None:
    assert belief_strip({}) == ""
    strip = belief_strip({"cell 1": 0.0, "cell 2": 0.25, "cell 3": 0.75, "tunnel left": 0.5})
    assert strip == "[ ][░][█]  1: 0%, 2: 25%, 3: 75%, tunnel left: 50%\n"
    assert shaded({"cell 1": 0.0, "cell 2": 0.25, "cell 3": 0.75}, "cell 2") == "[ ](░)[█]"
