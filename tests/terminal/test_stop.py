"""The command `stop`: from the third board of chain on, both players may agree to end the match."""

from pathlib import Path

import pytest

from duels.play.library import read_record
from tests.support import GAME_NAMES, CommandResult, duels, lines_of
from tests.terminal.terminal import Terminal

TWO_BOARDS = "1234567" * 2
TOO_EARLY = "You can agree to stop from board 3 on. This is board {}.\n"
STOPPED = "\nThe players agreed to stop. Nobody wins.\n"


def resume(folder: Path, other: str, *entered: str, boards: str = TWO_BOARDS) -> tuple[CommandResult, Path]:
    path = folder / "match.duel"
    header = f"duels record 2\ngame: chain\nseat1: human\nseat2: {other}\nseed: 1\n\n"
    path.write_text(header + "".join(f"{entry}\n" for entry in boards))
    result = duels(folder, "resume", path, entered="".join(f"{line}\n" for line in entered))
    return result, path


@pytest.mark.parametrize("boards", [0, 1])
def test_stop_is_refused_on_the_first_two_boards(tmp_path: Path, boards: int) -> None:
    result, path = resume(tmp_path, "human", "stop", "quit", boards="1234567" * boards)
    assert TOO_EARLY.format(boards + 1) in result.out
    assert not read_record(path).match.over


def test_stop_asks_the_other_person(tmp_path: Path) -> None:
    result, path = resume(tmp_path, "human", "stop", "perhaps", "no", "4", "stop", "yes")
    question = "do you agree to stop? Nobody wins. (yes/no): "
    assert f"Player 2, {question}perhaps\n'perhaps' is neither yes nor no." in result.out
    assert f"Player 2, {question}no\nProposal declined. The match continues.\n" in result.out
    assert f"Player 1, {question}yes\n{STOPPED}" in result.out
    assert result.code == 0
    assert "Board 3" not in result.out, "the book's lines stay"
    assert lines_of(read_record(path).match)[14:] == ["4", "stop by agreement"]
    assert path.read_text().endswith("stop by agreement\n# The players agreed to stop.\nresult: cut off\n")


def test_a_machine_agrees_to_stop_at_the_prompt(tmp_path: Path) -> None:
    result, path = resume(tmp_path, "casual", "stop")
    assert result.out.endswith(f"stop\n{STOPPED}")
    assert "Board 3" not in result.out
    assert read_record(path).match.outcome.code == "cut off"  # type: ignore[union-attr]


def test_a_stopped_match_is_replayed_reviewed_counted_and_not_resumed(tmp_path: Path) -> None:
    _, path = resume(tmp_path, "casual", "stop")
    assert duels(tmp_path, "replay", path).out.endswith(f"{STOPPED}")
    assert "stop by agreement" in duels(tmp_path, "review", path).out
    assert duels(tmp_path, "verify", path).code == 0
    again = duels(tmp_path, "resume", path)
    assert again.code == 1
    assert "is over: The players agreed to stop." in again.err
    assert "cut off" in duels(tmp_path, "matches").out
    stats = duels(tmp_path, "stats", "--json")
    assert '"nobody": 1' in stats.out
    branch = duels(tmp_path, "resume", path, "--at", "14", entered="4\nquit\n")
    assert branch.code == 0


@pytest.mark.parametrize("boards", [1, 2])
def test_help_lists_stop_from_the_third_board_on(tmp_path: Path, boards: int) -> None:
    result, _ = resume(tmp_path, "human", "help", "quit", boards="1234567" * boards)
    assert ("  stop     propose to stop without a winner\n" in result.out) is (boards == 2)


@pytest.mark.parametrize("game", [name for name in GAME_NAMES if name != "chain"])
def test_stop_is_a_wrong_entry_in_other_games(tmp_path: Path, game: str) -> None:
    result = duels(tmp_path, "play", game, entered="stop\nquit\n")
    assert "agree" not in result.out
    assert "stop" in result.out


def test_at_a_terminal_the_board_is_numbered_and_the_person_confirms(tmp_path: Path) -> None:
    _, path = resume(tmp_path, "casual", "quit", boards="1234567" + "123456")
    with Terminal(tmp_path, "resume", path, NO_COLOR="1") as terminal:
        prompt = "Enter the cell number you want to observe: "
        terminal.expect("Board 3. Enter stop to end the match without a winner.\r\n")
        terminal.answer(prompt, "stop")
        terminal.answer("Do you want to stop? Nobody wins. (yes/no): ", "no")
        terminal.expect("\r\nThe match continues.\r\n")
        terminal.answer(prompt, "stop")
        terminal.answer("Do you want to stop? Nobody wins. (yes/no): ", "yes")
        terminal.expect("The players agreed to stop. Nobody wins.\r\n\r\nNobody won.\r\n")
        terminal.press("q quit: ", "q")
        assert terminal.wait() == 0
    assert "Board 4" not in terminal.text


def test_plain_text_has_no_number(tmp_path: Path) -> None:
    _, path = resume(tmp_path, "casual", "quit")
    with Terminal(tmp_path, "resume", path, "--plain") as terminal:
        terminal.answer("Enter the cell number you want to observe: ", "stop")
        terminal.answer("Do you want to stop? Nobody wins. (yes/no): ", "yes")
        terminal.expect("The players agreed to stop. Nobody wins.\r\n")
        terminal.press("q quit: ", "q")
        assert terminal.wait() == 0
    assert "Board 3" not in terminal.text
