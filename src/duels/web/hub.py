"""Wakes whoever waits for something to happen in a match."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

Wake = Callable[[], object]


class Hub:
    """Everybody who watches a match is known here; all of them belong to one event loop."""

    def __init__(self) -> None:
        self._watching: dict[str, set[Wake]] = {}

    @contextmanager
    def watching(self, match: str, wake: Wake) -> Iterator[None]:
        """Within, `wake` is called whenever the match is written to."""
        self._watching.setdefault(match, set()).add(wake)
        try:
            yield
        finally:
            self._watching[match].discard(wake)
            if not self._watching[match]:
                del self._watching[match]

    def wake(self, match: str | None) -> None:
        """A match was written to; None if it may have been any."""
        for each in [match] if match is not None else list(self._watching):
            for wake in self._watching.get(each, ()):
                wake()
