"""A live match: the players at its seats, the dice, and the record on disk. It has no screen.

Terminal and browser drive it: `person` is the person to be asked, `play` takes their answer, and `next_entry`
decides where a machine or chance is to act. Every entry is on disk before it is anywhere else.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from duels.core.match import AnyMatch
from duels.core.rules import Actor, Seat
from duels.core.words import Words
from duels.play.journal import Journal
from duels.play.step import NextEntry, Randomness, next_entry
from duels.players import Player

_LABELS = {seat: seat.label for seat in Seat}


@dataclass(frozen=True)
class Takeback:
    """The way back to a seat's last decision."""

    seat: Seat
    match: AnyMatch
    """As it was before that decision."""
    entries: int
    """How many are dropped."""
    revocable: bool
    """Whether nothing that is dropped has told anybody anything new."""


def find_takeback(match: AnyMatch, words: Words[Any, Any], seat: Seat) -> Takeback | None:
    """Return the way back to before a seat's last answer to a question; None if there was none."""
    before = match
    while before.previous and before.last:
        turn, before = before.last, before.previous
        if turn.actor is seat and not turn.out_of_turn and any(True for _ in words.ask(before.sight(seat))):
            dropped = match.turns[len(before.turns) :]
            return Takeback(seat, before, len(dropped), all(turn.revocable for turn in dropped))
    return None


class LiveMatch:
    """One match with its players (None: a person), its dice and its record."""

    def __init__(
        self,
        match: AnyMatch,
        players: Mapping[Seat, Player | None],
        dice: Randomness,
        journal: Journal | None = None,
        names: Mapping[Seat, str] | None = None,
    ) -> None:
        self.match = match
        self._seated_at = match.length
        self.players = players
        self.names = names or _LABELS
        """What whoever sits there is called."""
        self.journal = journal
        self.words = match.rules.game.words(match.rules)
        self._dice = dice

    @property
    def people(self) -> frozenset[Seat]:
        """The seats at which people sit."""
        return frozenset(seat for seat, player in self.players.items() if player is None)

    @property
    def person(self) -> Seat | None:
        """The person to move; None if a machine, chance or nobody is to act."""
        actor = self.match.actor
        return actor if isinstance(actor, Seat) and actor in self.people else None

    @property
    def begun(self) -> bool:
        """Whether anybody has decided anything here; what the book enters by itself is no decision."""
        backs = (self.takeback(seat) for seat in Seat)
        return any(back and len(back.match.turns) >= self._seated_at for back in backs)

    # -- going on -------------------------------------------------------------------------------

    def next_entry(self) -> NextEntry:
        """The decision of the machine to move, or the outcome of chance; raises NotYourTurn and GameOver."""
        return next_entry(self.match, self.players, self._dice)

    def enter(self, entry: NextEntry) -> None:
        """Play the next entry."""
        self._advance(entry.play(self.match))

    def play(self, actor: Actor, action: Any) -> None:
        """Play one action, or one outcome of chance; the errors are those of `Match.play`."""
        self._advance(self.match.play(actor, action))

    def resign(self, seat: Seat) -> None:
        """Give the match up, on the seat's own turn or on the other's."""
        self._advance(self.match.resign(seat))

    def _advance(self, match: AnyMatch) -> None:
        if self.journal:
            self.journal.add(match)
        self.match = match

    def close(self) -> None:
        """Let the players go: programs end with the match."""
        for player in self.players.values():
            close = getattr(player, "close", None)
            if close:
                close()

    # -- going back -----------------------------------------------------------------------------

    def takeback(self, seat: Seat) -> Takeback | None:
        """The way back to before this seat's last answer to a question; None if there was none."""
        return find_takeback(self.match, self.words, seat)

    def take_back(self, back: Takeback) -> None:
        """Go back; whoever has to agree has agreed."""
        if self.journal:
            self.journal.take_back(back.match)
        self.match = back.match
