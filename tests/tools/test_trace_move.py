"""The files on the path of a move, as `make trace` lists them."""

import pytest

from tools.trace_move import play_at_terminal, play_in_browser, step_compiled_flip, step_pettingzoo, trace


def test_traces_a_move_at_the_terminal() -> None:
    files = trace(play_at_terminal)
    assert {"core/match.py", "games/chain/rules.py", "play/live.py", "terminal/screen.py"} <= set(files)
    assert not any(file.startswith(("web", "envs", "arena")) for file in files)
    assert len(files) <= 16


def test_traces_a_step_of_an_environment() -> None:
    files = trace(step_pettingzoo)
    assert {"envs/pettingzoo/aec.py", "games/chain/rules.py"} <= set(files)
    assert not any(file.startswith(("web", "terminal", "arena")) for file in files)


@pytest.mark.slow
def test_traces_a_move_in_the_browser_and_a_compiled_step() -> None:
    assert {"core/match.py", "games/chain/drawing.py"} <= set(trace(play_in_browser))
    assert "envs/kernels/flip/batch.py" in trace(step_compiled_flip)
