"""Signals that end a program become an orderly end: the terminal is left as it was found, the match saved."""

import signal
from types import FrameType
from typing import NoReturn

INTERRUPTED = 130
"""The exit code after Ctrl-C, and where the input ends too early."""

_ENDING = ("SIGTERM", "SIGHUP", "SIGQUIT")  # Windows lacks some


class Stopped(KeyboardInterrupt):
    """The program was told to end by a signal other than Ctrl-C's."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.number = number


def end_in_order() -> None:
    """From now on these signals end the program as Ctrl-C does; whoever started it may have silenced some."""
    for name in _ENDING:
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, _stop)


def _stop(number: int, frame: FrameType | None) -> NoReturn:
    signal.signal(number, signal.SIG_DFL)  # a second one ends it at once
    raise Stopped(number)


def exit_code(leaving: BaseException) -> int:
    """The exit code of a program that ends like this, as shells have it."""
    why = leaving.__cause__ or leaving  # click has a word of its own for it
    return 128 + why.number if isinstance(why, Stopped) else INTERRUPTED
