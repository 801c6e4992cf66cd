"""solve hunt --train, --study and --verify: what they print, what they write, and how they stop."""

import errno
import hashlib
import io
import json
import signal
import subprocess
import sys
import tempfile
from collections.abc import Generator
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pytest

from duels.core.rules import Seat
from duels.games.hunt import certificate, rebuild, strategy, study
from duels.games.hunt.rules import QuantumHunt
from duels.games.hunt.strategy import DATA, unpack
from duels.solving.pomdp import Bounds
from duels.solving.pomdp import Progress as Step
from duels.solving.progress import heard_by, tell
from duels.terminal import patience
from duels.terminal import screen as screens
from duels.terminal.commands import run
from duels.terminal.progress import Progress, duration
from duels.terminal.screen import Screen
from tests.terminal.test_patience import FakeTerminal, wait_for

ROOT = Path(__file__).parent.parent.parent


def test_the_strategy_is_never_called_optimal(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["solve", "hunt", "--position", "1: move 3, observe 5, ?, observe 2"]) == 0
    out = capsys.readouterr().out
    assert "certified to give away at most" in out
    assert "The game's value to Player 1 lies between" in out
    assert "played" in out
    assert "optimal" not in out


def test_training_writes_only_where_it_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("numba")
    found = {Seat.ONE: Bounds(0.50007, 1.000000001), Seat.TWO: Bounds(0.6, 0.70001)}
    monkeypatch.setattr(
        rebuild, "certify", lambda *_: ((seat, Step("done", 1.0, b)) for seat, b in found.items())
    )
    shipped = DATA.read_bytes()
    folder = tmp_path / "new" / "tables"
    assert run(["solve", "hunt", "--train", "--quick", "--out", str(folder)]) == 0
    captured = capsys.readouterr()
    written = sorted(path.name for path in tmp_path.rglob("*") if path.is_file())
    assert written == ["certificate.json", "strategy.bin"]
    data = (folder / "strategy.bin").read_bytes()
    assert unpack(data)
    stored = json.loads((folder / "certificate.json").read_text(encoding="utf-8"))
    assert stored.pop("checksum")
    assert stored == {"1": [0.5, 1.0], "2": [0.6, 0.7001], "strategy": hashlib.sha256(data).hexdigest()}
    assert "Player 2, certificate, done, a best responder wins 60.0 to 70.1 %" in captured.err
    assert "Not the shipped strategy" in captured.out
    assert "Player 2, adversary 1 of 1" in captured.err
    assert DATA.read_bytes() == shipped

    assert run(["solve", "hunt", "--train", "--quick", "--out", str(folder)]) == 1
    assert "exists already" in capsys.readouterr().err


@pytest.mark.slow
def test_what_is_written_can_be_shipped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("numba")
    assert run(["solve", "hunt", "--train", "--quick", "--out", str(tmp_path)]) == 0
    monkeypatch.setattr(strategy, "DATA", tmp_path / "strategy.bin")
    monkeypatch.setattr(strategy, "CLAIM", tmp_path / "certificate.json")
    assert strategy.shipped.__wrapped__()
    claim = certificate.claimed().against
    assert all(0.4 < claim[seat].low < claim[seat].high <= 1.0 for seat in Seat)


def test_training_without_a_folder_writes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("numba")
    monkeypatch.chdir(tmp_path)
    assert run(["solve", "hunt", "--train", "--quick", "--seed", "5"]) == 0
    told = capsys.readouterr().err
    assert "Nothing is written" in told
    assert "the same comes out for every seed" in told
    assert not list(tmp_path.iterdir())


def test_a_folder_that_cannot_be_written_is_found_out_before_the_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("numba")

    def trained(quick: bool, certifying: bool) -> None:
        raise AssertionError("the work has begun")

    monkeypatch.setattr(rebuild, "rebuild", trained)
    (tmp_path / "file").touch()
    assert run(["solve", "hunt", "--train", "--out", str(tmp_path / "file" / "folder")]) == 1
    assert "folder" in capsys.readouterr().err

    def full(**options: object) -> None:
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr(tempfile, "TemporaryFile", full)
    assert run(["solve", "hunt", "--train", "--out", str(tmp_path / "folder")]) == 1
    assert "Read-only file system" in capsys.readouterr().err


def test_a_study_says_how_far_it_is_within_its_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("numba")
    from duels.games.hunt.habits import HABITS, of_weights
    from duels.solving.pairs import meet
    from duels.solving.simulation import simulate

    told: list[str] = []
    with heard_by(told.append):
        meet(of_weights(HABITS["sweeps"], Seat.ONE), of_weights(HABITS["sweeps"], Seat.TWO))
        assert told[0] == "turn 1, 1 of the games left"
        assert len(told) > 5
        told.clear()
        rules = QuantumHunt()
        simulate(rules, dict.fromkeys(Seat, lambda sight: [1.0] * len(sight.actions)), 101, seed=1)
        assert told == ["match 0 of 101", "match 100 of 101"]

    def slow() -> Generator[str, None, dict[str, int]]:
        yield "a step"
        tell("halfway")
        wait_for(terminal, "… studying: halfway")
        return {"found": 1}

    terminal = FakeTerminal()
    monkeypatch.setattr(screens, "_REMIND_EVERY", 0.01)
    monkeypatch.setattr(study, "study", slow)
    with redirect_stderr(terminal), redirect_stdout(io.StringIO()) as out:
        assert run(["solve", "hunt", "--study", "--json"]) == 0
    assert json.loads(out.getvalue()) == {"found": 1}


@pytest.mark.parametrize("option", ["--train", "--study", "--verify"])
def test_what_is_missing_is_named(
    option: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "numba", None)
    for name in ("hide_and_seek", "pairs", "pomdp_kernels"):
        monkeypatch.delitem(sys.modules, f"duels.solving.{name}", raising=False)
    assert run(["solve", "hunt", option]) == 1
    *before, error = capsys.readouterr().err.splitlines()
    assert not before, "nothing is promised first"
    assert error == "duels: This needs numba: pip install 'duels[fast]', or '.[fast]' in its folder."


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["lights", "--train"], 1, "computed, not learned"),
        (["chain", "--study"], 1, "computed, not learned"),
        (["hunt", "--quick"], 2, "go with --train"),
        (["hunt", "--out", "somewhere"], 2, "go with --train"),
        (["hunt", "--train", "--study"], 2, "one of"),
    ],
)
def test_what_makes_no_sense_is_refused(
    arguments: list[str],
    code: int,
    message: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "numba", None)  # whether it is there or not
    assert run(["solve", *arguments]) == code
    captured = capsys.readouterr()
    assert captured.out == ""
    assert message in captured.err


def test_progress_says_how_long_it_has_been_and_may_still_be(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    times = iter([100.0, 130.0, 160.0])
    monkeypatch.setattr(patience, "monotonic", lambda: next(times))
    tell = Progress(Screen())
    tell("a step")
    tell("another", done=0.25)
    assert capsys.readouterr().err.splitlines() == [
        "… 30 s: a step",
        "… 1 min 00 s, 25% done, about 3 min 00 s left: another",
    ]
    assert duration(59.6) == "1 min 00 s"


def test_what_takes_minutes_can_be_interrupted() -> None:
    pytest.importorskip("numba")
    command = [sys.executable, "-c", "from duels.terminal.commands import main; main()"]
    with subprocess.Popen(
        [*command, "solve", "hunt", "--train"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as running:
        assert running.stderr
        told = [running.stderr.readline() for _ in range(2)]
        running.send_signal(signal.SIGINT)
        out, rest = running.communicate()
    assert told[1].startswith("… ")
    assert out + rest.strip() == ""
    assert running.returncode == 130


def test_a_study_of_another_strategy_is_noticed(tmp_path: Path) -> None:
    found = json.loads((ROOT / "docs/solved/hunt.json").read_text(encoding="utf-8"))
    old = tmp_path / "hunt.json"
    old.write_text(json.dumps({**found, "strategy": "another"}), encoding="utf-8")
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
    assert "about another strategy: run make solved" in done.stderr
