"""Words for any game, and notation for games whose actions are strings."""

from collections.abc import Sequence
from typing import Any

from duels.core.errors import NotationError
from duels.core.narration import Narration, TextBoard
from duels.core.rules import AnySight, Event, Rules, S, V
from duels.core.words import Words


class PlainWords(Words[Any, Any]):
    def narrate(self, seen: Sequence[Event]) -> Narration:
        return Narration([f"{seen[-1]}"])

    def board(self, sight: AnySight) -> TextBoard:
        return TextBoard(f"{self.rules.format_position(sight)}\n")


class StringRules(Rules[S, str, V]):
    """Rules whose actions and outcomes are their own notation."""

    def parse(self, text: str) -> str:
        word = text.strip().lower()
        if word not in (*self.all_actions(), *self.all_outcomes()):
            raise NotationError(f"Cannot read {text!r}.")
        return word

    def format(self, action: str) -> str:
        return action
