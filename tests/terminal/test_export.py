"""duels export: files and progress."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from duels.analysis import export
from duels.terminal.commands import run
from tests.support import command


def matches_in(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(["export", "lights", "--games", "3", "--player", "casual"]) == 0
    captured = capsys.readouterr()
    assert captured.out == "lights-casual.jsonl\n"
    assert "3 of 3" in captured.err
    assert len(matches_in(tmp_path / "lights-casual.jsonl")) == 3
    assert run(["export", "lights", "--games", "5", "--player", "casual"]) == 0
    assert "already had 3 matches" in capsys.readouterr().err
    assert run(["export", "lights", "--games", "2", "--player", "casual"]) == 0
    assert "already had 5 matches, more than --games 2. All of them are kept." in capsys.readouterr().err
    assert run(["export", "lights", "--out", "lights.csv"]) == 1
    assert ".jsonl or .parquet" in capsys.readouterr().err
    assert run(["export", "lights", "--player", "nobody"]) == 2
    assert run(["export", "lights", "--against", "nobody"]) == 2


@pytest.mark.skipif(sys.platform == "win32", reason="has no such locks")
@pytest.mark.parametrize("out", ["lights.jsonl", "lights.parquet"])
def test_two_exports_to_one_file_do_not_both_succeed(
    out: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    if out.endswith("parquet"):
        pytest.importorskip("pyarrow")
    monkeypatch.chdir(tmp_path)
    command = ["export", "lights", "--games", "3", "--player", "casual", "--out", out]
    codes: list[int] = []
    play_match = export.play_match

    def meanwhile(run_: Any, number: int, *args: Any) -> dict[str, Any]:
        if number == 1 and not codes:
            codes.append(0)
            codes.append(run(command))
        return play_match(run_, number, *args)

    monkeypatch.setattr(export, "play_match", meanwhile)
    assert run(command) == 0
    assert codes == [0, 1]
    assert "is in use by another program." in capsys.readouterr().err
    assert run(command) == 0
    assert "already had 3 matches." in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir() if path.suffix != ""] == [out]


@pytest.mark.skipif(sys.platform == "win32", reason="has no such files")
@pytest.mark.parametrize("device", ["/dev/zero", "/dev/full"])
def test_export_refuses_special_files(
    device: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "lights.jsonl"
    out.symlink_to(device)
    assert run(["export", "lights", "--games", "1", "--out", str(out)]) == 1
    assert capsys.readouterr().err == f"duels: {out}: this is not a regular file.\n"


def test_a_refused_export_leaves_no_empty_file(tmp_path: Path) -> None:
    out = tmp_path / "chain.jsonl"
    assert run(["export", "chain", "--cells", "16", "--out", str(out)]) == 1
    assert not out.exists()


def test_the_limit_of_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for limit, boards in (([], 50), (["--max-boards", "2"], 2)):
        out = ["--games", "1", "--player", "casual", "--out", f"{boards}.jsonl"]
        assert run(["export", "chain", *out, *limit]) == 0
        assert matches_in(tmp_path / f"{boards}.jsonl")[0]["options"] == {"max_boards": boards}
    assert run(["export", "leap", "--max-boards", "2"]) == 2
    assert "--max-boards is an option of chain, not of leap." in capsys.readouterr().err


@pytest.mark.skipif(sys.platform == "win32", reason="has no such limit")
@pytest.mark.parametrize("out", ["lights.jsonl", "lights.parquet"])
def test_a_full_disk_is_named(out: str, tmp_path: Path) -> None:
    import resource

    if out.endswith("parquet"):
        pytest.importorskip("pyarrow")
    result = command(
        tmp_path,
        *("export", "lights", "--games", "3", "--player", "casual", "--out", tmp_path / out),
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000)),
    )
    assert result.returncode == 1
    assert result.stderr.decode().splitlines()[-1].startswith(f"duels: {tmp_path / out}")
    assert not list(tmp_path.glob(".*"))
