"""Text boards of lights: seven as in the book, longer rows with numbers."""

import pytest

from duels.core.match import Match
from duels.core.rules import Seat
from duels.core.words import strip_ink
from duels.games.lights.rules import Lights
from duels.games.lights.words import LightsWords


def render(lights: int, *entries: str) -> tuple[str, str]:
    """Return the narration and the board."""
    rules = Lights(lights)
    match, words = Match.start(rules).play_text(*entries), LightsWords(rules)
    narration = words.narrate(match.last.events) if match.last else words.opening()
    return strip_ink(narration.render()), strip_ink(str(words.board(match.sight(Seat.ONE))))


def test_seven_lights_are_shown_as_in_the_book() -> None:
    assert render(7)[0] == "States: O O O O O O O\n\n"


def test_long_rows_have_numbers() -> None:
    assert render(9, "3") == (
        "Turning OFF light 3.\n\nLights: 1 2 3 4 5 6 7 8 9\nStates: O O X O O O O O O\n\n",
        "Lights: 1 2 3 4 5 6 7 8 9\nStates: O O X O O O O O O\n",
    )
    opening = "Lights:  1  2  3  4  5  6  7  8  9 10 11 12\nStates:  O  O  O  O  O  O  O  O  O  O  O  O\n"
    assert render(12) == (f"{opening}\n", opening)


def test_long_rows_are_wrapped() -> None:
    for lights in (20, 40, 150):
        text, board = render(lights, str(lights - 3))
        assert board in text
        lines = board.splitlines()
        assert max(map(len, lines)) < 80
        for numbers, states in zip(lines[::2], lines[1::2], strict=True):
            off = states.find("X")
            assert len(numbers) == len(states)
            assert off < 0 or numbers[: off + 1].endswith(str(lights - 3))
        rules = Lights(lights)
        cells = LightsWords(rules).board(Match.start(rules).sight(Seat.ONE)).cells
        assert [cell.label for row in cells for cell in row] == [str(n) for n in range(1, lights + 1)]


@pytest.mark.parametrize("entry", ["4 5", "4-3", "4,5"])
def test_rejects_two_lights_at_the_question_for_one(entry: str) -> None:
    rules = Lights()
    dialogue = LightsWords(rules).ask(Match.start(rules).play_text("7").sight(Seat.TWO))
    next(dialogue)
    dialogue.send("1")
    assert dialogue.send(entry).notice == f"'{entry}' are two lights. Choose one: 1, 2, 3, 4, 5 or 6."
