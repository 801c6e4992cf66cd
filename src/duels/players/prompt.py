"""Prompts for language models, and strict parsing of their answers."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from random import Random
from typing import Any

from duels.core.errors import BadOption, NotationError, quote
from duels.core.information_sets import format_history
from duels.core.options import list_options
from duels.core.rules import AnyRules, AnySight, OpenRules
from duels.core.words import strip_ink
from duels.players import protocol
from duels.players.failures import BadAnswer, Failure

_ANSWER_INSTRUCTIONS = (
    "Think as long as you like. The last line of your answer must be a JSON object with your action and "
    "nothing else. The question says how to write an action; ignore what the rules say about typing, which "
    "is for people at a keyboard."
)
_LETTERS = "BCDFGHJKLMNPRSTVWZ"  # without X and O, which boards show, and vowels, which might form words
_NUMBER = re.compile(r"(?<!Player )\b[0-9]+\b")


@dataclass(frozen=True)
class Labels:
    """Letters that replace the numbers of the cells, from left to right. They are the same in every run.

    They make memorized answers useless: `1-2` may become `K-T`, in notation and on the board. Only numbered
    cells in a row can be renamed. On other boards a number means more than an index.
    """

    rules: AnyRules
    names: tuple[str, ...]

    @classmethod
    def from_rules(cls, rules: AnyRules) -> "Labels":
        """Choose names for the cells of a game. Raises BadOption if they cannot be renamed."""
        count = rules.game.find("labels", "cells")
        if count is None:
            raise BadOption(f"The cells of {rules.name} cannot be renamed: they are not numbered in a row.")
        cells = count(rules)
        if cells > len(_LETTERS):
            raise BadOption(f"At most {len(_LETTERS)} cells can be renamed, not {cells}.")
        return cls(rules, tuple(Random(f"labels {rules.name} {cells}").sample(_LETTERS, cells)))

    def rename(self, text: str) -> str:
        """Rename the cells in a board or in notation."""
        return _NUMBER.sub(lambda match: self.names[int(match[0]) - 1], text)

    def format(self, action: Any) -> str:
        """Format an action with these names."""
        return self.rename(self.rules.format(action))

    def parse(self, text: str) -> Any:
        """Parse an action with these names. Raises NotationError for any other text."""
        numbers = {name: str(number) for number, name in enumerate(self.names, start=1)}
        words = re.split(r"([^A-Za-z0-9]+)", text.strip())
        if any(word.isdecimal() for word in words):
            raise NotationError(f"{quote(text)} contains a number; the cells are {', '.join(self.names)}.")
        try:
            return self.rules.parse("".join(numbers.get(word.upper(), word) for word in words))
        except NotationError:
            raise NotationError(
                f"{quote(text)} is not an action; the cells are {', '.join(self.names)}."
            ) from None

    @property
    def legend(self) -> str:
        """An explanation of the names for the prompt."""
        return (
            f"The cells have other names here, from left to right: {', '.join(self.names)}. "
            f"Cell 1 of the rules is {self.names[0]}, and so on. Use these names, not numbers."
        )


def make_messages(sight: AnySight, show_actions: bool, labels: Labels | None = None) -> list[dict[str, str]]:
    """Return the prompt for a decision: the rule card, the seat's history and the position.

    With `labels`, the cells are renamed, and the position in notation is left out.
    """
    rules = sight.rules
    words = rules.game.words(rules)
    rename = labels.rename if labels else str
    names = dict.fromkeys((words.seat_name(sight.seat), sight.seat.label))
    parts = [
        f"You are {', '.join(names)}, and it is your turn.",
        rename(_describe_history(sight)),
        "The position:\n" + rename(strip_ink(str(words.board(sight)))).strip("\n"),
    ]
    if not labels:
        parts.append(f"In notation: {rules.format_position(sight)}")
    if show_actions:
        parts.append(f"You may play: {rename(', '.join(rules.format(action) for action in sight.actions))}.")
    form, examples = _describe_format(sight)
    shape = " or ".join(json.dumps({"action": rename(example)}) for example in examples)
    parts.append(f"{rename(form)} The last line of your answer looks like {shape}.")
    notes = [f"{rules.game.card()}", *_describe_options(rules), *([labels.legend] if labels else [])]
    system = "\n".join(["You play this game to win.\n", *notes, "", _ANSWER_INSTRUCTIONS])
    return [{"role": "system", "content": system}, {"role": "user", "content": "\n\n".join(parts)}]


def _describe_history(sight: AnySight) -> str:
    """Describe the history. Single positions, as in probes, have none."""
    rules = sight.rules
    if isinstance(rules, OpenRules) and not sight.history and sight.view != rules.initial():
        return "The match is under way. Earlier moves do not matter."
    history = ", ".join(format_history(sight)) or "nothing"
    return f"Played so far, one entry after another (? was hidden from you): {history}."


def _describe_format(sight: AnySight) -> tuple[str, tuple[str, ...]]:
    """Return the format of an answer, and examples that do not reveal the legal actions."""
    rules = sight.rules
    forms = rules.game.find("answers", "forms")
    if forms is None:
        return "Write your action in the notation of the game.", (rules.format(rules.all_actions()[0]),)
    form, examples = forms(rules, sight)
    return form, examples


def _describe_options(rules: AnyRules) -> list[str]:
    """Describe the differences from the rule card, which has the default options."""
    options = rules.options()
    differences = ", ".join(
        f"{option.name} {options[option.name]}{option.help and f' ({option.help})'}"
        for option in list_options(type(rules))
        if option.name in options
    )
    return [f"This match differs from these rules: {differences}."] if differences else []


def make_retry_messages(messages: list[dict[str, str]], answer: str, reason: str) -> list[dict[str, str]]:
    """Add an answer that was not a move, and the reason, to the conversation.

    Endpoints refuse an empty answer; the reason is then appended to the question, because many endpoints
    require alternating roles.
    """
    request = f"That is not a move: {reason} Please answer again."
    if answer.strip():
        return [*messages, {"role": "assistant", "content": answer}, {"role": "user", "content": request}]
    *earlier, last = messages
    return [*earlier, {**last, "content": f"{last['content']}\n\n{request}"}]


def parse_answer(
    text: str, sight: AnySight, labels: Labels | None = None, *, show_actions: bool = True
) -> tuple[Any | None, dict[Any, float] | None]:
    """Parse the action or policy from the last JSON object of an answer, or from its last line.

    Raises BadAnswer if it is not a move; the message lists the legal actions only with `show_actions`.
    """
    if not text.strip():
        raise BadAnswer(Failure.EMPTY, "the answer is empty.")
    message = _find_last_object(text)
    if message is not None:
        return protocol.parse_move(message, sight, labels, show_actions)
    line = text.strip().splitlines()[-1].strip().strip("`*")
    return protocol.parse_action(line, sight, labels, show_actions), None


def _find_last_object(text: str) -> Mapping[str, Any] | None:
    """Return the last JSON object with an action or a policy."""
    decoder = json.JSONDecoder()
    last: Mapping[str, Any] | None = None
    start = text.find("{")
    while start >= 0:
        try:
            value, end = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            end = start + 1
        else:
            if isinstance(value, dict) and ("action" in value or "policy" in value):
                last = value
        start = text.find("{", end)
    return last
