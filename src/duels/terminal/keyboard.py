"""Reading lines and single keys from a terminal, with or without echo.

The terminal's settings are restored afterwards, and also while the program is suspended (Ctrl-Z).
"""

import os
import re
import select
import signal
import sys
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

try:
    import termios
except ImportError:  # not on Windows
    termios = None  # type: ignore[assignment]

_END_OF_INPUT = "\x04"
_KEY = re.compile(r"\x1b\[[0-9;]*.|\x1bo.|.", re.DOTALL)  # an arrow key sends an escape sequence
_ENTER = "\n"
KEY_GAP_SECONDS = 0.2
"""A key counts as pressed alone if no other key follows within this time."""
SILENCE_SECONDS = 0.5
"""After a wrong key, all keys are ignored until the person types nothing for this time."""
_ESCAPES = re.compile(r"(\x1b\[[0-9;]*m)+")


class _ProgramResumed(Exception):
    """The program was suspended while a line was being edited. The argument is the unfinished line."""


class Keyboard:
    """A terminal on standard input."""

    is_supported = termios is not None

    def __init__(self, on_suspend: Callable[[], None], on_resume: Callable[[], None]) -> None:
        self._on_suspend = on_suspend
        self._on_resume = on_resume
        self._original = termios.tcgetattr(sys.stdin)

    @contextmanager
    def echo(self, enabled: bool) -> Iterator[None]:
        """Turn echo on or off within the context. A change discards input that was typed ahead."""
        previous = termios.tcgetattr(sys.stdin)
        # If the terminal started without echo, leave it off: an editor's shell echoes by itself.
        target = self._original[3] & termios.ECHO if enabled else 0
        if previous[3] & termios.ECHO == target:
            yield
            return
        settings = [*previous[:3], previous[3] ^ termios.ECHO, *previous[4:]]
        # A shell changes the settings before it resumes a suspended program.
        handler = signal.signal(signal.SIGCONT, lambda *_: _restore(settings))
        try:
            with self._apply(settings):
                yield
        finally:
            signal.signal(signal.SIGCONT, handler)

    @contextmanager
    def single_keys(self, valid_keys: Collection[str] = ()) -> Iterator[Iterator[str]]:
        """Yield an iterator of keys, without echo. Input typed before or after is discarded.

        With `valid_keys`, the iterator yields a valid key only if it is pressed alone or followed by Enter.
        For anything else, such as a whole word, it yields an empty string and then ignores keys until the
        person stops typing.
        """
        previous = termios.tcgetattr(sys.stdin)
        with self._apply([*previous[:3], previous[3] & ~(termios.ECHO | termios.ICANON), *previous[4:]]):
            yield self._iter_single_keys(valid_keys) if valid_keys else self._iter_keys()

    @staticmethod
    def _iter_keys() -> Iterator[str]:
        while keys := _read_keys():
            for key in keys:
                if key == _END_OF_INPUT:
                    return
                yield key

    @staticmethod
    def _iter_single_keys(valid_keys: Collection[str]) -> Iterator[str]:
        while keys := _read_keys():
            first = keys[0]
            keys += _read_keys() if first in valid_keys and _has_input_within(KEY_GAP_SECONDS) else []
            if _END_OF_INPUT in keys:
                return
            if first in valid_keys and all(key == _ENTER for key in keys[1:]):
                yield first
                continue
            yield ""
            while _has_input_within(SILENCE_SECONDS):
                if _END_OF_INPUT in (_read_keys() or [_END_OF_INPUT]):
                    return

    def wait(self, seconds: float) -> None:
        """Wait for this time or until a key is pressed."""
        with self.single_keys():
            _has_input_within(seconds)

    def read_line(self, prompt: str) -> str:
        """Read a line with its line break, edited by readline. Return an empty string at the end of input.

        Raises ImportError if Python has no readline.
        """
        import readline

        readline.set_auto_history(False)  # the next person must not see this entry
        readline.parse_and_bind("set enable-bracketed-paste off")

        def on_resume() -> None:
            raise _ProgramResumed(readline.get_line_buffer())

        # readline needs marks around escape codes to know the prompt's width.
        prompt = _ESCAPES.sub("\x01\\g<0>\x02", prompt)
        typed = ""
        while True:
            readline.set_startup_hook(partial(readline.insert_text, typed))
            try:
                with self._suspendable(on_resume):
                    return input(prompt) + "\n"
            except EOFError:
                return ""
            except _ProgramResumed as resumed:  # show the prompt again below the shell's output
                typed = resumed.args[0]
            finally:
                readline.set_startup_hook()

    @contextmanager
    def _apply(self, settings: list[Any]) -> Iterator[None]:
        previous = termios.tcgetattr(sys.stdin)
        termios.tcsetattr(sys.stdin, termios.TCSAFLUSH, settings)
        try:
            with self._suspendable():
                yield
        finally:
            termios.tcsetattr(sys.stdin, termios.TCSAFLUSH, previous)

    @contextmanager
    def _suspendable(self, on_resume: Callable[[], None] = lambda: None) -> Iterator[None]:
        def suspend(*_: object) -> None:
            self._suspend()
            on_resume()

        previous = signal.signal(signal.SIGTSTP, suspend)
        try:
            yield
        finally:
            signal.signal(signal.SIGTSTP, previous)

    def _suspend(self) -> None:
        """Suspend the program. Meanwhile the terminal has its original settings and shows no secret."""
        settings = termios.tcgetattr(sys.stdin)
        termios.tcsetattr(sys.stdin, termios.TCSANOW, self._original)
        self._on_suspend()
        handler = signal.signal(signal.SIGTSTP, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGTSTP)  # returns when the program is resumed
        signal.signal(signal.SIGTSTP, handler)
        _restore(settings)
        self._on_resume()


def _read_keys() -> list[str]:
    """Read the available keys in lower case. Return an empty list at the end of input."""
    text = os.read(sys.stdin.fileno(), 32).decode(errors="replace").lower()
    return _KEY.findall(text)


def _has_input_within(seconds: float) -> bool:
    return bool(select.select([sys.stdin], [], [], seconds)[0])


def _restore(settings: list[Any]) -> None:
    # While reading a hidden line, discard input that the terminal has echoed in the meantime.
    reads_hidden_line = settings[3] & (termios.ECHO | termios.ICANON) == termios.ICANON
    termios.tcsetattr(sys.stdin, termios.TCSAFLUSH if reads_hidden_line else termios.TCSANOW, settings)
