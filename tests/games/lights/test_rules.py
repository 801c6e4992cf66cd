"""The book's rules of lights, statement by statement (docs/books.md)."""

import pytest

from duels.core.errors import IllegalMove, NotationError
from duels.core.explore import iter_reachable
from duels.core.match import Match
from duels.core.rules import Ending, Seat
from duels.games.lights.rules import OFF, ON, Lights

RULES = Lights()


def test_seven_lights_are_on_at_the_start() -> None:
    assert RULES.format_state(RULES.initial()) == "OOOOOOO 1"


def test_a_turn_is_one_light_or_two_neighbours_that_are_on() -> None:
    actions = RULES.actions(RULES.parse_state("OOXOXXO 1"))
    assert [RULES.format(action) for action in actions] == ["1", "2", "4", "7", "1-2"]


def test_every_turn_turns_off_one_or_two_neighbours_and_nothing_else() -> None:
    for match in iter_reachable(RULES):
        for action in match.actions:
            after = RULES.apply(match.state, action).state
            lights = zip(range(1, 8), match.state.row, after.row, strict=True)
            changed = [light for light, before, now in lights if before != now]
            assert all(match.state.row[light - 1] == ON and after.row[light - 1] == OFF for light in changed)
            assert len(changed) in (1, 2)
            assert changed[-1] - changed[0] == len(changed) - 1
            assert after.mover is match.state.mover.other


@pytest.mark.parametrize("entry", ["4", "3-4", "4-5"])
def test_a_light_that_is_off_stays_off(entry: str) -> None:
    match = Match.start(RULES).play_text("4")
    with pytest.raises(IllegalMove):
        match.play_text(entry)


@pytest.mark.parametrize("entry", ["3-5", "1-2-3", "1-3", ""])
def test_rejects_separate_more_than_two_or_no_lights(entry: str) -> None:
    with pytest.raises(NotationError):
        RULES.parse(entry)


def test_notation_accepts_a_pair_in_either_order() -> None:
    assert RULES.parse("4-3") == RULES.parse("3-4")
    assert RULES.format(RULES.parse("4-3")) == "3-4"


def test_every_match_has_a_winner_and_no_points() -> None:
    for match in iter_reachable(RULES):
        if match.outcome:
            assert match.outcome.ending is Ending.WON
            assert match.last
            assert match.outcome.winner is match.last.actor


def test_the_worked_example() -> None:
    match = Match.start(RULES).play_text("1-2", "4", "3", "5-6", "7")
    rows = [step.state.row for step in match.steps()]
    assert rows == ["XXOOOOO", "XXOXOOO", "XXXXOOO", "XXXXXXO", "XXXXXXX"]
    assert match.outcome
    assert match.outcome.winner is Seat.ONE
