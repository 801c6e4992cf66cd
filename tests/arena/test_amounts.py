"""Tokens and their cost in words."""

from duels.arena.amounts import Prices, Spending, tokens
from duels.players.completions import Usage

PRICES = Prices({"input_price": 20.0, "output_price": 0.0}, "usd")


def test_an_endpoint_that_reports_nothing_has_no_cost() -> None:
    silent, told = Usage(0, 0, 3), Usage(200, 10, 3)
    assert (tokens(0, silent), PRICES.told(silent)) == ("unknown", "unknown")
    assert (tokens(200, told), PRICES.told(told), Prices({}).told(told)) == ("200", "0.0040 usd", "")
    assert Prices(PRICES.of).told(told) == "0.0040"  # a currency is known by the budget alone
    unknown = {"prompt_tokens": None, "completion_tokens": None, "requests": 3, "cost": None}
    assert PRICES.data(silent) == unknown
    known = {"prompt_tokens": 200, "completion_tokens": 10, "requests": 3, "cost": 0.004}
    assert PRICES.data(told) == known


def test_what_requests_may_have_cost_is_told_apart_from_what_they_cost() -> None:
    answered = {"usage": [100_000, 5, 1], "seconds": 2.0}
    spent = Spending.of([answered, {"at_most": [50_000, 9], "seconds": 9.0}, {"status": 429}])
    assert (spent.sent, spent.seconds) == (3, 2.0)
    assert (spent.used, spent.in_doubt, spent.unanswered) == (Usage(100_000, 5, 1), Usage(50_000, 9, 1), 2)
    (told,) = spent.told("It", PRICES, limited=True)
    doubt = "Beyond that, 1 request whose tokens were not reported may have cost at most 1.00 usd."
    assert told.startswith(
        "It took 3 requests and cost 2.00 usd. 2 of them had no reply that could be used ("
    )
    assert told.endswith(doubt)
    assert "an unknown amount" in spent.told("It", PRICES, limited=False)[0]
    assert Spending().told("It", PRICES, limited=True) == []
