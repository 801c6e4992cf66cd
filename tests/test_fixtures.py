"""Users' files stay readable: today's code writes the files in tests/fixtures and loads old ones."""

import json
import shutil
from pathlib import Path

import duels_tictactoe
import pytest

from duels.core.record import dump_record
from duels.core.rules import Seat
from duels.games import load_record
from tests.fixtures.build import SECTIONS, committed_files
from tests.fixtures.files import HERE, committed
from tests.support import duels

RECORDS = sorted([*(HERE / "records").glob("*.duel"), *(HERE / "journals").glob("*.duel")])


@pytest.mark.parametrize("section", SECTIONS)
def test_files_equal_the_fixtures(section: str, tmp_path: Path) -> None:
    files = SECTIONS[section](tmp_path)
    assert sorted(files) == committed_files(section)
    for path, content in files.items():
        assert content.decode() == (HERE / path).read_text(encoding="utf-8"), path


@pytest.mark.parametrize("path", RECORDS, ids=lambda path: path.stem)
def test_old_records_load(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    record = load_record(text, duels_tictactoe.GAME if path.stem.startswith("tictactoe") else None)
    if record.version == 1:
        assert record.match.outcome
        assert record.match.outcome.reason in text
    else:
        assert dump_record(record.match, record.headers, record.seat, record.comments) == text
    if record.seat:
        assert record.seat in Seat
        assert f"seat: {record.seat.value}\n" in text


def test_old_matches_continue(tmp_path: Path) -> None:
    """A match that was left is resumed, and ends as the one that was not left."""
    for name, content in committed("journals", "*-left.duel").items():
        path = tmp_path / name
        path.write_bytes(content)
        result = duels(tmp_path, "resume", path, entered="resign\nyes\n")
        assert result.code == 0, result
        assert path.read_bytes() == (HERE / "journals" / name.replace("left", "resigned")).read_bytes()


@pytest.mark.parametrize("name", ["run", "probe-lights"])
def test_runs_without_digests_load(name: str, tmp_path: Path) -> None:
    result = duels(tmp_path, "arena", "report", HERE / "runs_before_digests" / name, "--json")
    assert result.out == (HERE / "runs_before_digests" / f"{name}.json").read_text(encoding="utf-8")


@pytest.mark.parametrize("section", ["arena", "runs_before_digests"])
def test_old_runs_continue(section: str, tmp_path: Path) -> None:
    """A run that is asked for more plays only what is new."""
    shutil.copytree(HERE / section / "part-1", tmp_path / "part-1")
    before = (tmp_path / "part-1" / "log-1-of-2-1.jsonl").read_bytes()
    expected = {"players": ["random", "club"], "games": ["lights", "hunt"]}
    config = "".join(f"{name} = {json.dumps(value)}\n" for name, value in expected.items())
    (tmp_path / "more.toml").write_text(f"{config}matches = 8\n[options.hunt]\nmax_turns = 6\n")
    options = ("--shard", "1/2", "--workers", "1", "--out", tmp_path / "part-1")
    result = duels(tmp_path, "arena", "run", tmp_path / "more.toml", *options)
    assert result.code == 0, result
    logs = sorted((tmp_path / "part-1").glob("log-*.jsonl"))
    played = b"".join(log.read_bytes() for log in logs)
    assert before in played
    keys = [json.loads(line)["key"] for line in played.splitlines()]
    assert len(keys) == len(set(keys)) == 2 * before.count(b"\n")
