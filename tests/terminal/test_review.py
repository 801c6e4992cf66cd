"""duels review on the terminal."""

import json
import re
import resource
import shlex
import sys
from html import unescape
from pathlib import Path
from random import Random
from typing import Any

import pytest

import duels
from duels.core.match import AnyMatch, Match
from duels.core.record import dump_record
from duels.core.rules import Seat
from duels.games import find_game
from duels.solving.oracles import get_oracle
from duels.terminal.commands import run
from tests import support
from tests.analysis.matches import random_match
from tests.analysis.test_review_page import steps_of
from tests.terminal.terminal import Terminal


@pytest.fixture
def record(tmp_path: Path) -> Path:
    path = tmp_path / "match.duel"
    match = duels.start("lights").play_text("1-2", "4", "3", "5-6", "7")
    path.write_text(dump_record(match), encoding="utf-8")
    return path


def test_review_explains_why_the_match_was_lost(record: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["review", str(record)]) == 0
    out = capsys.readouterr().out
    assert (
        "Why you lost, Player 2:\n- Your mistakes cost 200.0 points in total:\n"
        "- Your first move (entry 2: light 4) threw" in out
    )
    assert "You turned off 4, which left runs of 1 and 3, worth 1 and 3, nim-sum 2:" in " ".join(out.split())
    position = re.search(r"\n  Position: (.*)\n", out)
    assert position
    assert run(["solve", "lights", "--position", position[1]]) == 0
    assert max(map(len, out.split("Why you lost")[1].splitlines())) <= 100
    assert "blunder, gave away 100.0 points" in out
    assert "= 100.0, the result." in out
    assert out.rindex("\n\n") < out.index("Why you lost"), "the reasons come last"


def reviewed(tmp_path: Path, match: AnyMatch, *options: str) -> None:
    path = tmp_path / "some.duel"
    path.write_text(dump_record(match), encoding="utf-8")
    assert run(["review", str(path), *options]) == 0


def test_no_move_is_called_best_in_a_lost_position(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    reviewed(tmp_path, duels.start("lights").play_text("4", "1", "7", "2-3", "5-6"))
    lines = capsys.readouterr().out.splitlines()
    assert next(line for line in lines if line.startswith("  1.")).endswith("  best")
    assert next(line for line in lines if line.startswith("  2.")).endswith(
        "  every move loses against perfect play; 6 of Player 1's 8 replies would have lost the match"
    )
    assert "- The game is lost for you from the start if the other player makes no mistake." in lines
    assert "- You made no mistakes." in lines


def test_review_separates_bad_luck_from_mistakes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    match = next(match for seed in range(50) if (match := random_match("chain", Random(seed))).over)
    reviewed(tmp_path, match)
    out = capsys.readouterr().out
    review = duels.review(match)
    assert match.outcome
    assert match.outcome.winner
    loser = match.outcome.winner.other
    against = review.luck if loser is Seat.TWO else -review.luck
    message = f"Luck took {100 * against:.1f}" if against > 0 else f"by {-100 * against:.1f} points"
    assert f"Why you lost, {loser.label}:" in out
    assert message in out


def test_the_command_that_analyses_a_position_can_be_pasted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rules = find_game("lights").rules(lights=9)
    reviewed(tmp_path, Match.start(rules).play_text("1", "9", "2-3", "4", "5", "6-7", "8"))
    out = capsys.readouterr().out
    (command,) = re.findall(r"Analyse the first of these positions with: (.*)\n", out)
    assert command.startswith("duels solve lights --lights 9 --position ")
    assert run(shlex.split(command)[1:]) == 0
    assert capsys.readouterr().out.startswith("lights: ")


def test_printed_commands_use_the_program_name_of_the_user(
    record: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["duels/__main__.py"])
    assert run(["review", str(record)]) == 0
    assert "positions with: python -m duels solve lights --position " in capsys.readouterr().out


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
@pytest.mark.parametrize("columns", [40, 60, 80])
def test_positions_and_commands_to_copy_are_not_wrapped(columns: int, tmp_path: Path) -> None:
    rules = find_game("lights").rules(lights=50)
    match = Match.start(rules).play_text("1", "3", "5", "7").resign(Seat.ONE)
    path = tmp_path / "some.duel"
    path.write_text(dump_record(match), encoding="utf-8")
    with Terminal(tmp_path, "review", path, "--plain", size=(columns, 24)) as terminal:
        assert terminal.wait() == 0
    (position, *_) = re.findall(r"^  Position:\s+(\S+ [12])$", terminal.text, re.MULTILINE)
    command = f"duels solve lights --lights 50 --position '{position}'"
    assert command in terminal.text.splitlines()
    with Terminal(tmp_path, *shlex.split(command)[1:], "--plain", size=(columns, 24)) as terminal:
        assert terminal.wait() == 0
    assert re.match(rf"lights:\s+{position}\n", terminal.text)


# The values of this game are proven only to within several points.
WIDE = ("B1", "4", "A2", "2", "C4", "2", "E4", "3", "D1", "1")


def test_a_decision_not_proven_wrong_shows_its_maximum_loss(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    match = duels.start("flip").play_text(*WIDE, "A4")
    reviewed(tmp_path, match)
    (line,) = (line for line in capsys.readouterr().out.splitlines() if line.startswith(" 11."))
    reviewed(tmp_path, match, "--json")
    moment = json.loads(capsys.readouterr().out)["moments"][10]
    assert (moment["mark"], moment["loss"]) == ("best", 0)
    assert moment["loss_error"] > 0.05
    assert f"  best, gave away at most {100 * moment['loss_error']:.1f} points" in line
    assert "A4" in moment["best"]


def test_a_loss_is_shown_with_its_error_bound(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    match = duels.start("flip").play_text(*WIDE, "A4+A5")
    reviewed(tmp_path, match)
    (line,) = (line for line in capsys.readouterr().out.splitlines() if line.startswith(" 11."))
    before = match.previous
    assert before
    verdict = get_oracle(match.rules).judge(before.sight(Seat.TWO))
    (taken,) = (judged for judged in verdict.actions if match.rules.format(judged.action) == "A4+A5")
    clause = re.search(r"gave away ([0-9.]+) ± ([0-9.]+) points", line)
    assert clause
    loss, error = (float(number) / 100 for number in clause.groups())
    assert loss == pytest.approx(verdict.value.number - taken.value.number, abs=0.0005)
    assert loss - error <= verdict.value.low - taken.value.high
    assert loss + error >= verdict.value.high - taken.value.low


def test_an_unfinished_match_can_be_reviewed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    match = duels.start("chain").play_text("2", "5", "1", "challenge", "tails", "6", "accept", "7")
    reviewed(tmp_path, match)
    out = capsys.readouterr().out
    assert out.startswith("chain: unfinished; the score is the value of the current position.")
    assert (
        "50.0 at the start + 0.0 luck - 8.3 + 0.0 given away = 41.7, the value of the current position."
        in out
    )
    assert "Why" not in out
    reviewed(tmp_path, match, "--json")
    answer = json.loads(capsys.readouterr().out)
    assert answer["finished"] is False
    total = answer["opening"] + answer["luck"] - answer["loss"]["1"] + answer["loss"]["2"]
    assert total == pytest.approx(answer["score"])


def test_a_hunt_shows_both_beliefs_over_time(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    match = duels.start("hunt").play_text(
        *("move 3", "observe 5", "move 6", "observe 1", "move 3", "observe 2", "move 6", "observe 3")
    )
    page = tmp_path / "hunt.html"
    reviewed(tmp_path, match, "--html", str(page))
    out = capsys.readouterr().out
    strips = [line for line in out.splitlines() if re.match(r" +\d+\. [\[(]", line)]
    assert len(strips) == 8
    assert all(len(re.findall(r"[\[(].[\])]", line)) == 14 for line in strips)
    # Before the last entry, Player 1 cannot be on the cell that it observed.
    one_of_two, two_of_one = strips[-1][5:26], strips[-1][29:50]
    assert one_of_two[15] == two_of_one[6] == "("
    assert one_of_two[3:6] == "[ ]"
    assert " All values are estimates." in out
    text = page.read_text(encoding="utf-8")
    assert text.count('<td class="place') == 8 * 14
    assert text.count("●</td>") == 7 + 5  # Player 1 entered with the first entry, Player 2 with the third


def test_review_as_json(record: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["review", str(record), "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert (answer["result"], answer["ending"], answer["winner"]) == ("1 won", "won", 1)
    assert answer["text"].startswith("Player 1")
    assert [moment["entry"] for moment in answer["moments"]] == ["1-2", "4", "3", "5-6", "7"]
    losses = answer["loss"]
    assert answer["opening"] + answer["luck"] - losses["1"] + losses["2"] == pytest.approx(answer["score"])


def line_of(out: str, number: int) -> str:
    return next(line for line in out.splitlines() if line.startswith(f"{number:>3}."))


def test_chances_are_player_1s_and_only_moves_are_marked(
    record: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["review", str(record)]) == 0
    out = capsys.readouterr().out
    assert "Player 1's chance to win, before and after" in out
    assert "0.0% -> 100.0%  blunder" in line_of(out, 2)
    assert line_of(out, 5).endswith("100.0% -> 100.0%  only move")


def test_the_curve_has_an_axis_and_no_gaps(record: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["review", str(record)]) == 0
    lines = capsys.readouterr().out.splitlines()
    bottom = next(line for line in lines if line.startswith("  0% |"))
    axis, numbers = lines[lines.index(bottom) + 1 :][:2]
    assert len(bottom) == len(axis) == 6 + 2 * 6
    assert " " not in bottom[6:]
    assert "▁" in bottom
    assert numbers.split() == ["0", "5", "entries"]


def full_board() -> tuple[str, ...]:
    """Return entries that fill a board without a winner."""
    match: AnyMatch = duels.start("chain")
    cells = iter(("1", "3", "2", "4", "5", "6", "7"))
    entries: list[str] = []
    while not any(event.restarts for turn in match.turns for event in turn.events):
        entry = "accept" if "accept" in map(match.rules.format, match.actions) else next(cells)
        match = match.play_text(entry)
        entries.append(entry)
    return tuple(entries)


def test_new_boards_are_marked_and_a_long_match_is_summarized(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    board = full_board()
    reviewed(tmp_path, duels.start("chain").play_text(*board, "4"))
    lines = capsys.readouterr().out.splitlines()
    first, marker = (number for number, line in enumerate(lines) if "--- board " in line)
    assert (lines[first].strip(), lines[marker].strip()) == ("--- board 1 ---", "--- board 2 ---")
    assert lines[first + 1].startswith("  1.")
    assert lines[marker - 1].startswith(f"{len(board):>3}.")
    oracle, rng = get_oracle(find_game("chain").rules()), Random(5)
    match: AnyMatch = duels.start("chain")
    while not match.over and len(match.turns) < 60:
        actor = match.actor
        best = oracle.judge(match.sight(actor)).best if isinstance(actor, Seat) else match.actions
        assert actor
        match = match.play(actor, rng.choice(best))
    assert len(match.turns) == 60
    reviewed(tmp_path, match)
    out = capsys.readouterr().out
    summed = re.search(r"entries (\d+) to (\d+): nothing given away, no luck, 50.0% throughout", out)
    assert summed
    assert f"\n{summed[1]:>3}. " not in out
    assert re.search(r"throughout; (board \d+ begins|boards 2 to \d+ begin)\n", out)


def test_uneventful_entries_share_a_line_in_a_short_match(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    match = random_match("chain", Random(10))
    moments = duels.review(match).entries
    assert all(moment.indifference for moment in moments[:4])
    assert not moments[4].indifference
    reviewed(tmp_path, match)
    lines = capsys.readouterr().out.splitlines()
    (summed,) = (number for number, line in enumerate(lines) if "entries 1 to 4: " in line)
    assert lines[summed] == "     entries 1 to 4: all actions were equally good, 50.0% throughout"
    assert lines[summed + 1].startswith("  5. ")
    (alone,) = (line for line in lines if line.startswith("  9. "))
    assert alone.endswith("all actions are equally good"), "a single entry has its own line"


def test_estimates_have_no_error_and_positions_can_be_solved(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    reviewed(tmp_path, duels.start("hunt").play_text("move 3", "observe 5", "move 5", "observe 3"), "--json")
    answer = json.loads(capsys.readouterr().out)
    assert answer["error"] is None
    assert [moment["position"] for moment in answer["moments"]][2] == "2: ?, observe 5"


def test_a_copy_for_one_seat_is_not_reviewed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    match = duels.start("hunt").play_text("move 3", "observe 5", "move 5", "observe 3")
    path = tmp_path / "copy.duel"
    path.write_text(dump_record(match, seat=Seat.ONE), encoding="utf-8")
    assert run(["review", str(path)]) == 1
    err = capsys.readouterr().err
    assert "Review the whole record instead" in err
    assert "once it is over" not in err


def test_an_unfinished_hunt_is_not_reviewed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "hunt.duel"
    path.write_text(dump_record(duels.start("hunt").play_text("move 3", "observe 5")), encoding="utf-8")
    assert run(["review", str(path)]) == 1
    assert "once it is over" in capsys.readouterr().err


def test_a_page_of_a_hunt_shows_both_tokens_and_the_same_luck_as_the_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    match = duels.start("hunt").play_text(
        *("move 3", "observe 5", "move 6", "observe 1", "move 3", "observe 2", "move 6", "observe 3")
    )
    page = tmp_path / "hunt.html"
    reviewed(tmp_path, match, "--html", str(page))
    out, steps = capsys.readouterr().out, steps_of(page.read_text(encoding="utf-8"))
    assert [step["board"].count("<figure>") for step in steps] == [1] * 9
    for fact in ("Player 1's token is on 3;", "Player 2's token is on 6;", "Player 1 named 5 last"):
        assert fact in unescape(steps[4]["board"])
    assert "your" not in steps[4]["board"]
    assert len(re.findall('data-key="token-[12]"', steps[4]["board"])) == 2
    parts = 0
    for number in range(1, 9):
        clauses = re.findall(
            r"luck: [+-][0-9.]+ for Player 1|[0-9.]+ points (?:worse|better) than average",
            line_of(out, number),
        )
        parts += len(clauses)
        assert all(part.lower() in steps[number]["text"].lower() for part in clauses), number
        assert len(re.findall("[0-9] for Player 1|than average", steps[number]["text"])) == len(clauses)
    assert parts > 3
    account = " ".join(out.split("Given away")[1].split())
    chosen = r"\d+\.\d points (better|worse) than average"
    both = " ".join(rf"{seat.label}'s choices turned out {chosen}\." for seat in Seat)
    assert re.search(rf"Luck: \S+ for Player 1\. {both}", account)
    assert "perfect play" not in out


def test_the_pages_command_continues_from_the_board(
    record: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = tmp_path / "page.html"
    monkeypatch.chdir(record.parent)
    assert run(["review", record.name, "--html", str(page)]) == 0
    steps = steps_of(page.read_text(encoding="utf-8"))
    assert str(record.resolve()) in shlex.split(steps[3]["here"]), "the command works in any folder"
    played = support.duels(tmp_path, *shlex.split(steps[3]["here"])[1:], entered="1\n5\n")
    assert "States: X X X X O O O" in played.out
    assert "States: X X X X X O O" in played.out


def test_the_pages_command_works_in_any_folder(
    record: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(["review", record.name, "--html", "page.html"]) == 0
    (step, *_) = steps_of((tmp_path / "page.html").read_text(encoding="utf-8"))
    assert shlex.split(step["here"]) == ["duels", "resume", str(record.resolve()), "--at", "0"]


def test_a_page_is_overwritten_only_with_force(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    match = duels.start("lights").play_text("1", "2")
    page = tmp_path / "index.html"
    page.write_text("<!doctype html> somebody's own")
    record = tmp_path / "match.duel"
    record.write_text(dump_record(match), encoding="utf-8")
    command = ["review", str(record), "--html", str(page)]
    assert run(command) == 2
    assert f"--html: {page} already exists. Pass --force to overwrite it." in capsys.readouterr().err
    assert "somebody's own" in page.read_text()
    assert run([*command, "--force"]) == 0
    assert "somebody's own" not in page.read_text()


def test_a_failed_write_leaves_no_partial_page(record: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    arguments = ("review", record, "--html", page)
    limit: dict[str, Any] = {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (5000, 5000))}
    full = support.command(tmp_path, *arguments, **limit)
    assert full.returncode == 1
    assert full.stderr.decode().splitlines()[-1].startswith(f"duels: {page}: ")
    assert not page.exists()
    page.write_text("before")
    assert support.command(tmp_path, *arguments, "--force", **limit).returncode == 1
    assert page.read_text() == "before"
    page.unlink()
    page.symlink_to(tmp_path / "nowhere")
    assert "already exists. Pass --force to overwrite it." in support.duels(tmp_path, *arguments).err
