"""The text of a match in its game's words, for both seats, one seat or a spectator."""

from collections.abc import Iterator, Sequence
from typing import Any

from duels.core.match import AnyMatch, EarlyEnd, EndedEarly
from duels.core.narration import Narration, PlayerNames, say, victory
from duels.core.rules import AnySight, Event, Seat
from duels.core.words import Ink, Question, Words


class Narrator:
    """Renders a match as text, with the hidden information of `seats`.

    With `names`, the text addresses `names.reader`: the opponent's moves are in the third person, and the
    opponent's questions are left out. If `names` is None, the book's words address each player in turn.
    """

    def __init__(
        self, words: Words[Any, Any], seats: frozenset[Seat], names: PlayerNames | None = None
    ) -> None:
        self.words = words
        self.seats = seats
        self.names = names

    def render_match(self, match: AnyMatch) -> Iterator[str]:
        """Yield the text of the whole match so far."""
        yield self.words.opening().render()
        for step in match.steps():
            yield self.render_entry(step)
            yield self.render_events(step)

    def render_entry(self, match: AnyMatch) -> str:
        """Return the last decision as a player types it, or the line for a secret turn; '' for chance."""
        turn, previous = match.last, match.previous
        if not turn or not previous or not isinstance(turn.actor, Seat) or turn.out_of_turn:
            return ""
        if self.names and turn.actor is not self.names.reader:
            return ""
        if isinstance(turn.action, EarlyEnd):
            # A program may resign where a person would see no prompt; then there is nothing to show.
            questions = self.words.ask(previous.sight(turn.actor))
            return next((f"{self._get_prompt(question)}{turn.action.value}\n" for question in questions), "")
        if all(event.visible_to(self.seats) for event in turn.events):
            return self._render_dialogue(previous.sight(turn.actor), turn.action)
        return self.words.render_secret_turn(turn.actor)

    def _render_dialogue(self, sight: AnySight, action: Any) -> str:
        """Return the prompts and answers with which a player enters `action`."""
        lines = []
        dialogue = self.words.ask(sight)
        try:
            question: Question = next(dialogue)
            for entry in self.words.entries(sight, action):
                lines.append(f"{self._get_prompt(question)}{entry}\n")
                question = dialogue.send(entry)
        except StopIteration:
            pass  # the action is entered
        return "".join(lines)

    def _get_prompt(self, question: Question) -> str:
        return (question.for_solo() if self.names else question).prompt

    def render_events(self, match: AnyMatch) -> str:
        """Return the events of the last turn as a plain terminal shows them."""
        return "".join(narration.render(self.names) for narration in self.narrate_last_turn(match))

    def ends_in_suspense(self, match: AnyMatch) -> bool:
        """Return whether the last turn left its result open, such as a coin in the air."""
        return any(narration.suspense for narration in self.narrate_last_turn(match)[-1:])

    def narrate_last_turn(self, match: AnyMatch) -> list[Narration]:
        """Return a narration for each visible event of the last turn."""
        if not match.last:
            return []
        events = match.events_visible_to(self.seats)
        _, new = match.last.redact(self.seats)
        return [
            narrate_last_event(self.words, events.first(length))
            for length in range(len(events) - len(new) + 1, len(events) + 1)
        ]


def format_board_number(match: AnyMatch) -> str:
    """Return `Board 2` or `Board 2 of 3`, or '' after the end and in games that are played on one board."""
    if match.over or not match.rules.enough_boards:
        return ""
    limit = match.rules.limit_value
    return f"Board {match.board_number}" + (f" of {limit}" if limit else "")


def narrate_last_event(words: Words[Any, Any], events: Sequence[Event]) -> Narration:
    """Narrate the last event: one of the game's, or an early end."""
    last = events[-1]
    if not isinstance(last, EndedEarly):
        return words.narrate(events)
    winner = last.outcome.winner
    result = victory(winner, Ink.WON) if winner else "Nobody wins."
    return Narration(["", say(last.outcome.sentence, result)])
