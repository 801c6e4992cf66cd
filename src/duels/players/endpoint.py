"""An OpenAI-compatible chat endpoint: requests, replies, and what went wrong on the wire.

What goes wrong on the wire is nobody's move: it is tried again, and then the match waits.
"""

import asyncio
import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from time import monotonic
from typing import TYPE_CHECKING, Any

from duels.core.errors import BadOption, DuelsError, quote
from duels.core.extras import extra
from duels.players.failures import Failed, Failure, TransportFailed

if TYPE_CHECKING:
    import httpx

MOST_READ = 1 << 20
"""Bytes of a reply; a model that says more floods."""
_FIRST_WAIT, _LONGEST_WAIT = 0.5, 60.0
_TRY_AGAIN = frozenset({408, 409, 425, 429})


@dataclass(frozen=True)
class Settings:
    """Where a model is, how it is asked, and what that costs."""

    base_url: str = ""
    key_env: str = "OPENAI_API_KEY"
    """The environment variable that holds the key; the key itself is never written down."""
    show_actions: bool = False
    """Whether the legal actions are listed in the question."""
    mirror: bool = False
    """Whether positions are asked as their mirror images, against what was learned by heart."""
    relabel: bool = False
    """Whether cells go by other names, likewise."""
    temperature: float | None = None
    max_tokens: int = 4096
    stream: bool = False
    retries: int = 2
    """How often a decision is asked again, with the reason, before the match is forfeited."""
    request_seconds: float = 120.0
    """For one request."""
    total_seconds: float = 900.0
    """For one reply, with everything that is tried again because of the wire."""
    concurrency: int = 8
    """Matches at the same time."""
    input_price: float | None = None
    """For a million tokens, in the currency of the budget."""
    output_price: float | None = None

    def __post_init__(self) -> None:
        if self.base_url and not self.base_url.startswith(("http://", "https://")):
            raise BadOption(f"base_url begins with http:// or https://, unlike {quote(self.base_url)}.")
        if "@" in self.base_url.split("://")[-1].split("/")[0]:
            raise BadOption("base_url holds no user or password: the key comes from the environment.")

    def cost(self, usage: "Usage") -> float | None:
        """What these tokens cost; None where no prices are known."""
        if self.input_price is None or self.output_price is None:
            return None
        return (usage.prompt * self.input_price + usage.completion * self.output_price) / 1e6


@dataclass(frozen=True)
class Usage:
    """Tokens as the endpoint reports them, and requests."""

    prompt: int = 0
    completion: int = 0
    requests: int = 0

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            self.prompt + other.prompt, self.completion + other.completion, self.requests + other.requests
        )


@dataclass(frozen=True)
class Reply:
    """What a model said."""

    text: str
    finish: str
    """Why it stopped: `stop`, `length`, `content_filter`."""
    refusal: str
    usage: Usage


class BudgetSpent(DuelsError):
    """The money is spent; what is unfinished waits for more."""


Recorder = Callable[[Mapping[str, Any]], None]
"""Keeps a request with its reply."""
Spender = Callable[[Usage], None]
"""Is told what was used; raises BudgetSpent before a request that is no longer covered (with no usage)."""


class Endpoint:
    """An open connection to an endpoint, to be used within `async with`."""

    def __init__(
        self,
        settings: Settings,
        spend: Spender = lambda usage: None,
        sleep: Callable[[float], Any] = asyncio.sleep,
    ) -> None:
        if not settings.base_url:
            raise BadOption("a model needs an address: --base-url URL.")
        self.settings = settings
        self._spend = spend
        self._sleep = sleep
        self._client: httpx.AsyncClient | None = None
        self._key = ""

    async def __aenter__(self) -> "Endpoint":
        with extra("llm"):
            import httpx
        key = self._key = os.environ.get(self.settings.key_env, "").strip()
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        limit = httpx.Limits(max_connections=self.settings.concurrency)
        self._client = httpx.AsyncClient(
            headers=headers, timeout=self.settings.request_seconds, limits=limit, trust_env=False
        )
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._client:
            await self._client.aclose()
            self._client = None

    async def chat(self, model: str, messages: list[dict[str, str]], record: Recorder) -> Reply:
        """Ask once, again and again while the wire fails; every request is recorded with what came back."""
        import httpx

        request = self._request(model, messages)
        deadline, wait = monotonic() + self.settings.total_seconds, _FIRST_WAIT
        while True:
            self._spend(Usage())
            asked = monotonic()
            try:
                async with asyncio.timeout(self.settings.request_seconds):
                    status, body, after = await self._post(request)
            except (httpx.TransportError, httpx.InvalidURL, TimeoutError) as error:
                status, body, after = 0, self._without_key(f"{type(error).__name__}: {error}"), None
            except Failed as flooded:
                record({"request": request, "status": 200, "reply": str(flooded), "usage": [0, 0, 1]})
                raise
            seconds = round(monotonic() - asked, 3)
            kept = {"request": request, "status": status, "reply": body, "seconds": seconds}
            reply = _read(body) if status == 200 else None
            if reply:
                used = reply.usage
                record({**kept, "usage": [used.prompt, used.completion, used.requests]})
                self._spend(used)
                return reply
            record(kept)
            told = f"{quote(model)} gave no reply: {_told(status, body)}"
            if 300 <= status < 500 and status not in _TRY_AGAIN:
                raise DuelsError(told)
            pause = min(_LONGEST_WAIT, wait if after is None else after)
            if monotonic() + pause > deadline:
                raise TransportFailed(told)
            await self._sleep(pause)
            wait *= 2

    def _request(self, model: str, messages: list[dict[str, str]]) -> dict[str, Any]:
        request: dict[str, Any] = {
            "model": model,
            "messages": messages,
            "max_tokens": self.settings.max_tokens,
        }
        if self.settings.temperature is not None:
            request["temperature"] = self.settings.temperature
        if self.settings.stream:
            request |= {"stream": True, "stream_options": {"include_usage": True}}
        return request

    async def _post(self, request: dict[str, Any]) -> tuple[int, str, float | None]:
        """The status, the body, and the seconds to wait if the endpoint names them."""
        import httpx

        assert self._client
        url = self.settings.base_url.rstrip("/") + "/chat/completions"
        async with self._client.stream("POST", url, json=request) as response:
            body = bytearray()
            async for piece in response.aiter_bytes():
                body += piece
                if len(body) > MOST_READ:
                    raise Failed(Failure.FLOODED, f"the reply is longer than {MOST_READ:,} bytes.")
            if response.headers.get("content-type", "").startswith("text/event-stream"):
                text = body.decode("utf-8", "replace")
                if response.status_code == 200 and "data: [DONE]" not in text:
                    raise httpx.RemoteProtocolError("the stream was cut")
                return response.status_code, _joined(self._without_key(text)), None
            after = response.headers.get("retry-after", "")
            wait = float(after) if after.replace(".", "", 1).isdecimal() else None
            return response.status_code, self._without_key(body.decode("utf-8", "replace")), wait

    def _without_key(self, text: str) -> str:
        """What came back, as it may be kept: some endpoints repeat the key that they were sent."""
        return text.replace(self._key, "[key]") if self._key else text


def _joined(stream: str) -> str:
    """A stream of events as the one reply that it stands for."""
    text, refusal, finish = "", "", ""
    usage: dict[str, Any] = {}
    for line in stream.splitlines():
        if not line.startswith("data: ") or line == "data: [DONE]":
            continue
        try:
            piece = json.loads(line.removeprefix("data: "))
        except ValueError:
            continue
        usage = piece.get("usage") or usage
        for choice in piece.get("choices", ())[:1]:
            delta = choice.get("delta", {})
            text += delta.get("content") or ""
            refusal += delta.get("refusal") or ""
            finish = choice.get("finish_reason") or finish
    message = {"content": text, "refusal": refusal or None}
    return json.dumps({"choices": [{"message": message, "finish_reason": finish}], "usage": usage})


def _read(body: str) -> Reply | None:
    """The reply in an answer of the endpoint; None where it is no chat completion."""
    try:
        told = json.loads(body)
        choice = told["choices"][0]
        message = choice["message"]
        used = told.get("usage") or {}
        return Reply(
            str(message.get("content") or ""),
            str(choice.get("finish_reason") or ""),
            str(message.get("refusal") or ""),
            Usage(int(used.get("prompt_tokens") or 0), int(used.get("completion_tokens") or 0), 1),
        )
    except (ValueError, TypeError, KeyError, IndexError, AttributeError):
        return None


def _told(status: int, body: str) -> str:
    if not status:
        return body
    try:
        problem = json.loads(body)["error"]["message"]
    except (ValueError, TypeError, KeyError):
        problem = body
    return f"status {status}, {quote(str(problem), 200)}"
