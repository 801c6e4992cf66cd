"""Hints at the prompt."""

import io

import pytest

from duels.core.words import strip_ink
from duels.games import find_game
from duels.solving.oracles import get_oracle
from duels.terminal.commands import run
from duels.terminal.messages import HintStages

pytestmark = pytest.mark.usefixtures("home")


def test_hint_at_the_prompt(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("hint\nhint\n1\nhint\nback\n2\nhint\nback\n1\n4\nquit\n"))
    assert run(["play", "lights"]) == 0
    out = capsys.readouterr().out
    assert "Hint: Look for a move that leaves groups of equal length" in out
    assert "Hint: 4, 2-3 or 5-6 (100.0% to win; for 4 enter 1, then 4)." in out
    assert "(100.0% to win; for 4 enter 4)" not in out  # the action's name is also its entry
    assert out.count("Hint: 4, 2-3 or 5-6 (100.0% to win).") == 1
    assert "(100.0% to win; for 4 enter back, then 1, then 4)" in out
    assert "nim-sum" in out
    assert "Turning OFF light 4." in out


def test_a_term_is_explained_at_its_first_use(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each of two people has their own hints."""
    monkeypatch.setattr("sys.stdin", io.StringIO("hint\nhint\nhint\nhint\n1\n4\nhint\nhint\nhint\nquit\n"))
    assert run(["play", "lights"]) == 0
    out = capsys.readouterr().out
    assert out.count("(Nim-sum: ") == 2
    assert out.index("nim-sum 2") < out.index("(Nim-sum: ")


@pytest.mark.parametrize(
    ("game", "position", "text"),
    [
        ("lights", "OXOXXXX 1", "Hint: Every move loses against perfect play (0.0% to win)."),
        ("lights", "OXOXOXX 1", "Hint: Every move wins with perfect play (100.0% to win)."),
        ("chain", "_______ 1", "Hint: All actions are equally good (50.0% to win)."),
        ("lights", "OOXXXXX 1", "Hint: 1-2 (100.0% to win; enter 2, then 1)."),
        ("chain", "?OO_XX_ 1", "Hint: challenge (44.4% to win; enter yes)."),
        ("leap", "20 1 1", "Hint: 1 (100.0% to win)."),
        ("leap", "12 1 1", "Hint: Every move wins with perfect play; quickest: 2 or 6 (100.0% to win)."),
        ("leap", "6 12 1", "Hint: Every move loses against perfect play; best try: 1, 3 or 6 (0.0% to win)."),
    ],
)
def test_a_hint_names_the_best_actions_or_says_that_all_are_equal(
    game: str, position: str, text: str
) -> None:
    rules = find_game(game).rules()
    sight, words = rules.parse_position(position), rules.game.words(rules)
    stages, oracle = HintStages(), get_oracle(rules)
    look, advice, reason = (strip_ink(stages.render(sight, words, [], oracle)) for _ in range(3))
    assert look == f"Hint: {oracle.pointer(sight)} Enter hint again for advice.\n"
    assert advice == f"{text} Enter hint again to see why.\n"
    assert reason.startswith(f"{text} ")
    assert "hint again" not in reason


def test_another_decision_starts_at_the_first_stage() -> None:
    rules = find_game("chain").rules()
    words, oracle, stages = rules.game.words(rules), get_oracle(rules), HintStages()
    first, second = rules.parse_position("_______ 1"), rules.parse_position("X______ 2")
    texts = [stages.render(sight, words, [], oracle) for sight in (first, second, second, second, first)]
    assert ["for advice" in text for text in texts] == [True, True, False, False, True]
    assert ["hint again" in text for text in texts] == [True, True, True, False, True]


def test_a_hint_in_a_match_knows_the_opponent(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("hint\nhint\nquit\n"))
    assert run(["play", "chain", "--seat2", "club"]) == 0
    assert "Against club, 4 wins most often (53.4% on this board)." in capsys.readouterr().out
