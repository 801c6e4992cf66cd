"""Tells a match in its game's words, as both seats, one seat or a bystander may see it."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from duels.core.match import Concession, Match
from duels.core.rules import Event, Seat, Sight
from duels.core.words import Question, Words, retold, tell

AnyMatch = Match[Any, Any, Any]


class Narrator:
    """Tells a match with the secrets of the seats in `watching`; with none, as a bystander sees it."""

    def __init__(self, words: Words[Any, Any], watching: frozenset[Seat]) -> None:
        self.words = words
        self.watching = watching

    def retell(self, match: AnyMatch) -> Iterator[str]:
        """The whole match so far."""
        yield self.words.opening()
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
        return self.words.veiled(turn.actor)

    def happened(self, after: AnyMatch) -> str:
        """What the last decision, or chance, brought about."""
        return "".join(tell(self.words, seen) for seen in self._news(after))

    def happened_to(self, reader: Seat | None, after: AnyMatch, names: Mapping[Seat, str]) -> str:
        """What the last decision, or chance, brought about, for one reader (None: a bystander).

        The book speaks to whoever does something. All others are told of it in the third person.
        """
        said = []
        for seen in self._news(after):
            assert after.last
            doer = getattr(seen[-1], "seat", after.last.actor)
            said.append(tell(self.words, seen) if doer is reader else retold(self.words, seen, names))
        return "".join(said)

    def _news(self, after: AnyMatch) -> Iterator[Sequence[Event]]:
        """All that is seen up to each event of the last turn, one after the other."""
        if not after.last:
            return
        seen = after.seen_by(self.watching)
        _, new = after.last.told(self.watching)
        for length in range(len(seen) - len(new) + 1, len(seen)):
            yield seen.first(length)
        if new:
            yield seen


def typed(words: Words[Any, Any], sight: Sight[Any, Any], action: Any) -> str:
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


def in_suspense(told: str) -> bool:
    """Whether what was told last leaves something in the air, such as a coin."""
    return told.endswith("...\n")
