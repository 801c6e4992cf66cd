"""Prompts for language models, and strict parsing of their answers."""

import json
import re
from ast import literal_eval
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from random import Random
from typing import Any

from duels.core.errors import BadOption, NotationError, quote
from duels.core.information_sets import HIDDEN, list_seen_entries
from duels.core.options import list_options
from duels.core.rules import CHANCE, AnyRules, AnySight, OpenRules
from duels.core.words import strip_ink
from duels.players import protocol
from duels.players.failures import BadAnswer, Failure

PROMPT_VERSION = 4
"""The version of the prompt and of the answers that it allows. Results of two versions are not compared."""
TEXT, TOOL = "text", "tool"
"""The forms of an answer: the end of a text, or a call of a tool."""
FORMS = (TEXT, TOOL)
Message = dict[str, Any]
"""A message of a chat, as OpenAI's chat completions have it."""
PLAY_TOOL: Message = {
    "type": "function",
    "function": {
        "name": "play",
        "description": "Play an action. The question says how to write it.",
        "parameters": {
            "type": "object",
            "properties": {"action": {"type": "string"}},
            "required": ["action"],
        },
    },
}
"""The tool that takes an answer of the form `tool`."""
_ANSWER_INSTRUCTIONS = {
    TEXT: "Think as long as you like. The last line of your answer must be a JSON object with your action "
    "and nothing else. The question says how to write an action.",
    TOOL: "Think as long as you like. Then call the tool `play` once, with your action. "
    "The question says how to write an action.",
}
_LETTERS = "BCDFGHJKLMNPRSTVWZ"  # without X and O, which boards show, and vowels, which might form words
_NUMBER = re.compile(r"(?<!Player )\b[0-9]+\b")
_BOXED = re.compile(r"\\boxed\{(?:\\text\{)?([^{}]*)\}?\}[$.\s]*$")
_MAX_BRACES = 100  # in the object that ends an answer; a flood of braces must not take long
_DECORATION = "`*$ \t\r\n"  # around an action, in Markdown or LaTeX


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
        count = rules.game.find("mirror", "cells")
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
        return self.rules.parse("".join(numbers.get(word.upper(), word) for word in words))

    @property
    def legend(self) -> str:
        """An explanation of the names for the prompt."""
        return (
            f"The board has letters instead of numbers, from left to right: {', '.join(self.names)}. "
            f"{self.names[0]} stands for number 1 of the rules, and so on. Answer with letters, not numbers."
        )


def make_messages(
    sight: AnySight, show_actions: bool, labels: Labels | None = None, form: str = TEXT
) -> list[Message]:
    """Return the prompt for a decision: the briefing and the question."""
    return [
        {"role": "system", "content": make_briefing(sight.rules, labels, form)},
        {"role": "user", "content": make_question(sight, show_actions, labels, form)},
    ]


def make_briefing(rules: AnyRules, labels: Labels | None = None, form: str = TEXT) -> str:
    """Return the text that is the same for all decisions: the rules and the form of an answer."""
    notes = [*_describe_options(rules), *([labels.legend] if labels else []), _ANSWER_INSTRUCTIONS[form]]
    return "\n\n".join(["You play this game to win.", rules.game.rules_text().strip(), *notes])


def make_question(sight: AnySight, show_actions: bool, labels: Labels | None = None, form: str = TEXT) -> str:
    """Return the text for one decision: the seat's history, the position and how to write an action.

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
        rename("\n".join(words.facts(sight))),
        _describe_limit(sight),
        "" if labels else f"In notation: {rules.format_position(sight)}",
    ]
    if show_actions:
        parts.append(f"You may play: {rename(', '.join(rules.format(action) for action in sight.actions))}.")
    parts.append(describe_format(sight, labels, form))
    return "\n\n".join(filter(None, parts))


def _describe_history(sight: AnySight) -> str:
    """Describe who played which entry. Single positions, as in probes, have no history."""
    rules = sight.rules
    if not sight.history:
        is_start = not isinstance(rules, OpenRules) or sight.view == rules.initial()
        return (
            "Nothing has been played." if is_start else "The match is under way. Earlier moves do not matter."
        )
    actors = {sight.seat: "you", sight.seat.other: "your opponent", CHANCE: "chance"}
    entries = [
        f"{actors[actor]}: {'hidden' if entry == HIDDEN else entry}"
        for actor, entry in list_seen_entries(sight)
        if actor is not None
    ]
    return f"Played so far: {'; '.join(entries)}."


def _describe_limit(sight: AnySight) -> str:
    """Say how near the match is to its limit, such as `max_boards`; empty without a limit."""
    limit, clock = sight.rules.limit_value, sight.rules.clock or ""
    passed = getattr(sight.view, clock, None) if limit else None
    if passed is None:
        return ""
    unit = clock.removesuffix("s")
    return f"This is {unit} {passed + 1}. If {unit} {limit} ends without a winner, nobody wins."


def describe_format(sight: AnySight, labels: Labels | None = None, form: str = TEXT) -> str:
    """Describe how each kind of legal action is written, with an example that is legal now.

    The examples are drawn at random, so that they say nothing about good play.
    """
    rules = sight.rules
    forms = rules.game.words(rules).answer_forms(sight)
    rng = Random(f"examples {rules.format_position(sight)}")
    examples = {form: rules.format(rng.choice(actions)) for form, actions in forms.items() if actions}
    clauses = [f"{form}, as in {json.dumps({'action': text})}" for form, text in examples.items()]
    start = "Call the tool `play`" if form == TOOL else "The last line of your answer is a JSON object"
    sentences = f"{start}. Write {'; or '.join(clauses)}."
    return labels.rename(sentences) if labels else sentences


def _describe_options(rules: AnyRules) -> list[str]:
    """Describe the differences from the rule card, which has the default options."""
    options = rules.options()
    differences = ", ".join(
        f"{option.name} {options[option.name]}{option.help and f' ({option.help})'}"
        for option in list_options(type(rules))
        if option.name in options
    )
    return [f"This match differs from these rules: {differences}."] if differences else []


def add_reply(messages: list[Message], text: str, call_id: str, response: str) -> list[Message]:
    """Return the conversation with an answer and our response to it.

    With a `call_id`, the answer was a call of the tool. Endpoints refuse an empty answer; the response is
    then appended to the question, because many endpoints require alternating roles.
    """
    answer = make_answer_message(text, call_id)
    if call_id:
        return [*messages, answer, {"role": "tool", "tool_call_id": call_id, "content": response}]
    if text.strip():
        return [*messages, answer, {"role": "user", "content": response}]
    *earlier, last = messages
    return [*earlier, {**last, "content": f"{last['content']}\n\n{response}"}]


def make_answer_message(text: str, call_id: str) -> Message:
    """Return the message of an answer, which with a `call_id` is a call of the tool."""
    if not call_id:
        return {"role": "assistant", "content": text}
    function = {"name": PLAY_TOOL["function"]["name"], "arguments": text}
    call = {"id": call_id, "type": "function", "function": function}
    return {"role": "assistant", "content": None, "tool_calls": [call]}


def parse_answer(
    text: str, sight: AnySight, labels: Labels | None = None, *, show_actions: bool = True
) -> tuple[Any | None, dict[Any, float] | None]:
    """Parse the action or policy at the end of an answer.

    The answer must end with a JSON object (single quotes are accepted), with `\\boxed{4}`, or with a line
    that holds only the action, as `4`, `"4"` or `4.`. Anything before that is not read, so an example in
    the text is not a move. Raises BadAnswer if it is not a move; the message lists the legal actions only
    with `show_actions`.
    """
    if not text.strip():
        raise BadAnswer(Failure.EMPTY, "the answer is empty.")
    ending = text.rstrip(_DECORATION)
    message = _find_last_object(ending)
    if message is not None:
        return protocol.parse_move(message, sight, labels, show_actions)
    line = (ending.splitlines() or [""])[-1]
    boxed = _BOXED.search(line)
    entry = boxed[1] if boxed else line
    entry = entry.strip(_DECORATION).removesuffix(".").strip(_DECORATION + "\"'").replace("\u2013", "-")
    return protocol.parse_action(entry, sight, labels, show_actions), None


def _find_last_object(text: str) -> Mapping[str, Any] | None:
    """Return the object with an action or a policy that ends the text."""
    start = len(text) if text.endswith("}") else 0
    for _ in range(_MAX_BRACES):
        start = text.rfind("{", 0, start)
        if start < 0:
            break
        value = _read_object(text[start:])
        if isinstance(value, dict) and ("action" in value or "policy" in value):
            return value
    return None


def _read_object(text: str) -> Any:
    for read in (json.loads, literal_eval):
        with suppress(ValueError, SyntaxError, RecursionError, MemoryError):
            return read(text)
    return None
