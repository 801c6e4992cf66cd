"""The story of a match, shown beside the board."""

from duels.core.match import AnyMatch
from duels.core.narration import Narration, PlayerNames
from duels.core.record import format_entry
from duels.core.rules import Seat
from duels.core.words import Ink
from duels.play.live import LiveMatch
from duels.play.narrator import Narrator
from duels.terminal.messages import find_solo_seat


class Story:
    """The entries of a match and the book's words about them, as far as the people may know them."""

    def __init__(self, live: LiveMatch) -> None:
        self._live = live
        self._narrator = Narrator(live.words, live.people)
        self._you = find_solo_seat(live)
        self._paragraphs: list[str] = []  # one per turn

    @property
    def text(self) -> str:
        live = self._live
        turns = len(live.match.turns)
        self._paragraphs += [
            self._render_turn(after) for after in live.match.steps()[len(self._paragraphs) :]
        ]
        opening = live.words.opening().render_news()
        return "\n".join(filter(None, [*opening, *self._paragraphs[:turns]]))

    def truncate(self) -> None:
        """Remove the turns that were taken back."""
        del self._paragraphs[len(self._live.match.turns) :]

    @property
    def ends_in_suspense(self) -> bool:
        """Whether a chance outcome is about to be shown."""
        return self._narrator.ends_in_suspense(self._live.match)

    def _render_turn(self, after: AnyMatch) -> str:
        news = (self._render_narration(narration) for narration in self._narrator.narrate_last_turn(after))
        return "\n".join([*self._render_entry(after), *(line for lines in news for line in lines)])

    def _render_narration(self, narration: Narration) -> list[str]:
        # The book addresses the player who moved. Describe a machine's move in the third person.
        if not self._you:
            return narration.render_news(PlayerNames(reader=narration.to))
        names = self._live.names
        return narration.render_news(PlayerNames(names[Seat.ONE], names[Seat.TWO], self._you))

    def _render_entry(self, after: AnyMatch) -> list[str]:
        turn = after.last
        if not turn or not isinstance(turn.actor, Seat):
            return []
        name = turn.actor.label
        if self._you:
            # The book calls people by their seats.
            name = f"You ({name})" if turn.actor is self._you else self._live.names[turn.actor]
        hidden = turn.hidden_from(self._you or turn.actor)
        entry = Ink.DIM("(hidden)") if hidden else Ink.CHANGED(format_entry(after.rules, turn))
        return [f"{Ink.for_seat(turn.actor)(name)}: {entry}"]
