"""The learners that `make baselines` runs, where they are quick."""

from pathlib import Path

import pytest

pytestmark = pytest.mark.slow
pytest.importorskip("sb3_contrib", reason="make trainers-test installs it")

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.mark.parametrize(("learner", "steps"), [("masked_ppo", 10_000), ("masked_dqn", 50_000)])
def test_learners_learn_leap(learner: str, steps: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(EXAMPLES))
    from importlib import import_module

    from self_play import grades

    results = list(grades(import_module(learner).learn, "leap", steps, seed=0))
    assert results[0][1] == 0.5
    assert results[-1][1] == 0


@pytest.mark.parametrize("learner", ["masked_ppo", "masked_dqn"])
def test_a_seed_repeats_everything(learner: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(EXAMPLES))
    from importlib import import_module

    learn = import_module(learner).learn
    form = {"cells": 4, "run": 3, "max_boards": 2}
    one, two, other = (
        [policy.tolist() for _, policy in learn("chain", [0, 3000], s, **form)] for s in (1, 1, 2)
    )
    assert one == two != other
