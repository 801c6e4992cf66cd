"""Work beside a full screen, which goes on being drawn and heard meanwhile."""

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar

from textual.app import App
from textual.worker import Worker, get_current_worker

from duels.core.errors import DuelsError
from duels.solving.progress import Progress

T = TypeVar("T")


async def run_in_background(work: Callable[[], T]) -> T:
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


class BackgroundJob:
    """Somebody at the screen waits for one result at a time, and is told how far it is."""

    def __init__(self, app: App[Any], notice: Callable[[str], None]) -> None:
        self._app = app
        self._notice = notice
        self._worker: Worker[None] | None = None

    def result(self, what: str, work: Callable[[Progress], T], show: Callable[[T], object]) -> None:
        """Show what `work` finds, or say why it cannot be found.

        What is asked for again meanwhile is worked out once; what nobody waits for any more is not shown.
        """
        if self._worker and self._worker.name == what:
            return
        self.nothing()
        self._notice(f"{what} …")
        self._worker = self._app.run_worker(self._run(what, work, show), name=what)

    def nothing(self) -> None:
        """Nobody waits any more."""
        if self._worker:
            self._worker.cancel()
            self._end("")

    async def _run(self, what: str, work: Callable[[Progress], T], show: Callable[[T], object]) -> None:
        loop, worker = asyncio.get_running_loop(), get_current_worker()

        def tell(text: str) -> None:
            if self._worker is worker:
                self._notice(f"{what}: {text}")

        def told(text: str) -> None:
            with suppress(RuntimeError):  # the screen is gone
                loop.call_soon_threadsafe(tell, text)

        try:
            found = await run_in_background(lambda: work(told))
        except DuelsError as unknown:
            self._end(str(unknown))
        else:
            self._end("")
            show(found)

    def _end(self, notice: str) -> None:
        self._worker = None
        self._notice(notice)
