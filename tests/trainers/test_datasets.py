"""The code in docs/environments/datasets.md reads exported data, line by line."""

import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.slow
pytest.importorskip("datasets", reason="make trainers-test installs it")

PAGE = (Path(__file__).parents[2] / "docs" / "environments" / "datasets.md").read_text(encoding="utf-8")
READING = re.findall(r"^    (\w+ = (\w+)\..+)$", PAGE, flags=re.MULTILINE)
GAMES = 4


@pytest.fixture(autouse=True)
def _folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path / "minari"))
    monkeypatch.setattr("datasets.config.HF_DATASETS_CACHE", tmp_path / "cache")


def exported(ending: str) -> None:
    """Run the page's command with this ending, for fewer games."""
    (line,) = re.findall(
        rf"^    duels (export \S+ .*--out {re.escape(ending)})(?: |$)", PAGE, flags=re.MULTILINE
    )
    command = re.sub(r"--games \d+", f"--games {GAMES}", line).split()
    done = subprocess.run([sys.executable, "-m", "duels", *command], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def run_line(line: str, library: str) -> Any:
    namespace: dict[str, Any] = {library: import_module(library)}
    exec(line, namespace)
    return namespace[line.split()[0]]


def test_every_library_of_the_page_is_tested() -> None:
    assert [library for _, library in READING] == ["polars", "pandas", "datasets", "minari"]


@pytest.mark.parametrize(("line", "library"), READING[:3])
def test_libraries_read_rows(line: str, library: str) -> None:
    exported("chain.parquet")
    rows = run_line(line, library)
    if library == "datasets":
        rows = rows["train"]
    numbers = [int(number) for number in rows["number"]]
    assert sorted(set(numbers)) == list(range(GAMES))
    masks, values = ([list(row) for row in rows[name]] for name in ("action_mask", "values"))
    assert {len(mask) for mask in masks} == {len(value) for value in values} == {9}
    assert sum(rows["done"]) == 2 * GAMES  # a last decision of either seat


def test_libraries_read_episodes() -> None:
    exported("duels/chain-club-v0")
    line, library = READING[3]
    dataset = run_line(line, library)
    assert dataset.total_episodes == 2 * GAMES
    assert dataset.recover_environment().observation_space == dataset.observation_space
