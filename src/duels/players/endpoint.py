"""A client for OpenAI-compatible chat endpoints.

Network errors do not count against a player: requests are retried, and then the match stays unfinished.
"""

import asyncio
import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import partial
from random import uniform
from secrets import token_hex
from time import monotonic
from typing import TYPE_CHECKING, Any

from duels.core.errors import BadOption, DuelsError, quote, require_extra
from duels.players.child import KEY_ENV
from duels.players.completions import (
    FLOODED,
    MAX_TEXT,
    STOPPED_BY_FILTER,
    BadStream,
    Reply,
    Usage,
    join_events,
    parse_error,
    parse_reply,
)
from duels.players.failures import TransportError
from duels.players.prompt import PLAY_TOOL, TOOL, Message
from duels.players.text_player import Conditions

if TYPE_CHECKING:
    import httpx

MAX_TOKENS_NAMES = ("max_tokens", "max_completion_tokens")
MAX_BODY = 1 << 26
"""The maximum number of bytes in a response; streams need many for a short answer."""
_STREAM_TYPE = "text/event-stream"
_FIRST_WAIT, _MAX_WAIT = 0.5, 60.0  # seconds
_RETRY_STATUSES = frozenset({408, 409, 425, 429})
_UNAUTHORIZED = (401, 403)
_VARIABLE_NAME = re.compile("[A-Z][A-Z0-9_]*")
_MIN_REDACTED = 8  # characters; shorter keys are placeholders, which occur in ordinary text
_CONNECT_TIMEOUT = 10.0  # seconds until we assume that the address is wrong
_MIN_WAIT = 0.05  # seconds; prevents a flood of requests if an endpoint sends `Retry-After: 0`
_NOTICE_SECONDS = 10.0  # until we report that we wait for a reply
_MAX_UNANSWERED = 3  # consecutive decisions without a reply before we give up


@dataclass(frozen=True)
class EndpointSettings(Conditions):
    """The address, conditions, request settings and prices of a model."""

    base_url: str = ""
    key_env: str = KEY_ENV
    """The environment variable with the key; the key itself is never saved."""
    temperature: float | None = None
    max_tokens: int = 0
    """The limit for an answer including reasoning; 0 for no limit."""
    max_tokens_name: str = "max_tokens"
    """The endpoint's name for the limit; OpenAI's reasoning models accept only `max_completion_tokens`."""
    stream: bool = False
    request_seconds: float = 600.0
    """The timeout of one request; reasoning models can take minutes."""
    total_seconds: float = 1800.0
    """The time limit for one reply, including retries."""
    concurrency: int = 8
    """The number of concurrent matches."""
    input_price: float | None = None
    """The price of a million tokens, in the currency of the budget."""
    output_price: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.base_url and not self.base_url.startswith(("http://", "https://")):
            raise BadOption(f"base_url begins with http:// or https://, unlike {quote(self.base_url)}.")
        if "@" in self.base_url.split("://")[-1].split("/")[0]:
            raise BadOption("base_url holds no user or password: the key comes from the environment.")
        if self.max_tokens_name not in MAX_TOKENS_NAMES:
            raise BadOption(
                f"max_tokens_name must be {' or '.join(MAX_TOKENS_NAMES)}, not {quote(self.max_tokens_name)}."
            )

    def cost(self, usage: Usage) -> float | None:
        """Return the cost of tokens, or None if the prices are unknown."""
        if self.input_price is None or self.output_price is None:
            return None
        return (usage.prompt * self.input_price + usage.completion * self.output_price) / 1e6


class BudgetSpent(DuelsError):
    """The budget does not cover another request; matches stay unfinished."""


Recorder = Callable[[Mapping[str, Any]], None]
"""A function that logs a request, and later its response, as one row each. See `join_replies`."""


class Meter:
    """Counts the usage of requests; this base class has no budget."""

    def check(self) -> None:
        """Raise BudgetSpent if the budget does not cover another request."""

    def count(self, used: Usage) -> None:
        """Add the usage that the endpoint reported."""

    def assume(self, limit: Usage, answered: bool) -> None:
        """Add the maximum usage of a request whose usage was not reported."""


class _TooLong(Exception):
    """A response exceeds the size limits."""


class Endpoint:
    """A client for one endpoint, to be used with `async with`."""

    def __init__(
        self,
        settings: EndpointSettings,
        meter: Meter | None = None,
        sleep: Callable[[float], Any] = asyncio.sleep,
        report_delay: Callable[[str], None] = lambda text: None,
    ) -> None:
        if not settings.base_url:
            raise BadOption("A model needs an address: add --base-url URL.")
        self.settings = settings
        self._meter = meter or Meter()
        self._sleep = sleep
        self._report_delay = report_delay
        self._client: httpx.AsyncClient | None = None
        self._key = ""
        self._unanswered = 0  # consecutive decisions without a reply
        self._connected = False

    @property
    def is_down(self) -> bool:
        """Whether too many consecutive decisions had no reply."""
        return self._unanswered >= _MAX_UNANSWERED

    async def __aenter__(self) -> "Endpoint":
        with require_extra("llm"):
            import httpx
        try:
            httpx.URL(self.settings.base_url)
        except httpx.InvalidURL as error:
            raise BadOption(f"base_url is not a valid URL: {error}.") from None
        self._key = _read_key(self.settings.key_env)
        headers = {"Authorization": f"Bearer {self._key}"} if self._key else {}
        limit = httpx.Limits(max_connections=self.settings.concurrency)
        seconds = self.settings.request_seconds
        timeout = httpx.Timeout(seconds, connect=min(seconds, _CONNECT_TIMEOUT))
        self._client = httpx.AsyncClient(headers=headers, timeout=timeout, limits=limit, trust_env=False)
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._client:
            await self._client.aclose()
            self._client = None

    async def chat(self, model: str, messages: list[Message], record: Recorder) -> Reply:
        """Request one reply, with retries, and record every request and response.

        Raises TransportError if the endpoint does not reply in time, DuelsError if a retry cannot help, and
        BudgetSpent if the budget is exhausted.
        """
        request = self._request(model, messages)
        started, wait = monotonic(), _FIRST_WAIT
        while True:
            self._meter.check()
            attempt = await self._send(request, record)
            self._connected |= attempt.connected
            if attempt.reply:
                self._unanswered = 0
                return attempt.reply
            problem = f"{quote(model)} gave no reply: {self.without_key(attempt.problem)}"
            if attempt.is_final:
                raise DuelsError(problem)
            # Random, so that requests that failed together are not retried together.
            pause = uniform(wait / 2, wait) if attempt.retry_after is None else attempt.retry_after
            limit = self.settings.total_seconds
            if monotonic() + pause > started + (limit if self._connected else min(limit, _CONNECT_TIMEOUT)):
                self._unanswered = self._unanswered + 1 if self._connected else _MAX_UNANSWERED
                raise TransportError(problem)
            self._report_delay(f"{problem}; trying again in {pause:.0f} s")
            await self._sleep(pause)
            wait = min(2 * wait, _MAX_WAIT)

    async def _send(self, request: dict[str, Any], record: Recorder) -> "_Attempt":
        """Send one request. Record it first, because it may cost something even if we crash."""
        import httpx

        request_id = token_hex(8)
        limit = self._max_usage(request)
        record({"id": request_id, "request": request, "at_most": [limit.prompt, limit.completion]})
        save = partial(self._record_response, record, request_id, limit, monotonic())
        status, retry_after, reply = 0, None, None
        connected = may_cost = True
        seconds = self.settings.request_seconds
        waiting = f"waiting for the endpoint; a request may take {seconds:g} seconds (--request-seconds)"
        notice = asyncio.get_running_loop().call_later(_NOTICE_SECONDS, self._report_delay, waiting)
        try:
            async with asyncio.timeout(seconds):
                status, body, retry_after = await self._post(request)
        except asyncio.CancelledError:
            save(0, "the request was cancelled", None, may_cost=True)
            raise
        except _TooLong:
            status, body = 200, f"the reply is longer than {MAX_TEXT:,} characters"
            reply = Reply("", FLOODED)
        except (httpx.RequestError, TimeoutError, BadStream) as error:
            connected = not isinstance(error, httpx.ConnectError | httpx.ConnectTimeout)
            may_cost = connected and not isinstance(error, httpx.PoolTimeout)
            is_late = may_cost and isinstance(error, TimeoutError | httpx.TimeoutException)
            text = f"{type(error).__name__}: {error}".removesuffix(": ")
            body = f"no full reply in {seconds:g} seconds (--request-seconds)" if is_late else text
        else:
            may_cost = status == 200
            if status == 200:
                reply = parse_reply(body)
            elif parse_error(body)[0] == STOPPED_BY_FILTER:
                reply = Reply("", STOPPED_BY_FILTER, reported=True)
        finally:
            notice.cancel()
        save(status, body, reply, may_cost)
        is_final = 300 <= status < 500 and status not in _RETRY_STATUSES
        problem = _describe_problem(status, body)
        if status in _UNAUTHORIZED and (missing := describe_missing_key(self.settings.key_env)):
            problem += f". {missing}, so no key was sent."
        return _Attempt(reply, problem, retry_after, is_final, connected)

    def _record_response(
        self,
        record: Recorder,
        request_id: str,
        limit: Usage,
        started: float,
        status: int,
        body: str,
        reply: Reply | None,
        may_cost: bool,
    ) -> None:
        row: dict[str, Any] = {"id": request_id, "status": status, "reply": self.without_key(body)}
        row["seconds"] = round(monotonic() - started, 3)
        if reply:
            row["usage"] = [reply.usage.prompt, reply.usage.completion, reply.usage.requests]
        is_unreported = may_cost and not (reply and reply.reported)
        if is_unreported:
            row["at_most"] = [limit.prompt, limit.completion]
        record(row)
        if reply:
            self._meter.count(reply.usage)
        if is_unreported:
            self._meter.assume(limit, answered=reply is not None and reply.finish != FLOODED)

    def _max_usage(self, request: dict[str, Any]) -> Usage:
        """Return the maximum usage of a request: every token has at least one byte."""
        parts = [request[name] for name in ("messages", "tools") if name in request]
        return Usage(sum(len(json.dumps(part).encode()) for part in parts), self.settings.max_tokens)

    def _request(self, model: str, messages: list[Message]) -> dict[str, Any]:
        request: dict[str, Any] = {"model": model, "messages": messages}
        if self.settings.max_tokens:
            request[self.settings.max_tokens_name] = self.settings.max_tokens
        if self.settings.temperature is not None:
            request["temperature"] = self.settings.temperature
        if self.settings.form == TOOL:
            request["tools"] = [PLAY_TOOL]
        if self.settings.stream:
            request |= {"stream": True, "stream_options": {"include_usage": True}}
        return request

    async def _post(self, request: dict[str, Any]) -> tuple[int, str, float | None]:
        """Return the status, the body, and the seconds to wait by the header Retry-After."""
        assert self._client
        url = self.settings.base_url.rstrip("/") + "/chat/completions"
        content = bytearray()
        async with self._client.stream("POST", url, json=request) as response:
            async for piece in response.aiter_bytes():
                content += piece
                if len(content) > MAX_BODY:
                    raise _TooLong
        body = content.decode("utf-8", "replace")
        if response.status_code == 200 and response.headers.get("content-type", "").startswith(_STREAM_TYPE):
            body = join_events(body)
        return response.status_code, body, _parse_retry_after(response.headers.get("retry-after", ""))

    def without_key(self, text: str) -> str:
        """Return a text of the endpoint without the key, which some endpoints echo.

        A key of fewer than 8 characters stays, because replacing it would garble other text.
        """
        if len(self._key) >= _MIN_REDACTED:
            for spelling in (self._key, json.dumps(self._key)[1:-1], self._key.replace("/", "\\/")):
                text = text.replace(spelling, "[key]")
        return text


def join_replies(rows: Iterable[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """Join each request with its response, from rows in the order of the log.

    A request without a response keeps its maximum usage.
    """
    requests: dict[str, dict[str, Any]] = {}
    for row in map(dict, rows):
        if "status" not in row:
            requests[row["id"]] = row
        elif "request" in row:  # already joined, as in a merged log
            yield row
        else:
            request = requests.pop(row["id"], {})  # its row may be damaged
            request.pop("at_most", None)
            yield request | row
    yield from requests.values()


@dataclass(frozen=True)
class _Attempt:
    """The outcome of one request."""

    reply: Reply | None
    problem: str
    retry_after: float | None
    """Seconds to wait, from the header Retry-After; None without it."""
    is_final: bool
    """Whether a retry would have the same outcome."""
    connected: bool
    """Whether we connected to the server."""


def _read_key(name: str) -> str:
    key = os.environ.get(name, "").strip()
    if not all("!" <= letter <= "~" for letter in key):
        raise BadOption(
            f"The key in {name} is not valid: it has blanks, line breaks or non-ASCII characters."
        )
    return key


def describe_missing_key(name: str) -> str:
    """Return a sentence that the environment variable with the key is not set, or '' if it is set.

    Quote the name only if it looks like one: it might be the key itself.
    """
    if os.environ.get(name, "").strip():
        return ""
    label = name if _VARIABLE_NAME.fullmatch(name) else "given as key_env"
    return f"The environment variable {label} is not set"


def _parse_retry_after(header: str) -> float | None:
    """Return the seconds to wait, from a number or a date; None if the header is neither."""
    if header.replace(".", "", 1).isdecimal():
        return max(float(header), _MIN_WAIT)
    try:
        date = parsedate_to_datetime(header)
    except ValueError:
        return None
    return max(_MIN_WAIT, (date - datetime.now(UTC)).total_seconds()) if date.tzinfo else None


def _describe_problem(status: int, body: str) -> str:
    return f"status {status}, {quote(parse_error(body)[1], 200)}" if status else body
