"""Tells a match on the screen, as everybody, one seat, or a bystander may see it."""

from typing import Any

from duels.core.match import Match, Resign, Turn
from duels.core.rules import Event, Seat, Sight
from duels.core.words import Question, Words, tell
from duels.terminal.screen import Screen

AnyMatch = Match[Any, Any, Any]


class Narrator:
    """`watching` holds the seats whose secrets may be shown: none of them is a bystander's view."""

    def __init__(self, words: Words[Any, Any], screen: Screen, watching: frozenset[Seat]) -> None:
        self.words = words
        self.screen = screen
        self.watching = watching

    def open(self) -> None:
        self.screen.say(self.words.opening())

    def retell(self, match: AnyMatch) -> None:
        """The whole match so far."""
        self.open()
        for after in match.steps():
            self.entered(after)
            self.happened(after)

    def entered(self, after: AnyMatch) -> None:
        """Show the last decision as it was typed, or that it was made in secret."""
        turn, before = after.last, after.previous
        if not turn or not before or not isinstance(turn.actor, Seat):
            return
        if isinstance(turn.action, Resign):
            # A program may resign where a person is asked nothing.
            for question in self.words.ask(before.sight(turn.actor)):
                self.screen.say(f"{question.prompt}{turn.action.value}\n")
                break
        elif all(event.visible_to(self.watching) for event in turn.events):
            self.screen.say(typed(self.words, before.sight(turn.actor), turn.action))
        else:
            self.screen.say(self.words.veiled(turn.actor))

    def happened(self, after: AnyMatch) -> None:
        """Show what the last decision, or chance, brought about."""
        if not after.last:
            return
        before = after.previous
        seen = self._seen(before) if before else []
        for event in self._visible(after.last):
            seen.append(event)
            self.screen.say(tell(self.words, seen))

    def _visible(self, turn: Turn[Any]) -> list[Event]:
        return [event for event in turn.events if event.visible_to(self.watching)]

    def _seen(self, match: AnyMatch) -> list[Event]:
        return [event for turn in match.turns for event in self._visible(turn)]


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
