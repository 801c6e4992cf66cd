"""What takes minutes, at the terminal: how far it is, how long it may still take, and a Ctrl-C that works."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic

from duels.core.errors import DuelsError
from duels.terminal.screen import Screen


class Progress:
    """Tells on stderr how a long computation is getting on."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._start = monotonic()

    def __call__(self, text: str, done: float | None = None) -> None:
        """One step; `done` is the part of all the work behind it, where that is known."""
        spent = monotonic() - self._start
        left = f", {done:.0%} done, about {duration(spent * (1 - done) / done)} left" if done else ""
        self._screen.notice(f"… {duration(spent)}{left}: {text}")


def duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest:02} s" if minutes else f"{rest} s"


@contextmanager
def long_computation() -> Iterator[None]:
    """Within, Ctrl-C ends the program at once, and a missing package is named with what installs it.

    Python hears an interrupt only between its own steps, and one step of compiled code can take a minute.
    """
    heard_here = threading.current_thread() is threading.main_thread()
    # None also where the handler was not set from Python: it cannot be put back.
    usual = signal.signal(signal.SIGINT, signal.SIG_DFL) if heard_here else None
    try:
        yield
    except ModuleNotFoundError as missing:
        raise DuelsError(f"this needs {missing.name}: pip install 'duels[solve]'") from None
    finally:
        if usual is not None:
            signal.signal(signal.SIGINT, usual)
