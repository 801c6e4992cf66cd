"""Who is here: the seats with an open event stream. It is never stored, and it says nothing about moves.

A page closes its stream when it is closed or hidden. A stream that is opened again soon, as after a reload or
a lost connection, changes nothing: otherwise, it could reveal what a player does in secret.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from duels.core.rules import Seat

_GRACE_PERIOD = 10.0  # seconds without a stream until a player is away


class Presence:
    """The open streams of players in this process."""

    def __init__(self, on_change: Callable[[str], object]) -> None:
        """`on_change` is called with a match's id when a player comes or leaves."""
        self._on_change = on_change
        self._streams: Counter[tuple[str, Seat]] = Counter()
        self._leaving: dict[tuple[str, Seat], asyncio.TimerHandle] = {}

    def is_here(self, match: str, seat: Seat) -> bool:
        """Whether the seat has a stream, or had one a moment ago."""
        return self._streams[match, seat] > 0 or (match, seat) in self._leaving

    @contextmanager
    def hold(self, match: str, seat: Seat) -> Iterator[None]:
        """Count a stream of the seat within the context."""
        key, was_here = (match, seat), self.is_here(match, seat)
        self._streams[key] += 1
        if timer := self._leaving.pop(key, None):
            timer.cancel()
        if not was_here:
            self._on_change(match)
        try:
            yield
        finally:
            self._streams[key] -= 1
            if not self._streams[key]:
                del self._streams[key]
                loop = asyncio.get_running_loop()
                self._leaving[key] = loop.call_later(_GRACE_PERIOD, self._leave, key)

    def _leave(self, key: tuple[str, Seat]) -> None:
        del self._leaving[key]
        self._on_change(key[0])
