"""Requests of visitors: their fields, the visitor's identity, and rate limits.

A visitor is identified by a random cookie, of which the server stores only the hash. There are no accounts.
Rate limits are token buckets per identity and per address.
"""

import json
import re
import secrets
import time
from collections import OrderedDict
from dataclasses import dataclass
from hashlib import sha256
from ipaddress import ip_network
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from duels.core.errors import quote
from duels.web.request_errors import RequestError, TooMany

_COOKIE_NAMES = {False: "duels", True: "__Host-duels"}  # over TLS, browsers accept it only from this host
_YEAR = 365 * 24 * 3600
_COOKIE_LENGTH = 43  # 256 bits in URL-safe base 64
_MAX_BUCKETS = 20_000  # the least recently used buckets are dropped: they are full again anyway
_TYPE_NAMES: dict[type, str] = {str: "a string", int: "an integer", list: "a list", dict: "an object"}


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
    """Return the client's IP address, or its /64 network for IPv6: a household has all addresses of one."""
    host = request.client.host if request.client else ""
    return str(ip_network(f"{host}/64", strict=False)) if ":" in host and "%" not in host else host


def parse_event_number(text: str | None) -> int | None:
    """Parse an event number, or return None if the text is not one."""
    return int(text) if text and text.isascii() and text.isdigit() and len(text) < 10 else None


async def read_fields(request: Request, **fields: Any) -> dict[str, Any]:
    """Return the fields of a JSON request body.

    Each field is declared with its type, or with its default value. Raises RequestError if the body is not
    a JSON object, has an unknown field, or a value of the wrong type.
    """
    types = {name: field if isinstance(field, type) else type(field) for name, field in fields.items()}
    try:
        data = json.loads((await request.body()).decode() or "{}")
    except (ValueError, RecursionError):
        raise RequestError("Invalid JSON.") from None
    if not isinstance(data, dict):
        raise RequestError("The request body must be a JSON object.")
    for name, value in data.items():
        if name not in types:
            raise RequestError(f"Unknown field {quote(name)}. Allowed fields: {', '.join(types)}.")
        if type(value) is not types[name]:
            raise RequestError(f"'{name}' must be {_TYPE_NAMES[types[name]]}.")
    return {name: field for name, field in fields.items() if not isinstance(field, type)} | data


def make_cookie() -> str:
    """Return a random cookie value of 256 bits."""
    return secrets.token_urlsafe(32)


def make_token() -> str:
    """Return a random id for a match or an invitation, of 128 bits."""
    return secrets.token_urlsafe(16)


def hash_cookie(cookie: str) -> str:
    """Return the identity of a visitor: the hash of the cookie."""
    return sha256(cookie.encode()).hexdigest()


def format_set_cookie(value: str, secure: bool) -> str:
    """Return the Set-Cookie header."""
    header = f"{_COOKIE_NAMES[secure]}={value}; Path=/; Max-Age={_YEAR}; HttpOnly; SameSite=Lax"
    return f"{header}; Secure" if secure else header


_COOKIE_PATTERNS = {
    secure: re.compile(rf"(?:^|;) *{name}=([\w-]{{{_COOKIE_LENGTH}}}) *(?:;|$)", re.ASCII)
    for secure, name in _COOKIE_NAMES.items()
}


def get_identity(cookies: str, secure: bool) -> str | None:
    """Return the identity in a Cookie header, or None if our cookie is missing or malformed."""
    match = _COOKIE_PATTERNS[secure].search(cookies)
    return hash_cookie(match[1]) if match else None


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
    """How many times an identity's limits an address has: a household or a school shares one."""
    streams: int = 12
    """Open event streams per identity."""
    streams_of_address: int = 96
    """Open event streams per address."""
    matches_a_day: int = 200
    """Matches that an identity may join in a day."""


class RateLimiter:
    """Token buckets for every visitor and kind of request."""

    def __init__(self, limits: VisitorLimits) -> None:
        self._limits = limits
        self._buckets: OrderedDict[tuple[str, str, str], tuple[float, float]] = OrderedDict()

    def take(self, kind: str, identity: str | None, address: str) -> None:
        """Take a token from the visitor's buckets. Raises TooMany if one of them is empty.

        A visitor without an identity uses only the address's bucket: a whole class may arrive at once.
        """
        rate: RateLimit = getattr(self._limits, kind)
        now = time.monotonic()
        factors = [((kind, "address", address), self._limits.address_factor)]
        if identity:
            factors.append(((kind, "identity", identity), 1))
        remaining = []
        wait = 0.0
        for key, factor in factors:
            burst, per_second = rate.burst * factor, rate.per_second * factor
            tokens, before = self._buckets.get(key, (burst, now))
            tokens = min(burst, tokens + (now - before) * per_second)
            remaining.append((key, tokens - 1))
            wait = max(wait, (1 - tokens) / per_second)
        if wait > 0:  # a refused request takes no tokens
            raise TooMany("Too many requests. Try again in a moment.", wait)
        for key, tokens in remaining:
            self._buckets[key] = (tokens, now)
            self._buckets.move_to_end(key)
        while len(self._buckets) > _MAX_BUCKETS:
            self._buckets.popitem(last=False)


class StreamCounter:
    """Counts the open event streams of each visitor."""

    def __init__(self, limits: VisitorLimits) -> None:
        self._limits = limits
        self._open: dict[str, int] = {}

    def enter(self, identity: str | None, address: str) -> tuple[str, ...]:
        """Count an opened stream and return the keys for `leave`. Raises TooMany if too many are open."""
        keys = {f"address {address}": self._limits.streams_of_address}
        if identity:
            keys[f"identity {identity}"] = self._limits.streams
        for key, limit in keys.items():
            if self._open.get(key, 0) >= limit:
                raise TooMany("Too many pages are open. Close some, then reload this one.", 10.0)
        for key in keys:
            self._open[key] = self._open.get(key, 0) + 1
        return tuple(keys)

    def leave(self, keys: tuple[str, ...]) -> None:
        """Remove a closed stream from the count."""
        for key in keys:
            self._open[key] -= 1
            if not self._open[key]:
                del self._open[key]
