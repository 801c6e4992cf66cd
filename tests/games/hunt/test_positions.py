"""Positions of hunt: the list of a seat's observations, to the end."""

import pytest

from duels.core.errors import NotationError
from duels.core.match import Match
from duels.core.rules import Seat
from duels.games.hunt.rules import End, QuantumHunt

RULES = QuantumHunt()


@pytest.mark.parametrize(
    ("entries", "as_one", "as_two"),
    [
        (
            ("move 3", "observe 5", "move 5", "observe 3"),
            "1: move 3, observe 5, ?, observe 3, capture",
            "2: ?, observe 5, move 5, observe 3, capture",
        ),
        (
            ("tunnel 7", "observe 5", "move 7", "observe 4"),
            "1: tunnel 7, observe 5, ?, observe 4, collision",
            "2: ?, observe 5, move 7, observe 4, collision",
        ),
        (("move 3", "observe 5"), "1: move 3, observe 5", "2: ?, observe 5"),
    ],
)
def test_positions_state_the_ending(entries: tuple[str, ...], as_one: str, as_two: str) -> None:
    match = Match.start(RULES).play_text(*entries)
    for seat, text in ((Seat.ONE, as_one), (Seat.TWO, as_two)):
        assert RULES.format_position(match.sight(seat)) == text
        assert RULES.parse_position(text) == match.sight(seat)


def test_positions_without_an_ending_are_unfinished() -> None:
    assert RULES.parse_position("2: ?, observe 5, move 5, observe 3").view.end is None


def test_a_turn_limit_is_an_ending() -> None:
    limited = QuantumHunt(max_turns=1)
    assert limited.parse_position("1: move 3, observe 5, turns").view.end is End.TURNS


@pytest.mark.parametrize(
    "text",
    [
        "1: capture",
        "1: move 3, capture",
        "1: move 3, observe 5, capture",
        "1: move 3, observe 5, ?, observe 4, capture",
        "1: move 3, observe 5, ?, observe 3, turns",
    ],
)
def test_rejects_impossible_endings(text: str) -> None:
    with pytest.raises(NotationError, match="cannot end there"):
        RULES.parse_position(text)
