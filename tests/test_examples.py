"""The example that is small enough to run here; `make examples` runs all of them."""

import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parent.parent / "examples"


@pytest.mark.parametrize("game", ["lights", "leap"])
def test_q_learning_finds_perfect_play(game: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(EXAMPLES))
    sys.modules.pop("q_learning", None)
    import q_learning

    games, grades = q_learning.learn(game, steps=200, looks=4)
    assert games == sorted(games)
    assert grades[0] == 0.5
    assert grades[-1] == 0


@pytest.mark.parametrize("steps", [0, 3])
def test_q_learning_looks_at_every_step_if_they_are_few(steps: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(EXAMPLES))
    import q_learning

    games, grades = q_learning.learn("lights", steps, looks=20)
    assert len(games) == len(grades) == steps + 1
