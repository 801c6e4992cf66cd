"""A match that is killed at any moment can be resumed without any loss."""

import os
import signal
import subprocess
import time
from pathlib import Path
from random import Random

import pytest

from duels import start
from duels.core.match import AnyMatch
from duels.core.record import dump_record
from duels.core.rules import Seat
from duels.core.words import strip_ink
from duels.play.library import read_record
from duels.play.narrator import Narrator
from tests.support import (
    COMMAND,
    GAME_NAMES,
    chance_of,
    command,
    duels,
    entries_for,
    environment,
    lines_of,
    play_as_table,
    play_randomly,
    words_of,
)
from tests.terminal.terminal import Terminal

PEOPLE = {Seat.ONE: "human", Seat.TWO: "human"}
WITH_MACHINE = {Seat.ONE: "human", Seat.TWO: "random"}
SEED = "a seed 7"


def entered_by_people(match: AnyMatch, who: dict[Seat, str], start: int = 0) -> list[str]:
    """Return the lines that people enter in `match` from turn `start`."""
    people = [seat for seat in Seat if who[seat] == "human"]
    steps = [step for step in match.steps()[start:] if step.last and step.last.actor in people]
    return [line for step in steps for line in entries_for(step)]


def a_match(name: str, who: dict[Seat, str], longest: int = 60) -> AnyMatch:
    """Return a short match as the command would play it."""
    tries = (play_as_table(name, who, SEED, Random(seed)) for seed in range(1000))
    return next(match for match in tries if 6 <= len(match.turns) <= longest)


def play_arguments(name: str, who: dict[Seat, str], path: Path) -> tuple[str | Path, ...]:
    seats = ("--seat1", who[Seat.ONE], "--seat2", who[Seat.TWO])
    return ("play", name, *seats, "--seed", SEED, "--save", path)


def feed_and_kill(folder: Path, arguments: tuple[str | Path, ...], lines: list[str], rng: Random) -> bytes:
    """Enter some lines, then kill -9 the command, perhaps while it handles the last line."""
    process = subprocess.Popen(
        [*COMMAND, *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environment(folder),
    )
    assert process.stdin
    assert process.stdout
    output = process.stdout.read(1)  # the match has started
    for line in lines[: rng.randrange(len(lines) + 1)]:
        process.stdin.write(f"{line}\n".encode())
        process.stdin.flush()
        time.sleep(rng.choice([0, 0, 0.001, 0.003]))
    os.kill(process.pid, signal.SIGKILL)
    output += process.stdout.read()
    process.wait()
    process.stdin.close()
    process.stdout.close()
    return output


@pytest.mark.parametrize(
    ("name", "who"),
    [
        ("hunt", PEOPLE),
        ("flip", WITH_MACHINE),
        *(
            pytest.param(name, who, marks=pytest.mark.slow)
            for name in GAME_NAMES
            for who in (PEOPLE, WITH_MACHINE)
            if (name, who) not in [("hunt", PEOPLE), ("flip", WITH_MACHINE)]
        ),
    ],
)
def test_kill_nine_loses_at_most_the_entry_being_typed(
    name: str, who: dict[Seat, str], tmp_path: Path
) -> None:
    match = a_match(name, who)
    whole = tmp_path / "whole.duel"
    lines = "".join(f"{line}\n" for line in entered_by_people(match, who))
    unbroken = duels(tmp_path, *play_arguments(name, who, whole), entered=lines)
    assert unbroken.code == 0
    assert lines_of(read_record(whole).match) == lines_of(match)

    rng = Random(f"{name} {who}")
    path = tmp_path / "killed.duel"
    output = feed_and_kill(tmp_path, play_arguments(name, who, path), entered_by_people(match, who), rng)
    saved = saved_part(path, match)
    # The screen is never ahead of the file: it shows at most the entry of the next turn.
    assert unbroken.out.startswith(output.decode())
    if not saved.over:
        assert len(output) <= len(screen_when_entered(match.steps()[len(saved.turns)], who))

    while not (saved := saved_part(path, match)).over:
        rest = entered_by_people(match, who, len(saved.turns))
        if rng.random() < 0.5:
            feed_and_kill(tmp_path, ("resume", path), rest, rng)
            continue
        result = command(tmp_path, "resume", path, entered="".join(f"{line}\n" for line in rest).encode())
        assert result.returncode == 0
        # After resuming, the screen equals that of an uninterrupted match.
        assert result.stdout.decode() == unbroken.out
    assert lines_of(saved) == lines_of(match)


def screen_when_entered(after: AnyMatch, who: dict[Seat, str]) -> str:
    """Return the screen when the last decision of `after` is entered, before its narration."""
    people = frozenset(seat for seat in Seat if who[seat] == "human")
    narrator = Narrator(words_of(after), people)
    assert after.previous
    return strip_ink("".join([*narrator.render_match(after.previous), narrator.render_entry(after)]))


def saved_part(path: Path, match: AnyMatch) -> AnyMatch:
    saved = read_record(path).match
    assert lines_of(saved) == lines_of(match)[: len(saved.turns)]
    return saved


@pytest.mark.parametrize("name", ["chain", "flip"])
def test_a_chance_script_continues_after_resuming(name: str, tmp_path: Path) -> None:
    match = play_randomly(play_as_table(name, PEOPLE, "x", Random(2)).steps()[0], Random(11), 30)
    script = chance_of(match)
    assert len(script.split()) >= 3
    lines = entered_by_people(match, PEOPLE)
    path = tmp_path / "scripted.duel"
    play = ("play", name, "--chance", script, "--seed", "another", "--save", path)
    first = lines[: len(entries_for(match.steps()[0]))]
    duels(tmp_path, *play, entered="".join(f"{line}\n" for line in first))
    for _ in range(200):
        saved = read_record(path).match
        rest = entered_by_people(match, PEOPLE, len(saved.turns))
        if not rest:
            break
        # Interrupt after every decision.
        duels(tmp_path, "resume", path, entered="".join(f"{line}\n" for line in rest[:3]))
    assert lines_of(saved)[: len(match.turns)] == lines_of(match)


def test_an_impossible_chance_script_is_reported_and_dropped(tmp_path: Path) -> None:
    path = tmp_path / "match.duel"
    play = ("play", "flip", "--chance", "4 2,5 3", "--seed", "1", "--save", path)
    result = duels(tmp_path, *play, entered="F\nA1\nF\nA2\nF\nA3\nquit\n")
    assert result.code == 0
    notice = "--chance: '2,5' is impossible here (possible: 1, 2, 3, 4, 5). The remaining outcomes are drawn"
    assert result.err.count("--chance") == 1
    assert notice in result.err
    drawn = lines_of(read_record(path).match)[1::2]
    assert drawn[0] == "4"
    shorter = ("play", "flip", "--chance", "4", "--seed", "1")
    with_seed = duels(tmp_path, *shorter, entered="F\nA1\nF\nA2\nF\nA3\nquit\n")
    assert with_seed.out == result.out


@pytest.mark.parametrize("name", GAME_NAMES)
def test_the_same_seed_gives_the_same_match(name: str, tmp_path: Path) -> None:
    play = ("play", name, "--seat1", "random", "--seat2", "greedy", "--seed")
    one, again, other = (duels(tmp_path, *play, seed) for seed in ("5", "5", "6"))
    assert one.code == 0
    assert one.out == again.out
    assert one.out != other.out


def test_quit_and_resume_keep_secrets(tmp_path: Path) -> None:
    """After resuming a match against a machine, the screen shows only the person's secrets."""
    path = tmp_path / "hunt.duel"
    play = ("play", "hunt", "--seat2", "random", "--seed", "3", "--save", path)
    first = duels(tmp_path, *play, entered="MOVE 4\nOBSERVE 7\nquit\n")
    again = duels(tmp_path, "resume", path, entered="board\nquit\n")
    assert again.out.startswith(first.out.removesuffix("quit\n"))
    assert "MOVE 4" in again.out
    assert "(hidden)" in again.out
    assert "Your token is at position 4" in again.out


@pytest.mark.parametrize("leave", ["save", "quit", ""])
def test_a_failed_save_is_never_reported_as_saved(leave: str, tmp_path: Path) -> None:
    """Another program removes the record while the command waits for an entry."""
    path, beside = tmp_path / "match.duel", tmp_path / "match-2.duel"
    with Terminal(tmp_path, "play", "lights", "--save", path) as terminal:
        terminal.answer("> ", "1")
        terminal.answer("> ", "4")
        terminal.ask("> ")
        path.unlink()
        terminal.send(f"{leave}\n" if leave else "\x04")
        if leave == "save":
            terminal.answer("> ", "quit")
        assert terminal.wait() == (0 if leave else 130)
    assert "was changed by another program" in " ".join(terminal.text.split())
    assert lines_of(read_record(beside).match) == ["4"]


@pytest.fixture
def old(tmp_path: Path) -> Path:
    path = tmp_path / "old.duel"
    path.write_text(dump_record(start("lights").play_text("1", "2", "3")), encoding="utf-8")
    return path


def played_on(tmp_path: Path) -> list[list[str]]:
    """Return the entries of each match in the matches folder."""
    return [lines_of(read_record(path).match) for path in (tmp_path / "matches").glob("*.duel")]


def test_a_branch_is_a_new_record(old: Path, tmp_path: Path) -> None:
    before = old.read_bytes()
    result = duels(tmp_path, "resume", old, "--at", "2", entered="1\n5\nquit\n")
    assert result.err.startswith(f"Starting a new match from {old}, after entry 2.\n")
    assert "The match is saved. Continue with: duels resume " in result.err
    assert played_on(tmp_path) == [["1", "2", "5"]]
    assert old.read_bytes() == before


@pytest.mark.parametrize("entries", [0, 2])
def test_a_branch_without_decisions_is_deleted(old: Path, entries: int, tmp_path: Path) -> None:
    result = duels(tmp_path, "resume", old, "--at", str(entries), entered="quit\n")
    assert result.err.endswith("\nNothing was played, so nothing was saved.\n")
    assert played_on(tmp_path) == []


def test_a_refused_branch_leaves_no_file(old: Path, tmp_path: Path) -> None:
    result = duels(tmp_path, "resume", old, "--at", "2", "--board", entered="")
    assert result.code == 1
    assert result.err.startswith("duels: the full-screen board needs a terminal. Leave out --board")
    assert played_on(tmp_path) == []
