"""Tells on stderr how a long computation is getting on: how long it has taken, and may still take."""

import sys
from time import monotonic

EVERY = 2.0
"""Seconds between two lines, at least."""


class Progress:
    """Called with what is being done, as often as anybody likes."""

    def __init__(self) -> None:
        self._start = monotonic()
        self._told = -EVERY

    def __call__(self, text: str, done: float | None = None) -> None:
        """Tell one step; `done` is the part of all the work behind it, where that is known."""
        spent = monotonic() - self._start
        if spent - self._told < EVERY:
            return
        self._told = spent
        left = f", {done:.0%} done, about {duration(spent * (1 - done) / done)} left" if done else ""
        print(f"… {duration(spent)}{left}: {text}", file=sys.stderr, flush=True)


def duration(seconds: float) -> str:
    """A time in minutes and seconds."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest:02} s" if minutes else f"{rest} s"
