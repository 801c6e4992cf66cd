"""Workers with bounded queues: threads for moves, and processes for reviews, hints and puzzles."""

import asyncio
import logging
import os
import signal
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Executor, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import nullcontext, suppress
from multiprocessing import get_context
from multiprocessing.connection import Connection
from threading import Thread
from typing import TypeVar

from duels.web.request_errors import TooMany
from duels.web.visitors import PlaceCounter, Visitor

T = TypeVar("T")
log = logging.getLogger("duels.web")


class WorkerPool:
    """Threads with a bounded queue, in which each visitor has a limited number of places."""

    def __init__(self, workers: int | None = None, capacity: int = 64) -> None:
        self._workers = workers or max(2, os.cpu_count() or 1)
        self._turns = asyncio.Semaphore(self._workers)
        self._free = capacity
        refusal = "The server is still busy with your other requests."
        self._places = PlaceCounter(refusal, max(2, capacity // 16), capacity // 2, capacity * 3 // 4)
        self._executor: Executor | None = None
        self._is_closed = False

    async def run(self, work: Callable[[], T], visitor: Visitor | None = None) -> T:
        """Run `work` for a visitor, or for the server itself, and return its result.

        Cancelled work leaves the queue. Work that is already running keeps its place until it is done.
        Raises TooMany if the queue is full or the visitor has too many places in it.
        """
        if self._free <= 0:
            raise TooMany("The server is busy.", 5.0)
        with self._places.hold(visitor) if visitor else nullcontext():
            self._free -= 1
            try:
                async with self._turns:
                    if self._is_closed:
                        raise TooMany("The server is stopping.", 5.0)
                    self._executor = self._executor or self._make_executor()
                    running = asyncio.get_running_loop().run_in_executor(self._executor, work)
                    try:
                        return await asyncio.shield(running)
                    except asyncio.CancelledError:
                        # Nobody waits for its error: asyncio would log it.
                        running.add_done_callback(lambda done: done.cancelled() or done.exception())
                        if visitor:
                            await asyncio.wait([running])
                        raise
            except BrokenExecutor:
                if not self._is_closed:
                    log.error("A request ended the process that computed it. The server starts another.")
                self._executor = None
                raise TooMany("This could not be computed.", 5.0) from None
            finally:
                self._free += 1

    def _make_executor(self) -> Executor:
        return ThreadPoolExecutor(self._workers, "duels-worker")

    def close(self) -> None:
        """Refuse queued work. Threads finish their work in the background."""
        self._is_closed = True
        if self._executor:
            self._executor.shutdown(wait=False, cancel_futures=True)


class WorkerProcess(WorkerPool):
    """A process of low priority with a bounded queue, started when it is first needed.

    Work in it does not slow down the threads of the server. It must be a picklable function.
    """

    def __init__(self, capacity: int) -> None:
        super().__init__(1, capacity)
        self._lifeline: Connection | None = None

    def _make_executor(self) -> Executor:
        context = get_context("spawn")  # a fork would copy locked locks
        other_end, self._lifeline = context.Pipe(duplex=False)
        return ProcessPoolExecutor(1, context, _prepare_process, (other_end,))

    def close(self) -> None:
        """Refuse queued work and end the process."""
        super().close()
        if self._lifeline:
            self._lifeline.close()


def _prepare_process(lifeline: Connection) -> None:
    """Give way to the server, and end with it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C in a terminal is meant for the server
    if hasattr(os, "nice"):
        os.nice(10)
    Thread(target=_exit_with_server, args=(lifeline,), daemon=True).start()


def _exit_with_server(lifeline: Connection) -> None:
    with suppress(EOFError, OSError):
        lifeline.recv()  # nothing is sent: this returns when the server closes its end or dies
    os._exit(0)
