"""Signals while a full screen is up: the screen is taken down first, then they end the program as ever."""

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from duels.terminal.signals import ENDING, Stopped

_ENDING = ("SIGINT", *ENDING)
_TAKEN_BY_THE_SCREEN = ("SIGTSTP", "SIGCONT", "SIGWINCH", "SIGTTIN", "SIGTTOU")


@contextmanager
def signals_to(leave: Callable[[KeyboardInterrupt], None]) -> Iterator[None]:
    """Within, `leave` is told what ends the program; then all signals are handled as before."""
    numbers = [getattr(signal, name) for name in (*_ENDING, *_TAKEN_BY_THE_SCREEN) if hasattr(signal, name)]
    before = {number: signal.getsignal(number) for number in numbers}

    def end(number: int, _frame: object) -> None:
        leave(KeyboardInterrupt() if number == signal.SIGINT else Stopped(number))

    for name in _ENDING:
        number = getattr(signal, name, None)
        if number is not None and before[number] is not signal.SIG_IGN:
            signal.signal(number, end)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
