"""Terms of the theory are explained at their first use."""

import pytest

import duels
from duels.analysis.hints import hint
from duels.analysis.wording import Glossary
from duels.core.rules import Seat
from duels.solving.oracles import get_oracle

LIGHTS = hint(duels.start("lights").sight(Seat.ONE)).text


def test_a_term_is_explained_once() -> None:
    glossary = Glossary()
    first, second = (glossary.explain(LIGHTS) for _ in range(2))
    assert first.startswith(f"{LIGHTS}\n(Nim-sum: ")
    assert first.endswith(".)")
    assert second == LIGHTS


@pytest.mark.parametrize("game", ["chain", "leap"])
def test_plain_words_need_no_explanation(game: str) -> None:
    match = duels.start(game)
    assert match.actor is Seat.ONE
    text = hint(match.sight(Seat.ONE)).text
    assert Glossary().explain(text) == text


def test_strategy_and_mixture_are_explained_where_hunt_is_practised() -> None:
    note = get_oracle(duels.start("hunt").rules).equivalence_note
    lines = Glossary().explain(note).splitlines()
    assert [line.split(":")[0] for line in lines[-2:]] == ["(The strategy", "(The mixture"]
