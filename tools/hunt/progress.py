"""Progress of a long computation on stderr: time taken and estimated time left."""

import sys
from time import monotonic

EVERY = 2.0
"""Minimum seconds between two lines."""


class Progress:
    """Prints the current step, at most every few seconds."""

    def __init__(self) -> None:
        self._start = monotonic()
        self._last_line = -EVERY

    def __call__(self, text: str, done: float | None = None) -> None:
        """Report a step. `done` is the finished share of the work, if known."""
        spent = monotonic() - self._start
        if spent - self._last_line < EVERY:
            return
        self._last_line = spent
        left = f", {done:.0%} done, about {duration(spent * (1 - done) / done)} left" if done else ""
        print(f"… {duration(spent)}{left}: {text}", file=sys.stderr, flush=True)


def duration(seconds: float) -> str:
    """Format a time in minutes and seconds."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest:02} s" if minutes else f"{rest} s"
