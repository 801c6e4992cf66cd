"""Sends the messages of text players to models of inspect_ai."""

import json
from typing import Any

from duels.core.errors import require_extra
from duels.players.prompt import PLAY_TOOL, TOOL, Message, make_answer_message

with require_extra("inspect"):
    from inspect_ai.model import (
        ChatMessage,
        ChatMessageAssistant,
        ChatMessageSystem,
        ChatMessageTool,
        ChatMessageUser,
        Model,
        ModelOutput,
    )
    from inspect_ai.tool import ToolCall, ToolInfo, ToolParams

_STOP_REASONS = {"max_tokens": "length", "model_length": "length", "content_filter": "content_filter"}
_FUNCTION: dict[str, Any] = PLAY_TOOL["function"]


class ModelChat:
    """Sends the messages of a text player to a model, and keeps the whole conversation for the log."""

    def __init__(self, model: Model, form: str) -> None:
        self._model = model
        self._tools = [_make_tool()] if form == TOOL else []
        self._originals: dict[tuple[str, str], ChatMessage] = {}
        self._sent: list[Message] = []
        self.messages: list[ChatMessage] = []
        """All messages so far, in order."""
        self.output: ModelOutput | None = None
        """The last reply."""

    async def ask(self, messages: list[Message]) -> tuple[str, str, str]:
        """Return the text of the model's reply, its stop reason, and the id of its tool call or ''.

        Errors of the model's API pass through, so the sample ends as an error, without a score.
        """
        request = [self._convert(message) for message in messages]
        is_continued = messages[: len(self._sent)] == self._sent
        self.messages += request[len(self._sent) :] if is_continued else request
        output = await self._model.generate(request, tools=self._tools)
        reply, calls = output.message, output.message.tool_calls or []
        text, call_id = (json.dumps(calls[0].arguments), calls[0].id) if calls else (output.completion, "")
        if len(calls) < 2:  # a provider wants its own message back, but with a response to every call in it
            self._originals[text, call_id] = reply
        self.messages.append(reply)
        self.output = output
        self._sent = [*messages, make_answer_message(text, call_id)]
        return text, _STOP_REASONS.get(output.stop_reason, "stop"), call_id

    def _convert(self, message: Message) -> ChatMessage:
        content = message["content"] or ""
        if message["role"] == "system":
            return ChatMessageSystem(content=content)
        if message["role"] == "user":
            return ChatMessageUser(content=content)
        if message["role"] == "tool":
            return ChatMessageTool(
                content=content, tool_call_id=message["tool_call_id"], function=_FUNCTION["name"]
            )
        calls = message.get("tool_calls", [])
        text, call_id = (calls[0]["function"]["arguments"], calls[0]["id"]) if calls else (content, "")
        if original := self._originals.get((text, call_id)):
            return original
        call = ToolCall(id=call_id, function=_FUNCTION["name"], arguments=json.loads(text)) if calls else None
        return ChatMessageAssistant(content=content, tool_calls=[call] if call else None)


def _make_tool() -> ToolInfo:
    parameters = ToolParams.model_validate(_FUNCTION["parameters"])
    return ToolInfo(name=_FUNCTION["name"], description=_FUNCTION["description"], parameters=parameters)
