"""Wakes whoever waits for something to happen in a match."""

import asyncio
from weakref import WeakValueDictionary


class Hub:
    """Everybody who watches a match waits here; all of them belong to one event loop."""

    def __init__(self) -> None:
        # A ticket lives as long as somebody waits with it.
        self._waiting: WeakValueDictionary[str, asyncio.Future[None]] = WeakValueDictionary()

    def ticket(self, match: str) -> "asyncio.Future[None]":
        """Is done when the match is written to. Take it before reading, so that nothing falls between."""
        waiting = self._waiting.get(match)
        if waiting is None or waiting.done():
            waiting = self._waiting[match] = asyncio.get_running_loop().create_future()
        return waiting

    def wake(self, match: str | None) -> None:
        """A match was written to; None if it may have been any."""
        for each in [match] if match is not None else list(self._waiting):
            waiting = self._waiting.pop(each, None)
            if waiting and not waiting.done():
                waiting.set_result(None)
