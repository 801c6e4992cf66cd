"""Tokens and their cost in words."""

from duels.arena.amounts import cost_told, tokens
from duels.players.completions import Usage


def test_what_an_endpoint_does_not_report_is_unknown() -> None:
    silent, told = Usage(requests=3), Usage(200, 10, 3)
    assert (tokens(0, silent), cost_told(silent, 0.0)) == ("unknown", "unknown")
    assert (tokens(200, told), cost_told(told, 0.004), cost_told(told, None)) == ("200", "0.0040", "")
