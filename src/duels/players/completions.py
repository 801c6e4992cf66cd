"""Parsers for chat completions, sent whole or as a stream of events."""

import json
from dataclasses import dataclass
from typing import Any

from duels.core.errors import DuelsError, quote

MAX_TEXT = 1 << 20
"""The maximum number of characters in an answer."""
_MAX_TOKENS = 1 << 40  # larger reports are not credible
STOPPED_BY_FILTER, STOPPED_BY_LENGTH, FLOODED = "content_filter", "length", "flooded"
"""Reasons why a reply ended; the first two are the endpoint's words."""
_REASONING = "reasoning_content", "reasoning"  # endpoints' names for a text that we only log


@dataclass(frozen=True)
class Usage:
    """Numbers of tokens and requests."""

    prompt: int = 0
    completion: int = 0
    requests: int = 0

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            self.prompt + other.prompt, self.completion + other.completion, self.requests + other.requests
        )


def format_money(amount: float, currency: str = "") -> str:
    """Format an amount with two decimals, or four if it is below 0.01."""
    number = f"{amount:.4f}" if 0 < amount < 0.01 else f"{amount:.2f}"
    return f"{number} {currency}" if currency else number


@dataclass(frozen=True)
class Reply:
    """A model's reply."""

    text: str
    finish: str
    """Why the reply ended: `stop`, `length`, `content_filter` or `flooded`."""
    refusal: str = ""
    call_id: str = ""
    """The id of the tool call whose arguments are the text; empty if the text is the answer itself."""
    usage: Usage = Usage(requests=1)
    reported: bool = False
    """Whether the endpoint reported token usage."""


class BadStream(DuelsError):
    """An invalid or incomplete stream of events."""


def join_events(stream: str) -> str:
    """Join a stream of events into the body that the endpoint would have sent without streaming.

    Raises BadStream if an event is not part of a chat completion, or the stream is incomplete.
    """
    parts: dict[str, list[str]] = {key: [] for key in ("content", "refusal", *_REASONING)}
    call = {"id": "", "arguments": ""}
    finish, usage, is_complete = "", None, False
    for line in stream.split("\n"):
        name, _, data = line.partition(":")
        data = data.strip()
        if name != "data":
            continue
        if data == "[DONE]":
            is_complete = True
            continue
        try:
            event = json.loads(data)
            problem, usage = event.get("error"), event.get("usage") or usage
            for choice in (event.get("choices") or [])[:1]:
                delta = choice.get("delta") or {}
                for key, texts in parts.items():
                    texts.append("" + (delta.get(key) or ""))  # raises TypeError if it is not a string
                _join_call(call, delta.get("tool_calls") or [])
                finish = choice.get("finish_reason") or finish
        except (ValueError, TypeError, AttributeError, RecursionError):
            raise BadStream(f"{quote(data, 80)} is not an event of a chat completion.") from None
        if problem:
            raise BadStream(f"the stream ended with {quote(json.dumps(problem), 200)}.")
    if not is_complete:
        raise BadStream("the stream was cut off")
    message: dict[str, Any] = {key: "".join(texts) for key, texts in parts.items()}
    message = {key: text for key, text in message.items() if text or key not in _REASONING}
    if call["arguments"]:
        message["tool_calls"] = [{"id": call["id"], "function": {"arguments": call["arguments"]}}]
    return json.dumps({"choices": [{"message": message, "finish_reason": finish}], "usage": usage})


def _join_call(call: dict[str, str], pieces: list[dict[str, Any]]) -> None:
    """Add the pieces of the first tool call to `call`."""
    for piece in pieces:
        if piece.get("index") in (None, 0):
            function = piece.get("function") or {}
            call["id"] += piece.get("id") or ""
            call["arguments"] += function.get("arguments") or ""


def parse_reply(body: str) -> Reply | None:
    """Parse a response body; return None if it is not a chat completion."""
    try:
        response = json.loads(body)
        choice = response["choices"][0]
        message = choice["message"]
        text, finish = _sanitize(message.get("content")), str(choice.get("finish_reason") or "")
        call_id = ""
        if calls := message.get("tool_calls"):
            text = _sanitize(calls[0]["function"]["arguments"])
            call_id = _sanitize(calls[0].get("id")) or "call"  # some local servers send no id
        if len(text) > MAX_TEXT:
            text, finish = "", FLOODED
        usage = _parse_usage(response.get("usage"))
        refusal = _sanitize(message.get("refusal"))
        return Reply(text, finish, refusal, call_id, usage or Usage(requests=1), usage is not None)
    except (ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError):
        return None


def _parse_usage(usage: object) -> Usage | None:
    if not isinstance(usage, dict):
        return None
    prompt, completion = usage.get("prompt_tokens"), usage.get("completion_tokens")
    if type(prompt) is not int or type(completion) is not int:
        return None
    is_credible = 0 < prompt < _MAX_TOKENS and 0 <= completion < _MAX_TOKENS
    return Usage(prompt, completion, 1) if is_credible else None


def _sanitize(text: object) -> str:
    """Replace lone surrogates, which JSON may contain but files may not."""
    return str(text or "").encode(errors="replace").decode()


def parse_error(body: str) -> tuple[str, str]:
    """Return the code and message of an endpoint's error."""
    try:
        problem = json.loads(body)["error"]
        return str(problem.get("code") or ""), str(problem["message"])
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return "", body
