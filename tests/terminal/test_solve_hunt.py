"""duels solve hunt: claims about the strategy, and the requirements of --verify."""

import sys

import pytest

from duels.terminal.commands import run


def test_the_strategy_is_never_called_optimal(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["solve", "hunt", "--position", "1: move 3, observe 5, ?, observe 2"]) == 0
    out = capsys.readouterr().out
    assert "certified to give away at most" in out
    assert "The game's value to Player 1 lies between" in out
    assert "played" in out
    assert "optimal" not in out


def test_verify_names_the_missing_extra(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "numba", None)
    for name in ("certificate", "controller", "interpolation", "opening", "pair_values", "pomdp", "verify"):
        monkeypatch.delitem(sys.modules, f"duels.games.hunt.certify.{name}", raising=False)
    assert run(["solve", "hunt", "--verify"]) == 1
    *before, error = capsys.readouterr().err.splitlines()
    assert not before, "no claim precedes the check"
    assert error == "duels: This needs numba: pip install 'duels[fast]', or '.[fast]' in its folder."


@pytest.mark.parametrize("arguments", [["--position", "1:"], ["--all"]])
def test_verify_refuses_options_it_would_ignore(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["solve", "hunt", "--verify", *arguments]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert f"{arguments[0]} cannot be combined with --verify" in captured.err
