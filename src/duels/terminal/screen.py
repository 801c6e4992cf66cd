"""The one place that reads the keyboard and writes to the screen.

In a pipe every entry is written after its prompt, so that the transcript reads like the book. On a
terminal the terminal does that itself, and secret entries are not echoed at all.
"""

import os
import re
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from time import monotonic
from typing import TypeVar

from duels.core.errors import escape_unprintable, quote
from duels.core.rules import Seat
from duels.core.words import Ink, Question, apply_ink, join_or, strip_ink
from duels.solving.progress import Progress, no_progress
from duels.terminal.keyboard import Keyboard

T = TypeVar("T")

_CODES = {
    Ink.ONE: "\x1b[36m",
    Ink.TWO: "\x1b[33m",
    Ink.CHANGED: "\x1b[1m",
    Ink.WON: "\x1b[1;32m",
    Ink.LOST: "\x1b[1;31m",
    Ink.DIM: "\x1b[2m",
    Ink.COPIED: "",
}
_CLEAR = "\x1b[2J\x1b[H"  # the screen; the cursor goes to its top left
_ASIDE, _BACK = "\x1b[?1049h", "\x1b[?1049l"  # the alternate screen, which keeps no scroll-back
_ECHO_LIMIT = 200
_LONGEST = 4 << 20  # letters of an entry: a device that brings zeros for ever is no keyboard
_REMINDER = 75  # letters: a reminder that fills its line cannot be written over
_REMIND_EVERY = 1.0  # seconds
_ROOM_FOR_A_PAUSE = 3  # lines
# A line may be broken at spaces, and between the cells of a row: [1][2]; never in what is to be copied.
_PIECES = re.compile(rf"{Ink.COPIED('.*?')}|\s+|\[[^\]]*\]|[^\s\[{Ink.COPIED.value}]+|.")

# What stands before the text of a list's line: `  1. name  `, `- `, `help  `, `MOVE n  `.
_HANG = re.compile(r" *(?:(?:[0-9]+\.|-) +)?(?:[^\s\[]+(?: [^\s\[]+)? {2,})?")

# Text that may go on from the line above: no row of a drawing, and no choice, `Q: `.
_TEXT = re.compile(r"\w(?!:)")
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
        self.moment = PACES.get(pace or os.environ.get("DUELS_PACE", ""), PACES["normal"])
        self._listener: Callable[[str], None] | None = None  # who is told notices in place of the terminal
        self._aside: str | None = None  # what is shown on the screen without a scroll-back
        self._asked = ""  # the last line of the question that is open
        controlled = self.on_terminal and Keyboard.supported
        self._keyboard = Keyboard(self._leave_aside, self._come_back) if controlled else None

    @property
    def size(self) -> tuple[int, int]:
        """Columns and rows."""
        return terminal_size()

    @property
    def width(self) -> int:
        """How wide a line may be; in a pipe as wide as it likes."""
        return self.size[0] if sys.stdout.isatty() else sys.maxsize

    def lines(self, text: str) -> int:
        """How many lines the text takes."""
        return self._fitted(text).count("\n")

    def colour_for(self, you: Seat) -> None:
        """From now on the first player's colour means you, whichever seat that is."""
        one, two = _CODES[Ink.ONE], _CODES[Ink.TWO]
        self.codes = {**_CODES, Ink.for_seat(you): one, Ink.for_seat(you.other): two}

    def say(self, text: str) -> None:
        """Write to the match's transcript."""
        self._remember(text)
        sys.stdout.write(self._dressed(text))
        sys.stdout.flush()

    def _remember(self, text: str) -> None:
        if self._aside is not None:
            self._aside += text

    def _dressed(self, text: str) -> str:
        text = self._fitted(text)
        return apply_ink(text, self.codes) if self.colour else strip_ink(text)

    def _fitted(self, text: str) -> str:
        return wrap(text, self.width)

    def notice(self, text: str) -> None:
        """Say something that is not part of the transcript."""
        if self._listener:
            self._listener(strip_ink(text))
            return
        sys.stdout.flush()
        text = escape_unprintable(text, but="\n" + Ink.COPIED(""))  # it may name a file
        sys.stderr.write(strip_ink(wrap(text, self.size[0]) if sys.stderr.isatty() else text) + "\n")
        sys.stderr.flush()

    @contextmanager
    def notices_to(self, listener: Callable[[str], None]) -> Iterator[None]:
        """Within, somebody else who has the terminal is told the notices."""
        self._listener = listener
        try:
            yield
        finally:
            self._listener = None

    @contextmanager
    def progress(self, what: str) -> Iterator[Progress]:
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

    def with_progress(self, what: str, find: Callable[[Progress], Iterator[T]]) -> Iterator[T]:
        """What `find` finds, with progress for each that is still to be found."""
        told: Progress = no_progress
        found = find(lambda text: told(text))
        while True:
            with self.progress(what) as progress:
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
            line = self._read_line(question.prompt, unseen and self.on_terminal)
        if not line:
            self.say("\n")
            raise EOFError
        entry = line.rstrip("\r\n")
        if not self.on_terminal:
            self.say(f"{format_echo(entry)}\n")
        elif unseen:
            self.say("(hidden)\n" if question.secret else "\n")
        return entry

    def _read_line(self, prompt: str, unseen: bool) -> str:
        """The line entered after `prompt`, with its end; empty at the end of input."""
        *above, last = self._fitted(prompt).split("\n")
        self.say("".join(f"{line}\n" for line in above))
        if self._keyboard and not unseen:
            with suppress(ImportError):
                line = self._keyboard.edited_line(self._dressed(last))
                self._remember(last + line)
                return line
        self.say(last)
        with self._asking(last):
            return _hidden_line() if unseen and not self._keyboard else self._next_line()

    @contextmanager
    def _asking(self, line: str) -> Iterator[None]:
        """Within, this last line of an open question is shown again after a stop."""
        self._asked = line
        try:
            yield
        finally:
            self._asked = ""

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

    @contextmanager
    def keys(self, keys: Sequence[str]) -> Iterator[Callable[[str], str]]:
        """Within, one of `keys` again and again, pressed at a terminal without Enter; the last one leaves.

        What is pressed before the next prompt counts.
        """
        if not self._keyboard:
            yield lambda prompt: self._key_by_name(prompt, keys)
            return
        with self._keyboard.single_keys() as pressed:

            def next_key(prompt: str) -> str:
                chosen = ""
                with self._asking(self._fitted(prompt).rpartition("\n")[2]):
                    self.say(prompt)
                    try:
                        chosen = next((key for key in pressed if key in keys), keys[-1])
                    finally:
                        self.say(f"{chosen if chosen.isalpha() else ''}\n")
                return chosen

            yield next_key

    def choose_key(self, prompt: str, keys: Sequence[str]) -> str:
        """One of `keys`, pressed by itself; the last one stands for leaving.

        Anything else is answered by a line with the keys: a word typed ahead, or while a match ended, is no
        choice.
        """
        if not self._keyboard:
            return self._line_of(prompt, keys)
        chosen, line = "", self._fitted(prompt).rpartition("\n")[2]
        with self._keyboard.single_keys(alone=keys) as pressed:
            self.say(prompt)
            try:
                while not chosen:
                    with self._asking(line):
                        chosen = next(pressed, keys[-1])
                    if not chosen:
                        line = f"{format_key_prompt(keys)} "
                        self.say(f"\n{line}")
            finally:
                self.say(f"{chosen}\n")
        return chosen

    def _line_of(self, prompt: str, keys: Sequence[str]) -> str:
        """One of `keys`, entered as a line where single keys cannot be heard."""
        while True:
            try:
                entry = self.ask(Question(prompt)).strip().lower()
            except EOFError:
                return keys[-1]
            if entry in keys:
                return entry
            prompt = f"{format_key_prompt(keys)} "

    def _key_by_name(self, prompt: str, keys: Sequence[str]) -> str:
        """One of `keys`, entered as a line where single keys cannot be heard; an empty line is Enter."""
        try:
            entry = self.ask(Question(prompt)).strip().lower()
        except EOFError:
            return keys[-1]
        return next((key for key in (entry or "\n", entry[:1]) if key in keys), keys[-1])

    def wait(self) -> None:
        """A short pause at a terminal, which any key cuts short."""
        if self._keyboard and self.moment:
            self._keyboard.wait(self.moment)

    def typing(self, shown: bool) -> AbstractContextManager[None]:
        """Within, a terminal shows what is typed, or does not; a switch drops what was typed ahead."""
        return self._keyboard.typing(shown) if self._keyboard else nullcontext()

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Within, everything is on a screen without a scroll-back; then what was there before is back."""
        sys.stdout.write(_ASIDE)
        self._aside = ""
        self.clear()
        try:
            yield
        finally:
            self._aside = None
            with suppress(OSError):  # the terminal may be gone
                sys.stdout.write(_CLEAR + _BACK)
                sys.stdout.flush()

    def _leave_aside(self) -> None:
        """Clear it away while the program is stopped."""
        if self._aside is not None:
            _write_now(_CLEAR + _BACK)

    def _come_back(self) -> None:
        """Show what was cleared away, and the open question again, which the shell has written over."""
        if self._aside is not None:
            _write_now(_ASIDE + _CLEAR + self._dressed(self._aside))
        else:
            _write_now(self._dressed(self._asked))

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
        if self._aside is not None:
            self._aside = ""
        sys.stdout.write(_CLEAR)
        sys.stdout.flush()

    def pause(self, text: str) -> None:
        """Wait for Enter; whatever else is typed is not shown."""
        self.ask(Question(text), unseen=True)


def _write_now(text: str) -> None:
    """Write past the stream, which may be in the middle of something."""
    os.write(sys.stdout.fileno(), text.encode())


def _hidden_line() -> str:
    """A line that is not shown, on a terminal that we cannot control."""
    from getpass import getpass

    return getpass("") + "\n"


def format_key_prompt(keys: Sequence[str]) -> str:
    """What is said to any other key."""
    return f"Press {join_or(keys)}."


def format_echo(entry: str) -> str:
    """An entry as a transcript shows it: one printable line, not a megabyte."""
    return quote(entry, _ECHO_LIMIT)[1:-1]


# -- lines that fit a terminal: broken between words, never in one --------------------------------------


def terminal_size() -> tuple[int, int]:
    """Columns and rows."""
    try:
        columns, rows = os.get_terminal_size(sys.stdout.fileno())
    except (OSError, ValueError):  # no terminal
        columns, rows = 0, 0
    return _columns_wanted() or columns or 80, rows or 24


def _columns_wanted() -> int:
    """What COLUMNS says, if that is a width; else 0."""
    try:
        return max(0, int(os.environ.get("COLUMNS", "")))
    except ValueError:
        return 0


def wrap(text: str, width: int) -> str:
    """The text with no line wider than `width`, unless a single word is; marks of ink take no room.

    What does not fit a line goes before the next one if that goes on from it.
    """
    lines = text.split("\n")
    wrapped = []
    while lines:
        line = lines.pop(0)
        if len(strip_ink(line)) <= width:
            wrapped.append(line)
            continue
        hang = _hang(line)
        indent = " " * (hang if hang <= width // 3 else len(line) - len(line.lstrip(" ")))
        *whole, rest = _broken(line, width, indent)
        wrapped += whole
        if lines and hang and _goes_on(lines[0], hang):
            lines[0] = f"{rest} {lines[0].lstrip(' ')}"
        else:
            wrapped.append(rest)
    return "\n".join(wrapped)


def _hang(line: str) -> int:
    """How far in its text begins, below which lines go on from it."""
    hang = _HANG.match(strip_ink(line))
    return hang.end() if hang else 0


def _goes_on(line: str, hang: int) -> bool:
    """Whether there is only text, so far in: it is no item of the same list, no row of a drawing."""
    line = strip_ink(line)
    return _hang(line) == hang and line[:hang].isspace() and _TEXT.match(line, hang) is not None


def _broken(line: str, width: int, indent: str) -> list[str]:
    lines, current = [], ""
    for piece in _PIECES.findall(line):
        if current.strip() and len(strip_ink(current + piece).rstrip()) > width:
            lines.append(current.rstrip(" "))
            current = indent
            piece = piece.lstrip(" ")
        current += piece
    return [*lines, current]
