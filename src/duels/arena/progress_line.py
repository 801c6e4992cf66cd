"""A progress line, rewritten in place on a terminal. If stderr is no terminal, new lines appear instead."""

import sys
from datetime import timedelta
from shutil import get_terminal_size
from threading import Event, Thread
from time import monotonic

from duels.arena.run import RunProgress

_REFRESH_SECONDS = 0.2  # on a terminal
_FIRST_SECONDS, _NEXT_SECONDS = 5.0, 30.0
"""Seconds before the first line and between later lines, if stderr is not a terminal."""


class ProgressLine:
    """A context manager that shows a line on stderr. On a terminal the line is erased at the end.

    A thread writes the latest message, so people see the reason for a delay while a reply is pending.
    """

    def __init__(self) -> None:
        self._is_terminal = sys.stderr.isatty()
        self._started = self._last_written = monotonic()
        self.lines_written = 0
        self._message: RunProgress | str = ""
        self._text = ""
        self._done = Event()
        self._thread = Thread(target=self._refresh, daemon=True)

    def __enter__(self) -> "ProgressLine":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()
        if self._is_terminal and self.lines_written:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()

    def show(self, message: RunProgress | str) -> None:
        self._message = message

    def _refresh(self) -> None:
        while not self._done.wait(_REFRESH_SECONDS):
            self.write(monotonic())

    def write(self, now: float) -> None:
        """Write the latest message if it is new and enough time has passed."""
        message = self._message
        urgent = not self.lines_written or (isinstance(message, RunProgress) and message.delay_reason)
        interval = _REFRESH_SECONDS if self._is_terminal else _FIRST_SECONDS if urgent else _NEXT_SECONDS
        text = message if isinstance(message, str) else format_progress(message, now - self._started)
        if now - self._last_written < interval or text == self._text:
            return
        if self._is_terminal:  # a wrapped line could not be overwritten
            sys.stderr.write(f"\r\x1b[K{text[: get_terminal_size().columns - 1]}")
        else:
            sys.stderr.write(f"{text}\n")
        sys.stderr.flush()
        self._last_written, self._text = now, text
        self.lines_written += 1


def format_progress(progress: RunProgress, seconds: float) -> str:
    """Format the progress of a run: matches, time left, cost, scores and margin."""
    text = f"{progress.done} of {progress.total} matches"
    if progress.delay_reason:
        return f"{text}; {progress.delay_reason}"
    if progress.played:
        remaining = seconds / progress.played * (progress.total - progress.done)
        text += f", {timedelta(seconds=round(remaining))} left at most"
    if progress.spent:
        text += f", {progress.spent} spent"
    if progress.points:
        shares = {name: points / matches for name, (points, matches) in progress.points.items()}
        ordered = sorted(shares.items(), key=lambda share: -share[1])
        text += f"; won: {', '.join(f'{name} {share:.0%}' for name, share in ordered)}"
    if progress.margins:
        widest = max(interval.margin for interval in list(progress.margins.values()))
        text += f", results known to within {widest:.3f}"
    return text
