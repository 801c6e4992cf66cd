"""Tables in files: verified when loaded, rebuilt otherwise."""

import os
import subprocess
import sys
from array import array
from hashlib import sha256
from pathlib import Path

import pytest

from duels.solving.store import (
    DamagedTable,
    ShippedTable,
    load_or_build,
    make_cache_key,
    pack_shorts,
    pack_table,
    unpack_shorts,
    unpack_table,
)

TABLE = bytes(range(0, 250, 7))
OTHER = bytes(range(0, 250, 8))


def as_shipped(content: bytes, folder: Path) -> ShippedTable:
    """Write a shipped file that should contain TABLE."""
    path = folder / "shipped.bin"
    path.write_bytes(content)
    return ShippedTable(path, "squares", sha256(TABLE).hexdigest())


def test_a_file_round_trips() -> None:
    assert unpack_table(pack_table("squares", TABLE), "squares") == TABLE


@pytest.mark.parametrize("index", [3, 20, 40, 90, -1])
def test_detects_any_wrong_byte(index: int) -> None:
    content = bytearray(pack_table("squares", TABLE))
    content[index] ^= 1
    with pytest.raises(DamagedTable):
        unpack_table(bytes(content), "squares")


@pytest.mark.parametrize("length", [0, 5, 30, 100])
def test_detects_truncation(length: int) -> None:
    with pytest.raises(DamagedTable):
        unpack_table(pack_table("squares", TABLE)[:length], "squares")


def test_rejects_another_table() -> None:
    with pytest.raises(DamagedTable, match="cubes"):
        unpack_table(pack_table("squares", TABLE), "cubes")


class Builder:
    """Counts how often the table is built."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self) -> bytes:
        self.calls += 1
        return TABLE


def test_tables_are_cached(home: Path) -> None:
    build = Builder()
    for _ in range(3):
        assert load_or_build("squares", "squares.bin", build) == TABLE
    assert build.calls == 1
    assert [path.name for path in (home / "cache").iterdir()] == ["squares.bin"]


def test_a_damaged_cache_is_replaced(home: Path, caplog: pytest.LogCaptureFixture) -> None:
    build = Builder()
    load_or_build("squares", "squares.bin", build)
    path = home / "cache" / "squares.bin"
    path.write_bytes(path.read_bytes()[:-1])
    assert load_or_build("squares", "squares.bin", build) == TABLE
    assert "checksum" in caplog.text
    assert load_or_build("squares", "squares.bin", build) == TABLE
    assert build.calls == 2


@pytest.mark.skipif(sys.platform == "win32", reason="has no such pipes")
def test_does_not_wait_for_a_pipe_in_the_cache(home: Path, caplog: pytest.LogCaptureFixture) -> None:
    (home / "cache").mkdir()
    os.mkfifo(home / "cache" / "squares.bin")
    build = Builder()
    for _ in range(2):
        assert load_or_build("squares", "squares.bin", build) == TABLE
    assert "not a regular file" in caplog.text
    assert "Cannot write" in caplog.text
    assert build.calls == 2, "the pipe is left alone"


def test_the_shipped_table_comes_first(home: Path, tmp_path: Path) -> None:
    build = Builder()
    shipped = as_shipped(pack_table("squares", TABLE), tmp_path)
    assert load_or_build("squares", "squares.bin", build, shipped) == TABLE
    assert build.calls == 0
    assert not (home / "cache").exists()


@pytest.mark.parametrize(
    "damaged",
    [
        b"",
        b"nonsense",
        pack_table("cubes", TABLE),
        pack_table("squares", TABLE)[:-1],
        pack_table("squares", OTHER),
    ],
    ids=["empty", "nonsense", "another", "cut", "altered and signed again"],
)
def test_a_damaged_shipped_table_is_rebuilt_with_a_warning(
    damaged: bytes, home: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    build = Builder()
    shipped = as_shipped(damaged, tmp_path)
    assert load_or_build("squares", "squares.bin", build, shipped) == TABLE
    assert "shipped.bin" in caplog.text
    assert "building the table again" in caplog.text
    caplog.clear()
    assert load_or_build("squares", "squares.bin", build, shipped) == TABLE
    assert build.calls == 1
    assert "using the copy in the cache" in caplog.text
    assert "made again" not in caplog.text


def test_a_cached_copy_must_equal_the_shipped_table(
    home: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Altered and signed again, in the cache as well."""
    (home / "cache").mkdir()
    (home / "cache" / "squares.bin").write_bytes(pack_table("squares", OTHER))
    build = Builder()
    assert load_or_build("squares", "squares.bin", build, as_shipped(b"", tmp_path)) == TABLE
    assert build.calls == 1
    assert "not the one that duels comes with" in caplog.text


def test_a_key_changes_with_the_subject_and_with_every_source(tmp_path: Path) -> None:
    sources = [tmp_path / "one.py", tmp_path / "two.py"]
    for path in sources:
        path.write_text("pass")
    keys = {make_cache_key("a", sources), make_cache_key("b", sources)}
    for path in sources:
        path.write_text("raise")
        keys.add(make_cache_key("a", sources))
    assert len(keys) == 4


def test_rejects_invalid_content_with_a_valid_checksum() -> None:
    packed = b"not packed at all"
    with pytest.raises(DamagedTable, match="unpacked"):
        unpack_table(f"duels table 1: squares\n{sha256(packed).hexdigest()}\n".encode() + packed, "squares")


def test_two_processes_can_build_the_same_table(home: Path) -> None:
    program = (
        "import sys\n"
        "from duels.solving.store import load_or_build\n"
        "def build():\n"
        "    print('building', flush=True)\n"
        "    sys.stdin.readline()\n"
        f"    return {TABLE!r}\n"
        f"assert load_or_build('squares', 'squares.bin', build) == {TABLE!r}\n"
    )
    both = [
        subprocess.Popen(
            [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for _ in range(2)
    ]
    for one in both:
        assert one.stdout
        assert one.stdout.readline() == "building\n", "each found an empty cache"
    for one in both:
        one.communicate("go on\n")
        assert one.returncode == 0
    (path,) = (home / "cache").iterdir()
    assert unpack_table(path.read_bytes(), "squares") == TABLE


def test_works_with_a_read_only_cache(home: Path, caplog: pytest.LogCaptureFixture) -> None:
    (home / "cache").write_text("a file where the folder should be")
    assert load_or_build("squares", "squares.bin", Builder()) == TABLE
    assert "Cannot write" in caplog.text


def test_stored_numbers_are_the_same_on_every_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    numbers = array("H", [1, 258])
    assert pack_shorts(numbers) == (b"\1\0\2\1" if sys.byteorder == "little" else b"\0\1\1\2")
    monkeypatch.setattr(sys, "byteorder", "big" if sys.byteorder == "little" else "little")
    assert unpack_shorts(pack_shorts(numbers)) == numbers
    assert numbers.tolist() == [1, 258]
