"""Arrays kept in the cache directory."""

from pathlib import Path

import numpy as np
import pytest

from duels.solving.cache import Arrays, cached

ARRAYS: Arrays = {"whole": np.arange(6, dtype=np.int8).reshape(2, 3), "real": np.array([0.5, 1 / 3])}


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DUELS_HOME", str(tmp_path))
    return tmp_path


def never() -> Arrays:
    raise AssertionError("these arrays are stored")


def test_arrays_are_computed_once() -> None:
    cached("some", "key", lambda: ARRAYS)
    stored = cached("some", "key", never)
    assert stored.keys() == ARRAYS.keys()
    for name, array in ARRAYS.items():
        assert stored[name].dtype == array.dtype
        assert np.array_equal(stored[name], array)


def test_another_key_or_a_damaged_file_is_computed_anew(home: Path) -> None:
    cached("some", "key", lambda: ARRAYS)
    other = {"whole": np.zeros(1)}
    assert cached("some", "other key", lambda: other) is other
    (path,) = home.rglob("some-key.npz")
    path.write_bytes(path.read_bytes()[:-1] + b"?")
    assert cached("some", "key", lambda: other) is other
    assert np.array_equal(cached("some", "key", never)["whole"], other["whole"])
