"""What some oracles can do besides judging, and what stands in for those that cannot."""

from fractions import Fraction
from typing import Any

import pytest

from duels.core.rules import Seat, Sight
from duels.games import GAMES
from duels.games.lights.oracle import nim_sum
from duels.games.lights.rules import Lights, State, TurnOff
from duels.solving.oracle import Judged, OpenOracle, Oracle, Value, Verdict
from duels.solving.oracles import oracle_for
from duels.solving.protocols import (
    BeliefTracker,
    Explainer,
    PlainExplainer,
    SeesBothSides,
    Verifier,
    beliefs_of,
    both_sides_of,
    checks_of,
    explainer_of,
)

RULES = Lights(7)


class Bare(OpenOracle[TurnOff, State]):
    """Knows values and nothing else."""

    def worth(self, state: State) -> Fraction:
        return Fraction((nim_sum(state.row) != 0) == (state.mover is Seat.ONE))


class Fixed(Oracle[TurnOff, State]):
    """Gives one verdict wherever it is asked."""

    def __init__(self, value: float, *judged: tuple[str, float, bool, float]) -> None:
        self.rules = RULES
        self._verdict = Verdict(
            Value(value),
            tuple(Judged(RULES.parse(name), Value(worth), best, how) for name, worth, best, how in judged),
        )

    def _value_of(self, sight: Sight[TurnOff, State]) -> Value:
        return self._verdict.value

    def _verdict_on(self, sight: Sight[TurnOff, State]) -> Verdict[TurnOff]:
        return self._verdict


@pytest.mark.parametrize("game", GAMES)
def test_our_oracles_explain_and_verify_themselves(game: str) -> None:
    oracle = oracle_for(GAMES[game].rules())
    assert isinstance(oracle, Explainer)
    assert explainer_of(oracle) is oracle
    assert isinstance(oracle, Verifier)
    hidden = GAMES[game].rules().has_secrets
    assert isinstance(oracle, BeliefTracker) is isinstance(oracle, SeesBothSides) is hidden


def test_an_oracle_of_values_alone_lacks_nothing_that_callers_need() -> None:
    oracle = Bare(RULES)
    sight = RULES.parse_position("OOXXXXX 1")
    assert not isinstance(oracle, Explainer)
    assert list(checks_of(oracle)) == []
    assert dict(beliefs_of(oracle).belief(sight)) == {}
    assert beliefs_of(oracle).whereabouts(sight) == ""
    assert both_sides_of(oracle).mishap(sight, sight, sight.actions[0]) == ""
    worths = {both_sides_of(oracle).worth_seeing_all(sight, sight, action) for action in sight.actions}
    assert len(worths) == 1
    explainer = explainer_of(oracle)
    assert isinstance(explainer, PlainExplainer)
    assert explainer.idea(sight, sight.actions[0]) == sight.actions[0]
    assert explainer.lesson(sight, sight.actions[0]) == sight.actions[0]
    assert (explainer.claim(), explainer.counts_as_one, list(explainer.findings(sight))) == ("", "", [])
    assert explainer.reason(sight) == ("Best is 1-2, worth 100.0%; anything else is worth 0.0% at most.")
    assert explainer.effect(sight, RULES.parse("1")) == "You played 1, which left you 0.0%."


@pytest.mark.parametrize(
    ("oracle", "told"),
    [
        (Fixed(0.0, ("1", 0, True, 0.5), ("2", 0, True, 0.5)), "The other player wins whatever you do."),
        (Fixed(0.5, ("1", 0.5, True, 0.5), ("2", 0.5, True, 0.5)), "Every action is worth 50.0%."),
        (
            Fixed(0.4, ("1", 0.5, True, 0.7), ("2", 0.2, True, 0.3)),
            "The mixture is worth 40.0%: whoever can be foreseen gets less.",
        ),
        (
            Fixed(1.0, *((str(n), 1.0, True, 0.2) for n in range(1, 6)), ("6", 0.5, False, 0.0)),
            "Best is 1, 2 or 3 more, worth 100.0%; anything else is worth 50.0% at most.",
        ),
    ],
)
def test_a_plain_reason_says_what_the_values_say(oracle: Fixed, told: str) -> None:
    assert explainer_of(oracle).reason(RULES.sight(RULES.initial(), Seat.ONE)) == told


def test_chance_is_told_in_the_games_own_words() -> None:
    def told(game: str, outcome: str) -> str:
        rules = GAMES[game].rules()
        explainer: Explainer[Any, Any] = explainer_of(oracle_for(rules))
        return explainer.came_up(rules.parse(outcome))

    assert told("chain", "heads") == "the coin showed heads"
    assert told("flip", "4") == "the tile was a 4"
    assert told("flip", "5,3") == "the Quantum Flip showed 5 and 3"
