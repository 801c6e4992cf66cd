"""Chat completions as endpoints send them: whole, or in a stream of events."""

import json
from dataclasses import dataclass
from typing import Any

from duels.core.errors import DuelsError, quote

MAX_TEXT = 1 << 20
"""Characters of an answer; a model that says more floods."""
_TOO_MANY = 1 << 40  # tokens: nobody has a bill with so many
STOPPED_BY_FILTER, STOPPED_BY_LENGTH, FLOODED = "content_filter", "length", "flooded"
"""Why a reply may have ended: the first two are the endpoint's words, the last is ours."""


@dataclass(frozen=True)
class Usage:
    """Tokens and requests."""

    prompt: int = 0
    completion: int = 0
    requests: int = 0

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            self.prompt + other.prompt, self.completion + other.completion, self.requests + other.requests
        )


def format_money(amount: float, currency: str = "") -> str:
    """An amount for people: with two digits after the point, or four where two would not show it."""
    told = f"{amount:.4f}" if 0 < amount < 0.01 else f"{amount:.2f}"
    return f"{told} {currency}" if currency else told


@dataclass(frozen=True)
class Reply:
    """What a model said."""

    text: str
    finish: str
    """Why it stopped: `stop`, `length`, `content_filter`, `flooded`."""
    refusal: str = ""
    usage: Usage = Usage(requests=1)
    reported: bool = False
    """Whether the endpoint told the tokens."""


class BadStream(DuelsError):
    """A stream of events that stands for no reply."""


class CompletionStream:
    """Puts the events of a stream together to the one reply that they stand for."""

    def __init__(self) -> None:
        self.done = False
        self.length = 0
        """Characters of the answer so far."""
        self._parts: dict[str, list[str]] = {"content": [], "refusal": []}
        self._finish = ""
        self._usage: Any = None

    def add(self, line: bytes) -> None:
        """Take in a line; BadStream if it is none of a chat completion."""
        name, _, data = line.decode("utf-8", "replace").partition(":")
        data = data.strip()
        if name != "data":
            return
        if data == "[DONE]":
            self.done = True
            return
        try:
            event = json.loads(data)
            if event.get("error"):
                raise BadStream(f"the stream ended with {quote(json.dumps(event['error']), 200)}.")
            self._usage = event.get("usage") or self._usage
            for choice in (event.get("choices") or [])[:1]:
                self._add_choice(choice)
        except (ValueError, TypeError, AttributeError, RecursionError):
            raise BadStream(f"{quote(data, 80)} is no event of a chat completion.") from None

    def _add_choice(self, choice: dict[str, Any]) -> None:
        delta = choice.get("delta") or {}
        for name, parts in self._parts.items():
            text = delta.get(name) or ""
            parts.append("" + text)  # TypeError, if it is no text
            self.length += len(text)
        self._finish = choice.get("finish_reason") or self._finish

    def body(self) -> str:
        """The completion as it would have come in one piece."""
        message = {name: "".join(parts) for name, parts in self._parts.items()}
        choice = {"message": message, "finish_reason": self._finish}
        return json.dumps({"choices": [choice], "usage": self._usage})


def parse_reply(body: str) -> Reply | None:
    """The reply in an answer of the endpoint; None where it is no chat completion."""
    try:
        told = json.loads(body)
        choice = told["choices"][0]
        message = choice["message"]
        text, finish = _text(message.get("content")), str(choice.get("finish_reason") or "")
        if len(text) > MAX_TEXT:
            text, finish = "", FLOODED
        used = _used(told.get("usage"))
        return Reply(text, finish, _text(message.get("refusal")), used or Usage(requests=1), used is not None)
    except (ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError):
        return None


def _used(told: object) -> Usage | None:
    """The tokens of a request; None where no numbers of tokens are told. No question is without any."""
    if not isinstance(told, dict):
        return None
    prompt, completion = told.get("prompt_tokens"), told.get("completion_tokens")
    if type(prompt) is not int or type(completion) is not int:
        return None
    believed = 0 < prompt < _TOO_MANY and 0 <= completion < _TOO_MANY
    return Usage(prompt, completion, 1) if believed else None


def _text(told: object) -> str:
    """A text that can be written down: JSON may hold halves of letters, which no file takes."""
    return str(told or "").encode(errors="replace").decode()


def parse_error(body: str) -> tuple[str, str]:
    """The code and the text of an error that an endpoint tells."""
    try:
        problem = json.loads(body)["error"]
        return str(problem.get("code") or ""), str(problem["message"])
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return "", body
