"""The board in events: what changed, put in its place as a page does, makes the whole board."""

from random import Random
from xml.etree import ElementTree

import pytest

from duels.core.match import Match
from duels.core.rules import Seat
from duels.core.svg import Picture
from duels.games import GAMES
from duels.web.board import Board
from tests.support import play_randomly

NAMES = {Seat.ONE: "Ann", Seat.TWO: "Bob & Co"}


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
    before: Board | None = None
    page = ElementTree.Element("svg")
    partly = 0
    for step in match.steps():
        board = Board(drawing.picture(step.sight(seat), targets=True), NAMES, seat)
        page, changed = followed(page, board.since(before))
        assert ElementTree.tostring(page) == ElementTree.tostring(ElementTree.fromstring(str(board)))
        partly += changed
        before = board
    assert partly


def test_other_names_or_more_parts_are_drawn_anew() -> None:
    board = Board(Picture("<svg>", ("<g/>", "<g>Player 1</g>")), NAMES, Seat.TWO)
    assert board.since(board) == '<svg data-changed=""></svg>'
    assert board.since(Board(board.picture, {**NAMES, Seat.ONE: "Cleo"}, Seat.TWO)) == board.element
    assert board.since(Board(Picture("<svg>", ("<g/>",)), NAMES, Seat.TWO)) == board.element
    assert board.element == '<div id="board"><svg><g/><g>Ann</g></svg></div>'
