"""Replies of an endpoint and their handling, over a real connection."""

import asyncio
import gzip
import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from random import Random
from typing import Any

import pytest

from duels.core.errors import BadOption, DuelsError
from duels.core.match import Match
from duels.core.rules import Seat
from duels.games import find_game
from duels.players import endpoint as endpoints
from duels.players.completions import MAX_TEXT, Reply, Usage
from duels.players.endpoint import Endpoint, EndpointSettings, join_replies
from duels.players.failures import Answer, Failure, NoMove, TransportError
from duels.players.model import ModelPlayer
from tests.players.scripted_endpoint import Answer as Sent
from tests.players.scripted_endpoint import Scripted, answering, as_json, completion, stream

LIGHTS = find_game("lights").rules()
ODD: tuple[object, ...] = (0, -5, [], True, 12.5, 1e400, 10**30)
BUSY = as_json(503, {"error": {"message": "overloaded"}})


@dataclass
class Exchange:
    """The requests, replies and pauses of a scripted endpoint."""

    server: Scripted
    recorded: list[dict[str, Any]] = field(default_factory=list)
    pauses: list[float] = field(default_factory=list)
    reply: Reply | None = None

    @property
    def rows(self) -> list[dict[str, Any]]:
        """The recorded requests with their replies."""
        return list(join_replies(self.recorded))

    @property
    def recorded_text(self) -> str:
        return json.dumps(self.recorded)


def send_requests(*answers: Sent, times: int = 1, **settings: Any) -> Exchange:
    """Request a chat `times` times, without waiting for pauses."""

    async def ask(exchange: Exchange) -> None:
        async def sleep(seconds: float) -> None:
            exchange.pauses.append(seconds)

        async with Endpoint(EndpointSettings(exchange.server.url, **settings), sleep=sleep) as endpoint:
            for _ in range(times):
                exchange.reply = await endpoint.chat(
                    "it", [{"role": "user", "content": "1"}], record(exchange)
                )

    with answering(*answers) as server:
        asyncio.run(ask(exchange := Exchange(server)))
    return exchange


def record(exchange: Exchange) -> Callable[[Any], None]:
    return lambda row: exchange.recorded.append(dict(row))


def run_decision(*answers: Sent, **settings: Any) -> tuple[Exchange, Answer | NoMove]:
    """Return a model's first move in lights, or the failure."""

    async def decide(exchange: Exchange) -> Answer | NoMove:
        async with Endpoint(EndpointSettings(exchange.server.url, **settings)) as endpoint:
            sight = Match.start(LIGHTS).sight(Seat.ONE)
            answer, _ = await ModelPlayer("it", LIGHTS, endpoint).decide(sight, Random(1), record(exchange))
            return answer

    with answering(*answers) as server:
        exchange = Exchange(server)
        return exchange, asyncio.run(decide(exchange))


@pytest.mark.parametrize("key", ["sk-se\ncret", "sk-s\u00e9cret", "sk-se cret", "sk-se\x7fcret"])
def test_rejects_invalid_keys_without_quoting_them(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", key)
    with pytest.raises(BadOption, match="OPENAI_API_KEY is not valid") as problem:
        send_requests(completion("4"))
    assert "cret" not in str(problem.value)


@pytest.mark.parametrize("key", ["1", "x", "seven77"])
def test_a_short_key_is_not_redacted(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else the key `x` of a local server would turn "next" into "ne[key]t"."""
    monkeypatch.setenv("OPENAI_API_KEY", key)
    exchange, answer = run_decision(completion("next: seven77"), completion("1-2"))
    assert isinstance(answer, Answer)
    assert LIGHTS.format(answer.action) == "1-2"
    assert "[key]" not in exchange.recorded_text
    assert "next: seven77" in exchange.rows[0]["reply"]


def test_a_long_key_is_redacted_only_in_replies(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "neighbours")  # a word that the prompt contains
    exchange, answer = run_decision(completion("no neighbours"), completion("1-2"))
    assert isinstance(answer, Answer)
    requests = [row["request"] for row in exchange.rows]
    assert requests == exchange.server.requests
    assert "neighbours" in str(requests[0])
    assert "no [key]" in exchange.rows[0]["reply"]
    assert "no [key]" in str(requests[1])


@pytest.mark.parametrize("slash", ["/", "\\/"])
def test_a_key_in_an_answer_is_never_stored(slash: str, monkeypatch: pytest.MonkeyPatch) -> None:
    key = "sk-se/cret"
    monkeypatch.setenv("OPENAI_API_KEY", key)
    status, headers, body = completion(json.dumps({"action": key}))
    body = body.replace(b"/", slash.encode())
    exchange, none = run_decision((status, {**headers, "Content-Length": str(len(body))}, body))
    assert isinstance(none, NoMove)
    assert len(exchange.rows) == 3  # the answer is part of the next request
    for text in (exchange.recorded_text, str(none), *(failed.detail for failed in none.failed)):
        assert "cret" not in text
        assert "[key]" in text


@pytest.mark.parametrize(
    ("settings", "sent"),
    [
        ({}, {}),
        ({"max_tokens": 4096}, {"max_tokens": 4096}),
        (
            {"max_tokens": 4096, "max_tokens_name": "max_completion_tokens"},
            {"max_completion_tokens": 4096},
        ),
    ],
)
def test_the_length_limit_uses_the_endpoints_field(settings: dict[str, Any], sent: dict[str, int]) -> None:
    (request,) = send_requests(completion("4"), **settings).server.requests
    assert {name: value for name, value in request.items() if name not in ("model", "messages")} == sent


def make_call(arguments: str, call_id: str | None = "c1") -> dict[str, Any]:
    return {"id": call_id, "type": "function", "function": {"name": "play", "arguments": arguments}}


@pytest.mark.parametrize("call_id", ["c1", None])
def test_a_tool_call_is_an_answer(call_id: str | None) -> None:
    """A failed call gets its response as a message of the tool, as endpoints require."""

    def answer(arguments: str) -> Sent:
        message = {"role": "assistant", "content": None, "tool_calls": [make_call(arguments, call_id)]}
        choice = {"message": message, "finish_reason": "tool_calls"}
        return as_json(200, {"choices": [choice], "usage": {"prompt_tokens": 9, "completion_tokens": 9}})

    exchange, move = run_decision(answer('{"action": "99"}'), answer('{"action": 4}'), form="tool")
    assert isinstance(move, Answer)
    assert LIGHTS.format(move.action) == "4"
    assert [failed.failure for failed in move.failed] == [Failure.ILLEGAL]
    first, second = exchange.server.requests
    assert first["tools"][0]["function"]["parameters"]["required"] == ["action"]
    assert "Call the tool `play`. Write" in first["messages"][1]["content"]
    called, response = second["messages"][2:]
    assert called["tool_calls"] == [make_call('{"action": "99"}', call_id or "call")]
    assert (response["role"], response["tool_call_id"]) == ("tool", call_id or "call")
    assert response["content"].startswith("That is not a move: ")


def test_the_pieces_of_a_tool_call_are_joined() -> None:
    def piece(call: dict[str, Any]) -> str:
        return "data: " + json.dumps({"choices": [{"delta": {"tool_calls": [{"index": 0, **call}]}}]})

    pieces = [
        piece({"id": "c1", "function": {"name": "play", "arguments": ""}}),
        piece({"function": {"arguments": '{"act'}}),
        piece({"function": {"arguments": 'ion": "4"}'}}),
        'data: {"choices": [{"delta": {"tool_calls": [{"index": 1, "function": {"arguments": "x"}}]}}]}',
        'data: {"choices": [{"delta": {}, "finish_reason": "tool_calls"}]}',
    ]
    reply = send_requests(stream(*pieces), form="tool", stream=True).reply
    assert reply
    assert (reply.text, reply.call_id, reply.finish) == ('{"action": "4"}', "c1", "tool_calls")
    broken = 'data: {"choices": [{"delta": {"tool_calls": [{"function": {"arguments": 4}}]}}]}'
    assert send_requests(stream(broken), stream(*pieces), stream=True).reply == reply


def test_rejects_unknown_conditions() -> None:
    with pytest.raises(BadOption, match="memory must be none or conversation, not 'all'"):
        EndpointSettings(memory="all")
    with pytest.raises(BadOption, match="form must be text or tool, not 'json'"):
        EndpointSettings(form="json")


def test_rejects_unknown_names_of_the_length_limit() -> None:
    with pytest.raises(BadOption, match="max_tokens or max_completion_tokens, not 'length'"):
        EndpointSettings(max_tokens_name="length")


def test_a_content_filter_counts_as_a_refusal() -> None:
    problem = {"error": {"message": "the prompt was filtered", "code": "content_filter"}}
    _, none = run_decision(as_json(400, problem), retries=0)
    assert isinstance(none, NoMove)
    assert [failed.failure for failed in none.failed] == [Failure.REFUSED]
    with pytest.raises(DuelsError, match="'the prompt is wrong'"):
        send_requests(as_json(400, {"error": {"message": "the prompt is wrong", "code": None}}))


def test_an_empty_answer_is_not_sent_back() -> None:
    exchange, answer = run_decision(completion(""), completion("nothing"), completion("4"))
    assert isinstance(answer, Answer)
    roles = [[message["role"] for message in request["messages"]] for request in exchange.server.requests]
    assert roles == [["system", "user"]] * 2 + [["system", "user", "assistant", "user"]]
    assert "That is not a move: the answer is empty." in exchange.server.requests[1]["messages"][1]["content"]


def delta(text: str, **more: object) -> str:
    return json.dumps({"choices": [{"delta": {"content": text}, **more}]}, ensure_ascii=False)


REPORTED = json.dumps({"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 3}})


@pytest.mark.parametrize(
    "sent",
    [
        stream("data:" + delta("4"), "data:" + REPORTED),
        stream(": keep-alive", "event: message", "data: " + delta("4"), "data: " + REPORTED, end="\r\n\r\n"),
        stream('data: {"choices": [{"delta": null}]}', "data: " + delta("4"), "data: " + REPORTED),
        stream('data: {"choices": null}', "data: " + delta("4"), "data: " + REPORTED),
    ],
)
def test_parses_streams_by_the_standard(sent: Sent) -> None:
    exchange = send_requests(sent, stream=True)
    assert exchange.reply
    assert (exchange.reply.text, exchange.reply.usage, len(exchange.rows)) == ("4", Usage(7, 3, 1), 1)


@pytest.mark.parametrize("name", ["reasoning_content", "reasoning"])
def test_the_reasoning_of_a_stream_is_logged_and_not_read_as_an_answer(name: str) -> None:
    pieces = [json.dumps({"choices": [{"delta": {name: text}}]}) for text in ("Four ", "wins.")]
    exchange = send_requests(
        stream(*(f"data: {piece}" for piece in pieces), "data: " + delta("4")), stream=True
    )
    assert exchange.reply
    assert exchange.reply.text == "4"
    message = json.loads(exchange.rows[0]["reply"])["choices"][0]["message"]
    assert message == {"content": "4", "refusal": "", name: "Four wins."}


@pytest.mark.parametrize(
    "events",
    [
        ["data: []"],
        ["data: {"],
        ['data: {"choices": 3}'],
        ['data: {"choices": [{"delta": {"content": 4}}]}'],
        ['data: {"error": {"message": "overloaded"}}'],
    ],
)
def test_retries_after_an_invalid_stream(events: list[str]) -> None:
    exchange = send_requests(stream(*events), stream("data: " + delta("4")), stream=True)
    assert exchange.reply
    assert (exchange.reply.text, len(exchange.rows), len(exchange.pauses)) == ("4", 2, 1)
    assert "BadStream" in exchange.rows[0]["reply"]


def test_the_length_limit_counts_the_text_of_the_answer() -> None:
    pieces = ["data: " + delta("a\u2028", padding="x" * 1000)] * 2000
    exchange = send_requests(stream(*pieces), stream=True)
    assert exchange.reply
    assert exchange.reply.text == "a\u2028" * 2000
    long = "x" * (MAX_TEXT // 4)
    for sent in (stream(*["data: " + delta(long)] * 5), completion(long * 5)):
        exchange = send_requests(sent, stream=True)
        assert exchange.reply
        assert (exchange.reply.finish, exchange.reply.text) == ("flooded", "")


def test_retries_after_invalid_compression() -> None:
    body = gzip.compress(b"{}")[:-12] + b"garbage"
    packed = 200, {"Content-Encoding": "gzip", "Content-Length": str(len(body))}, body
    exchange = send_requests(packed, completion("4"))
    assert exchange.reply
    assert (exchange.reply.text, len(exchange.pauses)) == ("4", 1)
    assert exchange.rows[0]["reply"].startswith("DecodingError")


@pytest.mark.parametrize(
    "usage",
    [
        "lots",
        [1, 2],
        {"prompt_tokens": 7},
        *({"prompt_tokens": odd, "completion_tokens": 3} for odd in ODD),
    ],
)
def test_ignores_impossible_token_counts(usage: object) -> None:
    exchange = send_requests(completion("4", usage=usage))
    assert exchange.reply
    assert (exchange.reply.text, exchange.reply.usage, exchange.reply.reported) == (
        "4",
        Usage(0, 0, 1),
        False,
    )
    assert "at_most" in exchange.rows[0]


def test_lone_surrogates_in_a_reply_can_be_stored() -> None:
    exchange, none = run_decision(completion("\ud800"), retries=1)
    assert isinstance(none, NoMove)
    assert exchange.rows[1]["request"]["messages"][2]["content"] == "?"
    json.dumps(exchange.recorded, ensure_ascii=False).encode()


def test_pauses_grow_if_the_endpoint_requests_none() -> None:
    busy = as_json(429, {"error": {"message": "slow down"}})
    pauses = send_requests(*[busy] * 5, completion("4")).pauses
    assert len(pauses) == 5
    assert all(0.25 * 2**n <= pause <= 0.5 * 2**n for n, pause in enumerate(pauses))


def test_retries_at_once_if_the_endpoint_says_so() -> None:
    busy = as_json(429, {}, **{"Retry-After": "0"})
    pauses = send_requests(*[busy] * 5, completion("4")).pauses
    assert len(pauses) == 5
    assert max(pauses) < 0.1


def test_waits_as_long_as_the_endpoint_requests() -> None:
    soon = format_datetime(datetime.now(UTC) + timedelta(seconds=200), usegmt=True)
    sent = [as_json(429, {}, **{"Retry-After": after}) for after in ("70", "1.5", soon, "soon")]
    first, second, third, fourth = send_requests(*sent, completion("4")).pauses
    assert (first, second) == (70, 1.5)
    assert 150 < third <= 200
    assert fourth <= 4
    with pytest.raises(TransportError, match="status 429"):
        send_requests(as_json(429, {}, **{"Retry-After": "1801"}))


def test_an_unreachable_endpoint_is_down_until_it_answers() -> None:
    async def ask(server: Scripted) -> list[bool]:
        states = []
        async with Endpoint(EndpointSettings(server.url, total_seconds=0)) as endpoint:
            for _ in range(5):
                with suppress(TransportError):
                    await endpoint.chat("it", [], lambda row: None)
                states.append(endpoint.is_down)
        return states

    with answering(BUSY, BUSY, BUSY, completion("4"), BUSY) as server:
        assert asyncio.run(ask(server)) == [False, False, True, False, False]


def test_gives_up_soon_if_the_endpoint_never_existed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endpoints, "_CONNECT_TIMEOUT", 0.2)

    async def ask(url: str) -> bool:
        async with Endpoint(EndpointSettings(url)) as endpoint:
            with pytest.raises(TransportError, match="ConnectError"):
                await endpoint.chat("it", [], lambda row: None)
            return endpoint.is_down

    with answering(completion("4")) as server:
        url = server.url
    assert asyncio.run(ask(url))


def test_waits_for_an_endpoint_that_answered_before() -> None:
    async def ask() -> tuple[bool, float]:
        pauses = []

        async def sleep(seconds: float) -> None:
            pauses.append(seconds)

        with answering(completion("4")) as server:
            endpoint = Endpoint(EndpointSettings(server.url, total_seconds=20), sleep=sleep)
            await endpoint.__aenter__()
            await endpoint.chat("it", [], lambda row: None)
        with pytest.raises(TransportError):
            await endpoint.chat("it", [], lambda row: None)
        await endpoint.__aexit__()
        return endpoint.is_down, sum(pauses)

    down, waited = asyncio.run(ask())
    assert not down
    assert waited > 10


def test_a_hung_connection_is_reported_and_its_timeout_names_the_setting(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def hang(*_: Any) -> Any:
        await asyncio.sleep(60)

    monkeypatch.setattr(endpoints, "_NOTICE_SECONDS", 0)
    monkeypatch.setattr(Endpoint, "_post", hang)
    delays: list[str] = []

    async def ask() -> None:
        settings = EndpointSettings("http://127.0.0.1:9/v1", request_seconds=0.1, total_seconds=0)
        async with Endpoint(settings, report_delay=delays.append) as endpoint:
            await endpoint.chat("it", [], lambda row: None)

    with pytest.raises(TransportError, match=r"no full reply in 0\.1 seconds \(--request-seconds\)"):
        asyncio.run(ask())
    assert delays == ["waiting for the endpoint; a request may take 0.1 seconds (--request-seconds)"]


def test_rejects_invalid_addresses() -> None:
    async def enter() -> None:
        async with Endpoint(EndpointSettings("http://[::1/v1")):
            pass

    with pytest.raises(BadOption, match="base_url is not a valid URL"):
        asyncio.run(enter())
