"""Requests of visitors: their fields, the visitor's identity, and rate limits.

A visitor is identified by a random cookie, of which the server stores only the hash. There are no accounts.
Rate limits are token buckets per identity and per address.
"""

import asyncio
import json
import re
import secrets
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from ipaddress import IPv6Address, ip_address, ip_network
from typing import Any, NamedTuple, TypeVar
from weakref import WeakValueDictionary

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from duels.core.errors import quote
from duels.web.request_errors import MalformedRequest, RequestError, TooMany

T = TypeVar("T")
_YEAR = 365 * 24 * 3600  # seconds
_COOKIE = re.compile(r"[\w-]{43}", re.ASCII)  # 256 bits in URL-safe base 64
_NO_TEXT = re.compile("[\0\ud800-\udfff]")  # PostgreSQL cannot store NUL, and UTF-8 has no surrogates
_MAX_BUCKETS = 20_000  # the least recently used buckets are dropped: they are full again anyway
_TYPE_NAMES: dict[type, str] = {
    str: "a string",
    int: "an integer",
    bool: "true or false",
    list: "a list",
    dict: "an object",
}


def make_text_response(status: int, text: str) -> Response:
    """Return a plain text response."""
    return Response(f"{text}\n", status, media_type="text/plain")


def make_json_response(data: Any, status: int = 200) -> Response:
    """Return a JSON response."""
    return Response(json.dumps(data, ensure_ascii=False) + "\n", status, media_type="application/json")


def wants_json(request: Request) -> bool:
    """Whether the client asks for JSON and not for a page."""
    accept = request.headers.get("accept", "")
    return "application/json" in accept and "text/html" not in accept


def get_address(request: Request) -> str:
    """Return the client's normalized IP address. Raises MalformedRequest if the proxy sent something else."""
    try:
        return normalize_address(request.client.host) if request.client else ""
    except ValueError:
        raise MalformedRequest("The X-Forwarded-For header must contain IP addresses.") from None


def normalize_address(host: str) -> str:
    """Return an IP address, or its /64 network for IPv6, since a household has a whole network.

    Raises ValueError if the host is not an IP address.
    """
    address = ip_address(host.partition("%")[0])  # without the interface
    if isinstance(address, IPv6Address):
        return str(address.ipv4_mapped or ip_network((address, 64), strict=False))
    return str(address)


def check_request_text(request: Request) -> None:
    """Raise MalformedRequest if the path, the query or a header has a character that is not text."""
    _check_text(request.scope["path"], *request.headers.values())
    for pair in request.query_params.multi_items():
        _check_text(*pair)


def _check_text(*texts: str) -> None:
    if any(map(_NO_TEXT.search, texts)):
        raise MalformedRequest("Text must not contain NUL characters or lone surrogates.")


def _find_strings(data: Any) -> Iterator[str]:
    """Yield all strings in JSON data."""
    if isinstance(data, str):
        yield data
    elif isinstance(data, dict):
        for pair in data.items():
            yield from _find_strings(pair)
    elif isinstance(data, list | tuple):
        for item in data:
            yield from _find_strings(item)


def parse_event_number(text: str | None) -> int | None:
    """Parse an event number, or return None if the text is not one."""
    return int(text) if text and text.isascii() and text.isdigit() and len(text) < 10 else None


async def read_fields(request: Request, **fields: Any) -> dict[str, Any]:
    """Return the fields of a JSON request body.

    Each field is declared with its type, or with its default value. Raises RequestError if the body is not
    a JSON object, has an unknown field, or a value of the wrong type, and MalformedRequest if a string in it
    is not valid text.
    """
    types = {name: field if isinstance(field, type) else type(field) for name, field in fields.items()}
    try:
        data = json.loads((await request.body()).decode() or "{}")
        strings = [*_find_strings(data)]
    except (ValueError, RecursionError):
        raise RequestError("Invalid JSON.") from None
    _check_text(*strings)
    if not isinstance(data, dict):
        raise RequestError("The request body must be a JSON object.")
    for name, value in data.items():
        if name not in types:
            raise RequestError(f"Unknown field {quote(name)}. Allowed fields: {', '.join(types)}.")
        if type(value) is not types[name]:
            raise RequestError(f"'{name}' must be {_TYPE_NAMES[types[name]]}.")
    return {name: field for name, field in fields.items() if not isinstance(field, type)} | data


async def run_while_connected(request: Request, work: Coroutine[Any, Any, T]) -> T:
    """Return the result of `work`. If the client leaves first, cancel it and raise ClientDisconnect.

    The body of the request must have been read.
    """
    task = asyncio.create_task(work)

    async def watch() -> None:
        while (await request.receive())["type"] != "http.disconnect":
            pass
        task.cancel()

    watcher = asyncio.create_task(watch())
    try:
        return await task
    except asyncio.CancelledError:
        if watcher.done():
            raise ClientDisconnect() from None
        raise
    finally:
        watcher.cancel()
        task.cancel()


def make_token() -> str:
    """Return a random id for a match or an invitation, of 128 bits."""
    return secrets.token_urlsafe(16)


def hash_cookie(cookie: str) -> str:
    """Return the identity of a visitor: the hash of the cookie."""
    return sha256(cookie.encode()).hexdigest()


class IdentityCookie:
    """The cookie that identifies a visitor."""

    def __init__(self, secure: bool) -> None:
        self._secure = secure
        self._name = "__Host-duels" if secure else "duels"  # browsers accept __Host- only from this host

    def get_identity(self, request: Request) -> str | None:
        """Return the identity of a visitor, or None if the cookie is missing or malformed.

        Another server on this host may set a cookie of the same name: the first well-formed one counts.
        """
        for cookie in ";".join(request.headers.getlist("cookie")).split(";"):
            name, _, value = cookie.strip().partition("=")
            if name == self._name and _COOKIE.fullmatch(value):
                return hash_cookie(value)
        return None

    def get_or_make_identity(self, request: Request) -> tuple[str, str | None]:
        """Return the identity of a visitor, and a new cookie for a visitor without one."""
        if identity := self.get_identity(request):
            return identity, None
        cookie = secrets.token_urlsafe(32)
        return hash_cookie(cookie), cookie

    def add_to(self, response: Response, cookie: str | None) -> Response:
        """Set the cookie unless it is None, and return the response."""
        if cookie:
            response.set_cookie(self._name, cookie, _YEAR, secure=self._secure, httponly=True)
        return response


class Visitor(NamedTuple):
    """The source of a request."""

    identity: str | None
    address: str
    is_seated: bool = False
    """Whether the identity has a seat at the match that the request is about. Spectators are not seated."""


@dataclass(frozen=True)
class RateLimit:
    """A limit of `burst` requests at once, refilled at `per_second`."""

    burst: float
    per_second: float


@dataclass(frozen=True)
class VisitorLimits:
    """The limits of one visitor."""

    act: RateLimit = RateLimit(40, 8)
    """Requests that change a match."""
    create: RateLimit = RateLimit(12, 0.1)
    """New matches, and attempts to open an invitation."""
    heavy: RateLimit = RateLimit(20, 1)
    """Reviews, hints, puzzles, and the list of all matches."""
    read: RateLimit = RateLimit(240, 40)
    """Everything else."""
    address_factor: int = 8
    """An address's limits as a multiple of an identity's: a household or a school shares an address."""
    streams: int = 12
    """Open event streams per identity."""
    spectator_streams_per_address: int = 96
    """Open event streams of spectators per address."""
    player_streams_per_address: int = 128
    """Open event streams of players per address."""
    spectator_streams_in_all: int = 400
    """Open event streams of all spectators: the other connections are reserved for players."""
    matches_a_day: int = 200
    """Matches that an identity may join in a day."""
    connections: int = 256
    """Open connections per address."""
    connections_in_all: int | None = None
    """Open connections; by default as many as the system allows."""
    request_timeout: float = 30.0
    """Seconds in which a request must arrive, with its body."""


class RateLimiter:
    """Token buckets for every visitor and kind of request."""

    def __init__(self, limits: VisitorLimits) -> None:
        self._limits = limits
        self._buckets: OrderedDict[tuple[str, str, str], tuple[float, float]] = OrderedDict()

    def take(self, kind: str, visitor: Visitor) -> None:
        """Take a token from the visitor's buckets. Raises TooMany if one of them is empty.

        A visitor without an identity uses only the address's bucket: a whole class may arrive at once. A
        seated visitor uses only the identity's bucket.
        """
        rate: RateLimit = getattr(self._limits, kind)
        now = time.monotonic()
        factors: list[tuple[tuple[str, str, str], int]] = []
        if not visitor.is_seated:
            factors.append(((kind, "address", visitor.address), self._limits.address_factor))
        if visitor.identity:
            factors.append(((kind, "identity", visitor.identity), 1))
        remaining = []
        wait = 0.0
        for key, factor in factors:
            burst, per_second = rate.burst * factor, rate.per_second * factor
            tokens, before = self._buckets.get(key, (burst, now))
            tokens = min(burst, tokens + (now - before) * per_second)
            remaining.append((key, tokens - 1))
            wait = max(wait, (1 - tokens) / per_second)
        if wait > 0:  # a refused request takes no tokens
            raise TooMany("Too many requests.", wait)
        for key, tokens in remaining:
            self._buckets[key] = (tokens, now)
            self._buckets.move_to_end(key)
        while len(self._buckets) > _MAX_BUCKETS:
            self._buckets.popitem(last=False)


@dataclass
class PlaceCounter:
    """Counts the places that visitors hold, such as open event streams or places in a queue.

    Only an identity's own places count against a seated visitor: strangers at the same address, such as a
    school's, cannot lock a player out.
    """

    refusal: str
    """The message for a visitor who gets no place."""
    max_of_identity: int
    max_of_address: int
    """The places of an address's visitors who are not seated."""
    max_of_spectators: int
    """The places of all visitors who are not seated: the rest is reserved for players."""
    wait: float = 5.0
    """Seconds until a refused visitor should try again."""
    _counts: Counter[str] = field(default_factory=Counter, init=False)

    @contextmanager
    def hold(self, visitor: Visitor) -> Iterator[None]:
        """Hold a place within the context. Raises TooMany if there is none."""
        limits = {f"identity {visitor.identity}": self.max_of_identity} if visitor.identity else {}
        if not visitor.is_seated:
            limits[f"address {visitor.address}"] = self.max_of_address
            limits["spectators"] = self.max_of_spectators
        if any(self._counts[key] >= limit for key, limit in limits.items()):
            raise TooMany(self.refusal, self.wait)
        self._counts.update(limits.keys())
        try:
            yield
        finally:
            self._counts.subtract(limits.keys())
            for key in limits:
                if not self._counts[key]:
                    del self._counts[key]


class RequestQueue:
    """The order in which requests are handled, so that a flood does not delay everybody else.

    The requests of an address are handled one after another, and between two of them the server does its
    other work. An identity has one place in this order, however many requests it sends. All visitors of the
    address without an identity have one place together. A connection has one request at a time, so the
    number of connections limits the queue.
    """

    def __init__(self) -> None:
        self._locks: WeakValueDictionary[tuple[str | None, str], asyncio.Lock] = WeakValueDictionary()

    async def wait_turn(self, visitor: Visitor) -> None:
        """Wait until it is the visitor's turn."""
        identity = visitor.identity or "strangers"
        async with self._get_lock(identity, visitor.address), self._get_lock(None, visitor.address):
            await asyncio.sleep(0)  # everything else that is ready runs first

    def _get_lock(self, identity: str | None, address: str) -> asyncio.Lock:
        return self._locks.setdefault((identity, address), asyncio.Lock())


@dataclass(frozen=True, eq=False)
class _OpenStream:
    visitor: Visitor
    end: Callable[[], object]


class StreamLimiter:
    """The open event streams. If there are too many, one gives way to a new one.

    Among the players at an address, the player with the most streams loses one. Among all visitors, the
    address with the most streams loses one. So nobody can take the streams of everybody else.
    """

    def __init__(self, limits: VisitorLimits, capacity: int) -> None:
        self._capacity = capacity
        self._max_of_players = limits.player_streams_per_address
        self._places = PlaceCounter(
            "Too many pages are open. Close some.",
            limits.streams,
            limits.spectator_streams_per_address,
            limits.spectator_streams_in_all,
            wait=10.0,
        )
        self._open: dict[_OpenStream, None] = {}  # the oldest first

    @contextmanager
    def hold(self, visitor: Visitor, end: Callable[[], object]) -> Iterator[None]:
        """Count a stream within the context. `end` is called if the stream must give way.

        Raises TooMany if no other stream gives way to this one.
        """
        stream = _OpenStream(visitor, end)
        with self._places.hold(visitor):
            if visitor.is_seated:
                neighbours = [
                    other
                    for other in self._open
                    if other.visitor.is_seated and other.visitor.address == visitor.address
                ]
                self._make_room(neighbours, self._max_of_players, visitor, lambda other: other.identity)
            self._make_room([*self._open], self._capacity, visitor, lambda other: other.address)
            self._open[stream] = None
            try:
                yield
            finally:
                self._open.pop(stream, None)

    def _make_room(
        self,
        streams: list[_OpenStream],
        limit: int,
        visitor: Visitor,
        get_owner: Callable[[Visitor], str | None],
    ) -> None:
        """End a stream of the largest owner if there are `limit` streams: the newest, but spectators' first.

        Raises TooMany if the new stream would make its own owner the largest.
        """
        if len(streams) < limit:
            return
        counts = Counter(get_owner(stream.visitor) for stream in streams)
        largest, count = counts.most_common(1)[0]
        if counts[get_owner(visitor)] + 1 >= count:
            raise TooMany(self._places.refusal, self._places.wait)
        surplus = [stream for stream in reversed(streams) if get_owner(stream.visitor) == largest]
        stream = min(surplus, key=lambda other: other.visitor.is_seated)
        del self._open[stream]
        stream.end()
