"""Background threads, which keep the full screen responsive."""

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from functools import partial
from typing import Any, TypeVar

from textual.app import App
from textual.worker import Worker, get_current_worker

from duels.core.errors import DuelsError
from duels.solving.oracle import Progress

T = TypeVar("T")


async def run_in_background(work: Callable[[], T]) -> T:
    """Run `work` in a daemon thread and return its result.

    With asyncio's own threads, the program could not exit before the work is done.
    """
    future: Future[T] = Future()
    future.set_running_or_notify_cancel()  # a running future cannot be cancelled by the caller

    def run() -> None:
        try:
            future.set_result(work())
        except Exception as error:
            future.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    return await asyncio.wrap_future(future)


class BackgroundJob:
    """A background computation that shows its progress as notices. Only one runs at a time."""

    def __init__(self, app: App[Any], notice: Callable[[str], None]) -> None:
        self._app = app
        self._notice = notice
        self._worker: Worker[None] | None = None

    def start(self, task: str, work: Callable[[Progress], T], show: Callable[[T], object]) -> None:
        """Run `work` and pass its result to `show`, or show its error as a notice.

        Do nothing if the same work is already running. Cancel any other work.
        """
        if self._worker and self._worker.name == task:
            return
        self.cancel()
        self._notice(f"{task} …")
        self._worker = self._app.run_worker(partial(self._run, task, work, show), name=task)

    def cancel(self) -> None:
        """Discard the result of the running work."""
        if self._worker:
            self._worker.cancel()
            self._finish("")

    async def _run(self, task: str, work: Callable[[Progress], T], show: Callable[[T], object]) -> None:
        loop, worker = asyncio.get_running_loop(), get_current_worker()

        def show_progress(text: str) -> None:
            if self._worker is worker:
                self._notice(f"{task}: {text}")

        def report(text: str) -> None:
            with suppress(RuntimeError):  # the loop is closed
                loop.call_soon_threadsafe(show_progress, text)

        try:
            result = await run_in_background(lambda: work(report))
        except DuelsError as error:
            self._finish(str(error))
        else:
            self._finish("")
            show(result)

    def _finish(self, notice: str) -> None:
        self._worker = None
        self._notice(notice)
