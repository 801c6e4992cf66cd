"""Tokens and their cost in words."""

from duels.arena.amounts import cost_told, tokens, usage_data
from duels.players.completions import Usage


def test_what_an_endpoint_does_not_report_is_unknown() -> None:
    silent, told = Usage(requests=3), Usage(200, 10, 3)
    assert (tokens(0, silent), cost_told(silent, 0.0)) == ("unknown", "unknown")
    assert (tokens(200, told), cost_told(told, 0.004), cost_told(told, None)) == ("200", "0.0040", "")


def test_data_have_no_number_for_what_is_unknown() -> None:
    unknown = {"prompt_tokens": None, "completion_tokens": None, "requests": 3, "cost": None}
    assert usage_data(Usage(requests=3), 0.0) == unknown
    known = {"prompt_tokens": 200, "completion_tokens": 10, "requests": 3, "cost": 0.004}
    assert usage_data(Usage(200, 10, 3), 0.004) == known
