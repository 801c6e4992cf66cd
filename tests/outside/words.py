"""Words for any game: entries are notation."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from duels.core.errors import DuelsError
from duels.core.narration import Narration, TextBoard
from duels.core.rules import AnyRules, AnySight, Event
from duels.core.words import Dialogue, InvalidEntry, Words, ask_until


@dataclass(frozen=True)
class PlainWords(Words[Any, Any]):
    rules: AnyRules

    def opening(self) -> Narration:
        return Narration([self.rules.name])

    def ask(self, sight: AnySight) -> Dialogue[Any]:
        def read(entry: str) -> Any:
            try:
                action = self.rules.parse(entry)
            except DuelsError as error:
                raise InvalidEntry(str(error)) from None
            if action not in sight.actions:
                raise InvalidEntry(self.moves(sight))
            return action

        return (yield from ask_until("> ", read))

    def entries(self, sight: AnySight, action: Any) -> tuple[str, ...]:
        return (self.rules.format(action),)

    def narrate(self, seen: Sequence[Event]) -> Narration:
        return Narration([f"{seen[-1]}"])

    def board(self, sight: AnySight) -> TextBoard:
        return TextBoard(f"{self.rules.format_position(sight)}\n")

    def moves(self, sight: AnySight) -> str:
        return ", ".join(map(self.rules.format, sight.actions)) + "\n"
