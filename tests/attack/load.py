"""Load on a server: while one visitor floods it or holds connections, others can play."""

import json
import socket
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import count
from pathlib import Path
from random import Random
from statistics import median
from tempfile import TemporaryDirectory
from threading import Event, Semaphore, Thread
from time import monotonic
from urllib.parse import urlsplit

from duels.web.visitors import VisitorLimits
from tests.attack.harness import Case, shuffled
from tests.attack.requests import quiet_server
from tests.web.serving import Process, Visitor
from tests.web.test_load import HALF_A_HEADER, half_a_body, make_long_record

_ANSWER_SECONDS = 2.0
"""The time in which a machine must answer."""
_SLOWDOWN = 100
"""On a busy computer, a machine may take so many times as long as without a flood: the flood's clients need
the processor as well. On an idle one it takes 0.02 seconds without a flood."""
SETUP = ""
"""Code that servers run first. A planted fault replaces it."""
_CLIENTS, _REQUESTS = 6, 20  # of each kind of flood, and of each client before a person moves
_OPEN = 40  # connections that a client keeps open
_FILES = 256  # that a server may open
_QUIET = "Press Ctrl-C to end the server. Matches are saved.\n"
_SEATS = 30  # of players who take part in floods


@dataclass(frozen=True)
class Target:
    """What floods use: a server, a person's match there, and matches and cookies of other players."""

    base: str
    match: str
    seats: list[tuple[str, str]]


Flood = Callable[[Target, Random], tuple[str, str, bytes]]
"""Returns a request: its first line, its cookie and its body."""


def _review(target: Target, rng: Random) -> tuple[str, str, bytes]:
    record = _long_record().replace("seed: 7", f"seed: {rng.randrange(10**6)}")  # no cache has this one
    return "POST /review", "", json.dumps({"record": record}).encode()


@cache
def _long_record() -> str:
    return make_long_record(1_500)


def _hint(target: Target, rng: Random) -> tuple[str, str, bytes]:
    return f"GET {target.match}/hint", "", b""


def _practice(target: Target, rng: Random) -> tuple[str, str, bytes]:
    return f"GET /practice/{rng.choice(['leap', 'chain', 'lights'])}?seed={rng.random()}", "", b""


def _page(target: Target, rng: Random) -> tuple[str, str, bytes]:
    path = rng.choice(["/", target.match, "/g/flip", f"{target.match}/record"])
    return f"GET {path}", "", b""


def _stream(target: Target, rng: Random) -> tuple[str, str, bytes]:
    return f"GET {target.match}/events", "", b""


def _player(target: Target, rng: Random) -> tuple[str, str, bytes]:
    match, cookie = rng.choice(target.seats)
    return f"GET {match}", cookie, b""


_FLOODS: dict[str, Flood] = {
    "reviews": _review,
    "hints": _hint,
    "practice": _practice,
    "pages": _page,
    "streams": _stream,
    "players": _player,
}


def floods(rng: Random) -> Iterator[Case]:
    """Every case floods one server with several kinds of requests while a person plays a machine there."""
    with TemporaryDirectory(prefix="attack-") as folder:
        home = Path(folder)
        with Process(str(home / "web.sqlite3"), home, before=SETUP, limits="VisitorLimits()") as server:
            seats = [_take_seat(server.base) for _ in range(_SEATS)]
            while True:
                kinds = sorted(rng.sample(list(_FLOODS), rng.randint(2, len(_FLOODS))))
                seed = rng.random()

                def attack(_: Path, kinds: list[str] = kinds, seed: float = seed) -> None:
                    _play_in_a_flood(server, seats, kinds, Random(seed))

                yield Case(f"{', '.join(kinds)}", attack)


def _take_seat(base: str) -> tuple[str, str]:
    """Return the address of a new match, and the cookie of its player."""
    player = Visitor(base)
    match, cookie = player.start("leap", "novice"), player.cookies["duels"]
    player.close()
    return match, cookie


def _play_in_a_flood(server: Process, seats: list[tuple[str, str]], kinds: list[str], rng: Random) -> None:
    ann = Visitor(server.base)
    limit = _measure_limit(ann, rng)
    match = ann.start("leap", "novice")
    target = Target(server.base, match, seats)
    over, ready = Event(), Semaphore(0)
    crowd = [
        Thread(target=_flood, args=(target, _FLOODS[kind], Random(rng.random()), ready, over))
        for kind in kinds
        for _ in range(_CLIENTS)
    ]
    for client in crowd:
        client.start()
    try:
        for _ in crowd:
            assert ready.acquire(timeout=60)
        for _ in range(3):
            took = _play(ann, match, rng)
            if took > limit:
                break
    finally:
        over.set()
        for client in crowd:
            client.join(60)
    _check(took, limit, ann, rng)
    ann.close()
    assert server.log.read_text() == _QUIET, server.log.read_text()[-2000:]


def _play(ann: Visitor, match: str, rng: Random) -> float:
    """Move, and return the seconds that the bot took to answer."""
    view = ann.see_when(match, "you", "over")
    start = monotonic()
    answer = ann.act(match, rng.choice(view["actions"])["action"], view["event"])
    assert answer.status_code == 204, answer.text
    ann.see_when(match, "you", "over")
    return monotonic() - start


def _measure_limit(ann: Visitor, rng: Random) -> float:
    """Return the seconds that a bot may take, from the median of three answers without a flood.

    After a flood, the first of them may wait for work that the flood has left.
    """
    match = ann.start("leap", "novice")
    return max(_ANSWER_SECONDS, _SLOWDOWN * median(_play(ann, match, rng) for _ in range(3)))


def _check(took: float, limit: float, ann: Visitor, rng: Random) -> None:
    """Check that a bot answered in time. If not, the computer may have become busy meanwhile."""
    if took > limit:
        limit = _measure_limit(ann, rng)
    assert took < limit, f"the machine took {took:.1f} s, not {limit:.1f}"


def _flood(target: Target, make: Flood, rng: Random, ready: Semaphore, over: Event) -> None:
    """Send requests until stopped, mostly without waiting for the answer."""
    connections: deque[socket.socket] = deque()
    for number in count():
        if number == _REQUESTS:
            ready.release()
        if over.is_set():
            break
        if len(connections) >= _OPEN:
            connections.popleft().close()
        line, cookie, body = make(target, rng)
        with suppress(OSError):
            connections.append(connect(target.base))
            connections[-1].settimeout(rng.choice((0.01, 0.1)))
            connections[-1].sendall(_format_request(target.base, line, cookie, body))
            connections[-1].recv(1 << 16)
    for connection in connections:
        connection.close()


def connect(base: str) -> socket.socket:
    where = urlsplit(base)
    assert where.hostname == "127.0.0.1"
    return socket.create_connection((where.hostname, where.port or 80), 10)


def _format_request(base: str, line: str, cookie: str, body: bytes) -> bytes:
    headers = {
        "Host": urlsplit(base).netloc,
        "Cookie": f"duels={cookie}",
        "Origin": base,
        "Content-Type": "application/json",
        "Content-Length": str(len(body)),
    }
    lines = [f"{line} HTTP/1.1", *(f"{name}: {value}" for name, value in headers.items()), "", ""]
    return "\r\n".join(lines).encode() + body


def idle_connections(rng: Random) -> Iterator[Case]:
    """Every case holds more connections than the server may have files, while a person plays there."""
    limit = f"import resource; resource.setrlimit(resource.RLIMIT_NOFILE, ({_FILES}, {_FILES}))"
    with TemporaryDirectory(prefix="attack-") as folder:
        home = Path(folder)
        with Process(str(home / "web.sqlite3"), home, before=f"{limit}\n{SETUP}") as server:
            request = half_a_body(server.base)
            while True:
                cut = rng.randrange(1, len(request))
                fragments = [b"", HALF_A_HEADER, request, request[:cut], b"\0" * rng.randrange(1, 9)]
                sent = shuffled(rng, fragments)[: rng.randint(1, len(fragments))]
                count, seed = rng.randint(_FILES, 2 * _FILES), rng.random()

                def attack(_: Path, sent: list[bytes] = sent, count: int = count, seed: float = seed) -> None:
                    _play_among_idle_connections(server, sent, count, Random(seed))

                yield Case(f"{count} connections that send {sent}", attack)


def _play_among_idle_connections(server: Process, sent: list[bytes], count: int, rng: Random) -> None:
    ann = Visitor(server.base)
    limit = _measure_limit(ann, rng)
    match = ann.start("leap", "novice")
    with ExitStack() as stack:
        stack.callback(ann.close)
        events = stack.enter_context(ann.watching(match))
        number, _ = events.next()
        for _ in range(count):
            connection = stack.enter_context(connect(server.base))
            with suppress(OSError):
                connection.sendall(rng.choice(sent))
        _check(_play(ann, match, rng), limit, ann, rng)
        assert events.next()[0] > number, "the player's stream is still open"
        newcomer = Visitor(server.base)
        stack.callback(newcomer.close)
        assert newcomer.get("/health").json()["ok"]
    assert server.log.read_text() == _QUIET, server.log.read_text()[-2000:]


# -- crowds ----------------------------------------------------------------------------------------------

_PUBLIC_URL = "http://duels.example"
_CROWD_CONNECTIONS = 160  # that a server has in all


def crowds(rng: Random) -> Iterator[Case]:
    """Every case takes all streams behind a proxy for many players of one or two addresses."""
    limits = replace(VisitorLimits(), connections_in_all=_CROWD_CONNECTIONS)
    with quiet_server(public_url=_PUBLIC_URL, limits=limits) as (base, _, logged):
        for number in range(1, 250):
            crowd = [f"10.0.{number}.{part + 1}" for part in range(rng.randint(1, 2))]
            players, seed = rng.randint(14, 30), rng.random()
            yield Case(
                f"{players} players at {len(crowd)} addresses",
                partial(_play_beside_a_crowd, base, crowd, players, logged, seed),
            )


def _play_beside_a_crowd(
    base: str, crowd: list[str], players: int, logged: list[str], seed: float, folder: Path
) -> None:
    """Open 12 streams for each player of the crowd at their own match; then play from another address."""
    rng = Random(seed)
    with ExitStack() as stack:
        for number in range(players):
            address = crowd[number % len(crowd)]
            eve = _visit(base, address)
            match = eve.start("leap", "friend")
            cookie = f"Cookie: duels={eve.cookies['duels']}\r\nX-Forwarded-For: {address}\r\n"
            eve.close()
            for _ in range(VisitorLimits().streams):
                connection = stack.enter_context(connect(base))
                request = f"GET {match}/events HTTP/1.1\r\nHost: duels.example\r\n{cookie}\r\n"
                with suppress(OSError):  # the server may have refused the connection
                    connection.sendall(request.encode())
                    connection.recv(1 << 10)
        ann = _visit(base, f"10.1.{rng.randrange(250)}.{rng.randrange(250)}")
        stack.callback(ann.close)
        match = ann.start("leap", "novice")
        with ann.watching(match) as events:
            number, _ = events.next()
            _check(_play(ann, match, rng), _ANSWER_SECONDS, ann, rng)
            assert events.next()[0] > number, "the player's stream is open"
        assert ann.get("/health").json()["ok"]
    assert not logged, logged[:3]


def _visit(base: str, address: str) -> Visitor:
    headers = {"Host": "duels.example", "Origin": _PUBLIC_URL, "X-Forwarded-For": address}
    return Visitor(base, **headers)
