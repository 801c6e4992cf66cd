"""One visitor does not stop the others: queues, streams, connections and bots."""

import asyncio
import gc
import json
import os
import socket
import threading
from collections import Counter
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import ExitStack, suppress
from dataclasses import replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from random import Random
from time import monotonic, sleep
from typing import Any
from unittest import mock

import httpx
import pytest
import uvicorn
from uvicorn.server import ServerState

from duels.core.match import Match
from duels.core.record import dump_record
from duels.games import find_game
from duels.web import puzzles, reviews, server
from duels.web.request_errors import MatchNotFound, RequestError, TooMany
from duels.web.reviews import PAGE_ENTRIES, review_finished_match, review_uploaded_record
from duels.web.server import Connection, ConnectionLimiter
from duels.web.service import MatchService
from duels.web.settings import ServerSettings
from duels.web.site import Site
from duels.web.visitors import (
    RateLimit,
    RequestQueue,
    StreamLimiter,
    Visitor,
    VisitorLimits,
    hash_cookie,
)
from duels.web.workers import WorkerPool, WorkerProcess
from tests.web import serving as web
from tests.web.serving import PLENTY, UNLIMITED, pair, serving

MAX_PAGE_BYTES = 3 << 20
"""The size of a page of a review, as `PAGE_ENTRIES` promises."""


def make_long_record(turns: int, seed: int = 3) -> str:
    """Return a match of chain with so many turns."""
    rng, match = Random(seed), Match.start(find_game("chain").rules())
    while len(match.turns) < turns:
        assert match.actor is not None
        after = match.play(match.actor, rng.choice(match.actions))
        match = after if after.actor is not None else match.after(max(0, len(match.turns) - 4))
    return dump_record(match, {"seat1": "human", "seat2": "human", "seed": "7"})


# -- reviews ----------------------------------------------------------------------------------------------


def test_long_reviews_are_split_into_parts() -> None:
    record = make_long_record(2 * PAGE_ENTRIES + 10)
    parts = [review_uploaded_record(record, page) for page in (1, 2, 3)]
    assert [(part["page"], part["pages"], part["first"]) for part in parts] == [
        (1, 3, 0),
        (2, 3, PAGE_ENTRIES),
        (3, 3, 2 * PAGE_ENTRIES),
    ]
    numbers = [entry["number"] for part in parts for entry in part["moments"]]
    assert numbers == list(range(1, 2 * PAGE_ENTRIES + 11))
    for before, after in pairwise(parts):
        assert after["steps"][0] == before["steps"][-1], "each part begins where the one before it ends"
    assert len({part["luck"] for part in parts}) == 1, "sums are those of the whole match"
    for part in parts:
        assert len(json.dumps(part)) < MAX_PAGE_BYTES
        assert len(part["steps"]) == len(part["moments"]) + 1
        assert part["curve"].count('class="dot') == len(part["steps"])


def test_later_parts_attribute_inherited_turns_to_seats() -> None:
    record = make_long_record(PAGE_ENTRIES + 20)
    ours = review_finished_match(record, None, ("Ann", "Bob"), PAGE_ENTRIES + 5, 2)
    titles = [step["title"] for step in ours["steps"]]
    assert not any("Ann" in title or "Bob" in title for title in titles[:6])
    assert any("Ann" in title or "Bob" in title for title in titles[6:])


def test_rejects_a_part_that_does_not_exist(base: str) -> None:
    ann, bob, match = pair(base, "lights")
    ann.act(match, "resign")
    assert bob.get(f"{match}/review?page=1").json()["pages"] == 1
    for page in ("0", "2", "x", "-1", "9" * 30):
        refused = bob.get(f"{match}/review?page={page}")
        assert (refused.status_code, refused.json()["message"]) == (422, "'page' must be from 1 to 1.")


# -- queues -----------------------------------------------------------------------------------------------


def test_cancelling_removes_waiting_work_but_not_running_work() -> None:
    ran: list[str] = []
    blocked, release = threading.Event(), threading.Event()

    def block() -> None:
        blocked.set()
        release.wait(60)

    async def scenario() -> None:
        pool = WorkerPool(1, capacity=32)
        ann = Visitor("ann", "here")
        running = asyncio.create_task(pool.run(block, ann))
        waiting = asyncio.create_task(pool.run(lambda: ran.append("cancelled"), ann))
        await asyncio.to_thread(blocked.wait, 60)
        with pytest.raises(TooMany, match="Try again in 5 seconds"):
            await pool.run(lambda: ran.append("third"), ann)
        waiting.cancel()
        await asyncio.wait([waiting])
        running.cancel()
        last = asyncio.create_task(pool.run(lambda: ran.append("last"), ann))
        await asyncio.sleep(0)
        with pytest.raises(TooMany):  # the work of `running` continues
            await pool.run(lambda: ran.append("fourth"), ann)
        release.set()
        await last
        pool.close()

    asyncio.run(scenario())
    assert ran == ["last"]


def test_errors_of_work_that_nobody_waits_for_are_not_logged(caplog: pytest.LogCaptureFixture) -> None:
    blocked, release = threading.Event(), threading.Event()

    def fail() -> None:
        blocked.set()
        release.wait(60)
        raise RequestError("This is no move.")

    async def scenario() -> None:
        pool = WorkerPool(1)
        running = asyncio.create_task(pool.run(fail, Visitor("ann", "here")))
        await asyncio.to_thread(blocked.wait, 60)
        running.cancel()
        await asyncio.sleep(0)
        release.set()
        await asyncio.wait([running])
        pool.close()

    asyncio.run(scenario())
    gc.collect()
    assert not caplog.messages


def test_strangers_leave_places_to_players_at_their_address() -> None:
    release = threading.Event()

    async def scenario() -> None:
        pool = WorkerPool(1, capacity=16)
        crowd = [
            asyncio.create_task(pool.run(lambda: release.wait(60), Visitor(None, f"address {n % 2}")))
            for n in range(40)
        ]
        await asyncio.sleep(0)
        assert sum(task.done() for task in crowd) == 28, "a quarter is for players"
        for player in ("ann", "bob"):
            crowd.append(
                asyncio.create_task(pool.run(lambda: release.wait(60), Visitor(player, "address 0", True)))
            )
        release.set()
        results = await asyncio.gather(*crowd, return_exceptions=True)
        assert sum(result is True for result in results) == 14
        pool.close()

    asyncio.run(scenario())


def test_a_worker_process_that_dies_is_replaced(caplog: pytest.LogCaptureFixture) -> None:
    async def scenario() -> None:
        pool = WorkerProcess(16)
        with pytest.raises(TooMany, match="could not be computed"):
            await pool.run(_die)
        assert await pool.run(_answer) == 42
        pool.close()

    asyncio.run(scenario())
    assert len(caplog.messages) == 1


def _die() -> None:
    import os

    os._exit(1)


def _answer() -> int:
    return 42


def test_hints_puzzles_and_reviews_are_computed_in_processes_of_low_priority(tmp_path: Path) -> None:
    """In threads they would take turns with the moves of machines."""

    async def scenario() -> None:
        site = Site(ServerSettings(str(tmp_path / "web.sqlite3")))
        for pool in (site.workers, site.reviewer):
            assert await pool.run(os.getpid) != os.getpid()
            assert await pool.run(partial(os.nice, 0)) > os.nice(0)
            pool.close()

    asyncio.run(scenario())


def test_a_machine_moves_while_all_other_queues_are_blocked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    release, blocked = threading.Event(), threading.Semaphore(0)

    def block(*args: Any) -> dict[str, Any]:
        blocked.release()
        release.wait(60)
        return {}

    monkeypatch.setattr(WorkerProcess, "_make_executor", WorkerPool._make_executor)  # in this process
    monkeypatch.setattr(puzzles, "_describe_practice", block)
    monkeypatch.setattr(reviews, "review_uploaded_record", block)
    monkeypatch.setattr(reviews, "_find_hint", block)
    with (
        serving(str(tmp_path / "web.sqlite3")) as base,
        ThreadPoolExecutor(24) as threads,
        ExitStack() as stack,
    ):
        stack.callback(release.set)
        eve, ann = web.Visitor(base), web.Visitor(base)
        hints = f"{eve.start('leap', 'novice')}/hint"
        eve.see_when(hints.removesuffix("/hint"), "you")
        for _ in range(4):
            threads.submit(eve.get, hints)
            threads.submit(web.Visitor(base).get, "/practice/lights")
            threads.submit(web.Visitor(base).post, "/review", record="")
        for _ in range(2):
            assert blocked.acquire(timeout=60)
        match = ann.start("leap", "novice")
        for _ in range(3):
            wait_until(lambda: ann.see(match)["turn"] == "you", 20)
            assert ann.act(match, ann.see(match)["actions"][0]["action"]).status_code == 204
        wait_until(lambda: ann.see(match)["turn"] == "you", 20)


def test_a_closing_server_rejects_waiting_work(caplog: pytest.LogCaptureFixture, tmp_path: Path) -> None:
    record = make_long_record(1_900)
    with ThreadPoolExecutor(6) as threads:
        with serving(str(tmp_path / "web.sqlite3")) as base:
            answers = [
                threads.submit(web.Visitor(base).post, "/review", record=f"{record}\n# {number}\n")
                for number in range(6)
            ]
            wait(answers, return_when=FIRST_COMPLETED)
        assert {answer.result(60).status_code for answer in answers} <= {200, 429}
    assert not caplog.messages


def test_a_visitor_who_leaves_frees_the_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All places of an address are taken by blocked requests. Then the waiting visitors leave."""
    release = threading.Event()

    def find_slowly(*arguments: Any) -> Any:
        release.wait(60)
        return find(*arguments)

    find = puzzles._find_exercise
    monkeypatch.setattr(puzzles, "_find_exercise", find_slowly)
    monkeypatch.setattr(WorkerProcess, "_make_executor", WorkerPool._make_executor)  # in this process
    with serving(str(tmp_path / "web.sqlite3")) as base, ExitStack() as stack:
        stack.callback(release.set)
        with ExitStack() as leaving:
            for number in range(32):
                page = leaving if number else stack  # one is at work already
                page.enter_context(send(base, f"/practice/lights?seed={number}"))
            wait_until(lambda: web.Visitor(base).get("/practice/lights").status_code == 429)
        with ThreadPoolExecutor(1) as threads:
            answers: list[Future[httpx.Response]] = []

            def has_place() -> bool:
                answers.append(threads.submit(web.Visitor(base).get, "/practice/lights"))
                return not wait(answers[-1:], 0.5).done

            wait_until(has_place)
            release.set()
            assert answers[-1].result(60).status_code == 200


def connect(base: str) -> socket.socket:
    host, _, port = base.removeprefix("http://").partition(":")
    return socket.create_connection((host, int(port)), 10)


def send(base: str, path: str, raw: bytes = b"") -> socket.socket:
    """Open a connection and send something, by default a whole request."""
    connection = connect(base)
    host = base.removeprefix("http://")
    connection.sendall(raw or f"GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())
    return connection


def wait_until(is_so: Callable[[], bool], seconds: float = 60) -> None:
    deadline = monotonic() + seconds
    while not is_so():
        assert monotonic() < deadline, "it takes too long"
        sleep(0.02)


# -- the order of requests --------------------------------------------------------------------------------


def test_requests_of_an_address_are_handled_in_turn() -> None:
    """Ann comes last, after strangers and another player with many requests, but hardly waits."""

    async def scenario() -> tuple[list[str], int]:
        queue, order = RequestQueue(), []
        waits = 0

        async def handle(name: str | None, address: str = "here") -> None:
            await queue.wait_turn(Visitor(name, address))
            order.append(name or "stranger")

        async def do_other_work() -> None:
            nonlocal waits
            while len(order) < 43:
                count = len(order)
                await asyncio.sleep(0)
                waits = max(waits, len(order) - count)

        crowd = [handle(name) for name in (None, "eve") for _ in range(20)]
        newcomers = handle("ann"), handle("bob", "there"), handle("ann", "there")
        await asyncio.gather(do_other_work(), *crowd, *newcomers)
        return order, waits

    order, waits = asyncio.run(scenario())
    assert max(order.index("ann"), order.index("bob")) < 6
    assert Counter(order) == {"stranger": 20, "eve": 20, "ann": 2, "bob": 1}
    assert waits <= 2, "one of each address, then other work"


def test_requests_of_visitors_who_left_leave_the_queue(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    waiting: list[object] = []

    async def wait_turn(self: RequestQueue, visitor: Visitor) -> None:
        waiting.append(visitor)
        try:
            await asyncio.Event().wait()
        finally:
            waiting.remove(visitor)

    monkeypatch.setattr(RequestQueue, "wait_turn", wait_turn)
    with serving(str(tmp_path / "web.sqlite3")) as base:
        connections = [send(base, path, raw) for path, raw in (("/health", b""), ("", half_a_body(base)))]
        wait_until(lambda: len(waiting) == 2)
        for connection in connections:
            connection.close()
        wait_until(lambda: not waiting)
    assert not caplog.messages


def test_a_player_does_not_wait_for_a_flood_at_the_same_address(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Everything arrives while the server is busy, Ann's request last."""
    handled: list[str | None] = []
    is_busy, release = threading.Event(), threading.Event()

    async def get(self: MatchService, id: str, identity: str | None) -> Any:
        handled.append(identity)
        if len(handled) == 1:
            is_busy.set()
            release.wait(60)  # nothing else happens meanwhile
        raise MatchNotFound()

    monkeypatch.setattr(MatchService, "get", get)
    with serving(str(tmp_path / "web.sqlite3")) as base, ExitStack() as stack:
        stack.callback(release.set)
        host, cookie = base.removeprefix("http://"), "a" * 43
        connections = [stack.enter_context(connect(base)) for _ in range(42)]
        assert all(is_answered(connection, base) for connection in connections)
        for number, connection in enumerate(connections, start=1):
            identity = cookie if number == len(connections) else ""
            connection.sendall(
                f"GET /m/a HTTP/1.1\r\nHost: {host}\r\nCookie: duels={identity}\r\n\r\n".encode()
            )
            assert is_busy.wait(60)
        release.set()
        for connection in connections:
            assert b" 404 " in connection.recv(1 << 16)
    assert handled.index(hash_cookie(cookie)) < 5


def test_requests_of_visitors_who_left_are_skipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Everybody but the last leaves while the server is busy."""
    handled: list[str] = []
    is_busy, release = threading.Event(), threading.Event()

    async def get(self: MatchService, id: str, identity: str | None) -> Any:
        handled.append(id)
        if len(handled) == 1:
            is_busy.set()
            release.wait(60)  # nothing else happens meanwhile
        raise MatchNotFound()

    monkeypatch.setattr(MatchService, "get", get)
    with serving(str(tmp_path / "web.sqlite3")) as base, ExitStack() as stack:
        stack.callback(release.set)
        connections = [stack.enter_context(connect(base)) for _ in range(42)]
        assert all(is_answered(connection, base) for connection in connections)
        for connection in connections:
            connection.sendall(f"GET /m/a HTTP/1.1\r\nHost: {base.removeprefix('http://')}\r\n\r\n".encode())
            assert is_busy.wait(60)
        for connection in connections[1:-1]:
            connection.close()
        release.set()
        assert b" 404 " in connections[-1].recv(1 << 16)
    assert len(handled) < 10


# -- identities before addresses --------------------------------------------------------------------------


def test_spectators_do_not_lock_out_a_player_at_their_address(tmp_path: Path) -> None:
    limits = VisitorLimits(PLENTY, PLENTY, PLENTY, RateLimit(3, 0.001), 2, 2, spectator_streams_per_address=3)
    with serving(str(tmp_path / "web.sqlite3"), limits=limits) as base:
        ann, _, match = pair(base, "lights")
        others = [web.Visitor(base) for _ in range(3)]
        with others[0].watching(match), others[1].watching(match), others[2].watching(match):
            refused = web.Visitor(base).get(f"{match}/events")
            assert refused.status_code == 429
            assert refused.headers["retry-after"] == "10"
            assert refused.json()["message"].endswith("Try again in 10 seconds.")
            with ann.watching(match) as events:
                assert events.next()[1]["seat"] == 1
            while web.Visitor(base).get(match).status_code == 200:
                pass  # the address has used up its requests
            assert ann.see(match)["seat"] == 1


def test_fast_rematches_are_not_limited(tmp_path: Path) -> None:
    with serving(str(tmp_path / "web.sqlite3"), limits=VisitorLimits()) as base:
        ann, bob, match = pair(base, "lights")
        for _ in range(20):
            assert ann.act(match, "resign").status_code == 204
            assert bob.offer(match, "rematch").status_code == 204
            assert ann.offer(match, "rematch", "yes").status_code == 204
            match = f"/m/{ann.see(match)['rematch']}"


def open_streams(limiter: StreamLimiter, visitors: list[Visitor]) -> list[str]:
    """Return the fate of each visitor's stream: open, refused, or ended by a later one."""
    outcomes: list[str] = []
    with ExitStack() as stack:
        for number, visitor in enumerate(visitors):
            outcomes.append("open")
            try:
                stack.enter_context(limiter.hold(visitor, partial(outcomes.__setitem__, number, "ended")))
            except TooMany:
                outcomes[number] = "refused"
        return outcomes


def test_the_streams_of_a_crowd_at_one_address_give_way_to_other_addresses() -> None:
    limiter = StreamLimiter(VisitorLimits(), 10)
    crowd = [Visitor(f"eve {number}", "here", True) for number in range(10)]
    others = [Visitor(f"ann {number}", f"address {number}", True) for number in range(4)]
    assert open_streams(limiter, [*crowd, *others, crowd[0]]) == [
        *["open"] * 6,
        *["ended"] * 4,
        *["open"] * 4,
        "refused",
    ]
    everywhere = [Visitor(None, f"address {number}") for number in range(11)]
    assert open_streams(limiter, everywhere) == [*["open"] * 10, "refused"], "the places were given back"


def test_spectators_give_way_before_players() -> None:
    player, spectator = Visitor("eve", "here", True), Visitor(None, "here")
    visitors = [player, spectator, player, Visitor("ann", "there", True)]
    assert open_streams(StreamLimiter(VisitorLimits(), 3), visitors) == ["open", "ended", "open", "open"]


def test_many_streams_of_one_player_give_way_to_players_at_the_same_address() -> None:
    limits = VisitorLimits(streams=4, player_streams_per_address=6)
    eves = [Visitor(f"eve {number % 2}", "here", True) for number in range(7)]
    others = [Visitor(f"ann {number}", "here", True) for number in range(3)]
    outcomes = open_streams(StreamLimiter(limits, 100), [*eves, *others])
    assert Counter(outcomes[:7]) == {"open": 3, "ended": 3, "refused": 1}
    assert outcomes[7:] == ["open"] * 3


@pytest.mark.parametrize(
    ("wait", "words"), [(0.2, "1 second"), (1.2, "2 seconds"), (119, "119 seconds"), (3600, "60 minutes")]
)
def test_rejections_say_when_to_retry(wait: float, words: str) -> None:
    refusal = TooMany("Too many requests.", wait)
    assert str(refusal) == f"Too many requests. Try again in {words}."
    assert refusal.wait >= wait


# -- connections ------------------------------------------------------------------------------------------

HALF_A_HEADER = b"GET /health HTTP/1.1\r\nHo"


def half_a_body(base: str) -> bytes:
    host = base.removeprefix("http://")
    head = f"POST /matches HTTP/1.1\r\nHost: {host}\r\nOrigin: {base}\r\nContent-Type: application/json\r\n"
    return f'{head}Content-Length: 100\r\n\r\n{{"game": "'.encode()


def is_closed(connection: socket.socket) -> bool:
    """Return whether the server closes the connection within a minute."""
    connection.settimeout(60)
    try:
        while connection.recv(1 << 16):
            pass
    except ConnectionResetError:
        pass
    except TimeoutError:
        return False
    return True


def test_unfinished_requests_are_disconnected(tmp_path: Path) -> None:
    limits = replace(UNLIMITED, request_timeout=0.5)
    with serving(str(tmp_path / "web.sqlite3"), limits=limits) as base:
        ann, bob, match = pair(base, "lights")
        whole = f"GET /health HTTP/1.1\r\nHost: {base.removeprefix('http://')}\r\n\r\n".encode()
        with ann.watching(match) as events, ExitStack() as stack:
            events.next()
            idle = [stack.enter_context(connect(base))]
            for sent in (HALF_A_HEADER, half_a_body(base), whole):
                idle.append(stack.enter_context(send(base, "", sent)))
            assert idle[-1].recv(1 << 16)
            idle[-1].sendall(HALF_A_HEADER)
            assert [is_closed(connection) for connection in idle] == [True] * 4
            bob.act(match, "resign")
            assert events.next()[1]["turn"] == "over", "a stream stays open"


def test_slow_requests_are_disconnected(tmp_path: Path) -> None:
    limits = replace(UNLIMITED, request_timeout=0.5)

    def is_refused() -> bool:
        try:
            connection.sendall(b"x")
        except (BrokenPipeError, ConnectionResetError):
            return True
        return False

    with serving(str(tmp_path / "web.sqlite3"), limits=limits) as base, connect(base) as connection:
        wait_until(is_refused)


def test_unfinished_requests_do_not_delay_the_end_of_the_server(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with ExitStack() as stack, serving(str(tmp_path / "web.sqlite3")) as base:
        match = web.Visitor(base).start("lights")
        stream = f"GET {match}/events HTTP/1.1\r\nHost: {base.removeprefix('http://')}\r\n\r\n".encode()
        for sent in (HALF_A_HEADER, half_a_body(base), stream):
            stack.enter_context(send(base, "", sent))
        assert httpx.get(f"{base}/health").status_code == 200
    assert not caplog.messages


def test_a_request_that_waits_too_long_for_the_database_ends_with_the_server(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    is_waiting = threading.Event()

    async def get(self: MatchService, id: str, identity: str | None) -> Any:
        is_waiting.set()
        await asyncio.Event().wait()

    monkeypatch.setattr(server, "_SHUTDOWN_TIMEOUT", 0.1)
    monkeypatch.setattr(MatchService, "get", get)
    with ThreadPoolExecutor(1) as threads:
        with serving(str(tmp_path / "web.sqlite3")) as base:
            answer = threads.submit(web.Visitor(base).get, "/m/a")
            assert is_waiting.wait(60)
        refusal = answer.result(60)
    assert (refusal.status_code, refusal.headers["retry-after"]) == (503, "2")
    assert refusal.json()["message"] == "The server is stopping. Reload the page in a moment."
    assert caplog.messages == ["Cancel 1 running task(s), timeout graceful shutdown exceeded"]


@pytest.mark.parametrize(
    ("head", "piece"),
    [
        ("GET /", b"a" * 64),
        ("GET / HTTP/1.1\r\nHost: {host}\r\nX: ", b"a" * 64),
        ("GET / HTTP/1.1\r\nHost: {host}\r\n", b"a: b\r\n" * 16),
        ("GET / HTTP/1.1\r\nHost: {host}\r\nContent-Length: 999999999\r\n\r\n", b"a" * 64),
        ("POST /review HTTP/1.1\r\nHost: {host}\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n", b"a: b\r\n"),
    ],
    ids=["address", "header", "headers", "body", "trailers"],
)
def test_requests_without_an_end_are_disconnected(tmp_path: Path, head: str, piece: bytes) -> None:
    limits = replace(UNLIMITED, request_timeout=600.0)
    with serving(str(tmp_path / "web.sqlite3"), limits=limits) as base, connect(base) as connection:
        with suppress(OSError):
            connection.sendall(head.format(host=base.removeprefix("http://")).encode())
            connection.sendall(piece * ((2 << 20) // len(piece)))
        assert is_closed(connection)
        assert httpx.get(f"{base}/health").json()["malformed_requests"] == 1


def test_a_request_before_the_last_response_is_disconnected(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The server would not notice that the reader of the first response left."""
    limits = replace(UNLIMITED, spectator_streams_per_address=1)
    with serving(str(tmp_path / "web.sqlite3"), limits=limits) as base:
        match = web.Visitor(base).start("lights")
        host = base.removeprefix("http://")
        requests = [f"GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n" for path in (f"{match}/events", "/health")]
        with send(base, "", "".join(requests).encode()) as connection:
            assert is_closed(connection)
        wait_until(lambda: web.Visitor(base).get("/health").json()["malformed_requests"] == 1)
        with web.Visitor(base).watching(match) as events:
            events.next()
    assert not caplog.messages


@pytest.mark.parametrize("limited", ["connections", "connections_in_all"])
def test_idle_connections_are_closed_first(tmp_path: Path, limited: str) -> None:
    limits = replace(UNLIMITED, **{limited: 10})  # type: ignore[arg-type]
    with serving(str(tmp_path / "web.sqlite3"), limits=limits) as base, ExitStack() as stack:
        ann, bob, match = pair(base, "lights")
        events = stack.enter_context(ann.watching(match))
        first, _ = events.next()
        for number in range(30):
            stack.enter_context(send(base, "", HALF_A_HEADER) if number % 2 else connect(base))
        assert ann.act(match, "4").status_code == 204
        assert bob.act(match, "3").status_code == 204
        while events.next()[0] < first + 2:
            pass  # who is served is not disconnected


def is_answered(connection: socket.socket, base: str, path: str = "/health", cookie: str = "") -> bool:
    """Whether the server answers another request on the same connection."""
    host = base.removeprefix("http://")
    try:
        connection.sendall(f"GET {path} HTTP/1.1\r\nHost: {host}\r\nCookie: {cookie}\r\n\r\n".encode())
        return b" 200 " in connection.recv(1 << 20)
    except OSError:
        return False


def test_a_new_connection_does_not_give_way_before_its_request_arrives(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "_GRACE_PERIOD", 60.0)  # however slow this computer is
    limits = replace(UNLIMITED, connections=4)
    with serving(str(tmp_path / "web.sqlite3"), limits=limits) as base, ExitStack() as stack:
        for _ in range(4):
            assert is_answered(stack.enter_context(connect(base)), base)
        newcomer = stack.enter_context(connect(base))
        assert is_answered(stack.enter_context(connect(base)), base)
        assert is_answered(newcomer, base)


def test_connections_without_a_request_give_way_first_and_those_of_players_last(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "_GRACE_PERIOD", 0.0)
    limits = replace(UNLIMITED, connections=6)
    with serving(str(tmp_path / "web.sqlite3"), limits=limits) as base, ExitStack() as stack:
        ann = web.Visitor(base)
        match, cookie = ann.start("lights", "friend"), f"duels={ann.cookies['duels']}"
        ann.close()
        player, visitor = connect(base), connect(base)
        stack.enter_context(player)
        stack.enter_context(visitor)
        assert is_answered(player, base, match, cookie)
        assert is_answered(visitor, base)
        for _ in range(12):
            stack.enter_context(send(base, "", HALF_A_HEADER))
        assert is_answered(stack.enter_context(connect(base)), base)
        assert is_answered(visitor, base), "connections without a request give way first"
        for _ in range(12):
            assert is_answered(stack.enter_context(connect(base)), base)
        assert not is_answered(visitor, base)
        assert is_answered(player, base, match, cookie), "the oldest, but a player's"


def test_the_visitor_with_the_most_connections_loses_one(tmp_path: Path) -> None:
    limits = replace(UNLIMITED, connections=6)
    ann_cookie, eve_cookie = (f"duels={letter * 43}" for letter in "ae")
    with serving(str(tmp_path / "web.sqlite3"), limits=limits) as base, ExitStack() as stack:
        ann = stack.enter_context(connect(base))
        assert is_answered(ann, base, cookie=ann_cookie)
        for _ in range(20):
            assert is_answered(stack.enter_context(connect(base)), base, cookie=eve_cookie)
        assert is_answered(ann, base, cookie=ann_cookie), "the oldest, but her only one"


def test_a_network_of_ipv6_is_one_address(tmp_path: Path) -> None:
    """Strangers with IPv4 that a server of both kinds sees in ::ffff:0:0/96 are many."""
    limits = replace(UNLIMITED, connections=2)
    hosts = ["2001:db8::1", "2001:db8::2:3", "2001:db8:0:1::1", "::ffff:192.0.2.1", "::ffff:192.0.2.2"]

    async def scenario() -> list[str]:
        site = Site(ServerSettings(str(tmp_path / "web.sqlite3"), limits=limits))
        limiter = ConnectionLimiter(site)
        addresses = []
        for host in hosts:
            peer = {"peername": (host, 1)}
            config = uvicorn.Config(site.make_router(), log_config=None)
            connection = limiter.make_connection(config=config, server_state=ServerState(), app_state={})
            connection.connection_made(mock.Mock(get_extra_info=peer.get))
            addresses.append(connection.address)
            connection.connection_lost(None)
        return addresses

    assert asyncio.run(scenario()) == [
        "2001:db8::/64",
        "2001:db8::/64",
        "2001:db8:0:1::/64",
        "192.0.2.1",
        "192.0.2.2",
    ]


def test_a_server_without_free_connections_says_so_in_its_log_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Connection, "awaits_client", False)
    limits = replace(UNLIMITED, connections_in_all=1)
    with serving(str(tmp_path / "web.sqlite3"), limits=limits) as base, connect(base):
        for _ in range(3):
            assert httpx.get(f"{base}/health").status_code == 503
    assert caplog.messages == ["All connections (1) are in use: new ones are refused."]


def test_surplus_connections_are_told_when_to_retry(tmp_path: Path) -> None:
    limits = replace(UNLIMITED, connections=3)
    with serving(str(tmp_path / "web.sqlite3"), limits=limits) as base, ExitStack() as stack:
        match = web.Visitor(base).start("lights", "friend")
        others = [web.Visitor(base) for _ in range(3)]
        streams = [stack.enter_context(other.watching(match)) for other in others]
        for stream in streams:
            stream.next()
        refused = httpx.get(f"{base}/health")
        assert (refused.status_code, refused.headers["retry-after"]) == (503, "5")
        assert refused.text == "The server has too many connections. Try again in 5 seconds.\n"


def test_behind_a_proxy_all_connections_have_one_address(tmp_path: Path) -> None:
    limits = replace(UNLIMITED, connections=2)
    site = serving(str(tmp_path / "web.sqlite3"), limits=limits, public_url="http://duels.example")
    with site as base, ExitStack() as stack:
        idle = [stack.enter_context(connect(base)) for _ in range(5)]
        answers = []
        for connection in idle:
            connection.sendall(b"GET /health HTTP/1.1\r\nHost: duels.example\r\n\r\n")
            answers.append(connection.recv(12))
        assert answers == [b"HTTP/1.1 200"] * 5


def test_malformed_requests_are_counted_and_not_logged(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with serving(str(tmp_path / "web.sqlite3")) as base:
        assert httpx.get(f"{base}/health").json() == {"ok": True, "malformed_requests": 0}
        upgrade = f"GET / HTTP/1.1\r\nHost: {base.removeprefix('http://')}\r\nConnection: upgrade\r\n"
        for raw in (
            b"nonsense\r\n\r\n",
            b"\x16\x03\x01\0\0",
            f"{upgrade}Upgrade: websocket\r\n\r\n".encode(),
        ):
            with send(base, "", raw) as connection:
                assert connection.recv(12)
        assert httpx.get(f"{base}/m/%00").status_code == 400
        assert httpx.get(f"{base}/health").json() == {"ok": True, "malformed_requests": 3}
    assert not caplog.messages
