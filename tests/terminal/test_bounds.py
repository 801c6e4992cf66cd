"""Small files never cause long computations: the error states the limit."""

import os
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from duels.core import record
from duels.core.errors import RecordError, TooLarge
from duels.core.information_sets import estimate_work
from duels.core.match import AnyMatch, Match
from duels.core.record import MAX_RECORDED_NUMBER, dump_record
from duels.core.rules import Seat
from duels.games import find_game, load_record
from duels.play.library import MAX_RECORD_BYTES
from tests.support import HEADERS, duels


def hunted(entries: int, cells: int = 7) -> AnyMatch:
    """Return a match in which both tokens stay in their corners."""
    match: AnyMatch = Match.start(find_game("hunt").rules(cells=cells))
    for number in range(entries):
        corner = (1, cells)[number // 2 % 2]
        match = match.play_text(f"observe {2 + number // 4 % 2}" if number % 2 else f"move {corner}")
    return match


def saved(match: AnyMatch, folder: Path, seat: Seat | None = None) -> Path:
    path = folder / "match.duel"
    path.write_text(dump_record(match, HEADERS, seat), encoding="utf-8")
    return path


def test_records_limit_the_size_of_a_game(tmp_path: Path) -> None:
    path = saved(hunted(4), tmp_path)
    path.write_text(path.read_text().replace("game: hunt\n", "game: hunt\noptions: cells=1000\n"))
    result = duels(tmp_path, "verify", path)
    assert (result.code, result.err) == (
        1,
        f"duels: {path}: line 3: cells must be at most {MAX_RECORDED_NUMBER} in a record.\n",
    )


@pytest.mark.parametrize("command", [("verify",), ("share", "--seat", "1")])
def test_the_copy_of_a_large_game_is_neither_checked_nor_written(
    command: tuple[str, ...], tmp_path: Path
) -> None:
    """Two tokens on 300 cells have 90,000 positions."""
    large = saved(hunted(8, cells=300), tmp_path)
    if command[0] != "share":
        head, _, _ = large.read_text().partition("\n\n")
        entries = ["move 1", "observe 2", "?", "observe 2", "move 1", "observe 3", "?", "observe 3"]
        large.write_text(f"{head}\nseat: 1\n\n" + "".join(f"{entry}\n" for entry in entries))
    result = duels(tmp_path, *command, large)
    assert result.code == 1
    assert result.out == ""
    assert "Too many matches fit what Player 1 saw: " in result.err
    assert result.err.endswith("checking them takes more than 1,000,000 steps.\n")
    assert result.err.count("\n") == 1


def test_records_limit_the_number_of_entries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    match = hunted(12)
    path = saved(match, tmp_path)
    monkeypatch.setattr(record, "MAX_WORK", 11 * estimate_work(1, len(match.rules.all_actions())))
    result = duels(tmp_path, "verify", path)
    line = len(path.read_text().splitlines())
    limit = "a record of hunt with these options has at most 11 entries."
    assert (result.code, result.err) == (1, f"duels: {path}: line {line}: {limit}\n")


def test_solving_limits_the_size_of_chain(tmp_path: Path) -> None:
    match = Match.start(find_game("chain").rules(cells=16)).play_text("3", "9", "5")
    result = duels(tmp_path, "review", saved(match, tmp_path))
    assert (result.code, result.err) == (
        1,
        "duels: chain is solved for up to 13 cells, not for 16.\n",
    )


def test_reviews_limit_the_number_of_entries(tmp_path: Path) -> None:
    match = hunted(2000)
    result = duels(tmp_path, "review", saved(match.resign(Seat.ONE), tmp_path))
    limit = "This match has 2,001 entries; at most 2,000 can be reviewed."
    assert (result.code, result.err) == (1, f"duels: {limit}\n")


def calls(act: Callable[[], Any]) -> int:
    """Count the function calls, which do not depend on the machine."""
    count = 0

    def note(frame: FrameType, event: str, arg: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(note)
    try:
        act()
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.parametrize("command", [("verify",), ("replay",), ("replay", "--seat", "1")])
def test_work_grows_linearly_with_the_entries(command: tuple[str, ...], tmp_path: Path) -> None:
    costs = []
    for entries in (8, 400, 800):  # the first call imports modules
        path = saved(hunted(entries), tmp_path)
        costs.append(calls(partial(duels, tmp_path, *command, path)))
    assert costs[2] < 2.2 * costs[1]


def test_the_cost_of_a_sight_does_not_depend_on_the_length() -> None:
    def cost_after(entries: int) -> int:
        match = hunted(entries)
        match.sight(Seat.ONE)  # caches the history
        longer = match.play_text("move 1")
        return calls(lambda: longer.sight(Seat.ONE))

    assert cost_after(40) == cost_after(800)


def _fifo(path: Path) -> None:
    os.mkfifo(path)


def _huge(path: Path) -> None:
    path.touch()
    os.truncate(path, 1 << 40)


@pytest.mark.skipif(sys.platform == "win32", reason="has no such files")
@pytest.mark.parametrize(
    ("make", "problem"),
    [
        (lambda path: path.symlink_to("/dev/zero"), "this is not a regular file."),
        (_fifo, "this is not a regular file."),
        (Path.mkdir, "this is a folder, not a saved match. List your matches with: duels matches"),
        (_huge, f"a record has at most {MAX_RECORD_BYTES >> 20} MB."),
    ],
    ids=["zeros", "a pipe", "a folder", "a terabyte"],
)
@pytest.mark.parametrize("command", ["verify", "replay", "resume", "review"])
def test_a_file_that_is_not_a_record_is_rejected_at_once(
    command: str, make: Callable[[Path], None], problem: str, tmp_path: Path
) -> None:
    path = tmp_path / "match.duel"
    make(path)
    result = duels(tmp_path, command, path)
    assert (result.code, result.err) == (1, f"duels: {path}: {problem}\n")


def test_a_match_too_long_to_read_is_not_shared(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every record that we write can be read."""
    match = hunted(40)
    text = dump_record(match, seat=Seat.ONE)
    monkeypatch.setattr("duels.core.information_sets.MAX_REPLAY_WORK", 9000)
    with pytest.raises(TooLarge, match="more than 9,000 steps"):
        dump_record(match, seat=Seat.ONE)
    with pytest.raises(RecordError, match="more than 9,000 steps"):
        load_record(text)
