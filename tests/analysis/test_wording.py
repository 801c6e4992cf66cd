"""Values, losses, marks and beliefs in words."""

import pytest

from duels.analysis.wording import (
    MAX_LOSSES,
    compute_darkness,
    describe_exactness,
    format_belief,
    format_percent,
    format_points,
    get_mark_name,
    render_shades,
)
from duels.solving.oracle import Exactness, Value


def test_marks_cover_every_loss() -> None:
    assert [get_mark_name(max_loss) for max_loss in MAX_LOSSES.values()] == list(MAX_LOSSES)
    assert get_mark_name(0) == "best"
    assert get_mark_name(1.5) == "blunder"


def test_values_state_their_exactness() -> None:
    assert format_percent(Value(0.5)) == "50.0%"
    assert format_percent(Value(0.5, Exactness.BOUND, error=0.001)) == "50.0% ± 0.1 points"
    assert format_percent(Value(0.5, Exactness.ESTIMATE)) == "about 50.0%"


def test_bounds_are_in_points_and_rounded_up() -> None:
    value = Value(0.5, Exactness.BOUND, error=0.000191)
    assert format_percent(value) == "50.000% ± 0.02 points"
    assert describe_exactness(value) == "proven to within 0.02 points"
    assert describe_exactness(Value(0.5, Exactness.BOUND, error=1e-9)) == "proven to within 0.001 points"


def test_a_loss_states_its_visible_error() -> None:
    assert format_points(0.0712, Exactness.EXACT) == "7.1 points"
    assert format_points(0.0712, Exactness.BOUND, 0.0004) == "7.1 points"
    assert format_points(0.0712, Exactness.BOUND, 0.0101) == "7.1 ± 1.1 points"
    assert format_points(0.0712, Exactness.ESTIMATE) == "about 7.1 points"


@pytest.mark.parametrize("error", [1e-9, 0.0000076, 0.00019, 0.0009, 0.004, 0.0717])
@pytest.mark.parametrize("number", [0.0, 0.39612345, 0.50196, 0.49949, 1.0])
def test_printed_bounds_hold_for_printed_numbers(number: float, error: float) -> None:
    percent, bound = format_percent(Value(number, Exactness.BOUND, error=error)).split("% ± ")
    low, high = (float(percent) + sign * float(bound.split()[0]) for sign in (-1, 1))
    assert low <= 100 * (number - error) + 1e-9
    assert high >= 100 * (number + error) - 1e-9


def test_a_bound_of_one_point_is_singular() -> None:
    assert format_percent(Value(0.5, Exactness.BOUND, error=0.01)) == "50.0% ± 1 point"


def test_draws_beliefs_by_cell() -> None:
    assert format_belief({}) == ""
    strip = format_belief({"cell 1": 0.0, "cell 2": 0.25, "cell 3": 0.75, "tunnel left": 0.5})
    assert strip == "[ ][░][█]  1: 0%, 2: 25%, 3: 75%, tunnel left: 50%\n"
    assert render_shades({"cell 1": 0.0, "cell 2": 0.25, "cell 3": 0.75}, "cell 2") == "[ ](░)[█]"


def test_draws_numbered_beliefs_and_lists_the_rest() -> None:
    assert format_belief({"die 1": 0.5, "die 2": 1.0}) == "[▒][█]  1: 50%, 2: 100%\n"
    assert format_belief({"left": 0.75, "right": 0.25}) == "left: 75%, right: 25%\n"
    assert compute_darkness({"left": 0.75}) == {}
    assert compute_darkness({"cell 1": 0.0, "off the grid": 1.0}) == {"cell 1": 0.0}
