"""A question put to a person until it is answered, with commands that may come in between."""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from duels.core.words import Dialogue, Question, Words

T = TypeVar("T")

WHAT_A_HINT_IS = "the best action and its value; once more: why"

ALWAYS = {
    "help": "this list",
    "rules": "the rule card of this game",
    "board": "the board as it stands",
    "moves": "what you may do now",
    "hint": WHAT_A_HINT_IS,
    "back": "start this entry again",
}
"""What can be entered at any question about a position."""
_BACK = "back"


SHORT = {"?": "help", "q": "quit", "exit": "quit"}
"""Other words for some commands, where the game has no meaning of its own for them."""

Commands = Mapping[str, Callable[[list[str]], None]]


def with_short(commands: Commands, words: Words[Any, Any]) -> Commands:
    """The commands, and the short words for them."""
    short = {word: name for word, name in SHORT.items() if word not in words.letters}
    return {**commands, **{word: commands[name] for word, name in short.items()}}


def help_text(commands: Mapping[str, str]) -> str:
    lines = (f"  {command:<9}{what}\n" for command, what in commands.items())
    return "At any prompt you can also enter:\n" + "".join(lines)


def converse(
    start: Callable[[], Dialogue[T]],
    ask: Callable[[Question], str],
    commands: Commands,
) -> T:
    """What the dialogue comes to.

    A command is told what has been entered so far of an answer that takes several entries; it may raise to
    leave.
    """
    entered: list[str] = []
    dialogue = start()
    try:
        question = next(dialogue)
        first = question.prompt
        while True:
            entry = ask(question)
            word = entry.strip().lower()
            if word == _BACK:
                entered.clear()
                dialogue = start()
                question = next(dialogue)
            elif word in commands:
                commands[word](entered)
                question = Question(question.prompt, secret=question.secret)
            else:
                question = dialogue.send(entry)
                if question.prompt == first:
                    entered.clear()
                elif not question.notice:
                    entered.append(entry)
    except StopIteration as done:
        answer: T = done.value
        return answer
