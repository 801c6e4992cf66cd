"""The laws hold for the five duels, and each law catches a game that breaks it."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from duels.core.laws import Inspector, Law, LawBroken, LawReport, check_along, check_everywhere
from duels.core.match import AnyMatch, Match
from duels.core.rules import CHANCE
from duels.games import GAMES

from . import toys


@pytest.mark.parametrize(
    ("name", "options"),
    [
        pytest.param("hunt", {}, marks=pytest.mark.slow),
        pytest.param("chain", {}, marks=pytest.mark.slow),
        ("chain", {"cells": 6}),
        ("chain", {"cells": 5, "run": 3, "max_boards": 2}),
        ("lights", {}),
        ("lights", {"lights": 3}),
        ("leap", {}),
        ("leap", {"goal": 1}),
        ("hunt", {"cells": 3}),
        ("hunt", {"cells": 3, "max_turns": 4}),
        ("hunt", {"cells": 2}),
        ("flip", {"side": 2, "values": 2, "copies": 2, "target": 3}),
        ("flip", {"side": 2, "values": 4, "copies": 1, "target": 3}),
    ],
)
def test_every_law_holds_everywhere(name: str, options: dict[str, int]) -> None:
    check_everywhere(GAMES[name].rules(**options))


@pytest.mark.parametrize("name", ["chain", "hunt", "flip"])
@settings(max_examples=12, deadline=None)
@given(st.data())
def test_every_law_holds_along_matches(name: str, data: st.DataObject) -> None:
    """The book's games that take long to be walked through."""
    match = check_along(
        GAMES[name].rules(),
        lambda match: match.actions[data.draw(st.integers(0, len(match.actions) - 1))],
        max_entries=60,
    )
    assert match.over or match.length == 60


def test_the_lawful_toy_passes_every_law() -> None:
    assert check_everywhere(toys.Hide()) == LawReport(states=15, steps=14)


def all_broken() -> list[type[toys.Broken]]:
    return toys.Broken.__subclasses__()


@pytest.mark.parametrize("toy", all_broken())
def test_a_broken_game_is_caught_by_its_law(toy: type[toys.Broken]) -> None:
    with pytest.raises(LawBroken) as caught:
        check_everywhere(toy())
    assert caught.value.law is toy.breaks


def test_every_law_has_a_game_that_breaks_it() -> None:
    assert {toy.breaks for toy in all_broken()} == set(Law)


@pytest.mark.parametrize("gate", [toys.LooseMatch, toys.ClosedMatch])
def test_a_match_that_accepts_illegal_actions_is_caught(gate: type[AnyMatch]) -> None:
    match = gate.start(toys.Hide())
    with pytest.raises(LawBroken) as caught:
        Inspector(toys.Hide()).inspect(match)
    assert caught.value.law is Law.LEGALITY


def test_a_finished_match_must_refuse_every_action() -> None:
    over = Match.start(toys.Hide()).play_text("heads", "left", "left")
    loose = toys.LooseMatch(over.rules, over._log, len(over.turns))
    with pytest.raises(LawBroken) as caught:
        Inspector(toys.Hide()).inspect(loose)
    assert caught.value.law is Law.LEGALITY


def test_errors_name_the_game_the_law_and_the_entries() -> None:
    with pytest.raises(LawBroken) as caught:
        check_everywhere(toys.TellTale())
    message = str(caught.value)
    assert message == (
        "hide: Player 2 saw the same after 'heads, left', but has a different view "
        f"after 'heads, right' (law: {Law.SECRECY.value})"
    )
    assert caught.value.match is not None
    assert [turn.action for turn in caught.value.match.turns] == ["heads", "right"]


def test_a_match_can_be_cut_off() -> None:
    match = check_along(toys.Hide(), lambda match: match.actions[0], max_entries=1)
    assert [turn.actor for turn in match.turns] == [CHANCE]
