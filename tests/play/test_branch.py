"""Branches: a new match starts with the first entries of a record, which does not change."""

from pathlib import Path

import pytest

import duels
from duels.core.errors import DuelsError
from duels.core.match import AnyMatch
from duels.core.record import dump_record
from duels.core.rules import Seat
from duels.play.library import read_record
from duels.play.new_match import branch
from tests.support import lines_of

ENTRIES = ("B2", "4", "C3", "5", "D4+D5", "2,5", "keep D4")
HEADERS = {
    "seat1": "human",
    "seat2": "casual",
    "seed": "7",
    "chance": "4 5",
    "started": "2026-01-02 03:04 UTC",
}


def save_match(tmp_path: Path, match: AnyMatch, headers: dict[str, str], seat: Seat | None = None) -> Path:
    path = tmp_path / "old.duel"
    path.write_text(dump_record(match, headers, seat), encoding="utf-8")
    return path


@pytest.mark.parametrize("entries", [0, 1, 6, 7])
def test_a_branch_keeps_the_first_entries_and_gets_a_new_seed(tmp_path: Path, entries: int) -> None:
    old = save_match(tmp_path, duels.start("flip").play_text(*ENTRIES), HEADERS)
    before = old.read_bytes()
    branched = branch(old, read_record(old), entries)
    assert lines_of(branched.match) == list(ENTRIES[:entries])
    assert (branched.headers["seat1"], branched.headers["seat2"]) == ("human", "casual")
    assert branched.headers["seed"] != "7"
    assert not branched.headers["chance"]
    assert old.read_bytes() == before


def test_a_finished_match_can_be_branched_before_its_end(tmp_path: Path) -> None:
    match = duels.start("lights", lights=2).play_text("1", "2")
    old = save_match(tmp_path, match, {})
    assert not branch(old, read_record(old), 1).match.over
    with pytest.raises(DuelsError, match=r"can be continued after 0 to 1 entries, not after 2\.$"):
        branch(old, read_record(old), 2)


def test_a_person_replaces_the_bot_to_move(tmp_path: Path) -> None:
    match = duels.start("lights").play_text("1", "2", "3")
    old = save_match(tmp_path, match, {"seat1": "greedy", "seat2": "random"})
    seats = [branch(old, read_record(old), entries).headers for entries in (1, 2)]
    assert [(each["seat1"], each["seat2"]) for each in seats] == [("greedy", "human"), ("human", "random")]


def test_rejects_one_seats_copy(tmp_path: Path) -> None:
    match = duels.start("hunt").play_text("move 3", "observe 5")
    copy = save_match(tmp_path, match, {}, Seat.TWO)
    with pytest.raises(DuelsError, match="holds only what Player 2 saw and cannot be continued"):
        branch(copy, read_record(copy), 1)
