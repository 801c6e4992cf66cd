"""Messages of the JSON lines protocol for programs, version 1; see `docs/protocol.md`."""

import json
from collections.abc import Mapping
from math import isclose
from typing import Any, Protocol

from duels.core.errors import NotationError, quote, shorten_list
from duels.core.information_sets import format_history
from duels.core.match import MAX_LISTED_ACTIONS
from duels.core.options import options_data
from duels.core.rules import AnyRules, AnySight
from duels.players.failures import BadAnswer, Failure

VERSION = 1
_MAX_WEIGHT = 1e9  # in a policy; the comparison also rejects NaN


def make_hello(rules: AnyRules, budget_ms: int) -> dict[str, Any]:
    """Return the first message to a program."""
    return {"type": "hello", "protocol": VERSION, **_format_game(rules), "budget_ms": budget_ms}


def make_request(
    sight: AnySight, number: int, budget_ms: int, *, match: str = "", card: bool = False, error: str = ""
) -> dict[str, Any]:
    """Return the request for a decision, with the whole history, so that programs need no memory."""
    rules = sight.rules
    message: dict[str, Any] = {
        "type": "choose",
        "id": number,
        "match": match,
        **_format_game(rules),
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
    """Parse the answer to `hello`; unknown keys are ignored. Raises BadAnswer if it is invalid."""
    message = _parse_message(line)
    if message.get("type") != "ready":
        raise BadAnswer(Failure.UNREADABLE, f'expected {{"type": "ready"}}, not {quote(line, 80)}.')
    version = message.get("protocol", VERSION)
    if version != VERSION:
        raise BadAnswer(Failure.REFUSED, f"its protocol version is {quote(str(version))}; ours is {VERSION}.")
    return message


def parse_reply_to(line: str, number: int) -> Mapping[str, Any] | None:
    """Parse the answer to a request, or return None if it answers an earlier one. Raises BadAnswer."""
    message = _parse_message(line)
    if "id" not in message:
        raise BadAnswer(Failure.UNREADABLE, f"{quote(line, 80)} has no id.")
    return message if message["id"] == number else None


class Notation(Protocol):
    """Formats and parses actions. Rules and `Labels` do."""

    def format(self, action: Any) -> str:
        """Format an action."""

    def parse(self, text: str) -> Any:
        """Parse an action. Raises NotationError if it is invalid."""


def parse_move(
    message: Mapping[str, Any], sight: AnySight, notation: Notation | None = None, show_actions: bool = True
) -> tuple[Any | None, dict[Any, float] | None]:
    """Return the action, or the policy to draw it from.

    Raises BadAnswer if it is not a move; the message lists the legal actions only with `show_actions`.
    """
    policy = message.get("policy")
    if policy is not None:
        return None, _parse_policy(policy, sight, notation, show_actions)
    text = message.get("action")
    if text is None:
        raise BadAnswer(Failure.EMPTY, "the answer has neither an action nor a policy.")
    return parse_action(text, sight, notation, show_actions), None


def parse_action(
    text: object, sight: AnySight, notation: Notation | None = None, show_actions: bool = True
) -> Any:
    """Parse one of the sight's actions. Raises BadAnswer if it is invalid or illegal."""
    notation = notation or sight.rules
    if type(text) is int:  # JSON numbers are accepted for actions that are numbers
        text = str(text)
    if not isinstance(text, str):
        raise BadAnswer(Failure.UNREADABLE, f"an action must be a string, not {quote(str(text))}.")
    if not text.strip():
        raise BadAnswer(Failure.EMPTY, "the action is empty.")
    try:
        action = notation.parse(text)
    except NotationError:  # do not pass on its text: the example might be illegal now, or a hint
        failure, problem = Failure.UNREADABLE, f"{quote(text)} is not an action"
    else:
        if action in sight.actions:
            return action
        failure, problem = Failure.ILLEGAL, f"{quote(text)} is not allowed now"
    allowed = [notation.format(legal) for legal in sight.actions] if show_actions else []
    suffix = f"; allowed: {', '.join(shorten_list(allowed, MAX_LISTED_ACTIONS))}" if allowed else ""
    raise BadAnswer(failure, f"{problem}{suffix}.")


def _parse_policy(
    data: object, sight: AnySight, notation: Notation | None, show_actions: bool
) -> dict[Any, float]:
    if not isinstance(data, dict) or not data:
        raise BadAnswer(Failure.UNREADABLE, "a policy must map actions to probabilities.")
    policy: dict[Any, float] = {}
    for text, chance in data.items():
        if isinstance(chance, bool) or not isinstance(chance, int | float) or not abs(chance) <= _MAX_WEIGHT:
            raise BadAnswer(Failure.UNREADABLE, f"the probability of {quote(text)} is not a number.")
        if chance < 0:
            raise BadAnswer(Failure.UNREADABLE, f"the probability of {quote(text)} is negative.")
        if chance:
            action = parse_action(text, sight, notation, show_actions)
            policy[action] = policy.get(action, 0.0) + chance
    total = sum(policy.values())
    if not isclose(total, 1, abs_tol=1e-6):
        raise BadAnswer(Failure.UNREADABLE, f"the probabilities of a policy must sum to 1, not to {total:g}.")
    return {action: chance / total for action, chance in policy.items()}


def _format_game(rules: AnyRules) -> dict[str, Any]:
    return {"game": rules.name, "options": options_data(rules.options())}


def _parse_message(line: str) -> Mapping[str, Any]:
    if not line.strip():
        raise BadAnswer(Failure.EMPTY, "the line is empty.")
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        raise BadAnswer(Failure.UNREADABLE, f"{quote(line, 80)} is not a line of JSON.") from None
    if not isinstance(message, dict):
        raise BadAnswer(Failure.UNREADABLE, f"{quote(line, 80)} is not a JSON object.")
    return message
