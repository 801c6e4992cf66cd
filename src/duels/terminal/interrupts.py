"""Long computations at the terminal: Ctrl-C ends them, and missing packages are named."""

import os
import signal
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from duels.core.extras import extra
from duels.terminal.signals import INTERRUPTED

_A_MOMENT = 0.5  # seconds
_WIPE_LINE = "\r\x1b[K"


@contextmanager
def long_computation() -> Iterator[None]:
    """Within, Ctrl-C ends the program soon, and a missing package is named with what installs it."""
    with extra("fast"), _interrupts_heard():
        yield


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
