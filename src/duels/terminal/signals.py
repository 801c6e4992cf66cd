"""Signals that end a program become an orderly end: the terminal is left as it was found, the match saved."""

import os
import signal
import threading
from collections import Counter
from types import FrameType
from typing import NoReturn

INTERRUPTED = 130
"""The exit code after Ctrl-C, and where the input ends too early."""

_A_MOMENT = 0.2  # seconds
_ENDING = ("SIGTERM", "SIGHUP", "SIGQUIT")  # Windows lacks some
_REPEATED = (*_ENDING, "SIGINT", "SIGTSTP")


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
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _interrupt)
    if hasattr(signal, "pthread_kill"):
        _repeat_what_came_too_early()


_heard = {number: threading.Event() for name in _REPEATED if (number := getattr(signal, name, None))}


def heard(number: int) -> None:
    """Tell that a signal has come through: whoever handles one of those that are repeated says so."""
    _heard[number].set()


def _repeat_what_came_too_early() -> None:
    """Repeat a signal that came just before the program began to wait for an entry.

    Python only notes a signal, and would act on it when the entry is made.
    """
    hearing, told = os.pipe()
    os.set_blocking(told, False)
    signal.set_wakeup_fd(told, warn_on_full_buffer=False)
    main = threading.main_thread().ident
    assert main

    def listen() -> None:
        ours: Counter[int] = Counter()  # repetitions are told as well
        while number := os.read(hearing, 1):
            arrived = _heard.get(number[0])
            if not arrived:
                continue
            if ours[number[0]]:
                ours[number[0]] -= 1
                continue
            while not arrived.wait(_A_MOMENT):
                ours[number[0]] += 1
                signal.pthread_kill(main, number[0])
            arrived.clear()

    threading.Thread(target=listen, daemon=True).start()


def _stop(number: int, frame: FrameType | None) -> NoReturn:
    heard(number)
    signal.signal(number, signal.SIG_DFL)  # a second one ends it at once
    raise Stopped(number)


def _interrupt(number: int, frame: FrameType | None) -> NoReturn:
    heard(number)
    raise KeyboardInterrupt


def exit_code(leaving: BaseException) -> int:
    """The exit code of a program that ends like this, as shells have it."""
    why = leaving.__cause__ or leaving  # click has a word of its own for it
    return 128 + why.number if isinstance(why, Stopped) else INTERRUPTED
