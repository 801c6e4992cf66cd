"""The learner that is small enough to run here, and shared code of learners; `make examples` runs all."""

import sys
from pathlib import Path
from typing import Any

import pytest

EXAMPLES = Path(__file__).parent.parent / "examples"


@pytest.fixture(autouse=True)
def _add_folder_to_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(EXAMPLES))


def test_there_are_three_checkpoints_for_every_power_of_ten() -> None:
    from self_play import checkpoints_until

    assert checkpoints_until(0) == [0]
    assert checkpoints_until(20_000) == [0, 1_000, 2_000, 5_000, 10_000, 20_000]


@pytest.mark.parametrize("form", ["lights", "leap"])
def test_q_learning_learns_perfect_play(form: str) -> None:
    import q_learning
    from self_play import grades

    results = list(grades(q_learning.learn, form, 50_000, seed=0))
    assert [steps // 1000 for steps, _ in results] == [0, 1, 2, 5, 10, 20, 50]
    assert results[0][1] == 0.5
    assert results[-1][1] == 0


def test_exact_credit_teaches_a_policy_that_reads_text() -> None:
    import credit

    curve = list(credit.train("leap", "credit", 300, seed=0))
    assert [matches for matches, _ in curve] == list(range(0, 301, 30))
    assert curve[-1][1] < curve[0][1]


def test_learners_report_progress(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import q_learning
    import self_play

    monkeypatch.setattr(sys, "argv", ["q_learning.py", "--game", "leap", "--steps", "1000"])
    self_play.main(q_learning.learn, q_learning.__doc__)
    lines = capsys.readouterr().out.splitlines()
    assert lines == [f"{steps:>11,} steps: exploitability 0.5000" for steps in (0, 1024)]


class Here:
    """Replaces a pool of processes: calls at once."""

    def __init__(self, *_: object) -> None:
        pass

    def submit(self, function: Any, *arguments: Any) -> Any:
        from concurrent.futures import Future

        result: Future[Any] = Future()
        result.set_result(function(*arguments))
        return result

    def shutdown(self, cancel_futures: bool) -> None:
        assert cancel_futures


def test_existing_baselines_are_not_repeated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import baselines

    monkeypatch.setattr(baselines, "FORMS", {"leap": ("leap", {})})
    monkeypatch.setattr(baselines, "ProcessPoolExecutor", Here)
    monkeypatch.setattr(sys, "argv", ["baselines.py", str(tmp_path)])
    monkeypatch.setattr(baselines, "STEPS", {("leap", "q_learning"): 1_000})
    monkeypatch.setattr(baselines, "SEEDS", range(1))
    baselines.main()
    first = baselines.read(tmp_path / "leap.json")
    assert [run["seed"] for run in first["runs"]] == [0]
    assert first["runs"][0]["exploitability"] == [0.5, 0.5]
    monkeypatch.setattr(baselines, "SEEDS", range(2))
    baselines.main()
    second_run = baselines.read(tmp_path / "leap.json")
    assert [run["seed"] for run in second_run["runs"]] == [0, 1]
    assert second_run["runs"][0] == first["runs"][0]
    monkeypatch.setattr(baselines, "STEPS", {("leap", "q_learning"): 2_000})
    assert baselines.read(tmp_path / "leap.json")["runs"] == []  # they were shorter
    assert capsys.readouterr().out.count("exploitability 0.5000 after 1,024 steps") == 2


def test_baselines_of_other_options_are_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import baselines
    import self_play

    path, steps = tmp_path / "leap.json", baselines.STEPS["leap", "q_learning"]
    baselines.write(
        path, baselines.read(path) | {"runs": [{"learner": "q_learning", "seed": 0, "until": steps}]}
    )
    assert len(baselines.read(path)["runs"]) == 1
    monkeypatch.setitem(self_play.FORMS, "leap", ("leap", {"goal": 12}))
    assert baselines.read(path)["runs"] == []
