"""OpenSpiel's learners on our games, as their users run them."""

import re
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.slow
pytest.importorskip("torch", reason="make trainers-test installs it")
pyspiel = pytest.importorskip("pyspiel", reason="make trainers-test installs it")

import duels.envs.openspiel  # noqa: E402, F401  (registers the games)

PAGE = (Path(__file__).parents[2] / "docs" / "environments" / "openspiel.md").read_text(encoding="utf-8")
HUNT = "duels_hunt(cells=2,max_turns=3)"


def test_nfsp_runs_as_the_page_shows_it(capsys: pytest.CaptureFixture[str]) -> None:
    (piece,) = [
        piece
        for piece in re.findall(r"^```python\n(.*?)^```", PAGE, flags=re.MULTILINE | re.DOTALL)
        if "nfsp" in piece
    ]
    names: dict[str, Any] = {}
    exec(compile(piece, "docs", "exec"), names)
    assert names["size"] == 2 + 6 * 7  # six moves of hunt, six actions and the hidden one
    assert names["step"].last()
    assert 0 < float(capsys.readouterr().out.splitlines()[-1]) < 0.5


def test_dcfr_converges() -> None:
    from open_spiel.python.algorithms import discounted_cfr, exploitability

    game = pyspiel.load_game(HUNT)
    solver = discounted_cfr.DCFRSolver(game)
    for _ in range(30):
        solver.evaluate_and_update_policy()
    assert exploitability.exploitability(game, solver.average_policy()) / 2 < 0.03


@pytest.mark.parametrize("game", ["duels_lights", "duels_flip"])
def test_its_mcts_in_python_plays(game: str) -> None:
    import numpy as np
    from open_spiel.python.algorithms import mcts

    loaded = pyspiel.load_game(game)
    evaluator = mcts.RandomRolloutEvaluator(1, np.random.RandomState(1))
    state = loaded.new_initial_state()
    assert mcts.MCTSBot(loaded, 1.4, 50, evaluator).step(state) in state.legal_actions()
