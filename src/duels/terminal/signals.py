"""Signals that end a program become an orderly end: the terminal is left as it was found, the match saved."""

import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

INTERRUPTED = 130
"""The exit code after Ctrl-C, and where the input ends too early."""

_A_MOMENT = 0.2  # seconds
_TO_END = 0.5  # seconds that a program has to end as usual
_WIPE_LINE = "\r\x1b[K"
ENDING = ("SIGTERM", "SIGHUP", "SIGQUIT")
"""The signals that end a program, beside Ctrl-C's; Windows lacks some."""
_TAKEN_BY_THE_SCREEN = ("SIGTSTP", "SIGCONT", "SIGWINCH", "SIGTTIN", "SIGTTOU")


class SignalExit(KeyboardInterrupt):
    """The program was told to end by a signal other than Ctrl-C's."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.number = number


def install_signal_handlers() -> None:
    """From now on these signals end the program as Ctrl-C does; whoever started it may have silenced some."""
    for name in ENDING:
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, _stop)
    if hasattr(signal, "pthread_kill"):
        _wake_up_after_signals()


def _wake_up_after_signals() -> None:
    """Interrupt the program once more, a moment after every signal.

    Python notes a signal and acts on it at its next step. If it came just before the program began to wait
    for an entry, that would be when the entry is made: too late to end, or to hide what is typed.
    """
    signal.signal(signal.SIGURG, lambda *_: None)
    main = threading.main_thread().ident
    assert main

    def wake_up(number: int) -> None:
        if number != signal.SIGURG:
            time.sleep(_A_MOMENT)
            signal.pthread_kill(main, signal.SIGURG)

    _on_signal(wake_up)


def _on_signal(act: Callable[[int], None]) -> int:
    """Call `act` in a thread with the number of every signal; return the wakeup descriptor before."""
    hearing, told = socket.socketpair()
    told.setblocking(False)

    def listen() -> None:
        with hearing:
            while number := hearing.recv(1):
                act(number[0])

    threading.Thread(target=listen, daemon=True).start()
    return signal.set_wakeup_fd(told.detach(), warn_on_full_buffer=False)


def _stop(number: int, frame: FrameType | None) -> NoReturn:
    signal.signal(number, signal.SIG_DFL)  # a second one ends it at once
    raise SignalExit(number)


def get_exit_code(leaving: BaseException) -> int:
    """The exit code of a program that ends like this, as shells have it."""
    why = leaving.__cause__ or leaving  # click has a word of its own for it
    return 128 + why.number if isinstance(why, SignalExit) else INTERRUPTED


@contextmanager
def redirect_signals(leave: Callable[[KeyboardInterrupt], None]) -> Iterator[None]:
    """Within, a full screen is up: `leave` takes it down first. Then all signals are handled as before."""
    numbers = [
        getattr(signal, name) for name in ("SIGINT", *ENDING, *_TAKEN_BY_THE_SCREEN) if hasattr(signal, name)
    ]
    before = {number: signal.getsignal(number) for number in numbers}

    def end(number: int, _frame: object) -> None:
        leave(KeyboardInterrupt() if number == signal.SIGINT else SignalExit(number))

    for name in ("SIGINT", *ENDING):
        number = getattr(signal, name, None)
        if number is not None and before[number] is not signal.SIG_IGN:
            signal.signal(number, end)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def interruptible_computation() -> Iterator[None]:
    """Within, the program ends after an interrupt even if it is at one long step of compiled code.

    Python hears an interrupt only between its own steps, and such a step can take a minute. So a thread
    hears it as well, leaves the program a moment to end as usual, and then ends it.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    over = threading.Event()

    def end(number: int) -> None:
        if number == signal.SIGINT and not over.wait(_TO_END):
            sys.stdout.flush()
            if sys.stderr.isatty():
                sys.stderr.write(_WIPE_LINE)
                sys.stderr.flush()
            os._exit(INTERRUPTED)

    usual = _on_signal(end)
    try:
        yield
    finally:
        over.set()
        socket.close(signal.set_wakeup_fd(usual))
