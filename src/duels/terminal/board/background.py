"""Work beside a full screen, which goes on being drawn and heard meanwhile."""

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

T = TypeVar("T")


async def in_background(work: Callable[[], T]) -> T:
    """What `work` returns or raises.

    Its thread does not keep the program from ending, as those of asyncio would: whoever leaves does not wait
    until a game is solved.
    """
    loop = asyncio.get_running_loop()
    future: asyncio.Future[T] = loop.create_future()

    def settle(how: Callable[[], None]) -> None:
        with suppress(RuntimeError):  # the screen is gone, and with it the loop
            loop.call_soon_threadsafe(lambda: None if future.done() else how())

    def run() -> None:
        try:
            done = work()
        except Exception as problem:
            failed = problem
            settle(lambda: future.set_exception(failed))
        else:
            settle(lambda: future.set_result(done))

    threading.Thread(target=run, daemon=True).start()
    return await future
