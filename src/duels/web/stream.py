"""Server-sent events: a match as it goes on, for whoever watches."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager

from starlette.types import Receive, Scope, Send

from duels.web.hub import Wake

Produce = Callable[[int | None], Awaitable[tuple[int, bytes] | None]]
"""Given the number of the last event that was sent: the next one's, with its lines; None if there is none."""
_PING = b": still here\n\n"
_HEADERS = [
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"cache-control", b"no-store"),
    (b"x-accel-buffering", b"no"),  # nginx would wait until it has more
]
RETRY = 1_000
"""Milliseconds until a browser that has lost the connection comes back."""


class EventStream:
    """A response that lasts until the visitor leaves, or the server ends."""

    def __init__(
        self,
        produce: Produce,
        watching: Callable[[Wake], AbstractContextManager[None]],
        ended: Callable[[], bool],
        last: int | None = None,
        every: float = 15.0,
    ) -> None:
        self._produce = produce
        self._watching = watching
        self._ended = ended
        self._last = last
        self._every = every
        self._woken = asyncio.Event()
        self._left = False
        self._quiet = False
        self._timer: asyncio.TimerHandle | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send what there is, then whatever comes."""
        await send({"type": "http.response.start", "status": 200, "headers": list(_HEADERS)})
        await send(_chunk(f"retry: {RETRY}\n\n".encode()))
        leaving = asyncio.ensure_future(self._until_left(receive))
        self._expect_ping()
        try:
            with self._watching(self._woken.set):
                while not self._left and not self._ended():
                    self._woken.clear()  # before reading, so that nothing falls between
                    if await self._send_news(send):
                        self._expect_ping()
                    await self._woken.wait()
        finally:
            leaving.cancel()
            self._expect_no_ping()
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _send_news(self, send: Send) -> bool:
        """Send what is new, or that nothing is; whether anything was sent."""
        event = await self._produce(self._last)
        if event:
            self._last, lines = event
            await send(_chunk(lines))
        elif self._quiet:
            await send(_chunk(_PING))
        return bool(event) or self._quiet

    def _expect_ping(self) -> None:
        """Send one when nothing was sent for so long that the connection may be thought dead.

        What wakes the stream and is not for this viewer does not put it off: that would tell of it.
        """
        self._expect_no_ping()
        self._timer = asyncio.get_running_loop().call_later(self._every, self._ping)

    def _expect_no_ping(self) -> None:
        self._quiet = False
        if self._timer:
            self._timer.cancel()

    def _ping(self) -> None:
        self._quiet = True
        self._woken.set()

    async def _until_left(self, receive: Receive) -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        self._left = True
        self._woken.set()


def _chunk(body: bytes) -> dict[str, object]:
    return {"type": "http.response.body", "body": body, "more_body": True}
