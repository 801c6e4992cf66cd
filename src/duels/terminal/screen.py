"""The one place that reads the keyboard and writes to the screen.

In a pipe every entry is written after its prompt, so that the transcript reads like the book. On a
terminal the terminal does that itself, and secret entries are not echoed at all.
"""

import getpass
import os
import re
import select
import shutil
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from time import monotonic
from typing import Any, TypeVar

from duels.core.errors import printable, quote
from duels.core.rules import Seat
from duels.core.words import Ink, Question, inked, plain
from duels.solving.progress import Progress, quiet
from duels.terminal.layout import wrap

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
_CLEAR = "\x1b[2J\x1b[H"  # the screen; the cursor goes to its top left
_ASIDE, _BACK = "\x1b[?1049h", "\x1b[?1049l"  # the alternate screen, which keeps no scroll-back
_END_OF_INPUT = "\x04"
_ECHO_LIMIT = 200
_LONGEST = 4 << 20  # letters of an entry: a device that brings zeros for ever is no keyboard
_REMINDER = 75  # letters: a reminder that fills its line cannot be written over
_REMIND_EVERY = 1.0  # seconds
_ROOM_FOR_A_PAUSE = 3  # lines
_KEY = re.compile(r"\x1b\[[0-9;]*.|\x1bo.|.", re.DOTALL)  # an arrow sends several letters
_ESCAPES = re.compile(r"(\x1b\[[0-9;]*m)+")
PACES = {"off": 0.0, "quick": 0.4, "normal": 1.0}
"""How long a pause takes, in seconds: before a machine's move, and while a coin is in the air."""


class Screen:
    """Where a match is shown and entries are made."""

    def __init__(self, plain_text: bool = False, pace: str | None = None) -> None:
        self.typed_at_terminal = sys.stdin.isatty()
        self.on_terminal = self.typed_at_terminal and sys.stdout.isatty()
        self.can_clear = sys.stdout.isatty() and os.environ.get("TERM") != "dumb"
        self.colour = self.can_clear and not plain_text and not os.environ.get("NO_COLOR")
        self.codes = _CODES
        self._pause = PACES.get(pace or os.environ.get("DUELS_PACE", ""), PACES["normal"])
        self._usual = self._terminal_settings() or []
        self._prompt = ""  # of what is being asked
        self._page: str | None = None  # what is on the screen without a scroll-back, while that is shown

    @property
    def size(self) -> tuple[int, int]:
        """Columns and rows."""
        columns, rows = shutil.get_terminal_size()
        return columns, rows

    def lines(self, text: str) -> int:
        """How many lines the text takes."""
        return wrap(text, self.size[0]).count("\n")

    def colour_for(self, you: Seat) -> None:
        """From now on the first player's colour means you, whichever seat that is."""
        one, two = _CODES[Ink.ONE], _CODES[Ink.TWO]
        self.codes = {**_CODES, Ink.of(you): one, Ink.of(you.other): two}

    def _terminal_settings(self) -> list[Any] | None:
        return termios.tcgetattr(sys.stdin) if termios and self.on_terminal else None

    def say(self, text: str) -> None:
        """Write to the match's transcript."""
        if self._page is not None:
            self._page += text
        sys.stdout.write(self._dressed(text))
        sys.stdout.flush()

    def _dressed(self, text: str) -> str:
        if sys.stdout.isatty():
            text = wrap(text, self.size[0])
        return inked(text, self.codes) if self.colour else plain(text)

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
            line = self._read_line(question.prompt, unseen)
        if not line:
            self.say("\n")
            raise EOFError
        entry = line.rstrip("\r\n")
        if not self.on_terminal:
            self.say(f"{as_typed(entry)}\n")
        elif unseen:
            self.say("(hidden)\n" if question.secret else "\n")
        return entry

    def _read_line(self, prompt: str, unseen: bool) -> str:
        """The line entered after `prompt`, with its end; empty at the end of input."""
        editing = self._editing() if self.on_terminal and not unseen else False
        if not editing:
            self.say(prompt)
            if unseen and self.on_terminal and not termios:
                return getpass.getpass("") + "\n"
            return self._next_line()
        *above, last = self._dressed(prompt).split("\n")
        if self._page is not None:
            self._page += prompt
        sys.stdout.write("".join(f"{line}\n" for line in above))
        sys.stdout.flush()
        try:
            with self._stoppable(prompt):
                # What takes no room must be marked for whoever moves the cursor.
                return input(_ESCAPES.sub("\x01\\g<0>\x02", last)) + "\n"
        except EOFError:
            return ""

    def _next_line(self) -> str:
        """The next line of the input; what cannot be a line is the end of it."""
        try:
            line = sys.stdin.readline(_LONGEST)
        except UnicodeError:
            self.notice(f"\nWhat is entered is no text in {sys.stdin.encoding}.")
            return ""
        if len(line) == _LONGEST and not line.endswith("\n"):
            self.notice(f"\nWhat is entered has no end: a line is at most {_LONGEST >> 20} MB long.")
            return ""
        return line

    @staticmethod
    def _editing() -> bool:
        """Let lines be edited with the arrow keys, where that can be done."""
        try:
            import readline
        except ImportError:
            return False
        readline.set_auto_history(False)  # what one person entered is not for the next one's arrow keys
        readline.parse_and_bind("set enable-bracketed-paste off")
        return True

    def key(self, prompt: str, keys: Sequence[str]) -> str:
        """One of `keys`, pressed at a terminal without Enter; the last one stands for leaving."""
        if not self.on_terminal or not termios:
            entry = self.ask(Question(prompt)).strip().lower()[:1]
            return entry if entry in keys else keys[-1]
        chosen = ""
        with self._cbreak(prompt):
            self.say(prompt)
            try:
                chosen = next((pressed for pressed in self._pressed() if pressed in keys), keys[-1])
            finally:
                self.say(f"{chosen if chosen.isalpha() else ''}\n")
        return chosen

    @staticmethod
    def _pressed() -> Iterator[str]:
        """The keys that are pressed, in lower case, until the end of input."""
        while typed := os.read(sys.stdin.fileno(), 32).decode(errors="replace").lower():
            for pressed in _KEY.findall(typed):
                if pressed == _END_OF_INPUT:
                    return
                yield pressed

    def wait(self) -> None:
        """A short pause at a terminal, which any key cuts short."""
        if not self.on_terminal or not termios or not self._pause:
            return
        with self._cbreak(""):
            select.select([sys.stdin], [], [], self._pause)

    @contextmanager
    def _cbreak(self, prompt: str) -> Iterator[None]:
        """Within, keys arrive one by one and are not shown; others, before and after, are dropped."""
        before = termios.tcgetattr(sys.stdin)
        single = [*before[:3], before[3] & ~(termios.ECHO | termios.ICANON), *before[4:]]
        termios.tcsetattr(sys.stdin, termios.TCSAFLUSH, single)
        try:
            with self._stoppable(prompt):
                yield
        finally:
            termios.tcsetattr(sys.stdin, termios.TCSAFLUSH, before)

    @contextmanager
    def _stoppable(self, prompt: str) -> Iterator[None]:
        """Within, Ctrl-Z is for us to carry out; told to go on, we show `prompt` again."""
        if not termios:
            yield
            return
        self._prompt = prompt
        stopped = signal.signal(signal.SIGTSTP, self._step_aside)
        try:
            yield
        finally:
            signal.signal(signal.SIGTSTP, stopped)
            self._prompt = ""

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
        try:
            with self._stoppable(""):
                yield
        finally:
            signal.signal(signal.SIGCONT, continued)
            termios.tcsetattr(sys.stdin, termios.TCSAFLUSH, before)

    def _step_aside(self, *_: object) -> None:
        """Stop, as Ctrl-Z asks: meanwhile the terminal is as it was found, and shows no secret."""
        settings = self._terminal_settings()
        termios.tcsetattr(sys.stdin, termios.TCSANOW, self._usual)
        if self._page is not None:
            self._write_now(_CLEAR + _BACK)
        handler = signal.signal(signal.SIGTSTP, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGTSTP)  # from here on it is stopped, until it is told to go on
        signal.signal(signal.SIGTSTP, handler)
        if settings:
            _set_again(settings)
        if self._page is not None:
            self._write_now(_ASIDE + _CLEAR + self._page)
        else:
            self._write_now(self._prompt.rpartition("\n")[2])

    def _write_now(self, text: str) -> None:
        """Write past the stream, which may be in the middle of something."""
        os.write(sys.stdout.fileno(), self._dressed(text).encode())

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Within, everything is on a screen without a scroll-back; then what was there before is back."""
        self.say(_ASIDE + _CLEAR)
        self._page = ""
        try:
            yield
        finally:
            self._page = None
            with suppress(OSError):  # the terminal may be gone
                self.say(_CLEAR + _BACK)

    def whisper(self, text: str) -> None:
        """Show something to one of two people, and take it off the screen again."""
        columns, rows = self.size
        lines = wrap(text, columns).splitlines(keepends=True)
        room = max(1, rows - _ROOM_FOR_A_PAUSE)
        try:
            for start in range(0, len(lines), room):
                self.clear()
                self.say("".join(lines[start : start + room]))
                last = start + room >= len(lines)
                self.pause(f"\nPress Enter {'to hide this' if last else 'for more'}. ")
        finally:
            with suppress(OSError):
                self.clear()

    def show_end(self, text: str) -> None:
        """Clear the screen and show as much of the end of a text as fits, with a line below it."""
        columns, rows = self.size
        self.clear()
        self.say("".join(wrap(text, columns).splitlines(keepends=True)[-max(1, rows - _ROOM_FOR_A_PAUSE) :]))

    def clear(self) -> None:
        """An empty screen."""
        self.say(_CLEAR)
        if self._page is not None:
            self._page = ""

    def pause(self, text: str) -> None:
        """Wait for Enter; whatever else is typed is not shown."""
        self.ask(Question(text), unseen=True)


def _set_again(settings: list[Any]) -> None:
    """Set the terminal up as it was before the program was stopped; what was typed in the open is kept."""
    # A line that is not shown. Who waits for a key, or edits a line, has no use for whole lines.
    hidden = settings[3] & (termios.ECHO | termios.ICANON) == termios.ICANON
    termios.tcsetattr(sys.stdin, termios.TCSAFLUSH if hidden else termios.TCSANOW, settings)


def as_typed(entry: str) -> str:
    """An entry as a transcript shows it: one printable line, not a megabyte."""
    return quote(entry, _ECHO_LIMIT)[1:-1]
