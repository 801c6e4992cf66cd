"""A match in progress: its players, its dice and its record on disk.

A screen drives it. While `person_to_move` is a seat, the screen asks that person and calls `play`. Otherwise
it calls `decide_next_entry` and `play_entry`. Every entry is saved before it takes effect.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from duels.core.match import AnyMatch
from duels.core.rules import Actor, Seat
from duels.core.words import Words
from duels.play.dice import Dice
from duels.play.journal import Journal
from duels.play.step import NextEntry, decide_next_entry
from duels.players import Player

_LABELS = {seat: seat.label for seat in Seat}


@dataclass(frozen=True)
class Takeback:
    """A takeback of a seat's last decision, ready to be carried out."""

    seat: Seat
    match: AnyMatch
    """The match before that decision."""
    entries: int
    """The number of entries to drop."""
    revocable: bool
    """Whether the dropped entries revealed nothing."""


def find_takeback(match: AnyMatch, words: Words[Any, Any], seat: Seat) -> Takeback | None:
    """Return the takeback of a seat's last answer, or None if the seat has answered nothing yet."""
    earlier = match
    while earlier.previous and earlier.last:
        turn, earlier = earlier.last, earlier.previous
        if turn.actor is seat and not turn.out_of_turn and any(True for _ in words.ask(earlier.sight(seat))):
            dropped = match.turns[len(earlier.turns) :]
            return Takeback(seat, earlier, len(dropped), all(turn.revocable for turn in dropped))
    return None


@dataclass(frozen=True)
class Series:
    """The players' names and wins in a match and its rematches."""

    names: Mapping[Seat, str]
    """The player's name at each seat of the current match."""
    has_person_names: bool = False
    """Whether these are the names of people. Otherwise they are descriptions, such as `you`."""
    wins: Mapping[str, int] = field(default_factory=dict)
    """The number of wins by name, in the order of the first match's seats."""
    matches: int = 0

    def add(self, winner: Seat | None) -> "Series":
        """Return the series after a match with this winner."""
        wins = {name: self.wins.get(name, 0) for name in self.wins or self.names.values()}
        if winner:
            wins[self.names[winner]] += 1
        return replace(self, wins=wins, matches=self.matches + 1)


class LiveMatch:
    """A match with its players (None stands for a person), its dice and its record."""

    def __init__(
        self,
        match: AnyMatch,
        players: Mapping[Seat, Player | None],
        dice: Dice,
        journal: Journal | None = None,
        names: Mapping[Seat, str] | None = None,
    ) -> None:
        self.match = match
        self._start_length = match.length
        self.players = players
        self.names = names or _LABELS
        """The player's name at each seat."""
        self.series: Series | None = None
        """The names and wins of the players, if people play rematches."""
        self.journal = journal
        self.words = match.rules.game.words(match.rules)
        self._dice = dice

    @property
    def people(self) -> frozenset[Seat]:
        """The seats of people."""
        return frozenset(seat for seat, player in self.players.items() if player is None)

    @property
    def person_to_move(self) -> Seat | None:
        """The seat to move, or None if it is not a person's turn."""
        actor = self.match.actor
        return actor if isinstance(actor, Seat) and actor in self.people else None

    @property
    def has_decisions(self) -> bool:
        """Whether a player has decided anything since this live match began; forced entries do not count."""
        takebacks = map(self.find_takeback, Seat)
        return any(takeback and takeback.match.length >= self._start_length for takeback in takebacks)

    def decide_next_entry(self) -> NextEntry:
        """Return the bot's decision or the chance outcome that comes next.

        Raises NotYourTurn if a person is to move, and GameOver after the end.
        """
        return decide_next_entry(self.match, self.players, self._dice)

    def play_entry(self, entry: NextEntry) -> None:
        """Play and save an entry."""
        self._advance(entry.play(self.match))

    def play(self, actor: Actor, action: Any) -> None:
        """Play and save an action or a chance outcome. Raises the errors of `Match.play`."""
        self._advance(self.match.play(actor, action))

    def resign(self, seat: Seat) -> None:
        """Resign for a seat, on any player's turn."""
        self._advance(self.match.resign(seat))

    def stop(self) -> None:
        """End the match without a winner, because both players agreed. Raises IllegalMove if not allowed."""
        self._advance(self.match.stop())

    def _advance(self, match: AnyMatch) -> None:
        if self.journal:
            self.journal.add(match)
        self.match = match

    def close(self) -> None:
        """Close the players, which ends their programs."""
        for player in self.players.values():
            close = getattr(player, "close", None)
            if close:
                close()

    def find_takeback(self, seat: Seat) -> Takeback | None:
        """Return the takeback of the seat's last answer, or None if the seat has answered nothing yet."""
        return find_takeback(self.match, self.words, seat)

    def take_back(self, takeback: Takeback) -> None:
        """Carry out a takeback, to which the opponent has agreed if necessary."""
        if self.journal:
            self.journal.take_back(takeback.match)
        self._dice.take_back(self.match, takeback.match)
        self.match = takeback.match
