"""The keyboard of a terminal: lines or single keys, shown as they are typed or not.

The terminal is left as it was found, also while the program is stopped (Ctrl-Z).
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
_KEY = re.compile(r"\x1b\[[0-9;]*.|\x1bo.|.", re.DOTALL)  # an arrow sends several letters
_ENTER = "\n"
KEY_GAP_SECONDS = 0.2
"""Seconds: a key with nothing after it for so long was pressed by itself."""
SILENCE_SECONDS = 0.5
"""Seconds without a key after which whoever typed something else has stopped."""
_ESCAPES = re.compile(r"(\x1b\[[0-9;]*m)+")


class _CameBack(Exception):
    """The program was stopped while a line was being edited, and goes on."""

    def __init__(self, typed: str) -> None:
        super().__init__()
        self.typed = typed


class Keyboard:
    """The keyboard that standard input is. `leave` and `come_back` are called around every stop."""

    supported = termios is not None

    def __init__(self, leave: Callable[[], None], come_back: Callable[[], None]) -> None:
        self._leave = leave
        self._come_back = come_back
        self._usual = termios.tcgetattr(sys.stdin)

    @contextmanager
    def typing(self, shown: bool) -> Iterator[None]:
        """Within, the terminal shows what is typed, or does not; a switch drops what was typed ahead."""
        before = termios.tcgetattr(sys.stdin)
        # A terminal that came without echo (an editor's shell has its own) is left so.
        wanted = self._usual[3] & termios.ECHO if shown else 0
        if before[3] & termios.ECHO == wanted:
            yield
            return
        switched = [*before[:3], before[3] ^ termios.ECHO, *before[4:]]
        # A shell gives a stopped program the terminal back as the shell likes it.
        continued = signal.signal(signal.SIGCONT, lambda *_: _set_again(switched))
        try:
            with self._set(switched):
                yield
        finally:
            signal.signal(signal.SIGCONT, continued)

    @contextmanager
    def single_keys(self, alone: Collection[str] = ()) -> Iterator[Iterator[str]]:
        """Within, keys arrive one by one, and are not shown; what is typed before and after is dropped.

        With `alone`, each of these arrives that is pressed by itself, or with Enter after it. Anything else,
        such as one letter of a word, arrives as an empty string, and nothing more until there is a moment of
        silence.
        """
        before = termios.tcgetattr(sys.stdin)
        with self._set([*before[:3], before[3] & ~(termios.ECHO | termios.ICANON), *before[4:]]):
            yield self._pressed_alone(alone) if alone else self._pressed()

    @staticmethod
    def _pressed() -> Iterator[str]:
        """The keys that are pressed, in lower case, until the end of input."""
        while keys := _read_keys():
            for pressed in keys:
                if pressed == _END_OF_INPUT:
                    return
                yield pressed

    @staticmethod
    def _pressed_alone(wanted: Collection[str]) -> Iterator[str]:
        while keys := _read_keys():
            chosen = keys[0]
            keys += _read_keys() if chosen in wanted and _comes_within(KEY_GAP_SECONDS) else []
            if _END_OF_INPUT in keys:
                return
            if chosen in wanted and all(key == _ENTER for key in keys[1:]):
                yield chosen
                continue
            yield ""
            while _comes_within(SILENCE_SECONDS):
                if _END_OF_INPUT in (_read_keys() or [_END_OF_INPUT]):
                    return

    def wait(self, seconds: float) -> None:
        """A pause, which any key cuts short."""
        with self.single_keys():
            _comes_within(seconds)

    def edited_line(self, prompt: str) -> str:
        """The line entered after the prompt, with its end; empty at the end of input.

        It can be edited with the arrow keys; ImportError where that cannot be.
        """
        import readline

        readline.set_auto_history(False)  # what one person entered is not for the next one's arrow keys
        readline.parse_and_bind("set enable-bracketed-paste off")

        def come_back() -> None:
            raise _CameBack(readline.get_line_buffer())

        # What takes no room must be marked for whoever moves the cursor.
        prompt = _ESCAPES.sub("\x01\\g<0>\x02", prompt)
        typed = ""
        while True:
            readline.set_startup_hook(partial(readline.insert_text, typed))
            try:
                with self._stoppable(come_back):
                    return input(prompt) + "\n"
            except EOFError:
                return ""
            except _CameBack as stopped:  # the shell has written over the prompt
                typed = stopped.typed
            finally:
                readline.set_startup_hook()

    @contextmanager
    def _set(self, settings: list[Any]) -> Iterator[None]:
        """Within, the terminal has these settings."""
        before = termios.tcgetattr(sys.stdin)
        termios.tcsetattr(sys.stdin, termios.TCSAFLUSH, settings)
        try:
            with self._stoppable():
                yield
        finally:
            termios.tcsetattr(sys.stdin, termios.TCSAFLUSH, before)

    @contextmanager
    def _stoppable(self, then: Callable[[], None] = lambda: None) -> Iterator[None]:
        """Within, Ctrl-Z stops the program in order; `then` is called when it has come back."""

        def stop(*_: object) -> None:
            self._stop()
            then()

        before = signal.signal(signal.SIGTSTP, stop)
        try:
            yield
        finally:
            signal.signal(signal.SIGTSTP, before)

    def _stop(self) -> None:
        """Stop: meanwhile the terminal is as it was found, and shows no secret."""
        settings = termios.tcgetattr(sys.stdin)
        termios.tcsetattr(sys.stdin, termios.TCSANOW, self._usual)
        self._leave()
        handler = signal.signal(signal.SIGTSTP, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGTSTP)  # from here on it is stopped, until it is told to go on
        signal.signal(signal.SIGTSTP, handler)
        _set_again(settings)
        self._come_back()


def _read_keys() -> list[str]:
    """The next keys, one or several that came together, in lower case; empty at the end of input."""
    typed = os.read(sys.stdin.fileno(), 32).decode(errors="replace").lower()
    return _KEY.findall(typed)


def _comes_within(seconds: float) -> bool:
    """Whether something is typed within so many seconds."""
    return bool(select.select([sys.stdin], [], [], seconds)[0])


def _set_again(settings: list[Any]) -> None:
    """Set the terminal up as it was before the program was stopped; what was typed in the open is kept."""
    # A line that is not shown. Who waits for a key, or edits a line, has no use for whole lines.
    hidden = settings[3] & (termios.ECHO | termios.ICANON) == termios.ICANON
    termios.tcsetattr(sys.stdin, termios.TCSAFLUSH if hidden else termios.TCSANOW, settings)
