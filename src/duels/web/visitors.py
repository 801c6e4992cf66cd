"""Visitors: what they send and are answered, who they are, and how much each may ask for.

A visitor is a random cookie, of which only the hash is kept: no names, no accounts. Limits are buckets that
fill again with time, per identity and per address.
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
from duels.web.refusals import Refusal, TooMany

COOKIE = "duels"
COOKIE_BEHIND_TLS = "__Host-duels"
_YEAR = 365 * 24 * 3600
_LENGTH = 43  # of 256 bits in URL-safe letters
_MOST_KEPT = 20_000  # buckets; one that was not used for longest is full again anyway
_CALLED: dict[type, str] = {str: "text", int: "a whole number", list: "a list", dict: "an object"}


def plain_answer(status: int, text: str) -> Response:
    """One line."""
    return Response(f"{text}\n", status, media_type="text/plain")


def json_answer(data: Any, status: int = 200) -> Response:
    """Data for programs."""
    return Response(json.dumps(data, ensure_ascii=False) + "\n", status, media_type="application/json")


def wants_json(request: Request) -> bool:
    """Whether a program asks."""
    accept = request.headers.get("accept", "")
    return "application/json" in accept and "text/html" not in accept


def address(request: Request) -> str:
    """Where a request comes from: of IPv6 the network, for a household has all of its addresses."""
    host = request.client.host if request.client else ""
    return str(ip_network(f"{host}/64", strict=False)) if ":" in host and "%" not in host else host


def event_number(text: str | None) -> int | None:
    """The number in a header; None if there is none."""
    return int(text) if text and text.isascii() and text.isdigit() and len(text) < 10 else None


async def body(request: Request, **fields: Any) -> dict[str, Any]:
    """The fields of a request, of these names and no others; each has its kind, or its usual value."""
    kinds = {name: given if isinstance(given, type) else type(given) for name, given in fields.items()}
    try:
        data = json.loads((await request.body()).decode() or "{}")
    except (ValueError, RecursionError):
        raise Refusal("That is no JSON.") from None
    if not isinstance(data, dict):
        raise Refusal("Send a JSON object.")
    for name, value in data.items():
        if name not in kinds:
            raise Refusal(f"There is no field {quote(name)} here; there are {', '.join(kinds)}.")
        if type(value) is not kinds[name]:
            raise Refusal(f"'{name}' has to be {_CALLED[kinds[name]]}.")
    return {name: given for name, given in fields.items() if not isinstance(given, type)} | data


def new_cookie() -> str:
    """A value that nobody can guess: 256 bits."""
    return secrets.token_urlsafe(32)


def new_token() -> str:
    """The address of a match or an invitation, which nobody can guess: 128 bits."""
    return secrets.token_urlsafe(16)


def identity(cookie: str) -> str:
    """What is kept of a visitor."""
    return sha256(cookie.encode()).hexdigest()


def cookie_name(secure: bool) -> str:
    """The cookie's name; behind TLS one that a browser takes from this host alone."""
    return COOKIE_BEHIND_TLS if secure else COOKIE


def set_cookie(value: str, secure: bool) -> str:
    """The header that leaves the cookie with the browser."""
    kept = f"{cookie_name(secure)}={value}; Path=/; Max-Age={_YEAR}; HttpOnly; SameSite=Lax"
    return f"{kept}; Secure" if secure else kept


_SENT = {
    secure: re.compile(rf"(?:^|;) *{cookie_name(secure)}=([\w-]{{{_LENGTH}}}) *(?:;|$)", re.ASCII)
    for secure in (False, True)
}


def visitor(cookies: str, secure: bool) -> str | None:
    """The identity of whoever sends this Cookie header; None without anything that could be our cookie."""
    found = _SENT[secure].search(cookies)
    return identity(found[1]) if found else None


@dataclass(frozen=True)
class Rate:
    """So many at once, and then so many a second."""

    burst: float
    per_second: float


@dataclass(frozen=True)
class VisitorLimits:
    """What a visitor may do."""

    act: Rate = Rate(40, 8)
    """Requests that change a match."""
    create: Rate = Rate(12, 0.1)
    """New matches, and invitations that are tried."""
    heavy: Rate = Rate(20, 1)
    """Reviews, hints, puzzles, and the list of all one's matches."""
    read: Rate = Rate(240, 40)
    """Everything else."""
    address_factor: int = 8
    """So many identities may come from one address: a household, a school."""
    streams: int = 12
    """Open streams of events of one identity."""
    streams_of_address: int = 96
    matches_a_day: int = 200
    """Matches that an identity may sit down at."""


class Buckets:
    """A bucket for every visitor and kind of request."""

    def __init__(self, limits: VisitorLimits) -> None:
        self._limits = limits
        self._buckets: OrderedDict[tuple[str, str, str], tuple[float, float]] = OrderedDict()

    def take(self, what: str, identity: str | None, address: str) -> None:
        """Take one from the visitor's buckets; TooMany if one of them is empty.

        Whoever has no identity yet shares only the address's: a school's newcomers come all at once.
        """
        rate: Rate = getattr(self._limits, what)
        now = time.monotonic()
        factors = [((what, "address", address), self._limits.address_factor)]
        if identity:
            factors.append(((what, "identity", identity), 1))
        taken = []
        wait = 0.0
        for whose, factor in factors:
            left = self._left(whose, rate, factor, now)
            taken.append((whose, left - 1))
            wait = max(wait, (1 - left) / (rate.per_second * factor))
        if wait > 0:  # what is refused takes nothing, from nobody's bucket
            raise TooMany("Too many requests. Try again in a moment.", wait)
        for whose, left in taken:
            self._buckets[whose] = (left, now)
            self._buckets.move_to_end(whose)
        while len(self._buckets) > _MOST_KEPT:
            self._buckets.popitem(last=False)

    def _left(self, whose: tuple[str, str, str], rate: Rate, factor: int, now: float) -> float:
        """How much is in a bucket."""
        burst = rate.burst * factor
        left, then = self._buckets.get(whose, (burst, now))
        return min(burst, left + (now - then) * rate.per_second * factor)


class Streams:
    """How many streams of events each visitor has open."""

    def __init__(self, limits: VisitorLimits) -> None:
        self._limits = limits
        self._open: dict[str, int] = {}

    def enter(self, identity: str | None, address: str) -> tuple[str, ...]:
        """Count a stream that is being opened; what `leave` is to be given."""
        keys = {f"address {address}": self._limits.streams_of_address}
        if identity:
            keys[f"identity {identity}"] = self._limits.streams
        for key, most in keys.items():
            if self._open.get(key, 0) >= most:
                raise TooMany("Too many pages are open. Close some, then reload this one.", 10.0)
        for key in keys:
            self._open[key] = self._open.get(key, 0) + 1
        return tuple(keys)

    def leave(self, keys: tuple[str, ...]) -> None:
        """Count a stream that is closed."""
        for key in keys:
            self._open[key] -= 1
            if not self._open[key]:
                del self._open[key]
