"""The default words of a game."""

from collections.abc import Sequence

import pytest

from duels.core.narration import Narration, TextBoard
from duels.core.rules import Event, Seat, Sight
from duels.core.words import Words, strip_ink

from .test_secret_rules import RULES, State


class GuessWords(Words[str, State]):
    def narrate(self, events: Sequence[Event]) -> Narration:
        return Narration([f"{events[-1]}"])

    def board(self, sight: Sight[str, State]) -> TextBoard:
        return TextBoard(f"{sight.view.number or 'hidden'}\n")


WORDS = GuessWords(RULES)
SIGHT = RULES.parse_position("2: ?, ask")


def test_the_default_dialogue_asks_until_an_action_is_allowed() -> None:
    dialogue = WORDS.ask(SIGHT)
    question = next(dialogue)
    assert strip_ink(question.prompt) == "Player 2, your move: "
    refused = dialogue.send("maybe").notice
    assert refused == "'maybe' is not a move. Enter 1, 2, 3 or 4."
    assert dialogue.send("ask").notice == "'ask' is not allowed now. Enter 1, 2, 3 or 4."
    with pytest.raises(StopIteration) as result:
        dialogue.send(" 3 ")
    assert result.value.value == "3"


def test_the_default_entry_of_an_action_is_its_notation() -> None:
    assert WORDS.entries(SIGHT, "3") == ("3",)
    assert WORDS.moves(SIGHT) == "Possible moves: 1, 2, 3, 4\n"
    assert strip_ink(WORDS.opening().render()) == "Welcome to Guess!\n\nhidden\n\n"
    assert strip_ink(WORDS.render_secret_turn(Seat.ONE)) == "Player 1, your move: (hidden)\n"
