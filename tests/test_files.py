"""Atomic files: complete or absent, and no remains of failed writes."""

import errno
import os
import stat
import sys
from pathlib import Path
from unittest import mock

import pytest

from duels import files
from duels.core.errors import DuelsError
from duels.files import open_regular_file, temporary_path, write_atomically

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="has no such modes and pipes")


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("over", [False, True])
def test_a_full_disk_is_reported_and_keeps_the_old_file(over: bool, tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    if over:
        path.write_text("before")
    short = mock.patch.object(os, "write", side_effect=lambda handle, data: len(data) - 1)
    with short, pytest.raises(OSError, match="No space left") as caught:
        write_atomically(path, b"after", over)
    assert caught.value.errno == errno.ENOSPC
    assert caught.value.filename == path
    assert [(file.name, file.read_text()) for file in tmp_path.iterdir()] == [("page.html", "before")] * over


def test_an_existing_name_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "link"
    path.symlink_to(tmp_path / "nowhere")
    with pytest.raises(FileExistsError):
        write_atomically(path, b"after")
    write_atomically(path, b"after", overwrite=True)
    assert (tmp_path / "nowhere").read_bytes() == b"after"
    assert path.is_symlink()


def test_only_files_are_overwritten(tmp_path: Path) -> None:
    """A link may lead to a device, which root could replace."""
    pipe, link = tmp_path / "pipe", tmp_path / "link"
    os.mkfifo(pipe)
    link.symlink_to(pipe)
    with pytest.raises(OSError, match="Not a regular file"):
        write_atomically(link, b"after", overwrite=True, private=True)
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_files_keep_their_modes(tmp_path: Path) -> None:
    path = tmp_path / "file"
    before = os.umask(0o022)
    try:
        write_atomically(path, b"1")
        assert mode_of(path) == 0o644
        path.chmod(0o664)
        write_atomically(path, b"2", overwrite=True)
        assert mode_of(path) == 0o664
        write_atomically(path, b"3", overwrite=True, private=True)
        assert mode_of(path) == 0o600
        write_atomically(tmp_path / "private", b"1", private=True)
        assert mode_of(tmp_path / "private") == 0o600
    finally:
        os.umask(before)


def test_drafts_of_killed_writers_are_removed_later(tmp_path: Path) -> None:
    forgotten, recent = (tmp_path / f".{letter * 16}.draft" for letter in "ab")
    draft = tmp_path / ".notes.draft"
    for path in (forgotten, recent, draft):
        path.write_text("secret")
    for path in (forgotten, draft):
        os.utime(path, (1_000_000_000, 1_000_000_000))
    write_atomically(tmp_path / "file", b"")
    assert {path.name for path in tmp_path.iterdir()} == {recent.name, draft.name, "file"}


def test_unused_drafts_are_removed(tmp_path: Path) -> None:
    with temporary_path(tmp_path / "file") as draft:
        draft.write_text("half")
    assert not list(tmp_path.iterdir())
    with temporary_path(tmp_path / "file") as draft:
        draft.write_text("whole")
        os.replace(draft, tmp_path / "file")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_reading_does_not_wait_for_a_pipe(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(DuelsError, match="not a regular file"), open_regular_file(tmp_path / "pipe"):
        pass


def test_reports_errors_without_a_number(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="of another library") as caught, files.name_file_in_errors(tmp_path):
        raise OSError("of another library")
    assert caught.value.filename == tmp_path
