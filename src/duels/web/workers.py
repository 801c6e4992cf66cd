"""Heavy work, oracles and reviews, in a bounded number of threads with a bounded queue before them."""

import asyncio
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from duels.web.refusals import TooMany

T = TypeVar("T")


class Workers:
    """Threads for what takes long, so that a page never waits for a review."""

    def __init__(self, threads: int | None = None, most_waiting: int = 64) -> None:
        self._pool = ThreadPoolExecutor(threads or max(2, os.cpu_count() or 1), "duels-worker")
        self._free = most_waiting

    async def run(self, work: Callable[[], T]) -> T:
        """What `work` comes to; TooMany if too much is waiting already."""
        if self._free <= 0:
            raise TooMany("The server is busy. Try again in a moment.", 2.0)
        self._free -= 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._pool, work)
        finally:
            self._free += 1

    def close(self) -> None:
        """Take no more work; what is going on may end by itself."""
        self._pool.shutdown(wait=False, cancel_futures=True)
