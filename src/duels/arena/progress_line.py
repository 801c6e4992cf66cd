"""One line on a terminal that tells how far a run is; nothing where nobody watches."""

import sys
from shutil import get_terminal_size
from time import monotonic
from types import TracebackType

from duels.arena.run import Progress

_EVERY = 0.2  # seconds


class ProgressLine:
    """Rewrites itself on stderr, and is gone when all is done."""

    def __init__(self) -> None:
        self._shown = sys.stderr.isatty()
        self._began = self._last = monotonic()

    def __enter__(self) -> "ProgressLine":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()

    def tell(self, progress: Progress) -> None:
        """Show how far it is, not too often."""
        now = monotonic()
        if self._shown and (now - self._last > _EVERY or not progress.played):
            self._last = now
            self._write(self.text(progress, now - self._began))

    def say(self, text: str) -> None:
        """Show any text, not too often."""
        now = monotonic()
        if self._shown and now - self._last > _EVERY:
            self._last = now
            self._write(text)

    @staticmethod
    def _write(text: str) -> None:
        """Write over the line; one that went on below could not be written over."""
        widest = get_terminal_size().columns - 1
        sys.stderr.write(f"\r\x1b[K{text[:widest]}")
        sys.stderr.flush()

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
            widest = max(interval.margin for interval in progress.margins.values())
            told += f", results known to within {widest:.3f}"
        return told


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
