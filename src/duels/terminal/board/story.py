"""What has happened in a match, for the side of the board: who played what, and what the book says to it."""

from duels.core.record import format_entry
from duels.core.rules import Seat
from duels.core.words import Ink, messages
from duels.play.live import AnyMatch, LiveMatch
from duels.play.narrator import Narrator, in_suspense
from duels.terminal.people import alone


class Story:
    """Grows and shrinks with the match; tells what the people who play it may know."""

    def __init__(self, live: LiveMatch) -> None:
        self._live = live
        self._narrator = Narrator(live.words, live.people)
        self._you = alone(live)
        self._told: list[str] = []

    @property
    def text(self) -> str:
        """All of it."""
        live = self._live
        turns = len(live.match.turns)
        self._told += [self._tell(after) for after in live.match.steps()[len(self._told) :]]
        opening = messages(live.words.opening(), self._board(live.match.after(0)))
        return "\n".join(part for part in (opening, *self._told[:turns]) if part)

    def forget(self) -> None:
        """Something was taken back."""
        del self._told[len(self._live.match.turns) :]

    @property
    def in_suspense(self) -> bool:
        """Whether a coin is in the air."""
        return in_suspense(self._narrator.happened(self._live.match))

    def _tell(self, after: AnyMatch) -> str:
        told = messages(self._happened(after), self._board(after))
        return "\n".join([*self._entry(after), *([told] if told else [])])

    def _happened(self, after: AnyMatch) -> str:
        """The book speaks to whoever moved: of a machine's move a person is told in the third person."""
        if not self._you:
            return self._narrator.happened(after)
        names = {self._you: self._you.label, self._you.other: self._live.names[self._you.other]}
        return self._narrator.happened_to(self._you, after, names)

    def _entry(self, after: AnyMatch) -> list[str]:
        turn = after.last
        if not turn or not isinstance(turn.actor, Seat):
            return []
        who = turn.actor.label
        if self._you:
            # The book calls a person by the seat.
            who = f"You ({who})" if turn.actor is self._you else self._live.names[turn.actor]
        hidden = turn.hidden_from(self._you or turn.actor)
        entry = Ink.DIM("(hidden)") if hidden else Ink.CHANGED(format_entry(after.rules, turn))
        return [f"{Ink.of(turn.actor)(who)}: {entry}"]

    def _board(self, match: AnyMatch) -> str:
        return str(self._live.words.board(match.sight(self._you or Seat.ONE)))
