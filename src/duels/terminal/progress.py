"""What takes minutes, at the terminal: how far it is, how long it may still take, and a Ctrl-C that works."""

import os
import signal
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from time import monotonic

from duels.core.errors import DuelsError, to_install
from duels.terminal.screen import Screen
from duels.terminal.signals import INTERRUPTED

_A_MOMENT = 0.5  # seconds
_WIPE_LINE = "\r\x1b[K"


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
    """Within, Ctrl-C ends the program soon, and a missing package is named with what installs it."""
    try:
        with _interrupts_heard():
            yield
    except ModuleNotFoundError as missing:
        raise DuelsError(_needs(str(missing.name))) from None


def need(package: str) -> None:
    """Say that a package is missing before anything is promised."""
    if not find_spec(package):
        raise DuelsError(_needs(package))


def _needs(package: str) -> str:
    return f"this needs {package}: {to_install('solve')}"


@contextmanager
def _interrupts_heard() -> Iterator[None]:
    """Within, the program ends after an interrupt even if it is at one long step of compiled code.

    Python hears an interrupt only between its own steps, and such a step can take a minute. So a thread
    hears it as well, leaves the program a moment to end as usual, and then ends it.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    told, hearing = socket.socketpair()
    told.setblocking(False)
    over = threading.Event()

    def hear() -> None:
        while number := hearing.recv(1):
            if number[0] == signal.SIGINT and not over.wait(_A_MOMENT):
                sys.stdout.flush()
                if sys.stderr.isatty():
                    sys.stderr.write(_WIPE_LINE)
                    sys.stderr.flush()
                os._exit(INTERRUPTED)

    usual = signal.set_wakeup_fd(told.fileno(), warn_on_full_buffer=False)
    listener = threading.Thread(target=hear, daemon=True)
    listener.start()
    try:
        yield
    finally:
        over.set()
        signal.set_wakeup_fd(usual)
        told.close()
        listener.join()
        hearing.close()
