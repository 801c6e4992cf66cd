"""Words for games whose actions are entered in notation."""

from typing import Any

from duels.core.errors import NotationError, shorten_list
from duels.core.narration import Narration
from duels.core.rules import A, Rules, Seat, Sight, V
from duels.core.words import Dialogue, Ink, InvalidEntry, Words, ask_until, join_or, quote_entry

_MAX_LISTED = 20  # actions that a refusal lists; the command `moves` lists all


class SimpleWords(Words[A, V]):
    """Words of a game that writes only `narrate` and `board`. Games may override the other methods."""

    def __init__(self, rules: Rules[Any, A, V]) -> None:
        self.rules = rules

    def opening(self) -> Narration:
        board = self.board(self.rules.sight(self.rules.initial(), Seat.ONE))
        return Narration([f"Welcome to {self.rules.game.title}!", "", board, ""])

    def prompt(self, sight: Sight[A, V]) -> str:
        """Return the prompt for a move."""
        return f"{self.player(sight.seat)}, your move: "

    def is_secret(self, sight: Sight[A, V]) -> bool:
        """Return whether only this seat may see the entry; True if in doubt."""
        return self.rules.has_hidden_information

    def ask(self, sight: Sight[A, V]) -> Dialogue[A]:
        def read(entry: str) -> A:
            try:
                action = self.rules.parse(entry)
            except NotationError as error:
                short = len(sight.actions) <= _MAX_LISTED
                what = f"{quote_entry(entry)} is not a move. {self._allowed(sight)}" if short else str(error)
                raise InvalidEntry(what) from None
            if action not in sight.actions:
                raise InvalidEntry(f"{quote_entry(entry)} is not allowed now. {self._allowed(sight)}")
            return action

        return ask_until(self.prompt(sight), read, self.is_secret(sight))

    def entries(self, sight: Sight[A, V], action: A) -> tuple[str, ...]:
        return (self.rules.format(action),)

    def moves(self, sight: Sight[A, V]) -> str:
        return f"Possible moves: {', '.join(map(self.rules.format, sight.actions)) or 'none'}\n"

    def render_secret_turn(self, seat: Seat) -> str:
        return f"{self.player(seat)}, your move: {Ink.DIM('(hidden)')}\n"

    def player(self, seat: Seat) -> str:
        """Return the seat's name in its colour."""
        return Ink.for_seat(seat)(self.seat_name(seat))

    def _allowed(self, sight: Sight[A, V]) -> str:
        names = [self.rules.format(action) for action in sight.actions]
        return f"Enter {join_or(shorten_list(names, _MAX_LISTED))}."
