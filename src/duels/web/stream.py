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
        self._sent = 0.0
        self._quiet = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send what there is, then whatever comes."""
        await send({"type": "http.response.start", "status": 200, "headers": list(_HEADERS)})
        await send(_chunk(f"retry: {RETRY}\n\n".encode()))
        leaving = asyncio.ensure_future(self._until_left(receive))
        self._sent = asyncio.get_running_loop().time()
        self._timer = self._look_again_in(self._every)
        try:
            with self._watching(self._woken.set):
                while not self._left and not self._ended():
                    self._woken.clear()  # before reading, so that nothing falls between
                    await self._send_news(send)
                    await self._woken.wait()
        finally:
            leaving.cancel()
            self._timer.cancel()
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _send_news(self, send: Send) -> None:
        """Send what is new, or a ping if one is due."""
        event = await self._produce(self._last)
        if event:
            self._last, lines = event
        elif self._quiet:
            lines = _PING
        else:
            return
        self._quiet = False
        self._sent = asyncio.get_running_loop().time()
        await send(_chunk(lines))

    def _look_again_in(self, seconds: float) -> asyncio.TimerHandle:
        return asyncio.get_running_loop().call_later(seconds, self._look_whether_quiet)

    def _look_whether_quiet(self) -> None:
        """Ask for a ping when nothing was sent for so long that the connection may be thought dead.

        What wakes the stream and is not for this viewer does not put it off: that would tell of it.
        """
        silent = asyncio.get_running_loop().time() - self._sent
        if silent >= self._every:
            self._quiet = True
            self._woken.set()
            silent = 0.0
        self._timer = self._look_again_in(self._every - silent)

    async def _until_left(self, receive: Receive) -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        self._left = True
        self._woken.set()


def _chunk(body: bytes) -> dict[str, object]:
    return {"type": "http.response.body", "body": body, "more_body": True}
