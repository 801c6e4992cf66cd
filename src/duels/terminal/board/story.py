"""The story of a match, shown beside the board."""

from duels.core.match import AnyMatch
from duels.core.narration import Narration
from duels.core.record import format_entry
from duels.core.rules import Seat
from duels.core.words import Ink
from duels.play.live import LiveMatch
from duels.play.narrator import Narrator
from duels.terminal.messages import get_person_name, make_player_names, name_people


class Story:
    """The entries of a match and the book's words about them, with the secrets of the seats in `watching`."""

    def __init__(self, live: LiveMatch, watching: frozenset[Seat]) -> None:
        self._live = live
        self._watching = watching
        self._narrator = Narrator(live.words, watching)
        self._names = make_player_names(live)
        self._paragraphs: list[str] = []  # one per turn

    @property
    def text(self) -> str:
        live = self._live
        new_turns = live.match.steps()[len(self._paragraphs) :]
        self._paragraphs += [self._render_turn(match) for match in new_turns]
        return "\n".join(filter(None, [*live.words.opening().render_news(), *self._paragraphs]))

    def truncate(self) -> None:
        """Remove the turns that were taken back."""
        del self._paragraphs[len(self._live.match.turns) :]

    @property
    def ends_in_suspense(self) -> bool:
        """Whether a chance outcome is about to be shown."""
        return self._narrator.ends_in_suspense(self._live.match)

    def _render_turn(self, match: AnyMatch) -> str:
        news = (self._render_narration(narration) for narration in self._narrator.narrate_last_turn(match))
        return "\n".join([*self._render_entry(match), *(line for lines in news for line in lines)])

    def _render_narration(self, narration: Narration) -> list[str]:
        # The book addresses the player who moved. Describe a machine's move in the third person.
        return narration.render_news(self._names or name_people(self._live, narration.reader))

    def _render_entry(self, match: AnyMatch) -> list[str]:
        turn = match.last
        if not turn or not isinstance(turn.actor, Seat):
            return []
        name, you = get_person_name(self._live, turn.actor), self._names.reader if self._names else None
        if you:
            # The book calls people by their seats.
            name = f"You ({name})" if turn.actor is you else self._live.names[turn.actor]
        action, _ = turn.redact(self._watching)
        entry = Ink.DIM("(hidden)") if action is None else Ink.CHANGED(format_entry(match.rules, turn))
        return [f"{Ink.for_seat(turn.actor)(name)}: {entry}"]
