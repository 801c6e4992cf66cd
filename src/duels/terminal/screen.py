"""The one place that reads the keyboard and writes to the screen.

In a pipe every entry is written after its prompt, so that the transcript reads like the book. On a
terminal the terminal does that itself, and secret entries are not echoed at all.
"""

import getpass
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from time import monotonic
from typing import Any, TypeVar

from duels.core.errors import DuelsError, printable, quote
from duels.core.words import Ink, Question, inked, plain
from duels.solving.progress import Progress, quiet

T = TypeVar("T")

try:
    import termios
except ImportError:  # not on Windows
    termios = None  # type: ignore[assignment]

_CODES = {
    Ink.ONE: "\x1b[36m",
    Ink.TWO: "\x1b[33m",
    Ink.CHANGED: "\x1b[1m",
    Ink.WON: "\x1b[1;32m",
    Ink.DIM: "\x1b[2m",
}
_CLEAR = "\x1b[2J\x1b[3J\x1b[H"  # the screen, the scroll-back where the terminal allows it, cursor home
_ASIDE, _BACK = "\x1b[?1049h", "\x1b[?1049l"  # the alternate screen, which keeps no scroll-back
_ECHO_LIMIT = 200
_LONGEST = 4 << 20  # letters of an entry: a device that brings zeros for ever is no keyboard
_REMINDER = 75  # letters: a reminder that fills its line cannot be written over
_REMIND_EVERY = 1.0  # seconds


class Screen:
    """Where a match is shown and entries are made."""

    def __init__(self, plain_text: bool = False) -> None:
        self.typed_at_terminal = sys.stdin.isatty()
        self.on_terminal = self.typed_at_terminal and sys.stdout.isatty()
        self.can_clear = sys.stdout.isatty() and os.environ.get("TERM") != "dumb"
        self.colour = self.can_clear and not plain_text and not os.environ.get("NO_COLOR")
        self._usual = self._terminal_settings() or []
        self._whispered = ""

    def _terminal_settings(self) -> list[Any] | None:
        return termios.tcgetattr(sys.stdin) if termios and self.on_terminal else None

    def say(self, text: str) -> None:
        """Write to the match's transcript."""
        sys.stdout.write(self._painted(text))
        sys.stdout.flush()

    def _painted(self, text: str) -> str:
        return inked(text, _CODES) if self.colour else plain(text)

    def notice(self, text: str) -> None:
        """Say something that is not part of the transcript."""
        sys.stdout.flush()
        sys.stderr.write(printable(text, but="\n") + "\n")  # it may name a file
        sys.stderr.flush()

    def last_words(self, text: str) -> None:
        """Say something to whoever is leaving; the terminal may be gone already."""
        with suppress(OSError):
            self.notice(text)

    @contextmanager
    def patience(self, what: str) -> Iterator[Progress]:
        """Within, a person at a terminal is told once a second that `what` is still going on, and how far.

        How far it is says whoever computes, to the function that is given here.
        """
        start = monotonic()
        done = threading.Event()
        latest = ""

        def listen(text: str) -> None:
            nonlocal latest
            latest = text

        def remind() -> None:
            shown = ""
            while not done.wait(_REMIND_EVERY):
                waited = f", {monotonic() - start:.0f} s"
                text = f"… {what}{': ' if latest else ''}{latest}"[: _REMINDER - len(waited)] + waited
                sys.stderr.write(f"\r{text.ljust(len(shown))} ")
                sys.stderr.flush()
                shown = text
            if shown:
                sys.stderr.write(f"\r{' ' * len(shown)} \r")
                sys.stderr.flush()

        reminder = threading.Thread(target=remind, daemon=True)
        if sys.stderr.isatty():
            reminder.start()
        try:
            yield listen
        finally:
            done.set()
            if reminder.is_alive():
                reminder.join()

    def patiently(self, what: str, find: Callable[[Progress], Iterator[T]]) -> Iterator[T]:
        """What `find` finds, with patience for each that is still to be found."""
        told: Progress = quiet
        found = find(lambda text: told(text))
        while True:
            with self.patience(what) as progress:
                told = progress
                try:
                    one = next(found)
                except StopIteration:
                    return
            yield one

    def ask(self, question: Question, unseen: bool = False) -> str:
        """The line entered; `unseen` keeps it off a terminal. EOFError at the end of input."""
        if question.notice:
            self.say(f"{question.notice}\n")
        with self.typing(shown=not unseen):
            self.say(question.prompt)
            line = _read_line(unseen and self.on_terminal)
        if not line:
            self.say("\n")
            raise EOFError
        entry = line.rstrip("\r\n")
        if not self.on_terminal:
            self.say(f"{as_typed(entry)}\n")
        elif unseen:
            self.say("(hidden)\n" if question.secret else "\n")
        return entry

    @contextmanager
    def typing(self, shown: bool) -> Iterator[None]:
        """Within, the terminal shows what is typed, or does not; a switch drops what was typed ahead."""
        before = self._terminal_settings()
        # A terminal that came without echo (an editor's shell has its own) is left so.
        wanted = self._usual[3] & termios.ECHO if before and shown else 0
        if not before or before[3] & termios.ECHO == wanted:
            yield
            return
        switched = [*before[:3], before[3] ^ termios.ECHO, *before[4:]]

        termios.tcsetattr(sys.stdin, termios.TCSAFLUSH, switched)
        # A shell gives a stopped program the terminal back as the shell likes it.
        continued = signal.signal(signal.SIGCONT, lambda *_: _set_again(switched))
        stopped = signal.signal(signal.SIGTSTP, self._step_aside)
        try:
            yield
        finally:
            signal.signal(signal.SIGTSTP, stopped)
            signal.signal(signal.SIGCONT, continued)
            termios.tcsetattr(sys.stdin, termios.TCSAFLUSH, before)

    def _step_aside(self, *_: object) -> None:
        """Stop, as Ctrl-Z asks: meanwhile the terminal is as it was found, and shows no secret."""
        settings = self._terminal_settings()
        termios.tcsetattr(sys.stdin, termios.TCSANOW, self._usual)
        if self._whispered:
            self._write_now(_CLEAR + _BACK)
        handler = signal.signal(signal.SIGTSTP, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGTSTP)  # from here on it is stopped, until it is told to go on
        signal.signal(signal.SIGTSTP, handler)
        if settings:
            _set_again(settings)
        if self._whispered:
            self._write_now(_ASIDE + _CLEAR + self._whispered)

    def _write_now(self, text: str) -> None:
        """Write past the stream, which may be in the middle of something."""
        os.write(sys.stdout.fileno(), self._painted(text).encode())

    def whisper(self, text: str) -> None:
        """Show something that must not stay on the screen or in its scroll-back."""
        if not self.on_terminal:
            self.say(text)
            return
        prompt = "\nPress Enter to hide this. "
        self._whispered = text + prompt
        self.say(_ASIDE + _CLEAR + text)
        try:
            self.pause(prompt)
        finally:
            self._whispered = ""
            self.say(_CLEAR + _BACK)

    def clear(self) -> None:
        """An empty screen, with nothing to scroll back to where the terminal allows it."""
        self.say(_CLEAR)

    def pause(self, text: str) -> None:
        """Wait for Enter; whatever else is typed is not shown."""
        self.ask(Question(text), unseen=True)


def _set_again(settings: list[Any]) -> None:
    """Set the terminal up as it was before the program was stopped; what was typed in the open is kept."""
    shown = settings[3] & termios.ECHO
    termios.tcsetattr(sys.stdin, termios.TCSANOW if shown else termios.TCSAFLUSH, settings)


def _read_line(unseen: bool) -> str:
    if unseen and not termios:
        return getpass.getpass("") + "\n"
    try:
        line = sys.stdin.readline(_LONGEST)
    except UnicodeError:
        raise DuelsError(f"what is entered is no text in {sys.stdin.encoding}.") from None
    if len(line) == _LONGEST and not line.endswith("\n"):
        raise DuelsError(f"what is entered has no end: a line is at most {_LONGEST >> 20} MB long.")
    return line


def as_typed(entry: str) -> str:
    """An entry as a transcript shows it: one printable line, not a megabyte."""
    return quote(entry, _ECHO_LIMIT)[1:-1]
