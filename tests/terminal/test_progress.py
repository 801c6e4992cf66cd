"""Every command that computes an oracle reports its progress."""

import io
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import redirect_stderr
from pathlib import Path
from typing import Any

import pytest

from duels.games import GAMES
from duels.games.chain.oracle import ChainOracle
from duels.solving import oracles
from duels.solving.oracle import Check, Oracle, Progress, no_progress
from duels.terminal import screen as screens
from duels.terminal.commands import run
from duels.terminal.screen import Screen

MOST = 30  # seconds


class FakeTerminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> FakeTerminal:
    """Return stderr as a person sees it, with a short interval between reports."""
    monkeypatch.setattr(screens, "_PROGRESS_INTERVAL", 0.01)
    return FakeTerminal()


def wait_for(terminal: FakeTerminal, text: str) -> None:
    give_up = time.monotonic() + MOST
    while text not in terminal.getvalue():
        assert time.monotonic() < give_up, f"{text!r} is not in {terminal.getvalue()!r}"
        time.sleep(0.005)


def test_a_terminal_shows_the_task_and_its_progress(
    terminal: FakeTerminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = [100.0]
    monkeypatch.setattr(screens, "monotonic", lambda: clock[0])
    with redirect_stderr(terminal), Screen().progress("solving") as tell:
        clock[0] += 11.2  # compiled code may have blocked the reports
        wait_for(terminal, "… solving, 11 s")
        tell("13%")
        wait_for(terminal, "… solving: 13%, ")
        tell("x" * 200)
        wait_for(terminal, "x" * 50 + ", 11 s")
    output = terminal.getvalue()
    assert max(map(len, output.split("\r"))) < 80, "a report fits on one line"
    assert output.endswith("\r"), "and is erased at the end"
    assert not output.split("\r")[-2].strip()
    tell("too late")
    assert terminal.getvalue() == output


def test_a_pipe_shows_no_progress(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(screens, "_PROGRESS_INTERVAL", 0.001)
    with Screen().progress("solving"):
        time.sleep(0.02)
    assert capsys.readouterr() == ("", "")


def test_an_interrupt_ends_a_check(terminal: FakeTerminal, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(_: object, progress: Progress) -> Iterator[Check]:
        progress("halfway")
        wait_for(terminal, "… checking: halfway, ")
        yield Check("a first check", True, "done")
        wait_for(terminal, "… checking, ")
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(ChainOracle, "verify", interrupted)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # the test runner may ignore SIGINT
    try:
        with redirect_stderr(terminal):
            assert run(["solve", "chain", "--verify"]) == 130
    finally:
        signal.signal(signal.SIGINT, before)
    assert not terminal.getvalue().split("\r")[-2].strip(), "the report is erased"
    assert signal.set_wakeup_fd(-1) == -1, "the watcher is removed"


def test_an_interrupt_ends_a_long_call_of_compiled_code() -> None:
    step = "hashlib.pbkdf2_hmac('sha256', b'x', b'y', 2**31 - 1)"  # one call of many minutes
    code = f"""
import hashlib
from duels.terminal.signals import interruptible_computation
with interruptible_computation():
    print("begun", flush=True)
    {step}
"""
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout
        assert running.stdout.readline() == "begun\n"
        time.sleep(0.3)
        running.send_signal(signal.SIGINT)
        try:
            assert running.wait(MOST) == 130
        finally:
            running.kill()


def test_items_are_yielded_one_by_one_and_errors_propagate(terminal: FakeTerminal) -> None:
    def things(progress: Progress) -> Iterator[int]:
        yield 1
        wait_for(terminal, "… looking, ")
        progress("halfway")
        wait_for(terminal, "… looking: halfway, ")
        yield 2
        raise ValueError("no more")

    items = Screen().iter_with_progress("looking", things)
    with redirect_stderr(terminal):
        assert [next(items), next(items)] == [1, 2]
        with pytest.raises(ValueError, match="no more"):
            next(items)


@pytest.fixture
def progress_flags(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Return for each new oracle whether it had a progress function."""
    made: list[bool] = []
    for game in GAMES.values():
        make = game.find("oracle", "make_oracle")

        def oracle(rules: Any, progress: Progress, make: Any = make) -> Oracle[Any, Any]:
            made.append(progress is not no_progress)
            made_oracle: Oracle[Any, Any] = make(rules, progress)
            return made_oracle

        monkeypatch.setattr(f"{game.package}.oracle.make_oracle", oracle)
    monkeypatch.setattr(oracles, "_cache", {})
    return made


@pytest.mark.parametrize(
    ("arguments", "entered"),
    [
        (["play", "flip", "--seat2", "perfect"], "quit\n"),
        (["play", "flip"], "hint\nquit\n"),
        (["solve", "flip"], ""),
        (["solve", "flip", "--json"], ""),
        (["solve", "leap", "--verify"], ""),
        (["levels", "lights", "--matches", "2"], ""),
        (["practice", "flip"], "quit\n"),
    ],
)
def test_every_command_reports_the_progress_of_its_oracle(
    arguments: list[str],
    entered: str,
    progress_flags: list[bool],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("DUELS_HOME", str(tmp_path))
    monkeypatch.setattr(sys, "stdin", io.StringIO(entered))
    assert run(arguments) == 0
    assert progress_flags
    assert all(progress_flags)


def test_a_review_reports_its_progress(
    progress_flags: list[bool], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DUELS_HOME", str(tmp_path))
    path = str(tmp_path / "match.duel")
    assert run(["play", "flip", "--seat1", "random", "--seat2", "random", "--save", path]) == 0
    assert run(["review", path]) == 0
    assert progress_flags == [True]
