"""Tables in files: believed only when they prove themselves, made again otherwise."""

from array import array
from pathlib import Path

import pytest

from duels.solving.store import DamagedTable, dump, obtain, parse

NUMBERS = array("H", [0, 1, 65535, 256, 7])


def test_a_file_reads_back() -> None:
    assert parse(dump("squares", NUMBERS), "squares") == NUMBERS


@pytest.mark.parametrize("place", [3, 20, 40, 90, -1])
def test_one_wrong_byte_is_noticed_wherever_it_is(place: int) -> None:
    content = bytearray(dump("squares", NUMBERS))
    content[place] ^= 1
    with pytest.raises(DamagedTable):
        parse(bytes(content), "squares")


@pytest.mark.parametrize("length", [0, 5, 30, 100])
def test_a_cut_file_is_noticed(length: int) -> None:
    with pytest.raises(DamagedTable):
        parse(dump("squares", NUMBERS)[:length], "squares")


def test_another_table_is_not_taken_for_this_one() -> None:
    with pytest.raises(DamagedTable, match="cubes"):
        parse(dump("squares", NUMBERS), "cubes")


class Builder:
    """Counts how often the table had to be made."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self) -> "array[int]":
        self.calls += 1
        return NUMBERS


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DUELS_HOME", str(tmp_path))
    return tmp_path


def test_a_table_is_made_once_and_then_found_in_the_cache(home: Path) -> None:
    build = Builder()
    for _ in range(3):
        assert obtain("squares", "squares.bin", build) == NUMBERS
    assert build.calls == 1
    assert [path.name for path in (home / "cache").iterdir()] == ["squares.bin"]


def test_a_damaged_cache_is_noticed_and_made_good(home: Path, caplog: pytest.LogCaptureFixture) -> None:
    build = Builder()
    obtain("squares", "squares.bin", build)
    path = home / "cache" / "squares.bin"
    path.write_bytes(path.read_bytes()[:-1])
    assert obtain("squares", "squares.bin", build) == NUMBERS
    assert "checksum" in caplog.text
    assert obtain("squares", "squares.bin", build) == NUMBERS
    assert build.calls == 2


def test_the_shipped_table_comes_first_and_a_damaged_one_is_replaced(home: Path, tmp_path: Path) -> None:
    build = Builder()
    shipped = tmp_path / "shipped.bin"
    shipped.write_bytes(dump("squares", NUMBERS))
    assert obtain("squares", "squares.bin", build, shipped) == NUMBERS
    assert build.calls == 0
    assert not (home / "cache").exists()
    shipped.write_bytes(b"nonsense")
    assert obtain("squares", "squares.bin", build, shipped) == NUMBERS
    assert build.calls == 1


def test_a_cache_that_cannot_be_written_costs_nothing_but_time(
    home: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (home / "cache").write_text("a file where the folder should be")
    assert obtain("squares", "squares.bin", Builder()) == NUMBERS
    assert "cannot be written" in caplog.text
