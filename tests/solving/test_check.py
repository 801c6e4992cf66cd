"""Checks must detect wrong values."""

from fractions import Fraction

import pytest

from duels.core.rules import Seat
from duels.games.lights.oracle import LightsOracle
from duels.games.lights.rules import Lights, State
from duels.solving.check import check_backward_induction, check_sampled_play, check_self_play
from duels.solving.oracle import Check, Value

RULES = Lights(5)
START = RULES.initial()


class Contrary(LightsOracle):
    """Values every lost row as won."""

    def state_value(self, state: State) -> Fraction:
        return 1 - super().state_value(state)


class Hopeful(LightsOracle):
    """Values every position a little too high for Player 1."""

    def state_value(self, state: State) -> Fraction:
        return super().state_value(state) if RULES.outcome(state) else Fraction(state.mover is Seat.ONE)


def test_backward_induction_confirms_the_right_values_only() -> None:
    assert check_backward_induction(RULES, [START], LightsOracle(RULES).state_value).passed
    refused = check_backward_induction(RULES, [START], Contrary(RULES).state_value)
    assert not refused.passed
    assert "wrong at OOOOO 1" in refused.detail


def test_sampled_play_confirms_the_right_values_only() -> None:
    states = [State("OOOOO", Seat.ONE), State("OOXOO", Seat.ONE), State("OOXOO", Seat.TWO)]
    assert all(check.passed for check in check_sampled_play(RULES, LightsOracle(RULES), states, games=60))
    both, first, _ = check_sampled_play(RULES, Hopeful(RULES), states[1:2], games=60)
    assert not both.passed
    assert not first.passed


def test_self_play_confirms_the_right_value_only(monkeypatch: pytest.MonkeyPatch) -> None:
    oracle = LightsOracle(RULES)
    assert check_self_play(RULES, oracle, 20).passed
    monkeypatch.setattr(oracle, "value", lambda sight: Value(0.4))
    assert not check_self_play(RULES, oracle, 20).passed


def test_sampled_play_is_the_same_every_time() -> None:
    def run() -> list[Check]:
        return list(check_sampled_play(RULES, LightsOracle(RULES), [START], games=20))

    assert run() == run()


def test_a_check_says_whether_it_passed() -> None:
    assert str(Check("sums agree", True, "3 of 3")) == "ok: sums agree (3 of 3)"
    assert str(Check("sums agree", False, "2 of 3")) == "FAILED: sums agree (2 of 3)"
