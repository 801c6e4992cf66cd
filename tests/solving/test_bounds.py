"""Printed bounds are valid."""

from duels.solving.oracle import Bounds


def test_bounds_are_rounded_outwards() -> None:
    assert Bounds(0.56379, 0.57711).percent(1) == ("56.3", "57.8")
    assert Bounds(0.5637, 0.1 + 0.2).percent(2) == ("56.37", "30.00")
    assert Bounds(0.0, 1.0).percent(0) == ("0", "100")
