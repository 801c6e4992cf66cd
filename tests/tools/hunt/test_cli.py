"""python -m tools.hunt: output, files and interruption."""

import errno
import hashlib
import json
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("numba")

import numpy as np

from duels.core.rules import Seat
from duels.games.hunt.certify.pair_values import SelfPlay
from duels.games.hunt.certify.pomdp import BoundsStep
from duels.games.hunt.self_play import OPENING_SHAPES, PairValues, format_header
from duels.games.hunt.strategy import (
    PATHS,
    STRATEGY_FILE,
    PublicState,
    Tables,
    decode_strategy,
    load_strategy,
)
from duels.solving.oracle import Bounds
from duels.solving.oracle import Progress as Listener
from duels.solving.store import unpack_table
from tools.hunt import progress, rebuild, study
from tools.hunt.__main__ import main
from tools.hunt.progress import Progress, duration

ROOT = Path(__file__).parents[3]


@pytest.fixture(autouse=True)
def every_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """Print every message, however quick."""
    monkeypatch.setattr(progress, "EVERY", 0.0)


class CopyTrainer:
    """A trainer that returns the shipped tables."""

    def __init__(self, seat: Seat) -> None:
        self.seat = seat

    def train(self, *_: object) -> Iterator[tuple[float, float]]:
        yield 0.5, 0.6

    def make_tables(self) -> Tables:
        return load_strategy()[self.seat]


def test_training_writes_only_to_its_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    bounds = {Seat.ONE: Bounds(0.50007, 1.000000001), Seat.TWO: Bounds(0.6, 0.70001)}
    monkeypatch.setattr(
        rebuild, "certify", lambda *_: ((seat, BoundsStep("done", 1.0, b)) for seat, b in bounds.items())
    )
    even = np.broadcast_to(0.5, (400, 400, 8, 8))
    opening = {digits: np.broadcast_to(0.5, shape) for digits, shape in OPENING_SHAPES.items()}
    monkeypatch.setattr(rebuild, "solve_self_play", lambda *_: SelfPlay(dict.fromkeys(Seat, even), opening))
    monkeypatch.setattr(rebuild, "make_trainer", lambda seat, _: CopyTrainer(seat))
    monkeypatch.setattr(rebuild, "add_opening", lambda seat, _: load_strategy()[seat])
    shipped = STRATEGY_FILE.read_bytes()
    folder = tmp_path / "new" / "tables"
    assert main(["train", "--quick", "--out", str(folder)]) == 0
    captured = capsys.readouterr()
    written = sorted(path.name for path in tmp_path.rglob("*") if path.is_file())
    assert written == ["certificate.json", "self_play.bin", "strategy.bin", "tables-1.npz", "tables-2.npz"]
    data = (folder / "strategy.bin").read_bytes()
    assert data == shipped
    table = unpack_table((folder / "self_play.bin").read_bytes(), format_header(data))
    pair, public = PairValues(decode_strategy(data), table), PublicState()
    for observed in (1, 2, 3, 4, 5, 6):
        assert 0.0 <= pair.before_turn(public, PATHS[public.turn][0], PATHS[(observed) // 2][0]) <= 1.0
        public = public.observe(observed)
    assert pair.before_turn(public, (1,), (2,)) == 0.5
    stored = json.loads((folder / "certificate.json").read_text(encoding="utf-8"))
    assert stored.pop("checksum")
    assert stored == {"1": [0.5, 1.0], "2": [0.6, 0.7001], "strategy": hashlib.sha256(data).hexdigest()}
    assert "Player 2, done: a best responder wins" in captured.err
    assert "Player 2, adversary, 0% done, wins" in captured.err
    assert "Player 1, opening, 50% done, wins 40.0% against it" in captured.err
    assert "Not the shipped files: self_play.bin, certificate.json differ." in captured.out
    assert STRATEGY_FILE.read_bytes() == shipped

    assert main(["train", "--quick", "--out", str(folder)]) == 1
    assert "exists already" in capsys.readouterr().err


def test_training_continues_after_finished_tables(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: object) -> None:
        raise AssertionError("the tables exist")

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(rebuild, "make_trainer", stop)
    assert main(["train", "--quick", "--out", str(tmp_path)]) == 130
    monkeypatch.setattr(rebuild, "train_seat", fail)
    assert main(["train", "--quick", "--out", str(tmp_path)]) == 130


def test_checks_the_folder_before_training(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def trained(*_: object, **__: object) -> None:
        raise AssertionError("the work has begun")

    monkeypatch.setattr(rebuild, "rebuild", trained)
    (tmp_path / "file").touch()
    assert main(["train", "--out", str(tmp_path / "file" / "folder")]) == 1
    assert "folder" in capsys.readouterr().err

    def full(**options: object) -> None:
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr(tempfile, "TemporaryFile", full)
    assert main(["train", "--out", str(tmp_path / "folder")]) == 1
    assert "Read-only file system" in capsys.readouterr().err


def test_a_study_reports_progress_and_prints_its_result(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def quick(tell: Listener) -> dict[str, int]:
        tell("a step")
        return {"found": 1}

    monkeypatch.setattr(study, "study", quick)
    assert main(["study", "--json"]) == 0
    captured = capsys.readouterr()
    assert json.loads(captured.out) == {"found": 1}
    assert captured.err == "… 0 s: a step\n"


@pytest.mark.parametrize(("command", "options"), [("train", ["--out", "folder"]), ("study", [])])
def test_names_missing_files(
    command: str, options: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "numba", None)
    for name in list(sys.modules):
        if name.startswith(("tools.hunt.", "duels.games.hunt.certify.")):
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.delattr("tools.hunt.rebuild")
    monkeypatch.delattr("tools.hunt.study")
    assert main([command, *options]) == 1
    needed = "This needs numba: pip install 'duels[fast]', or '.[fast]' in its folder."
    assert capsys.readouterr().err.splitlines()[-1] == f"tools.hunt: {needed}"


@pytest.mark.parametrize("arguments", [[], ["study", "--quick"], ["train"], ["dance"]])
def test_rejects_invalid_arguments(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as refused:
        main(arguments)
    assert refused.value.code == 2
    assert "usage: python -m tools.hunt" in capsys.readouterr().err


def test_help_shows_examples(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--help"])
    assert "python -m tools.hunt train --out strategy" in capsys.readouterr().out


def test_progress_gives_elapsed_and_remaining_time(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    times = iter([100.0, 130.0, 130.5, 160.0])
    monkeypatch.setattr(progress, "EVERY", 2.0)
    monkeypatch.setattr(progress, "monotonic", lambda: next(times))
    tell = Progress()
    tell("a step")
    tell("too soon to be printed")
    tell("another", done=0.25)
    assert capsys.readouterr().err.splitlines() == [
        "… 30 s: a step",
        "… 1 min 00 s, 25% done, about 3 min 00 s left: another",
    ]
    assert duration(59.6) == "1 min 00 s"


def test_long_commands_can_be_interrupted(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "tools.hunt", "train", "--out", str(tmp_path)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as running:
        assert running.stderr
        messages = [running.stderr.readline() for _ in range(2)]
        running.send_signal(signal.SIGINT)
        out, rest = running.communicate()
    assert messages[1].startswith("… ")
    assert "Traceback" not in out + rest
    assert running.returncode == 130


def test_detects_a_study_of_another_strategy(tmp_path: Path) -> None:
    study = json.loads((ROOT / "docs/solved/hunt.json").read_text(encoding="utf-8"))
    old = tmp_path / "hunt.json"
    old.write_text(json.dumps({**study, "strategy": "another"}), encoding="utf-8")
    program = (
        "import sys; sys.path.insert(0, 'docs/solved'); import build; from pathlib import Path; "
        "build.STUDY = Path(sys.argv[1]); build.renew_the_study()"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(old), "--check"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "describes another strategy. Run make solved." in done.stderr
