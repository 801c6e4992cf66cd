"""The board in events: what changed, put in its place as a page does, makes the whole board."""

from random import Random
from xml.etree import ElementTree

import pytest

from duels.core.match import Match
from duels.core.narration import PlayerNames
from duels.core.rules import Seat
from duels.core.svg import Picture
from duels.games import GAMES
from duels.web.pages import board_changes
from tests.support import play_randomly

NAMES = PlayerNames("Ann", "Bob & Co", Seat.TWO)


def followed(before: ElementTree.Element, event: str) -> tuple[ElementTree.Element, bool]:
    """The board that a page shows after an event, and whether that told only what changed."""
    element = ElementTree.fromstring(event)
    if element.tag == "div":
        return element[0], False
    parts = [*before]
    for place, part in zip(element.attrib.pop("data-changed").split(), element, strict=True):
        parts[int(place)] = part
    whole = ElementTree.Element(element.tag, element.attrib)
    whole.extend(parts)
    return whole, True


@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize("seat", Seat)
def test_changes_make_the_whole_board(name: str, seat: Seat) -> None:
    rules = GAMES[name].rules()
    drawing = rules.game.drawing(rules)
    match = play_randomly(Match.start(rules), Random(seat), 30)
    before = drawing.picture(match.after(0).sight(seat), targets=True, names=NAMES)
    page = ElementTree.fromstring(str(before))
    partly = 0
    for step in match.steps():
        board = drawing.picture(step.sight(seat), targets=True, names=NAMES)
        page, changed = followed(page, board_changes(before, board))
        assert ElementTree.tostring(page) == ElementTree.tostring(ElementTree.fromstring(str(board)))
        partly += changed
        before = board
    assert partly


def test_other_names_are_changes_and_other_parts_are_drawn_anew() -> None:
    board = Picture("<svg>", ("<g/>", "<g>Ann</g>"), 9)
    assert board_changes(board, board) == '<svg data-changed=""></svg>'
    renamed = Picture("<svg>", ("<g/>", "<g>Cleo</g>"), 9)
    assert board_changes(board, renamed) == '<svg data-changed="1"><g>Cleo</g></svg>'
    fewer = Picture("<svg>", ("<g/>",), 9)
    assert board_changes(fewer, board) == '<div id="board"><svg><g/><g>Ann</g></svg></div>'
