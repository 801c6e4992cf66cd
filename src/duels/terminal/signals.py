"""Signal handlers that let the program restore the terminal and save the match before it exits."""

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
"""The exit code after Ctrl-C or an unexpected end of input."""

_WAKE_UP_DELAY = 0.2  # seconds
_EXIT_TIMEOUT = 0.5  # seconds
_CLEAR_LINE = "\r\x1b[K"


def _find_signals(*names: str) -> list[signal.Signals]:
    # Windows lacks some.
    return [signal.Signals[name] for name in names if name in signal.Signals.__members__]


_EXIT_SIGNALS = _find_signals("SIGTERM", "SIGHUP", "SIGQUIT")  # besides SIGINT
_TEXTUAL_SIGNALS = _find_signals("SIGTSTP", "SIGCONT", "SIGWINCH", "SIGTTIN", "SIGTTOU")


class SignalExit(KeyboardInterrupt):
    """A signal other than SIGINT asked the program to exit."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.number = number


def install_signal_handlers() -> None:
    """Make exit signals raise SignalExit, except those that the parent process made us ignore."""
    for number in _EXIT_SIGNALS:
        if signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, _raise_signal_exit)
    if hasattr(signal, "pthread_kill"):
        _wake_up_after_signals()


def _wake_up_after_signals() -> None:
    """Interrupt system calls a moment after every signal.

    Python runs signal handlers between bytecode instructions. If a signal arrives just before a blocking
    read, its handler would run only after the next entry: too late to exit or to hide secrets.
    """
    signal.signal(signal.SIGURG, lambda *_: None)
    main = threading.main_thread().ident
    assert main

    def wake_up(number: int) -> None:
        if number != signal.SIGURG:
            time.sleep(_WAKE_UP_DELAY)
            signal.pthread_kill(main, signal.SIGURG)

    _watch_signals(wake_up)


def _watch_signals(callback: Callable[[int], None]) -> int:
    """Call `callback` in a thread with the number of every signal. Return the previous wakeup descriptor."""
    receiver, sender = socket.socketpair()
    sender.setblocking(False)

    def listen() -> None:
        with receiver:
            while number := receiver.recv(1):
                callback(number[0])

    threading.Thread(target=listen, daemon=True).start()
    return signal.set_wakeup_fd(sender.detach(), warn_on_full_buffer=False)


def _raise_signal_exit(number: int, frame: FrameType | None) -> NoReturn:
    signal.signal(number, signal.SIG_DFL)  # a second signal kills the program
    raise SignalExit(number)


def get_exit_code(error: BaseException) -> int:
    """Return the exit code for an exception, by the convention of shells."""
    cause = error.__cause__ or error  # click.Abort wraps the exception
    return 128 + cause.number if isinstance(cause, SignalExit) else INTERRUPTED


@contextmanager
def redirect_signals(leave: Callable[[KeyboardInterrupt], None]) -> Iterator[None]:
    """Pass exit signals to `leave`, which closes the full screen. Restore all handlers afterwards."""
    numbers = (signal.SIGINT, *_EXIT_SIGNALS, *_TEXTUAL_SIGNALS)
    previous_handlers = {number: signal.getsignal(number) for number in numbers}

    def handle(number: int, _frame: object) -> None:
        leave(KeyboardInterrupt() if number == signal.SIGINT else SignalExit(number))

    for number in (signal.SIGINT, *_EXIT_SIGNALS):
        if previous_handlers[number] is not signal.SIG_IGN:
            signal.signal(number, handle)
    try:
        yield
    finally:
        for number, handler in previous_handlers.items():
            signal.signal(number, handler)


@contextmanager
def interruptible_computation() -> Iterator[None]:
    """Exit soon after an interrupt, even within one long call of compiled code.

    Python handles an interrupt only between bytecode instructions, and such a call can take a minute. A
    thread therefore watches for interrupts, lets the program exit normally for a moment, and then ends it.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    done = threading.Event()

    def exit_if_late(number: int) -> None:
        if number == signal.SIGINT and not done.wait(_EXIT_TIMEOUT):
            sys.stdout.flush()
            if sys.stderr.isatty():
                sys.stderr.write(_CLEAR_LINE)
                sys.stderr.flush()
            os._exit(INTERRUPTED)

    previous = _watch_signals(exit_if_late)
    try:
        yield
    finally:
        done.set()
        socket.close(signal.set_wakeup_fd(previous))
