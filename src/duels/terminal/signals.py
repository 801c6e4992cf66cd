"""Signals that end a program become an orderly end: the terminal is left as it was found, the match saved."""

import os
import signal
import threading
from types import FrameType
from typing import NoReturn

INTERRUPTED = 130
"""The exit code after Ctrl-C, and where the input ends too early."""

_A_MOMENT = 0.2  # seconds
_ENDING = ("SIGTERM", "SIGHUP", "SIGQUIT")  # Windows lacks some


class Stopped(KeyboardInterrupt):
    """The program was told to end by a signal other than Ctrl-C's."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.number = number


_heard = threading.Event()


def end_in_order() -> None:
    """From now on these signals end the program as Ctrl-C does; whoever started it may have silenced some."""
    for name in _ENDING:
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, _stop)
    if hasattr(signal, "pthread_kill"):
        _repeat_what_came_too_early()


def _repeat_what_came_too_early() -> None:
    """Repeat a signal that came just before the program began to wait for an entry.

    Python only notes a signal, and would act on it when the entry is made.
    """
    hearing, told = os.pipe()
    os.set_blocking(told, False)
    signal.set_wakeup_fd(told, warn_on_full_buffer=False)
    main = threading.main_thread().ident
    ending = {getattr(signal, name, None) for name in _ENDING}

    def listen() -> None:
        while number := os.read(hearing, 1):
            while number[0] in ending and main and not _heard.wait(_A_MOMENT):
                signal.pthread_kill(main, number[0])

    threading.Thread(target=listen, daemon=True).start()


def _stop(number: int, frame: FrameType | None) -> NoReturn:
    _heard.set()
    signal.signal(number, signal.SIG_DFL)  # a second one ends it at once
    raise Stopped(number)


def exit_code(leaving: BaseException) -> int:
    """The exit code of a program that ends like this, as shells have it."""
    why = leaving.__cause__ or leaving  # click has a word of its own for it
    return 128 + why.number if isinstance(why, Stopped) else INTERRUPTED
