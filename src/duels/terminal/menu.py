"""Choices from a list, by number or name."""

from collections.abc import Callable, Mapping

from duels.core.errors import quote
from duels.core.words import Question
from duels.terminal.screen import Screen


class Back(Exception):
    """The person wants to go back to the question before."""


class Leave(Exception):
    """The person wants to leave the menu."""


def choose(
    screen: Screen,
    title: str,
    options: Mapping[str, str],
    default: str | None = None,
    also: Mapping[str, str] | None = None,
) -> str:
    """One of the options; an empty line takes the default. Back or Leave if that is what the person wants.

    `also` are other names for some of the options.
    """
    names = list(options)
    width = max(map(len, names)) + 2
    lines = [f"  {i}. {name:<{width}}{options[name]}" for i, name in enumerate(names, start=1)]
    hint = f" [{default}]" if default else ""
    listed = f"{title}\n" + "\n".join(lines)
    notice = listed
    while True:
        try:
            entry = screen.ask(Question(f"Number or name{hint}: ", notice)).strip().lower()
        except EOFError:
            raise Leave from None
        if entry in ("quit", "q", "exit"):
            raise Leave
        if entry in ("back", "b"):
            raise Back
        if entry in ("help", "?"):
            notice = listed
        elif not entry and default:
            return default
        elif entry in options:
            return entry
        elif also and entry in also:
            return also[entry]
        elif entry in map(str, range(1, len(names) + 1)):
            return names[int(entry) - 1]
        else:
            wrong = f"{quote(entry)} is not on the list. " if entry else ""
            notice = f"{wrong}Please choose 1 to {len(names)}, a name, back or quit."


def choose_in_turn(*questions: Callable[[list[str]], str]) -> list[str]:
    """The answers to questions, each of which is told the answers so far.

    `back` leads to the question before; from the first it leads out of them.
    """
    answers: list[str] = []
    while len(answers) < len(questions):
        try:
            answers.append(questions[len(answers)](answers))
        except Back:
            if not answers:
                raise
            answers.pop()
    return answers
