"""Tokens and their cost in words."""

from duels.arena.costs import ModelCosts, Prices, Spending
from duels.players.completions import Usage

PRICES = Prices({"input_price": 20.0, "output_price": 0.0}, "usd")


def test_an_endpoint_that_reports_nothing_has_no_cost() -> None:
    silent, expected = Usage(0, 0, 3), Usage(200, 10, 3)
    assert PRICES.format_cost(silent) == "unknown"
    table = ModelCosts(PRICES, Spending(), {}).make_table({"silent": silent, "other": expected}, {})
    assert [row[3:] for row in table.rows] == [["unknown"] * 3, [200, 10, "0.0040 usd"]]
    assert Prices({}).format_cost(expected) == ""
    assert Prices(PRICES.per_million).format_cost(expected) == "0.0040"  # the currency comes from the budget
    unknown = {"prompt_tokens": None, "completion_tokens": None, "requests": 3, "cost": None}
    assert PRICES.usage_data(silent) == unknown
    usage = {"prompt_tokens": 200, "completion_tokens": 10, "requests": 3, "cost": 0.004}
    assert PRICES.usage_data(expected) == usage


def test_possible_costs_are_reported_separately() -> None:
    answered = {"usage": [100_000, 5, 1], "seconds": 2.0}
    spent = Spending.from_requests([answered, {"at_most": [50_000, 9], "seconds": 9.0}, {"status": 429}])
    assert (spent.sent, spent.seconds) == (3, 2.0)
    assert (spent.used, spent.unreported, spent.unanswered) == (Usage(100_000, 5, 1), Usage(50_000, 9, 1), 2)
    (expected,) = ModelCosts(PRICES, spent, {"max_tokens": 9}).describe("It")
    doubt = "In addition, 1 request without reported tokens may have cost at most 1.00 usd."
    assert expected.startswith("It took 3 requests and cost 2.00 usd. 2 of them had no usable reply (")
    assert expected.endswith(doubt)
    assert "an unknown amount" in ModelCosts(PRICES, spent, {"max_tokens": 0}).describe("It")[0]
    assert ModelCosts(PRICES, Spending(), {}).describe("It") == []
