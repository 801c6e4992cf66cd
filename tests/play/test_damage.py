"""Damaged records: every command names the line, and the file does not change.

`tests/attack/fuzzing.py` damages records at random.
"""

import json
from pathlib import Path

import pytest

from duels.core.errors import RecordError
from duels.core.record import TornRecord
from duels.core.rules import Seat
from duels.play.library import read_record
from tests.support import GAME_NAMES, duels, lines_of, sample_record


def fault(path: Path) -> RecordError | None:
    try:
        read_record(path)
    except RecordError as error:
        return error
    return None


def check_damaged(folder: Path, data: bytes) -> None:
    """Check that every command names the damage in one line and leaves the file unchanged."""
    path = folder / "damaged.duel"
    path.write_bytes(data)
    error = fault(path)
    if error:
        assert error.line is not None
        assert 1 <= error.line <= data.count(b"\n") + 1
        for arguments in (
            ("verify",),
            ("replay",),
            ("replay", "--seat", "1"),
            ("share", "--seat", "2"),
            *([] if isinstance(error, TornRecord) else [("resume",)]),  # which repairs that
        ):
            result = duels(folder, *arguments, path)
            assert result.code == 1
            assert result.out == ""
            assert result.err.startswith(f"duels: {path}: line {error.line}: "), result.err
            assert result.err.count("\n") == 1, result.err
            assert result.err[:-1].isprintable(), result.err
        result = duels(folder, "verify", "--json", path)
        assert json.loads(result.out) == {"legal": False, "line": error.line, "error": str(error)}
    else:
        assert duels(folder, "verify", path).code == 0
        assert duels(folder, "replay", path).code == 0
    assert path.read_bytes() == data


@pytest.mark.parametrize("name", GAME_NAMES)
@pytest.mark.parametrize("seat", [None, Seat.TWO])
def test_files_truncated_at_every_byte(name: str, seat: Seat | None, tmp_path: Path) -> None:
    data = sample_record(name, 12, seat=seat)
    path = tmp_path / "cut.duel"
    for length in range(len(data)):
        path.write_bytes(data[:length])
        error = fault(path)
        if error:
            assert error.line == data[:length].count(b"\n") + 1
        else:
            match = read_record(path).match
            # Cut between two lines after the header: a record of what had been played until then.
            assert data[:length].endswith(b"\n")
            intact = data[:length].decode().split("\n\n", 1)[1].splitlines()
            entries = [line for line in intact if not line.startswith(("#", "result"))]
            assert len(match.turns) == len(entries)
            if not seat:
                assert lines_of(match) == entries


WRONG = {
    b"": (1, "empty"),
    b"\n\n": (1, "empty"),
    b"\x00\x01\x02": (1, "first line must be"),
    b"\xff\xfe\x00": (1, "not UTF-8 text"),
    b"duels record 1\ngame: lights\n\n1\n\xff\n": (5, "not UTF-8 text"),
    b"PK\x03\x04 zip": (1, "not a duels record"),
    b"duels record 3\ngame: lights\n\n": (1, "version 3"),
    b"duels record\n": (1, "not a duels record"),
    b"duels record 1": (1, "before the empty line"),
    b"duels record 1\n": (2, "before the empty line"),
    b"duels record 1\n\n": (2, "names no game"),
    b"duels record 1\ngame: chess\n\n": (2, "no game 'chess'"),
    b"duels record 1\ngame: lights\ncolour: red\n\n": (3, "not a header line"),
    b"duels record 1\ngame: lights\nseat1\n\n": (3, "not a header line"),
    b"duels record 1\ngame: lights\ngame: lights\n\n": (3, "twice"),
    b"duels record 1\nseat1: human\ngame: lights\noptions: size=3\n\n": (4, "no option 'size'"),
    b"duels record 1\ngame: lights\noptions: lights=many\n\n": (3, "'lights=many' cannot be read"),
    b"duels record 1\ngame: lights\noptions: lights=0\n\n": (3, "lights must be at least 1"),
    b"duels record 1\ngame: lights\noptions: lights=999999999\n\n": (3, "lights must be at most 999"),
    b"duels record 1\ngame: lights\noptions: lights=None\n\n": (3, "'lights=None' cannot be read"),
    b"duels record 1\ngame: chain\noptions: max_boards=0\n\n": (3, "max_boards"),
    b"duels record 1\ngame: hunt\noptions: max_turns=0\n\n": (3, "max_turns"),
    b"duels record 1\ngame: flip\noptions: side=4\n\n": (3, "must equal the number of tiles"),
    b"duels record 1\ngame: flip\noptions: values=None\n\n": (3, "'values=None' cannot be read"),
    b"duels record 1\ngame: lights\nseat: 3\n\n": (3, "the seat must be 1 or 2"),
    b"duels record 1\ngame: lights\n\n8\n": (4, "'8' is not allowed now; allowed: 1, 2"),
    b"duels record 1\ngame: lights\n\nx\n": (4, "Cannot read 'x'"),
    b"duels record 1\ngame: lights\n\n1\n\n2\n": (5, "Cannot read ''"),
    b"duels record 1\ngame: lights\n\n1\n?\n": (5, "Cannot read '?'"),
    b"duels record 1\ngame: lights\n\n1\n1\n2": (5, "not allowed"),
    b"duels record 1\ngame: lights\n\n1\n2": (5, "cut off at '2'"),
    b"duels record 1\ngame: lights\n\n1-2\nresult: Player 1 wins.\n": (5, "but the match is not over"),
    b"duels record 2\ngame: lights\n\nresign\nresult: 1 won, 2 resigned\n": (5, "2 won, 1 resigned"),
    b"duels record 2\ngame: lights\n\nresign\nresult: 2 won\n": (5, "2 won, 1 resigned"),
    b"duels record 2\ngame: lights\n\nforfeit\nresult: 2 won, 1 resigned\n": (5, "2 won, 1 forfeited"),
    b"duels record 2\ngame: lights\nseat1: \x1b[2J\n\n": (3, "unprintable characters"),
    "duels record 2\ngame: lights\nstarted: \u202e2026\n\n".encode(): (3, "unprintable characters"),
    b"duels record 1\ngame: lights\n\nresign\n1\n": (5, "after the end"),
    b"duels record 1\ngame: lights\n\nresign\nresult: Player 1 resigns.\n1\n": (6, "after the result"),
    b"duels record 1\ngame: lights\nseat: 1\n\nresign\n1\n": (6, "after the end"),
    b"duels record 1\ngame: lights\noptions: lights=1\n\n1\n1\n": (6, "after the end"),
    b"duels record 1\ngame: lights\nseat: 1\n\n?\n": (5, "does not fit what Player 1 saw"),
    b"duels record 1\ngame: chain\n\n3\n5\n4\nchallenge\nresign\n": (
        8,
        "Only a player can resign, not chance.",
    ),
    b"duels record 1\ngame: chain\n\n3\nheads\n": (5, "'heads' is not allowed now"),
    b"duels record 1\ngame: hunt\nseat: 1\n\n?\n": (5, "does not fit what Player 1 saw"),
    b"duels record 1\ngame: hunt\nseat: 1\n\nmove 3\nobserve 5\nmove 4\n": (
        7,
        "does not fit what Player 1 saw",
    ),
    b"duels record 1\ngame: flip\n\nA1\n6\n": (5, "'6' is not allowed now"),
}


@pytest.mark.parametrize("data", WRONG, ids=repr)
def test_errors_give_the_damaged_line(data: bytes, tmp_path: Path) -> None:
    line, words = WRONG[data]
    path = tmp_path / "wrong.duel"
    path.write_bytes(data)
    with pytest.raises(RecordError) as caught:
        read_record(path)
    assert caught.value.line == line
    assert words in str(caught.value)
    check_damaged(tmp_path, data)


@pytest.mark.parametrize("torn", [b"2", b"re", b"\xff\x00", b"# Player"])
def test_resume_drops_an_incomplete_last_line(torn: bytes, tmp_path: Path) -> None:
    path = tmp_path / "torn.duel"
    whole = b"duels record 2\ngame: lights\nseed: 7\n\n4\n"
    path.write_bytes(whole + torn)
    result = duels(tmp_path, "resume", path, entered="1\n1\nquit\n")
    assert result.code == 0
    assert "the last line is incomplete and was dropped" in result.err.splitlines()[0]
    assert path.read_bytes() == whole + b"1\n"
