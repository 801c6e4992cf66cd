"""How far a run is: one line that rewrites itself on a terminal, elsewhere a plain line now and then."""

import sys
from shutil import get_terminal_size
from threading import Event, Thread
from time import monotonic
from types import TracebackType

from duels.arena.run import Progress

_EVERY = 0.2  # seconds, on a terminal
_SOON, _SELDOM = 5.0, 30.0
"""Seconds until the first line elsewhere, and between others; what is waited for is told soon too."""


class ProgressLine:
    """A line on stderr while the block runs; on a terminal it is erased at the end.

    A thread of its own writes what was told last: nothing may follow for a while, and that is when people
    want to know what goes on.
    """

    def __init__(self) -> None:
        self._terminal = sys.stderr.isatty()
        self._began = self._last = monotonic()
        self.lines = 0  # that were written
        self._told: Progress | str = ""
        self._shown = ""
        self._done = Event()
        self._writing = Thread(target=self._write_now_and_then, daemon=True)

    def __enter__(self) -> "ProgressLine":
        self._writing.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._done.set()
        self._writing.join()
        if self._terminal and self.lines:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()

    def tell(self, progress: Progress) -> None:
        """Show how far it is."""
        self._told = progress

    def say(self, text: str) -> None:
        """Show any text."""
        self._told = text

    def _write_now_and_then(self) -> None:
        while not self._done.wait(_EVERY):
            self.write(monotonic())

    def write(self, now: float) -> None:
        """Write what was told last, if that is due and new."""
        told = self._told
        urgent = not self.lines or (isinstance(told, Progress) and told.waiting)
        due = _EVERY if self._terminal else _SOON if urgent else _SELDOM
        text = self.text(told, now - self._began) if isinstance(told, Progress) else told
        if now - self._last < due or text == self._shown:
            return
        if self._terminal:  # a line that went on below could not be written over
            sys.stderr.write(f"\r\x1b[K{text[: get_terminal_size().columns - 1]}")
        else:
            sys.stderr.write(f"{text}\n")
        sys.stderr.flush()
        self._last, self._shown = now, text
        self.lines += 1

    @staticmethod
    def text(progress: Progress, seconds: float) -> str:
        """What is known so far, and how long the rest takes at most."""
        told = f"{progress.done} of {progress.total} matches"
        if progress.waiting:
            return f"{told}; {progress.waiting}"
        if progress.played:
            left = seconds / progress.played * (progress.total - progress.done)
            told += f", {_duration(left)} left at most"
        if progress.spent:
            told += f", {progress.spent} spent"
        if progress.points:
            ordered = sorted(progress.points.items(), key=lambda each: -each[1][0] / each[1][1])
            told += f"; won: {', '.join(f'{name} {won / of:.0%}' for name, (won, of) in ordered)}"
        if progress.margins:
            widest = max(interval.margin for interval in list(progress.margins.values()))
            told += f", results known to within {widest:.3f}"
        return told


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
