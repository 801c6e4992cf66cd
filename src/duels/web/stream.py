"""Server-sent events: a match as it goes on, for whoever watches."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from starlette.types import Receive, Scope, Send

Produce = Callable[[int | None], Awaitable[tuple[int, str] | None]]
"""Given the number of the last event that was sent: the next one's, with its data; None if there is none."""
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
        ticket: Callable[[], "asyncio.Future[None]"],
        ending: asyncio.Event,
        last: int | None = None,
        every: float = 15.0,
    ) -> None:
        self._produce = produce
        self._ticket = ticket
        self._ending = ending
        self._last = last
        self._every = every

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send what there is, then whatever comes."""
        await send({"type": "http.response.start", "status": 200, "headers": list(_HEADERS)})
        await send(_chunk(f"retry: {RETRY}\n\n".encode()))
        left = asyncio.ensure_future(_until_left(receive))
        ended = asyncio.ensure_future(self._ending.wait())
        try:
            while not left.done() and not ended.done():
                ticket = self._ticket()  # before reading, so that nothing falls between
                event = await self._produce(self._last)
                if event:
                    self._last, data = event
                    await send(_chunk(f"id: {self._last}\ndata: {data}\n\n".encode()))
                waiting: set[asyncio.Future[Any]] = {left, ended, ticket}
                done, _ = await asyncio.wait(
                    waiting, timeout=self._every, return_when=asyncio.FIRST_COMPLETED
                )
                if not done:
                    await send(_chunk(_PING))
        finally:
            left.cancel()
            ended.cancel()
        await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _until_left(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def _chunk(body: bytes) -> dict[str, object]:
    return {"type": "http.response.body", "body": body, "more_body": True}
