"""Tells a match in its game's words, as both seats, one seat or a bystander may see it."""

from collections.abc import Iterator, Sequence
from typing import Any

from duels.core.match import AnyMatch, Conceded, Concession
from duels.core.narration import Narration, say, victory
from duels.core.rules import AnySight, Event, Seat
from duels.core.words import Ink, Question, Words


class Narrator:
    """Tells a match with the secrets of the seats in `watching`; with none, as a bystander sees it."""

    def __init__(self, words: Words[Any, Any], watching: frozenset[Seat]) -> None:
        self.words = words
        self.watching = watching

    def retell(self, match: AnyMatch) -> Iterator[str]:
        """The whole match so far."""
        yield self.words.opening().render()
        for after in match.steps():
            yield self.entered(after)
            yield self.happened(after)

    def entered(self, after: AnyMatch) -> str:
        """The last decision as it was typed, or that it was made in secret; empty for chance."""
        turn, before = after.last, after.previous
        if not turn or not before or not isinstance(turn.actor, Seat) or turn.out_of_turn:
            return ""
        if isinstance(turn.action, Concession):
            # A program may resign where a person is asked nothing.
            questions = self.words.ask(before.sight(turn.actor))
            return next((f"{question.prompt}{turn.action.value}\n" for question in questions), "")
        if all(event.visible_to(self.watching) for event in turn.events):
            return typed(self.words, before.sight(turn.actor), turn.action)
        return self.words.render_secret_turn(turn.actor)

    def happened(self, after: AnyMatch) -> str:
        """What the last decision, or chance, brought about, as a plain prompt shows it."""
        return "".join(narration.render() for narration in self.news(after))

    def in_suspense(self, after: AnyMatch) -> bool:
        """Whether the last decision has left something in the air, such as a coin."""
        return any(narration.suspense for narration in self.news(after)[-1:])

    def news(self, after: AnyMatch) -> list[Narration]:
        """What there is to say of each event of the last turn."""
        if not after.last:
            return []
        seen = after.events_visible_to(self.watching)
        _, new = after.last.redact(self.watching)
        return [
            narrate(self.words, seen.first(length))
            for length in range(len(seen) - len(new) + 1, len(seen) + 1)
        ]


def narrate(words: Words[Any, Any], seen: Sequence[Event]) -> Narration:
    """What to say of the last event seen, the match's own events included."""
    last = seen[-1]
    if not isinstance(last, Conceded):
        return words.narrate(seen)
    return Narration(["", say(last.outcome.sentence, victory(last.seat.other, Ink.WON))])


def typed(words: Words[Any, Any], sight: AnySight, action: Any) -> str:
    """The dialogue in which `action` is entered, prompts and entries, as a screen shows it."""
    shown = []
    dialogue = words.ask(sight)
    try:
        question: Question = next(dialogue)
        for entry in words.entries(sight, action):
            shown.append(f"{question.prompt}{entry}\n")
            question = dialogue.send(entry)
    except StopIteration:
        pass  # the action is entered
    return "".join(shown)
