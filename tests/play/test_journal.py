"""The record on disk: failures lose nothing, files are not overwritten, one writer at a time."""

import errno
import os
import re
import resource
import subprocess
import tempfile
from pathlib import Path
from random import Random
from unittest import mock

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from duels.core import record
from duels.core.errors import DuelsError, GameOver, RecordError
from duels.core.match import AnyMatch, Match
from duels.core.record import dump_record
from duels.core.rules import Seat
from duels.games import find_game
from duels.play.journal import Journal
from duels.play.library import MAX_RECORD_BYTES, find_last_unfinished, read_record, remember_path
from tests.support import (
    COMMAND,
    GAME_NAMES,
    HEADERS,
    command,
    duels,
    environment,
    home,
    lines_of,
    matches,
    play_randomly,
    sample_record,
)

FRESH = settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)


@pytest.mark.parametrize("name", GAME_NAMES)
def test_files_from_other_systems_can_be_resumed(name: str, tmp_path: Path) -> None:
    path = tmp_path / "crlf.duel"
    path.write_bytes(sample_record(name, 3).replace(b"\n", b"\r\n"))
    match = read_record(path).match
    journal, loaded = Journal.reopen(path)
    assert lines_of(loaded.match) == lines_of(match)
    after = play_randomly(match, Random(1), 10_000)
    for step in after.steps()[len(match.turns) :]:
        journal.add(step)
    assert lines_of(read_record(path).match) == lines_of(after)
    journal.take_back(after.after(2))
    journal.close()
    assert lines_of(read_record(path).match) == lines_of(after)[:2]


@FRESH
@given(matches(resign=False), st.data())
def test_a_journal_grows_and_shrinks_with_the_match(
    tmp_path: Path, match: AnyMatch, data: st.DataObject
) -> None:
    path = Path(tempfile.mkdtemp(dir=tmp_path)) / "match.duel"
    with home(tmp_path), mock.patch.object(os, "fsync"):
        journal = Journal.create(path, Match.start(match.rules), HEADERS)
        for step in match.steps():
            journal.add(step)
        journal.close()
        assert path.read_text() == dump_record(match, HEADERS)
        if match.over:
            return
        journal, _ = Journal.reopen(path)
        count = data.draw(st.integers(0, len(match.turns)))
        journal.take_back(match.after(len(match.turns) - count))
        journal.close()
    entries = lines_of(match)[: len(match.turns) - count]
    assert lines_of(read_record(path).match) == entries


def start_waiting(folder: Path, *arguments: str | Path) -> "subprocess.Popen[bytes]":
    """Start the command and wait for its first prompt."""
    process = subprocess.Popen(
        [*COMMAND, *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(folder),
    )
    assert process.stdout
    output = b""
    while not output.endswith(b"> "):
        more = process.stdout.read(1)
        assert more, output
        output += more
    return process


def test_a_match_is_locked_against_a_second_program(tmp_path: Path) -> None:
    path = tmp_path / "match.duel"
    duels(tmp_path, "play", "lights", "--save", path, entered="1\n7\nquit\n")
    with start_waiting(tmp_path, "resume", path) as first:
        before = path.read_bytes()
        for arguments in (("resume", path), ("resume",)):
            second = command(tmp_path, *arguments, entered=b"1\n1\n")
            assert second.returncode == 1
            assert second.stderr.decode() == f"duels: {path} is being played in another program.\n"
            assert second.stdout == b""
        assert path.read_bytes() == before
        out, _ = first.communicate(b"1\n4\n")
        assert b"Turning OFF light 4." in out
    assert lines_of(read_record(path).match) == ["7", "4"]


def test_never_overwrites_an_existing_file(tmp_path: Path) -> None:
    path = tmp_path / "taken.duel"
    path.write_text("precious")
    result = duels(tmp_path, "play", "lights", "--save", path)
    assert result.code == 2
    assert "already exists" in result.err
    dangling = tmp_path / "link.duel"
    dangling.symlink_to(tmp_path / "nowhere.duel")
    assert duels(tmp_path, "play", "lights", "--save", dangling).code == 1
    assert path.read_text() == "precious"
    assert not (tmp_path / "nowhere.duel").exists()


def test_reports_a_read_only_folder(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    for nowhere in (blocked, tmp_path / "missing"):
        result = duels(tmp_path, "play", "lights", "--save", nowhere / "match.duel")
        assert (result.code, result.out) == (2, "")
        assert f"the folder {nowhere} does not exist" in result.err
    result = duels(blocked, "play", "lights")
    assert (result.code, result.out) == (1, "")
    assert result.err.count("\n") == 1
    refused = OSError(errno.EROFS, os.strerror(errno.EROFS), str(tmp_path / "match.duel"))
    with mock.patch.object(os, "open", side_effect=refused):
        result = duels(tmp_path, "play", "lights", "--save", tmp_path / "match.duel")
    assert (result.code, result.out) == (1, "")
    assert result.err == f"duels: {tmp_path / 'match.duel'}: Read-only file system\n"


def test_a_match_saved_elsewhere_needs_no_home(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    path = tmp_path / "match.duel"
    assert duels(blocked, "play", "lights", "--save", path, entered="1\n4\nquit\n").code == 0
    assert lines_of(read_record(path).match) == ["4"]


def test_a_full_disk_loses_only_the_last_entry(tmp_path: Path) -> None:
    path = tmp_path / "match.duel"
    duels(tmp_path, "play", "lights", "--save", path, "--seed", "1", entered="1-2\nquit\n")
    room = path.stat().st_size + len("3-4\n") + 2  # for one entry and half of the next
    result = command(
        tmp_path,
        *("resume", path),
        entered=b"2\n3\n2\n5\n1\n7\n",
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (room, room)),
    )
    assert result.returncode == 1
    going_on, problem = result.stderr.decode().splitlines()
    assert going_on == f"Resuming {path}."
    assert problem.startswith(f"duels: {path}: ")
    assert problem.endswith("the last entry is not saved")
    assert b"Turning OFF lights 3 and 4." in result.stdout
    assert b"Turning OFF lights 5 and 6." not in result.stdout, "nothing is shown that is not saved"
    assert lines_of(read_record(path).match) == ["1-2", "3-4"]


def test_a_disk_without_room_for_the_header_leaves_no_file(tmp_path: Path) -> None:
    path = tmp_path / "match.duel"
    limit = {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (20, 20))}
    result = command(tmp_path, "play", "lights", "--save", path, entered=b"1\n4\n", **limit)
    assert result.returncode == 1
    assert result.stderr.decode().startswith(f"duels: {path}: ")
    assert not path.exists()


def test_a_closed_pipe_ends_the_program_quietly(tmp_path: Path) -> None:
    path = tmp_path / "match.duel"
    with start_waiting(tmp_path, "play", "lights", "--save", path) as process:
        assert process.stdin
        assert process.stdout
        assert process.stderr
        process.stdout.close()
        process.stdin.write(b"1\n4\n1\n5\n")
        process.stdin.close()
        assert process.wait(timeout=60) == 1
        assert b"Traceback" not in (errors := process.stderr.read()), errors
        assert b"Exception" not in errors
    if path.exists():
        assert lines_of(read_record(path).match) == ["4"]
    path.write_bytes(sample_record("lights", 4))
    for arguments in (["demo"], ["games"], ["rules", "hunt"], ["replay", str(path)]):
        process = subprocess.Popen(
            [*COMMAND, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(tmp_path)
        )
        assert process.stdout
        process.stdout.close()
        _, errors = process.communicate(timeout=60)
        assert errors == b""


def test_closed_streams_count_as_end_of_input(tmp_path: Path) -> None:
    for closing, code in (("<&-", 130), (">&- </dev/null", 130), (">&- 2>&- <&-", 130)):
        script = f'"$0" -c "from duels.terminal.commands import main; main()" play lights {closing}'
        result = subprocess.run(
            ["sh", "-c", script, COMMAND[0]], env=environment(tmp_path), capture_output=True, check=False
        )
        assert result.returncode == code
        assert b"Traceback" not in result.stderr


def test_resume_takes_the_last_match_and_names_damaged_ones(tmp_path: Path) -> None:
    nothing = duels(tmp_path, "resume")
    assert (nothing.code, nothing.out) == (1, "")
    assert nothing.err == "duels: There is no unfinished match. Start one with: duels play GAME\n"
    elsewhere = tmp_path / "else where" / "mine.duel"
    elsewhere.parent.mkdir()
    duels(tmp_path, "play", "lights", "--save", elsewhere, entered="1\n4\nquit\n")
    with (tmp_path / "matches-elsewhere").open("ab") as file:
        file.write(b"\0" + b"x" * 5_000)  # no file can have such a name
    damaged = tmp_path / "matches" / "damaged.duel"
    damaged.parent.mkdir()
    damaged.write_text("duels record 9\n")
    os.utime(damaged, (2**31, 2**31))  # newer than any other
    duels(tmp_path, "play", "lights", "--save", tmp_path / "later.duel", entered="resign\n")
    for entered in ("quit\n", "resign\n"):
        result = duels(tmp_path, "resume", entered=entered)
        assert result.code == 0
        assert f"Skipped {damaged}: line 1: the record has version 9" in result.err
        assert f"Resuming {elsewhere}." in result.err
        assert "Turning OFF light 4." in result.out
    assert duels(tmp_path, "resume").code == 1, "the last one is over now"
    assert damaged.read_text() == "duels record 9\n"
    over = duels(tmp_path, "resume", elsewhere)
    assert over.code == 1
    assert over.err.startswith(f"duels: {elsewhere} is over: Player 2 resigns. Watch it with: duels replay '")


def test_remembers_paths_that_are_not_unicode(tmp_path: Path) -> None:
    path = Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9 \n.duel"))
    with home(tmp_path):
        match = Match.start(find_game("lights").rules())
        journal = Journal.create(path, match, HEADERS)
        journal.add(match.play_text("4"))
        journal.close()
        assert find_last_unfinished(print) == path.resolve()


def test_rejects_unknown_players_and_chance(tmp_path: Path) -> None:
    for header in ("seat2: oracle of delphi", "chance: edge"):
        path = tmp_path / f"{header[:4]}.duel"
        data = f"duels record 1\ngame: chain\n{header}\n\n3\n"
        path.write_text(data)
        result = duels(tmp_path, "resume", path)
        assert (result.code, result.out) == (1, "")
        assert result.err.startswith(f"duels: {path}: ")
        assert result.err.count("\n") == 1
        assert path.read_text() == data


def test_rejects_one_seats_copy(tmp_path: Path) -> None:
    path = tmp_path / "copy.duel"
    path.write_bytes(sample_record("hunt", 5, seat=Seat.ONE))
    result = duels(tmp_path, "resume", path)
    assert result.code == 1
    assert result.err == f"duels: {path} holds only what Player 1 saw and cannot be continued.\n"


def test_an_incomplete_copy_of_one_seat_is_rejected(tmp_path: Path) -> None:
    path = tmp_path / "copy.duel"
    path.write_bytes(sample_record("hunt", 5, seat=Seat.ONE) + b"mo")
    result = duels(tmp_path, "resume", path)
    assert result.err == f"duels: {path} holds only what Player 1 saw and cannot be continued.\n"


OPENED = "duels record 2\ngame: lights\nseed: 1\n\n1\n"


@pytest.mark.parametrize("others", [OPENED + "2\n3\n", OPENED.replace("1\n\n1", "2\n\n1"), None])
def test_keeps_changes_made_before_resuming(others: str | None, tmp_path: Path) -> None:
    path = tmp_path / "match.duel"
    path.write_text(OPENED)
    messages: list[str] = []
    with home(tmp_path):
        journal, opened = Journal.reopen(path, messages.append)
        if others is None:
            path.unlink()
        else:
            path.write_text(others)
        journal.normalize(opened.match)
        journal.close()
    beside = tmp_path / "match-2.duel"
    assert messages == [f"{path} was changed by another program. The match continues in {beside}."]
    assert (path.read_text() if path.exists() else None) == others
    assert beside.read_text() == OPENED


COMMENTED = "duels record 2\ngame: lights\nseed: 1\n\n# a fine day\n7\n# hm\n# really?\n4\n# good\n"


def test_comments_survive_resuming(tmp_path: Path) -> None:
    path = tmp_path / "match.duel"
    path.write_text(COMMENTED)
    duels(tmp_path, "resume", path, entered="quit\n")
    assert path.read_text() == COMMENTED
    duels(tmp_path, "resume", path, entered="1\n1\nquit\n")
    assert path.read_text() == COMMENTED + "1\n"
    duels(tmp_path, "resume", path, entered="undo\nyes\nundo\nyes\n1\n3\nresign\nyes\n")
    after = COMMENTED.partition("4\n")[0] + "3\nresign\n"
    assert path.read_text().startswith(after)
    assert path.read_text().endswith("resigns.\nresult: 2 won, 1 resigned\n")


@pytest.mark.parametrize("change", ["old", "torn", "seedless", "CRLF"])
def test_comments_survive_a_repair(change: str, tmp_path: Path) -> None:
    path = tmp_path / "match.duel"
    damage = {
        "old": COMMENTED.replace("record 2", "record 1"),
        "torn": COMMENTED + "2",
        "seedless": COMMENTED.replace("seed: 1\n", ""),
        "CRLF": COMMENTED.replace("\n", "\r\n") + "\r\n# last\r\n",
    }
    path.write_bytes(damage[change].encode())
    duels(tmp_path, "resume", path, entered="1\n1\nquit\n")
    last = "# last\n" if change == "CRLF" else ""
    assert path.read_text().partition("\n\n")[2] == COMMENTED.partition("\n\n")[2] + last + "1\n"


def test_a_copy_for_one_seat_has_no_comments(tmp_path: Path) -> None:
    path = tmp_path / "match.duel"
    path.write_text(COMMENTED)
    assert "#" not in duels(tmp_path, "share", path, "--seat", "1").out


def test_rejects_entries_beyond_the_size_limit(tmp_path: Path) -> None:
    path = tmp_path / "match.duel"
    room = MAX_RECORD_BYTES - len(OPENED)
    path.write_text(OPENED + f"#{'x' * (room - 4)}\n")
    result = duels(tmp_path, "resume", path, entered="1\n3\n1\n5\nquit\n")
    assert result.code == 1
    assert result.err.endswith(f"duels: {path}: a record has at most 4 MB.\n")
    assert lines_of(read_record(path).match) == ["1", "3"]


@pytest.mark.parametrize(("seed", "mode"), [("", 0o600), ("seed: 1\n", 0o644)])
def test_a_record_with_a_new_seed_is_private(seed: str, mode: int, tmp_path: Path) -> None:
    path = tmp_path / "match.duel"
    path.write_text(f"duels record 1\ngame: lights\n{seed}\n1\n")
    path.chmod(0o644)
    duels(tmp_path, "resume", path, entered="quit\n")
    assert "seed: " in path.read_text()
    assert path.stat().st_mode & 0o777 == mode


def test_an_empty_seed_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "match.duel"
    path.write_text("duels record 2\ngame: lights\nseed:\n\n1\n")
    duels(tmp_path, "resume", path, entered="quit\n")
    assert re.search("seed: [0-9a-f]{32}\n", path.read_text())


def test_resume_ignores_drafts(tmp_path: Path) -> None:
    """A program that was killed leaves one, and it is newer than the match."""
    with home(tmp_path):
        path = tmp_path / "matches" / "match.duel"
        match = Match.start(find_game("lights").rules())
        journal = Journal.create(path, match, HEADERS)
        journal.add(match.play_text("4"))
        journal.close()
        draft = path.with_name(".draft.duel")
        draft.write_bytes(path.read_bytes())
        os.utime(draft, (2**31, 2**31))
        assert find_last_unfinished(print) == path


def test_the_list_of_paths_is_written_atomically(tmp_path: Path) -> None:
    with home(tmp_path):
        places = [tmp_path / "one.duel", tmp_path / "two.duel"]
        for path in places:
            Journal.create(path, Match.start(find_game("lights").rules()), HEADERS).close()
        before = (tmp_path / "matches-elsewhere").read_bytes()
        with mock.patch.object(os, "replace", side_effect=OSError):
            remember_path(tmp_path / "three.duel")
        assert (tmp_path / "matches-elsewhere").read_bytes() == before
        assert not list(tmp_path.glob("matches-elsewhere.*"))


@pytest.mark.parametrize("lost", [1, 3, 13, 20])
def test_an_incomplete_result_line_is_rewritten(lost: int, tmp_path: Path) -> None:
    path = tmp_path / "match.duel"
    whole = dump_record(Match.start(find_game("lights").rules()).play_text("1", "resign"), HEADERS).encode()
    path.write_bytes(whole[:-lost])
    assert duels(tmp_path, "replay", path).code == 1
    result = duels(tmp_path, "resume", path)
    assert result.code == 1
    assert "the last line is incomplete" in result.err.splitlines()[0]
    assert "is over: Player 2 resigns." in result.err.splitlines()[1]
    assert path.read_bytes() == whole
    assert duels(tmp_path, "replay", path).code == 0


def test_syncs_before_showing(tmp_path: Path) -> None:
    """The folders on the way to a new match, and what a program wrote that was killed before it synced."""
    synced: list[int] = []
    with (
        home(tmp_path),
        mock.patch.object(os, "fsync", lambda handle: synced.append(os.fstat(handle).st_ino)),
    ):
        path = tmp_path / "new" / "folders" / "match.duel"
        match = Match.start(find_game("lights").rules())
        Journal.create(path, match, HEADERS).close()
        assert {place.stat().st_ino for place in (path, *path.parents[:3])} <= set(synced)
        synced.clear()
        journal, loaded = Journal.reopen(path)
        journal.normalize(loaded.match)
        journal.close()
        assert path.stat().st_ino in synced


@pytest.mark.parametrize("call", ["lseek", "write", "fsync", "replace"])
def test_an_error_names_the_file_and_leaves_nothing_open(call: str, tmp_path: Path) -> None:
    path = tmp_path / "match.duel"
    match = Match.start(find_game("lights").rules()).play_text("1", "3")
    path.write_text(dump_record(match, HEADERS))
    failure = OSError(errno.EIO, os.strerror(errno.EIO))
    handles = len(os.listdir("/proc/self/fd"))
    with home(tmp_path):
        journal, loaded = Journal.reopen(path)
        journal.normalize(loaded.match)
        adding = call in ("lseek", "write")
        change, to = (journal.add, match.play_text("5")) if adding else (journal.take_back, match.after(1))
        with (
            mock.patch.object(os, call, side_effect=failure),
            pytest.raises(OSError, match="output") as caught,
        ):
            change(to)
        assert caught.value.filename == path
        journal.close()
    assert len(os.listdir("/proc/self/fd")) == handles


def test_an_unreadable_file_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "match.duel"
    match = Match.start(find_game("lights").rules())
    handles = len(os.listdir("/proc/self/fd"))
    stale = OSError(errno.ESTALE, os.strerror(errno.ESTALE))
    with home(tmp_path):
        journal = Journal.create(path, match, HEADERS)
        with mock.patch.object(os, "fstat", side_effect=stale):
            journal.add(match.play_text("1"))
            assert journal.path == tmp_path / "match-2.duel"
            journal.close(keep=False)
    assert len(os.listdir("/proc/self/fd")) == handles
    assert lines_of(read_record(journal.path).match) == ["1"], (
        "a file that may belong to another program is kept"
    )


def test_large_records_can_be_read_back(tmp_path: Path) -> None:
    path = tmp_path / "match.duel"
    result = duels(tmp_path, "play", "lights", "--lights", "1000", "--save", path, entered="1\n4\n")
    assert (result.code, result.out) == (1, "")
    assert result.err == "duels: lights must be at most 999 in a record.\n"
    assert not path.exists()
    match = play_randomly(Match.start(find_game("leap").rules()), Random(3), 10_000)
    with home(tmp_path), mock.patch.object(record, "MAX_WORK", 5 * (25 + len(match.rules.all_actions()))):
        journal = Journal.create(path, Match.start(match.rules), HEADERS)
        for step in match.steps()[:5]:
            journal.add(step)
        with pytest.raises(DuelsError, match="a record has at most"):
            journal.add(match.after(6))
        journal.close()
        assert lines_of(read_record(path).match) == lines_of(match)[:5]
        path.write_text(dump_record(match, HEADERS))
        with pytest.raises(
            RecordError, match="line 13: a record of leap with these options has at most 5 entries"
        ):
            read_record(path)


def test_saving_an_unchanged_match_writes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "match.duel"
    path.write_bytes(sample_record("lights", 3))
    before = path.read_bytes()
    journal, record = Journal.reopen(path)
    journal.ensure_saved(record.match)
    journal.close()
    assert path.read_bytes() == before
    journal, _ = Journal.reopen(path)
    journal.close(keep=False)  # it is not known to be ours
    assert list(tmp_path.glob("*.duel")) == [path]


def test_skips_a_match_that_is_being_removed(tmp_path: Path) -> None:
    with home(tmp_path):
        for name in ("a", "b"):
            (tmp_path / "matches").mkdir(exist_ok=True)
            (tmp_path / "matches" / f"{name}.duel").write_bytes(sample_record("lights", 3))
        look = Path.stat

        def remove_first(path: Path, **options: bool) -> os.stat_result:
            answer = look(path, **options)
            if path.name == "a.duel":
                path.unlink(missing_ok=True)
            return answer

        with mock.patch.object(Path, "stat", remove_first):
            assert find_last_unfinished(lambda text: None) == tmp_path / "matches" / "b.duel"


def test_an_incomplete_agreement_to_stop_can_be_repeated(tmp_path: Path) -> None:
    path = tmp_path / "match.duel"
    match: AnyMatch = Match.start(find_game("chain").rules()).play_text(*"1234567" * 2)
    stopped = match.stop()
    whole = dump_record(stopped, HEADERS)
    start = whole.index("stop by agreement")
    for end in range(start, len(whole)):
        path.write_text(whole[:end])
        if end < start + len("stop by agreement\n"):
            journal, loaded = Journal.reopen(path)
            assert lines_of(loaded.match) == lines_of(match)
            journal.add(stopped)
            journal.close()
        elif whole[end - 1] != "\n":
            with pytest.raises(GameOver, match="agreed to stop"):
                Journal.reopen(path)  # completes the torn line
        else:
            with pytest.raises(GameOver, match="agreed to stop"):
                Journal.reopen(path)
            continue
        assert path.read_text() == whole
