"""The least that a server on this stack does for a move: what ours could reach at most.

What is posted is kept on disk, together with what has come in meanwhile; then both seats are told, with an
event as large as ours mostly are. It knows no game, no seat and no visitor. Prints its port once it listens.

python benchmarks/serve_bare.py FILE
"""

import asyncio
import os
import socket
import sys
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor

import uvicorn
from starlette.types import Receive, Scope, Send

EVENT_BYTES = 2_600  # of ours in leap, on average; with the whole board it would be 9,900


class Bare:
    """An application with two addresses: POST /MATCH/act, GET /MATCH/events."""

    def __init__(self, file: int) -> None:
        self._file = file
        self._thread = ThreadPoolExecutor(1)
        self._waiting: list[tuple[bytes, asyncio.Future[None]]] = []
        self._writer: asyncio.Task[None] | None = None
        self._numbers: defaultdict[str, int] = defaultdict(lambda: 1)
        self._watching: defaultdict[str, set[asyncio.Event]] = defaultdict(set)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        match, _, what = scope["path"].rpartition("/")
        await (self._act if what == "act" else self._watch)(match, receive, send)

    async def _act(self, match: str, receive: Receive, send: Send) -> None:
        kept: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(((await receive())["body"], kept))
        if self._writer is None:
            self._writer = asyncio.create_task(self._write_on())
        await kept
        self._numbers[match] += 1
        for news in self._watching[match]:
            news.set()
        await send({"type": "http.response.start", "status": 204, "headers": []})
        await send({"type": "http.response.body"})

    async def _write_on(self) -> None:
        while self._waiting:
            together, self._waiting = self._waiting, []
            os.write(self._file, b"".join(body for body, _ in together))
            await asyncio.get_running_loop().run_in_executor(self._thread, os.fdatasync, self._file)
            for _, kept in together:
                kept.set_result(None)
        self._writer = None

    async def _watch(self, match: str, receive: Receive, send: Send) -> None:
        news = asyncio.Event()
        self._watching[match].add(news)
        await receive()  # the request itself; what comes next is that the visitor leaves
        leaving = asyncio.ensure_future(receive())
        leaving.add_done_callback(lambda _: news.set())
        await send({"type": "http.response.start", "status": 200, "headers": []})
        while not leaving.done():
            event = f"id: {self._numbers[match]}\ndata: ".encode().ljust(EVENT_BYTES, b".") + b"\n\n"
            await send({"type": "http.response.body", "body": event, "more_body": True})
            await news.wait()
            news.clear()
        self._watching[match].discard(news)
        await send({"type": "http.response.body"})


async def serve(path: str) -> None:
    listening = socket.socket()
    listening.bind(("127.0.0.1", 0))
    listening.listen(4096)
    print(listening.getsockname()[1], flush=True)
    app = Bare(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600))
    config = uvicorn.Config(app, lifespan="off", ws="none", log_config=None, access_log=False)
    await uvicorn.Server(config).serve(sockets=[listening])


if __name__ == "__main__":
    import uvloop

    uvloop.run(serve(sys.argv[1]))
