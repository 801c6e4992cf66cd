"""What has happened in a match, for the side of the board: who played what, and what the book says to it."""

from duels.core.match import AnyMatch
from duels.core.narration import Narration, PlayerNames
from duels.core.record import format_entry
from duels.core.rules import Seat
from duels.core.words import Ink
from duels.play.live import LiveMatch
from duels.play.narrator import Narrator
from duels.terminal.messages import find_solo_seat


class Story:
    """Grows and shrinks with the match; tells what the people who play it may know."""

    def __init__(self, live: LiveMatch) -> None:
        self._live = live
        self._narrator = Narrator(live.words, live.people)
        self._you = find_solo_seat(live)
        self._told: list[str] = []

    @property
    def text(self) -> str:
        """All of it."""
        live = self._live
        turns = len(live.match.turns)
        self._told += [self._tell(after) for after in live.match.steps()[len(self._told) :]]
        opening = live.words.opening().render_news()
        return "\n".join(filter(None, [*opening, *self._told[:turns]]))

    def forget(self) -> None:
        """Something was taken back."""
        del self._told[len(self._live.match.turns) :]

    @property
    def ends_in_suspense(self) -> bool:
        """Whether a coin is in the air."""
        return self._narrator.ends_in_suspense(self._live.match)

    def _tell(self, after: AnyMatch) -> str:
        news = (self._render(narration) for narration in self._narrator.narrate_last_turn(after))
        return "\n".join([*self._entry(after), *(line for lines in news for line in lines)])

    def _render(self, narration: Narration) -> list[str]:
        """The book speaks to whoever moved: of a machine's move a person is told in the third person."""
        if not self._you:
            return narration.render_news(PlayerNames(reader=narration.to))
        names = self._live.names
        return narration.render_news(PlayerNames(names[Seat.ONE], names[Seat.TWO], self._you))

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
        return [f"{Ink.for_seat(turn.actor)(who)}: {entry}"]
