"""The shipped certificate: what it says follows from its parts, and from the strategy itself."""

from collections.abc import Generator, Iterator

import pytest

from duels.core.rules import Seat
from duels.games.hunt.certificate import Certificate, claimed, problem_against, verify
from duels.games.hunt.strategy import shipped
from duels.solving.pomdp import Bounds


def test_gains_and_value_follow_from_the_two_best_responses() -> None:
    certificate = Certificate({Seat.ONE: Bounds(0.5, 0.55), Seat.TWO: Bounds(0.56, 0.6)})
    assert certificate.nash_conv.low == pytest.approx(0.06)
    assert certificate.nash_conv.high == pytest.approx(0.15)
    assert certificate.value.low == pytest.approx(0.45)
    assert certificate.value.high == pytest.approx(0.6)


def test_the_claim_says_something() -> None:
    claim = claimed()
    assert 0.0 <= claim.nash_conv.low <= claim.nash_conv.high < 1.0
    assert claim.value.low < 0.5 < claim.value.high


def test_no_play_of_the_strategy_is_left_out() -> None:
    """Where the strategy acts, its moves and signals are whole distributions over what the rules allow."""
    pytest.importorskip("numpy")
    for seat, tables in shipped().items():
        problem = problem_against(tables, seat)
        met = problem.support != 0
        rows = sorted(set(problem.kernel[met].tolist()))
        on_grid = problem.moves[rows, :7, :7]
        assert on_grid.sum(axis=2) == pytest.approx(1.0)
        assert problem.signals[rows, :, :7].sum(axis=1) == pytest.approx(1.0)
        assert all(on_grid[:, a, b].max() == 0.0 for a in range(7) for b in range(7) if abs(a - b) > 1)


@pytest.mark.slow
def test_the_claim_is_what_the_strategy_gives() -> None:
    pytest.importorskip("numba")
    *_, holds = _steps_and_result(verify())
    assert holds is True


def _steps_and_result(steps: Generator[object, None, bool]) -> Iterator[object]:
    """What a generator yields, and then what it returns."""
    yield (yield from steps)
