"""The text boards of hunt."""

import pytest

from duels.core.match import Match
from duels.core.rules import Seat
from duels.core.words import strip_ink
from duels.games.hunt.rules import RULES
from duels.games.hunt.words import WORDS

CAPTURE = ("move 1", "observe 7", "move 3", "observe 1")
COLLISION = ("move 3", "observe 7", "move 3", "observe 5")


@pytest.mark.parametrize(
    ("entries", "grids", "rows"),
    [
        (CAPTURE, ("[Q*][2][3][4][5][6][7]", "[Q*][2][@][4][5][6][7]"), ("Q                 *", "*     @")),
        (COLLISION, ("[1][2][Q][4][5*][6][7]",) * 2, ("      Q           *", "      Q     *")),
    ],
)
def test_q_marks_revealed_tokens(
    entries: tuple[str, ...], grids: tuple[str, str], rows: tuple[str, str]
) -> None:
    rules = RULES()
    words, match = WORDS(rules), Match.start(rules).play_text(*entries)
    sights = match.sight(Seat.ONE), match.sight(Seat.TWO)
    boards = [words.board(sight) for sight in sights], [words.solo_board(sight, "Ann") for sight in sights]
    for pair in boards:
        assert tuple(strip_ink(str(board)).splitlines()[0] for board in pair) == grids
    _, one, two, legend = strip_ink(str(words.open_board(*sights))).splitlines()
    assert (one, two) == (f"Player 1  {rows[0]}", f"Player 2  {rows[1]}")
    assert legend.startswith("(Q is a revealed token, ")


def test_nothing_is_revealed_before_the_end() -> None:
    rules = RULES()
    words, match = WORDS(rules), Match.start(rules).play_text(*CAPTURE[:3])
    boards = [words.open_board(match.sight(Seat.ONE), match.sight(Seat.TWO))]
    for sight in map(match.sight, Seat):
        boards += [words.board(sight), words.solo_board(sight, "Ann")]
    assert not any("Q" in strip_ink(str(board)).replace("Quantum", "") for board in boards)
