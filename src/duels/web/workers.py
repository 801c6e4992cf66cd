"""A thread pool with a bounded queue for slow work, such as reviews and hints."""

import asyncio
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from duels.web.request_errors import TooMany

T = TypeVar("T")


class WorkerPool:
    """A thread pool with a bounded queue."""

    def __init__(self, threads: int | None = None, capacity: int = 64) -> None:
        self._pool = ThreadPoolExecutor(threads or max(2, os.cpu_count() or 1), "duels-worker")
        self._free = capacity

    async def run(self, work: Callable[[], T]) -> T:
        """Run `work` in the pool and return its result. Raises TooMany if the queue is full."""
        if self._free <= 0:
            raise TooMany("The server is busy. Try again in a moment.", 2.0)
        self._free -= 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._pool, work)
        finally:
            self._free += 1

    def close(self) -> None:
        """Cancel queued work. Work that is already running finishes in the background."""
        self._pool.shutdown(wait=False, cancel_futures=True)
