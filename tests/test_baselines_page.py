"""docs/baselines.md shows the measurements, and its summary over seeds is right."""

import importlib
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).parent.parent / "docs" / "baselines"


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(FOLDER))
    return importlib.import_module("runs")


def run(seed: int, *grades: float) -> dict[str, Any]:
    steps = [1000 * place for place in range(len(grades))]
    return {
        "learner": "q_learning",
        "seed": seed,
        "seconds": seed + 1.0,
        "steps": steps,
        "exploitability": list(grades),
    }


def test_a_baseline_has_a_median_and_a_range(runs: Any) -> None:
    three = [run(0, 0.5, 0.25, 0.0), run(1, 0.5, 0.0, 0.0), run(2, 0.5, 0.0, 0.125)]
    baseline = runs.Baseline("q_learning", three)
    assert baseline.grades == [(0.5, 0.5, 0.5), (0.0, 0.0, 0.25), (0.0, 0.0, 0.125)]
    assert baseline.seconds == 2
    assert runs.spread(baseline.final) == "0 (0 to 0.125)"


def test_perfect_play_must_last_until_the_end(runs: Any) -> None:
    better = runs.Baseline("q_learning", [run(0, 0.5, 0.25, 0.0), run(1, 0.5, 0.0, 0.0)])
    assert better.near == [2000, 1000]
    assert runs.format_steps_to_near(better) == "1,500 (1,000 to 2,000)"
    worse = runs.Baseline("q_learning", [run(0, 0.5, 0.0, 0.125), run(1, 0.5, 0.0, 0.005)])
    assert worse.near == [None, 1000]
    assert runs.format_steps_to_near(worse) == "1 of 2 seeds"
    assert runs.format_steps_to_near(runs.Baseline("q_learning", [run(0, 0.5)])) == "no seed"
    assert runs.Form("leap", {}, 0.4, [worse, better]).best is better


def test_the_page_and_its_pictures_show_the_measurements() -> None:
    result = subprocess.run([sys.executable, FOLDER / "build.py", "--check"], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr


def test_every_baseline_has_five_seeds(runs: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(FOLDER.parents[1] / "examples"))
    from baselines import STEPS
    from self_play import FORMS

    assert {path.stem for path in FOLDER.glob("*.json")} == set(runs.FORMS) == {form for form, _ in STEPS}
    for name in runs.FORMS:
        stored = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
        assert (stored["game"], stored["options"]) == FORMS[name]
        assert stored["random"] > 0.2  # where every way of playing is good, nothing can be learned
        ran = sorted((name, result["learner"], result["until"], result["seed"]) for result in stored["runs"])
        planned = [(*key, steps) for key, steps in STEPS.items() if key[0] == name]
        assert ran == sorted((*key, seed) for key in planned for seed in range(5))
