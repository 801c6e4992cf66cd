"""`duels bot check`: its checks and messages."""

import json
from pathlib import Path
from typing import Any

import pytest

from duels.arena import bot_check
from duels.core.rules import Seat
from duels.games import find_game
from duels.players.failures import Answer
from duels.players.program import ProgramLimits
from tests.players.test_program import BAD, GOOD, PYTHON
from tests.support import duels


def test_a_good_bot_passes(tmp_path: Path) -> None:
    result = duels(tmp_path, "bot", "check", f"cmd:{GOOD['shell']}", "--games", "lights,hunt")
    assert result.code == 0
    lines = result.out.splitlines()
    assert len(lines) == 10
    assert all(line.startswith("ok: ") for line in lines)
    assert "example in shell" in lines[0]
    played = [line for line in lines if "plays " in line]
    assert all(line.rpartition("; ")[2] in ("it won", "it lost", "cut off") for line in played)


def test_the_slowest_answer_excludes_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [0.0]

    class SlowToStart:
        def __init__(self, *_: Any) -> None:
            self.runs = False

        def start(self) -> None:
            clock[0] += 0.0 if self.runs else 100.0
            self.runs = True

        def decide(self, sight: Any, rng: Any) -> Answer:
            self.start()
            clock[0] += 1.0
            return Answer(sight.actions[0])

        def close(self) -> None:
            pass

    monkeypatch.setattr(bot_check, "monotonic", lambda: clock[0])
    monkeypatch.setattr(bot_check, "ProgramPlayer", SlowToStart)
    finding = bot_check._play_match("", find_game("lights").rules(), Seat.ONE, ProgramLimits())
    assert "the slowest in 1000 ms" in finding.detail
    assert clock[0] > 200  # including the restart


@pytest.mark.parametrize(
    ("habit", "expected"),
    [
        ("early", "FAILED: sends 'ready' before anything else: unreadable: 'Loading the model...'"),
        ("twice", "FAILED: writes one line per question"),
        ("stays", "FAILED: exits when its input is closed: late: it did not exit and was killed"),
        ("die", "FAILED: plays lights as Player 1: program bad_bot.py gave no move in 3 attempts"),
    ],
)
def test_a_bad_bot_fails_the_right_check(habit: str, expected: str, tmp_path: Path) -> None:
    result = duels(tmp_path, "bot", "check", f"cmd:{PYTHON} {BAD} {habit}", "--games", "lights")
    assert result.code == 1
    assert any(line.startswith(expected) for line in result.out.splitlines())


def test_a_bot_that_never_answers_fails_every_check_of_answers(tmp_path: Path) -> None:
    words = (f"cmd:{PYTHON} {BAD} hang", "--games", "lights", "--move-seconds", "0.05")
    lines = duels(tmp_path, "bot", "check", *words).out.splitlines()
    assert "FAILED: answers a question: late: no answer came in time. Does it flush its output?" in lines
    assert "FAILED: writes one line per question: empty: no question was answered." in lines


def test_the_findings_as_json(tmp_path: Path) -> None:
    program = f"cmd:{GOOD['shell']}"
    findings = json.loads(duels(tmp_path, "bot", "check", program, "--games", "lights", "--json").out)
    assert {"check", "passed", "detail"} == set(findings[0])
    assert all(each["passed"] for each in findings)


def test_only_a_command_can_be_checked(tmp_path: Path) -> None:
    result = duels(tmp_path, "bot", "check", "club")
    assert result.code == 2
    assert 'pass the program as "cmd:COMMAND"' in result.err
