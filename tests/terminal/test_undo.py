"""Takebacks: between people by consent, against a machine only if nothing was revealed."""

from pathlib import Path

import pytest

from duels.play.library import read_record
from tests.support import GAME_NAMES, CommandResult, duels, lines_of

REFUSED = "You cannot take this back: it revealed hidden information or a chance outcome.\n"
NOTHING = "You have no decision to take back.\n"


def play(folder: Path, game: str, *options: str, entered: str) -> tuple[CommandResult, list[str]]:
    """Play the entries (separated by /) and quit. Return the screen and the entries of the record."""
    path = folder / f"{len(list(folder.glob('*.duel')))}.duel"
    lines = "".join(f"{line.strip()}\n" for line in entered.split("/")) + "quit\n"
    result = duels(folder, "play", game, *options, "--save", str(path), entered=lines)
    assert result.code == 0, result.err
    if not path.exists():
        assert result.err == "\nNothing was played, so nothing was saved.\n"
        return result, []
    assert lines_of(read_record(path).match) == path.read_text().split("\n\n", 1)[1].splitlines()
    return result, lines_of(read_record(path).match)


@pytest.mark.parametrize("game", GAME_NAMES)
def test_before_the_first_decision_there_is_nothing_to_take_back(tmp_path: Path, game: str) -> None:
    result, entries = play(tmp_path, game, entered="undo")
    assert NOTHING in result.out
    assert entries == []


@pytest.mark.parametrize(
    ("game", "entered"),
    [
        ("lights", "4-5 / 1 / 1"),
        ("leap", "1 / 1"),
        ("chain", "1 / 7"),
        ("hunt", "MOVE 3"),
        ("flip", "A1 / A2"),
    ],
)
def test_between_two_people_the_other_must_always_agree(tmp_path: Path, game: str, entered: str) -> None:
    _, before = play(tmp_path, game, entered=entered)
    result, entries = play(tmp_path, game, "--seed", "1", entered=f"{entered} / undo / no")
    assert "Player 2, do you agree to take it back? (yes/no): no\nTakeback refused.\n" in result.out
    assert len(entries) == len(before)
    result, entries = play(tmp_path, game, entered=f"{entered} / undo / yes")
    assert "Taken back: " in result.out
    assert len(entries) < len(before)


def test_undo_also_drops_the_opponents_later_decision(tmp_path: Path) -> None:
    result, entries = play(tmp_path, "lights", entered="1 / 4 / 2 / 1 / undo / yes / 1 / 7")
    assert "Taken back: 2 entries.\n" in result.out
    assert entries == ["7"]
    result, entries = play(tmp_path, "lights", entered="1 / 4 / undo")
    assert NOTHING in result.out, "Player 2 has decided nothing yet"
    assert entries == ["4"]


def test_undo_in_the_middle_of_an_entry_and_more_than_once(tmp_path: Path) -> None:
    _, entries = play(tmp_path, "lights", entered="1/1 / 1/2 / 1/3 / 1/4 / 1/undo/yes / undo/yes / 1/7")
    assert entries == ["7"]


def test_an_automatic_turn_is_no_decision(tmp_path: Path) -> None:
    result, entries = play(tmp_path, "leap", entered="1 / 1 / undo / yes / undo")
    assert "Taken back: 2 entries.\n" in result.out
    assert result.out.count(NOTHING) == 1
    assert entries == [], "a match without decisions is not saved"


def test_undo_also_drops_the_machines_answer(tmp_path: Path) -> None:
    options = ("--seat2", "random", "--seed", "1")
    result, entries = play(tmp_path, "lights", *options, entered="1 / 4 / undo")
    assert "Taken back: 2 entries.\n" in result.out
    assert entries == []
    played_on, again = play(tmp_path, "lights", *options, entered="1 / 4 / undo / 1 / 4")
    straight_on, straight = play(tmp_path, "lights", *options, entered="1 / 4")
    assert again == straight, "a machine's move does not depend on takebacks"
    assert len(played_on.out) > len(straight_on.out)


CHALLENGED = "3 / 5 / 4 / yes"  # flips a coin


def test_a_coin_is_taken_back_only_if_the_other_person_agrees(tmp_path: Path) -> None:
    chance = ("--chance", "heads tails")
    coin = ["3", "5", "4", "challenge", "heads"]
    ask = "Player 1, do you agree to take it back? (yes/no): "
    result, entries = play(tmp_path, "chain", *chance, entered=f"{CHALLENGED} / undo / no")
    assert f"{ask}no\nTakeback refused.\n" in result.out
    assert entries == coin
    result, entries = play(tmp_path, "chain", *chance, entered=f"{CHALLENGED} / undo / maybe / / YES")
    assert "'maybe' is neither yes nor no. Please enter yes or no.\n" in result.out
    assert "Taken back: 2 entries.\n" in result.out
    assert entries == coin[:3]
    result, entries = play(tmp_path, "chain", *chance, entered=f"{CHALLENGED} / undo / yes / yes")
    assert entries == coin, "the same position gives the same coin"


def test_an_accepted_observation_can_be_taken_back(tmp_path: Path) -> None:
    """Against a machine, an accepted observation without a coin can be taken back."""
    result, entries = play(tmp_path, "chain", entered="3 / 5 / 4 / no / undo / yes")
    assert "Taken back: 1 entry.\n" in result.out
    assert entries == ["3", "5", "4"]


@pytest.mark.parametrize(
    ("game", "options", "entered"),
    [
        ("chain", ("--seat1", "greedy", "--chance", "heads"), "1 / yes"),
        ("flip", ("--seat2", "random"), "F / B2"),
        ("flip", ("--seat2", "random", "--chance", "2,5"), "Q / D4 / D5"),
        ("hunt", ("--seat2", "random"), "MOVE 4 / OBSERVE 7"),
    ],
)
def test_against_a_machine_revealed_information_is_not_taken_back(
    tmp_path: Path, game: str, options: tuple[str, ...], entered: str
) -> None:
    options = (*options, "--seed", "3")
    _, before = play(tmp_path, game, *options, entered=entered)
    result, after = play(tmp_path, game, *options, entered=f"{entered} / undo")
    assert after == before
    assert REFUSED in result.out


def test_a_hidden_move_can_be_taken_back(tmp_path: Path) -> None:
    options = ("--seat2", "random", "--seed", "3")
    result, entries = play(tmp_path, "hunt", *options, entered="MOVE 4 / undo / MOVE 6")
    assert "Taken back: 1 entry.\n" in result.out
    assert entries == ["move 6"]


def test_an_answer_in_hunt_needs_the_others_agreement(tmp_path: Path) -> None:
    entered = "MOVE 4 / OBSERVE 7 / MOVE 1 / undo / yes"
    result, entries = play(tmp_path, "hunt", entered=f"{entered} / undo")
    assert result.out.count("Taken back: 1 entry.\n") == 1, "Player 2's own move"
    assert NOTHING in result.out
    assert entries == ["move 4", "observe 7"]
    entered = "MOVE 4 / OBSERVE 7 / MOVE 1 / OBSERVE 7 / undo"
    _, entries = play(tmp_path, "hunt", entered=f"{entered} / yes / OBSERVE 2")
    assert entries == ["move 4", "observe 2"]


def test_flip_needs_consent_to_turn_tiles_back(tmp_path: Path) -> None:
    chance = ("--chance", "2,5 3")
    result, entries = play(tmp_path, "flip", *chance, entered="Q / D4 / D5 / undo / yes / F / A1")
    assert "Player 2, do you agree to take it back?" in result.out
    assert entries[0] == "A1"
    assert len(entries) == 2


def test_a_takeback_lasts_after_resuming(tmp_path: Path) -> None:
    path = tmp_path / "match.duel"
    duels(tmp_path, "play", "lights", "--save", path, entered="1\n1\n1\n2\n1\n3\nquit\n")
    result = duels(tmp_path, "resume", path, entered="undo\nyes\n1\n7\nquit\n")
    assert "Taken back: 2 entries.\n" in result.out
    assert lines_of(read_record(path).match) == ["1", "7"]
    replay = duels(tmp_path, "replay", path).out
    assert "Turning OFF light 7." in replay
    assert "Turning OFF light 2." not in replay
