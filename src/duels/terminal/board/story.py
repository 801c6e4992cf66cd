"""The story of a match, shown beside the board."""

from duels.core.match import AnyMatch
from duels.core.narration import Narration
from duels.core.record import format_entry
from duels.core.rules import CHANCE, Seat
from duels.core.words import Ink
from duels.play.live import LiveMatch
from duels.play.narrator import Narrator
from duels.terminal.messages import make_player_names, name_people, name_players


class Story:
    """The entries of a match and the book's words about them, with the secrets of `seats`."""

    def __init__(self, live: LiveMatch, seats: frozenset[Seat]) -> None:
        self._live = live
        self._seats = seats
        self._narrator = Narrator(live.words, seats)
        self._names = make_player_names(live)
        self._paragraphs: list[str] = []  # one per turn

    @property
    def text(self) -> str:
        live = self._live
        for match in live.match.steps()[len(self._paragraphs) :]:
            self._paragraphs.append(self._render_turn(match))
        return "\n".join(filter(None, [*live.words.opening().render_news(), *self._paragraphs]))

    def truncate(self) -> None:
        """Remove the turns that were taken back."""
        del self._paragraphs[len(self._live.match.turns) :]

    @property
    def ends_in_suspense(self) -> bool:
        """Whether a chance outcome is about to be shown."""
        return self._narrator.ends_in_suspense(self._live.match)

    def _render_turn(self, match: AnyMatch) -> str:
        narrations = self._narrator.narrate_last_turn(match)
        news = [(narration.reader, self._render_narration(narration)) for narration in narrations]
        first_reader = next((reader for reader, lines in news if lines), None)
        entry, decision = self._render_entry(match), match
        if match.last and match.last.actor is CHANCE and match.previous:
            decision = match.previous
        # Against a machine, the first sentence says who did what, also if chance had to decide first.
        if self._names and decision.last and first_reader is decision.last.actor:
            entry = []
            if decision is not match and self._paragraphs[-1] == "\n".join(self._render_entry(decision)):
                self._paragraphs[-1] = ""
        return "\n".join([*entry, *(line for _, lines in news for line in lines)])

    def _render_narration(self, narration: Narration) -> list[str]:
        # The book addresses the player who moved. Describe a machine's move in the third person.
        return narration.render_news(self._names or name_people(self._live, narration.reader))

    def _render_entry(self, match: AnyMatch) -> list[str]:
        turn = match.last
        if not turn or not isinstance(turn.actor, Seat):
            return []
        name = name_players(self._live).name(turn.actor, begins=True)
        action, _ = turn.redact(self._seats)
        entry = Ink.DIM("(hidden)") if action is None else Ink.CHANGED(format_entry(match.rules, turn))
        return [f"{Ink.for_seat(turn.actor)(name)}: {entry}"]
