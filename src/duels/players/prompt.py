"""What a language model is told, and how its answer is read: nothing is guessed out of prose."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from random import Random
from typing import Any

from duels.core.errors import BadOption, NotationError, quote
from duels.core.information_sets import format_history
from duels.core.options import list_options
from duels.core.rules import AnyRules, AnySight, OpenRules, Seat
from duels.core.words import strip_ink
from duels.players import protocol
from duels.players.failures import BadAnswer, Failure

_HOW = (
    "Think as long as you like. End your answer with one line that holds nothing but a JSON object with your "
    "action. How an action is written is said with the question; what the rules say about typing is for "
    "people at a keyboard."
)
_LETTERS = "BCDFGHJKLMNPRSTVWZ"  # not X and O, which boards show, nor vowels, of which words might come
_NUMBER = re.compile(r"(?<!Player )\b[0-9]+\b")


@dataclass(frozen=True)
class Labels:
    """Other names for the cells under some rules, from left to right; the same in every run.

    Against what was learned by heart: `1-2` may be called `K-T`, in notation and on the board alike. Only
    cells that lie in a row and are numbered can have them: elsewhere numbers mean more than a place.
    """

    rules: AnyRules
    names: tuple[str, ...]

    @classmethod
    def of(cls, rules: AnyRules) -> "Labels":
        """Names for the cells of a game; BadOption where they cannot have others."""
        count = rules.game.find("labels", "cells")
        if count is None:
            raise BadOption(f"{rules.name} has no cells that are places in a row, so none can be renamed.")
        cells = count(rules)
        if cells > len(_LETTERS):
            raise BadOption(f"at most {len(_LETTERS)} cells can go by other names, not {cells}.")
        return cls(rules, tuple(Random(f"labels {rules.name} {cells}").sample(_LETTERS, cells)))

    def renamed(self, text: str) -> str:
        """A board or a line of notation in these names."""
        return _NUMBER.sub(lambda found: self.names[int(found[0]) - 1], text)

    def format(self, action: Any) -> str:
        """An action in these names."""
        return self.renamed(self.rules.format(action))

    def parse(self, text: str) -> Any:
        """Read an action in these names; NotationError if it is in others."""
        numbers = {name: str(place) for place, name in enumerate(self.names, start=1)}
        words = re.split(r"([^A-Za-z0-9]+)", text.strip())
        if any(word.isdecimal() for word in words):
            raise NotationError(f"{quote(text)} has a number in it; the places are {', '.join(self.names)}.")
        try:
            return self.rules.parse("".join(numbers.get(word.upper(), word) for word in words))
        except NotationError:
            raise NotationError(
                f"{quote(text)} is no action; the places are {', '.join(self.names)}."
            ) from None

    @property
    def legend(self) -> str:
        """What a player is told about the names."""
        return (
            f"The places go by other names here, from left to right: {', '.join(self.names)}. "
            f"What the rules call 1 is {self.names[0]}, and so on. Use these names, not numbers."
        )


def make_messages(sight: AnySight, show_actions: bool, labels: Labels | None = None) -> list[dict[str, str]]:
    """The question about one decision: rule card, what the seat has seen, the position.

    With `labels` all cells go by other names, and the position stands in no notation, which has none of them.
    """
    rules = sight.rules
    words = rules.game.words(rules)
    renamed = labels.renamed if labels else str
    parts = [
        f"You are {_called(words.seat_name(sight.seat), sight.seat)}, and it is your turn.",
        renamed(_played(sight)),
        "The position:\n" + renamed(strip_ink(str(words.board(sight)))).strip("\n"),
    ]
    if not labels:
        parts.append(f"In notation: {rules.format_position(sight)}")
    if show_actions:
        parts.append(f"You may play: {renamed(', '.join(rules.format(each) for each in sight.actions))}.")
    form, examples = _form(sight)
    shape = " or ".join(json.dumps({"action": renamed(example)}) for example in examples)
    parts.append(f"{renamed(form)} The last line of your answer looks like {shape}.")
    notes = [f"{rules.game.card()}", *_options(rules), *([labels.legend] if labels else [])]
    system = "\n".join(["You play this game to win.\n", *notes, "", _HOW])
    return [{"role": "system", "content": system}, {"role": "user", "content": "\n\n".join(parts)}]


def _played(sight: AnySight) -> str:
    """What the seat has seen; a probe asks about positions without it."""
    rules = sight.rules
    if isinstance(rules, OpenRules) and not sight.history and sight.view != rules.initial():
        return "The match is under way; what was played before does not matter."
    seen = ", ".join(format_history(sight)) or "nothing"
    return f"Played so far, one entry after another (? was hidden from you): {seen}."


def _form(sight: AnySight) -> tuple[str, tuple[str, ...]]:
    """How an answer is written where this seat decides, with examples; it does not tell what is legal."""
    rules = sight.rules
    forms = rules.game.find("answers", "forms")
    if forms is None:
        return "Write your action in the notation of the game.", (rules.format(rules.all_actions()[0]),)
    form, examples = forms(rules)(sight)
    return form, examples


def _called(name: str, seat: Seat) -> str:
    return name if name == seat.label else f"{name}, {seat.label}"


def _options(rules: AnyRules) -> list[str]:
    """What differs from the rule card, which is of the book's game."""
    options = rules.options()
    told = ", ".join(
        f"{option.name} {options[option.name]}{option.help and f' ({option.help})'}"
        for option in list_options(type(rules))
        if option.name in options
    )
    return [f"This match differs from that: {told}."] if told else []


def make_retry_messages(messages: list[dict[str, str]], answer: str, reason: str) -> list[dict[str, str]]:
    """The conversation with an answer that was no move, and the reason why.

    An empty answer is left out, for endpoints refuse it; the reason then stands below the question, because
    many want questions and answers to take turns.
    """
    told = f"That is no move: {reason} Please answer again."
    if answer.strip():
        return [*messages, {"role": "assistant", "content": answer}, {"role": "user", "content": told}]
    *before, last = messages
    return [*before, {**last, "content": f"{last['content']}\n\n{told}"}]


def parse_answer(
    text: str, sight: AnySight, labels: Labels | None = None, *, show_actions: bool = True
) -> tuple[Any | None, dict[Any, float] | None]:
    """The action, or the policy, of the last JSON object in an answer, or else of its last line.

    If it is no move, the reason names the legal actions only with `show_actions`.
    """
    if not text.strip():
        raise BadAnswer(Failure.EMPTY, "the answer is empty.")
    told = _last_object(text)
    if told is not None:
        return protocol.parse_move(told, sight, labels, show_actions)
    line = text.strip().splitlines()[-1].strip().strip("`*")
    return protocol.parse_action(line, sight, labels, show_actions), None


def _last_object(text: str) -> Mapping[str, Any] | None:
    """The last JSON object that stands in a text and says something about a move."""
    decoder = json.JSONDecoder()
    found: Mapping[str, Any] | None = None
    place = text.find("{")
    while place >= 0:
        try:
            value, end = decoder.raw_decode(text, place)
        except (ValueError, RecursionError):
            end = place + 1
        else:
            if isinstance(value, dict) and ("action" in value or "policy" in value):
                found = value
        place = text.find("{", end)
    return found
