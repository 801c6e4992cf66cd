"""The protocol of programs that play: JSON lines, version 1. `docs/protocol.md` is its page.

Only messages are here: what is sent, and how what comes back is read.
"""

import json
from collections.abc import Mapping
from math import isclose
from typing import Any, Protocol

from duels.core.errors import NotationError, quote
from duels.core.information_sets import format_history
from duels.core.options import options_data
from duels.core.rules import AnyRules, AnySight
from duels.players.failures import BadAnswer, Failure

VERSION = 1
_LARGEST = 1e9  # of a weight in a policy; NaN is not below it
_MOST_NAMED = 70  # legal actions that a reason lists


def make_hello(rules: AnyRules, budget_ms: int) -> dict[str, Any]:
    """The first message to a program."""
    return {"type": "hello", "protocol": VERSION, **_game(rules), "budget_ms": budget_ms}


def make_request(
    sight: AnySight,
    number: int,
    budget_ms: int,
    *,
    match: str = "",
    card: bool = False,
    error: str = "",
) -> dict[str, Any]:
    """The question: all that the seat has seen, so that whoever answers needs no memory."""
    rules = sight.rules
    message: dict[str, Any] = {
        "type": "choose",
        "id": number,
        "match": match,
        **_game(rules),
        "seat": sight.seat.value,
        "position": rules.format_position(sight),
        "history": format_history(sight),
        "actions": [rules.format(action) for action in sight.actions],
        "budget_ms": budget_ms,
    }
    if card:
        message["card"] = rules.game.card()
    if error:
        message["error"] = error
    return message


def parse_ready(line: str) -> Mapping[str, Any]:
    """The answer to `hello`; unknown keys are left alone."""
    message = _read(line)
    if message.get("type") != "ready":
        raise BadAnswer(Failure.UNREADABLE, f'{quote(line, 80)} came where {{"type": "ready"}} was expected.')
    version = message.get("protocol", VERSION)
    if version != VERSION:
        raise BadAnswer(Failure.REFUSED, f"it speaks protocol {quote(str(version))}; we speak {VERSION}.")
    return message


def parse_reply_to(line: str, number: int) -> Mapping[str, Any] | None:
    """The answer to the question with this id; None if it answers another, and so comes too late."""
    message = _read(line)
    if "id" not in message:
        raise BadAnswer(Failure.UNREADABLE, f"{quote(line, 80)} has no id.")
    return message if message["id"] == number else None


class Notation(Protocol):
    """Spells actions: the rules do, or whoever has other names for cells."""

    def format(self, action: Any) -> str:
        """An action as text."""

    def parse(self, text: str) -> Any:
        """The action; NotationError where there is none."""


def parse_move(
    message: Mapping[str, Any],
    sight: AnySight,
    notation: Notation | None = None,
    show_actions: bool = True,
) -> tuple[Any | None, dict[Any, float] | None]:
    """The action, or else the policy that one is to be drawn from, in the rules' notation or another.

    If it is no move, the reason names the legal actions only with `show_actions`.
    """
    told = message.get("policy")
    if told is not None:
        return None, _read_policy(told, sight, notation, show_actions)
    text = message.get("action")
    if text is None:
        raise BadAnswer(Failure.EMPTY, "the answer has neither an action nor a policy.")
    return parse_action(text, sight, notation, show_actions), None


def parse_action(
    text: object, sight: AnySight, notation: Notation | None = None, show_actions: bool = True
) -> Any:
    """One of the sight's actions, from notation."""
    spelled = notation or sight.rules
    if type(text) is int:  # as JSON has a number, which many an action is
        text = str(text)
    if not isinstance(text, str):
        raise BadAnswer(Failure.UNREADABLE, f"an action is text, not {quote(str(text))}.")
    if not text.strip():
        raise BadAnswer(Failure.EMPTY, "the action is empty.")
    try:
        action = spelled.parse(text)
    except NotationError as error:
        raise BadAnswer(Failure.UNREADABLE, str(error)) from None
    if action not in sight.actions:
        listed = ""
        if show_actions:
            allowed = [spelled.format(each) for each in sight.actions[:_MOST_NAMED]]
            more = len(sight.actions) - len(allowed)
            listed = "; allowed: " + ", ".join([*allowed, f"{more} more"] if more else allowed)
        raise BadAnswer(Failure.ILLEGAL, f"{quote(text)} is not allowed now{listed}.")
    return action


def _read_policy(
    told: object, sight: AnySight, notation: Notation | None, show_actions: bool
) -> dict[Any, float]:
    if not isinstance(told, dict) or not told:
        raise BadAnswer(Failure.UNREADABLE, "a policy maps actions to probabilities.")
    policy: dict[Any, float] = {}
    for text, chance in told.items():
        if isinstance(chance, bool) or not isinstance(chance, int | float) or not abs(chance) <= _LARGEST:
            raise BadAnswer(Failure.UNREADABLE, f"the probability of {quote(text)} is no number.")
        if chance < 0:
            raise BadAnswer(Failure.UNREADABLE, f"the probability of {quote(text)} is negative.")
        if chance:
            action = parse_action(text, sight, notation, show_actions)
            policy[action] = policy.get(action, 0.0) + chance
    total = sum(policy.values())
    if not isclose(total, 1, abs_tol=1e-6):
        raise BadAnswer(Failure.UNREADABLE, f"the probabilities of a policy sum to 1, not to {total:g}.")
    return {action: chance / total for action, chance in policy.items()}


def _game(rules: AnyRules) -> dict[str, Any]:
    return {"game": rules.name, "options": options_data(rules.options())}


def _read(line: str) -> Mapping[str, Any]:
    if not line.strip():
        raise BadAnswer(Failure.EMPTY, "an empty line came.")
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        raise BadAnswer(Failure.UNREADABLE, f"{quote(line, 80)} is not a line of JSON.") from None
    if not isinstance(message, dict):
        raise BadAnswer(Failure.UNREADABLE, f"{quote(line, 80)} is not a JSON object.")
    return message
