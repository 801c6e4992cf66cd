"""Files that are written in one step."""

import os
from pathlib import Path

import pytest

from duels.files import write_whole


def test_two_programs_can_write_one_file_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, replace = tmp_path / "file", os.replace

    def be_late(draft: Path, path: Path) -> None:
        with monkeypatch.context() as other:
            other.setattr(os, "getpid", lambda: -1)
            other.setattr(os, "replace", replace)
            write_whole(path, b"theirs")
        replace(draft, path)

    monkeypatch.setattr(os, "replace", be_late)
    write_whole(path, b"ours")
    assert path.read_bytes() == b"ours"
    assert list(tmp_path.iterdir()) == [path]


def test_what_cannot_be_written_leaves_everything_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "file"
    write_whole(path, b"old")

    def fail(draft: Path, path: Path) -> None:
        raise OSError("no room")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="no room"):
        write_whole(path, b"new")
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]
