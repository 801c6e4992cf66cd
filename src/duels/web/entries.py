"""The book's questions without a keyboard: what was entered so far, and what is asked next."""

from collections.abc import Sequence
from typing import Any

from duels.core.rules import Sight
from duels.core.words import Question, Words, plain
from duels.web.refusals import Refusal


class Unfinished(Refusal):
    """What was entered is right so far, and the book has another question."""

    status = 200


def read_entries(words: Words[Any, Any], sight: Sight[Any, Any], entries: Sequence[str]) -> Any:
    """The action that is entered; Refusal in the book's words, or Unfinished with its next question."""
    dialogue = words.ask(sight)
    question = next(dialogue)
    try:
        for entry in entries:
            question = dialogue.send(entry)
            if question.notice:
                raise Refusal(plain(question.notice))
    except StopIteration as done:
        return done.value
    raise Unfinished(shown_prompt(question))


def shown_prompt(question: Question) -> str:
    """The book's question without the sign before the cursor: the page has a field instead."""
    return plain(question.prompt).strip().removesuffix(">").strip()
