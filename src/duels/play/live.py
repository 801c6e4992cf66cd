"""A live match: whoever sits at the seats, the dice, and the record on disk. It has no screen.

Terminal, browser and arena drive the same one: `person` says who is to be asked, `play` takes the answer, and
`choose` decides where a machine or chance is to act. Every entry is on disk before it is anywhere else.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from duels.core.errors import NotYourTurn
from duels.core.match import Match
from duels.core.rules import CHANCE, Actor, Seat
from duels.play.dice import ChanceScript, Dice
from duels.play.journal import Journal
from duels.players import Player

AnyMatch = Match[Any, Any, Any]
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


class LiveMatch:
    """One match with its players (None: a person), its dice and its record."""

    def __init__(
        self,
        match: AnyMatch,
        players: Mapping[Seat, Player | None],
        dice: Dice,
        script: ChanceScript | None = None,
        journal: Journal | None = None,
        names: Mapping[Seat, str] | None = None,
        notice: Callable[[str], None] = lambda text: None,
    ) -> None:
        self.match = match
        self._seated_at = match.length
        self.players = players
        self.names = names or _LABELS
        """What whoever sits there is called."""
        self.journal = journal
        self.words = match.rules.game.words(match.rules)
        self._dice = dice
        self._script = script or ChanceScript(())
        self._notice = notice

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

    def choose(self) -> Any:
        """What the machine whose turn it is does, or what chance brings."""
        actor = self.match.actor
        if actor is CHANCE:
            return self._chance()
        player = self.players[actor] if isinstance(actor, Seat) else None
        if player is None or not isinstance(actor, Seat):
            raise NotYourTurn("It is for a person to decide, or the match is over.")
        return player.choose(self.match.sight(actor), self._dice.at(self.match, actor.label))

    def play(self, actor: Actor, action: Any) -> None:
        """Play one action, or one outcome of chance; the errors are those of `Match.play`."""
        self._advance(self.match.play(actor, action))

    def resign(self, seat: Seat) -> None:
        """Give the match up, on the seat's own turn or on the other's."""
        self._advance(self.match.resign(seat))

    def forfeit(self, seat: Seat) -> None:
        """Let the match be lost by the seat to decide: no legal action came from it in time."""
        self._advance(self.match.forfeit(seat))

    def _advance(self, match: AnyMatch) -> None:
        if self.journal:
            self.journal.add(match)
        self.match = match

    def _chance(self) -> Any:
        match, rules = self.match, self.match.rules
        scripted = self._script.at(match)
        if scripted in match.actions:
            return scripted
        if scripted is not None:
            can = ", ".join(map(rules.format, match.actions))
            self._notice(f"'{rules.format(scripted)}' cannot come now (only {can}); the rest is drawn.")
        return self._dice.chance(match)

    def close(self) -> None:
        """Let the players go: programs end with the match."""
        for player in self.players.values():
            close = getattr(player, "close", None)
            if close:
                close()

    # -- going back -----------------------------------------------------------------------------

    def takeback(self, seat: Seat) -> Takeback | None:
        """The way back to before this seat's last answer to a question; None if there was none."""
        match = self.match
        while match.previous and match.last:
            turn, match = match.last, match.previous
            if (
                turn.actor is seat
                and not turn.out_of_turn
                and any(True for _ in self.words.ask(match.sight(seat)))
            ):
                dropped = self.match.turns[len(match.turns) :]
                return Takeback(seat, match, len(dropped), all(turn.revocable for turn in dropped))
        return None

    def take_back(self, back: Takeback) -> None:
        """Go back; whoever has to agree has agreed."""
        if self.journal:
            self.journal.take_back(back.match)
        self.match = back.match
