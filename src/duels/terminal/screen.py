"""Terminal input and output. All commands of a match read and write through `Screen`.

In a pipe, `Screen` writes every entry after its prompt, so that the transcript reads like the book. On a
terminal, the terminal echoes entries, and secret entries are not echoed.
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
from duels.solving.oracle import Progress, no_progress
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
_CLEAR = "\x1b[2J\x1b[H"
_ENTER_ALTERNATE, _LEAVE_ALTERNATE = "\x1b[?1049h", "\x1b[?1049l"
_ECHO_LIMIT = 200
_MAX_ENTRY = 4 << 20  # characters; without a limit, /dev/zero as input would never end
_MAX_PROGRESS = 75  # characters; a line that fills the terminal cannot be overwritten
_PROGRESS_INTERVAL = 1.0  # seconds
_PAUSE_LINES = 3  # blank lines before the keyboard is passed
# A line may be broken at spaces and between cells such as [1][2], but not within a text to be copied.
_PIECES = re.compile(rf"{Ink.COPIED('.*?')}|\s+|\[[^\]]*\]|[^\s\[{Ink.COPIED.value}]+|.")

# The start of a list item: `  1. name  `, `- `, `help  `, `MOVE n  `.
_LIST_ITEM_START = re.compile(r" *(?:(?:[0-9]+\.|-) +)?(?:[^\s\[]+(?: [^\s\[]+)? {2,})?")

# Text that can continue the line above. Rows of a board and choices such as `Q: ` cannot.
_CONTINUATION = re.compile(r"\w(?!:)")
PACES = {"off": 0.0, "quick": 0.4, "normal": 1.0}
"""Seconds to pause before a machine's move or the result of a coin flip."""


class Screen:
    """A terminal or a pipe that shows a match and takes entries."""

    def __init__(self, plain_text: bool = False, pace: str | None = None) -> None:
        self.typed_at_terminal = sys.stdin.isatty()
        self.on_terminal = self.typed_at_terminal and sys.stdout.isatty()
        self.can_clear = sys.stdout.isatty() and os.environ.get("TERM") != "dumb"
        self.can_fill = self.on_terminal and self.can_clear and sys.stderr.isatty()
        """Whether the terminal can show the full-screen board. Textual draws on stderr."""
        self.in_menu = False
        """Whether the menu is open, so that leaving a match leads back to it."""
        self.plain = plain_text
        """Whether the person asked for plain text, as in a pipe."""
        self.colour = self.can_clear and not plain_text and not os.environ.get("NO_COLOR")
        self.codes = _CODES
        self.pause_seconds = PACES.get(pace or os.environ.get("DUELS_PACE", ""), PACES["normal"])
        self._notice_handler: Callable[[str], None] | None = None
        self._alternate: str | None = None  # the contents of the alternate screen
        self._open_prompt = ""  # the last line of the open question
        has_keyboard = self.on_terminal and Keyboard.is_supported
        self._keyboard = Keyboard(self._on_suspend, self._on_resume) if has_keyboard else None

    @property
    def size(self) -> tuple[int, int]:
        """Columns and rows."""
        return get_terminal_size()

    @property
    def width(self) -> int:
        """Maximum width of a line, which is unlimited in a pipe."""
        return self.size[0] if sys.stdout.isatty() else sys.maxsize

    def set_reader(self, you: Seat) -> None:
        """Use the first colour for your seat and the second one for the other seat."""
        one, two = _CODES[Ink.ONE], _CODES[Ink.TWO]
        self.codes = {**_CODES, Ink.for_seat(you): one, Ink.for_seat(you.other): two}

    def say(self, text: str) -> None:
        """Write text to the transcript of the match."""
        self._remember(text)
        sys.stdout.write(self._render(text))
        sys.stdout.flush()

    def _remember(self, text: str) -> None:
        if self._alternate is not None:
            self._alternate += text

    def _render(self, text: str) -> str:
        text = wrap(text, self.width)
        return apply_ink(text, self.codes) if self.colour else strip_ink(text)

    def notice(self, text: str) -> None:
        """Write a notice to stderr, outside the transcript."""
        if self._notice_handler:
            self._notice_handler(strip_ink(text))
            return
        sys.stdout.flush()
        text = escape_unprintable(text, keep="\n" + Ink.COPIED(""))  # it may contain a file name
        sys.stderr.write(strip_ink(wrap(text, self.size[0]) if sys.stderr.isatty() else text) + "\n")
        sys.stderr.flush()

    @contextmanager
    def redirect_notices(self, handler: Callable[[str], None]) -> Iterator[None]:
        self._notice_handler = handler
        try:
            yield
        finally:
            self._notice_handler = None

    @contextmanager
    def progress(self, task: str) -> Iterator[Progress]:
        """Report progress on a terminal once a second. `task` is a word such as `thinking`.

        Yield a function that takes a description of the progress.
        """
        start = monotonic()
        done = threading.Event()
        latest = ""

        def update(text: str) -> None:
            nonlocal latest
            latest = text

        def report() -> None:
            line = ""
            while not done.wait(_PROGRESS_INTERVAL):
                seconds = f", {monotonic() - start:.0f} s"
                text = f"… {task}{': ' if latest else ''}{latest}"[: _MAX_PROGRESS - len(seconds)] + seconds
                sys.stderr.write(f"\r{text.ljust(len(line))} ")
                sys.stderr.flush()
                line = text
            if line:
                sys.stderr.write(f"\r{' ' * len(line)} \r")
                sys.stderr.flush()

        reporter = threading.Thread(target=report, daemon=True)
        if sys.stderr.isatty():
            reporter.start()
        try:
            yield update
        finally:
            done.set()
            if reporter.is_alive():
                reporter.join()

    def iter_with_progress(self, task: str, make_items: Callable[[Progress], Iterator[T]]) -> Iterator[T]:
        """Yield the items of `make_items`, and report progress while the next one is computed."""
        update: Progress = no_progress
        items = make_items(lambda text: update(text))
        while True:
            with self.progress(task) as progress:
                update = progress
                try:
                    item = next(items)
                except StopIteration:
                    return
            yield item

    def ask(self, question: Question, hidden: bool = False) -> str:
        """Ask a question and return the entry. With `hidden`, a terminal does not show the entry.

        Raises EOFError at the end of input.
        """
        if question.notice:
            self.say(f"{question.notice}\n")
        with self.echo(not hidden):
            line = self._read_line(question.prompt, hidden and self.on_terminal)
        if not line:
            self.say("\n")
            raise EOFError
        entry = line.rstrip("\r\n")
        if not self.on_terminal:
            self.say(f"{format_echo(entry)}\n")
        elif hidden:
            self.say("(hidden)\n" if question.secret else "\n")
        return entry

    def _read_line(self, prompt: str, hidden: bool) -> str:
        """Read a line with its line break. Return an empty string at the end of input."""
        *first_lines, last = wrap(prompt, self.width).split("\n")
        self.say("".join(f"{line}\n" for line in first_lines))
        if self._keyboard and not hidden:
            with suppress(ImportError):
                line = self._keyboard.read_line(self._render(last))
                self._remember(last + line)
                return line
        self.say(last)
        with self._prompting(last):
            if hidden and not self._keyboard:  # no termios
                from getpass import getpass

                return getpass("") + "\n"
            return self._read_plain_line()

    @contextmanager
    def _prompting(self, prompt: str) -> Iterator[None]:
        """Show the last line of the prompt again if the program is suspended and resumed."""
        self._open_prompt = wrap(prompt, self.width).rpartition("\n")[2]
        try:
            yield
        finally:
            self._open_prompt = ""

    def _read_plain_line(self) -> str:
        """Read a line. Treat undecodable and endless input as the end of input."""
        try:
            line = sys.stdin.readline(_MAX_ENTRY)
        except UnicodeError:
            self.notice(f"\nThe input is not valid {sys.stdin.encoding} text.")
            return ""
        if len(line) == _MAX_ENTRY and not line.endswith("\n"):
            self.notice(f"\nThe line is too long: an entry can have at most {_MAX_ENTRY >> 20} MB.")
            return ""
        return line

    @property
    def can_page(self) -> bool:
        """Whether a person can go through pages with single keys."""
        return self.can_clear and self._keyboard is not None

    @contextmanager
    def key_reader(self, keys: Sequence[str]) -> Iterator[Callable[[str], str]]:
        """Yield a function that shows a prompt and returns one of `keys`, read without Enter.

        Keys pressed before the prompt appears also count. At the end of input, the function returns the last
        of `keys`. Needs `can_page`.
        """
        assert self._keyboard
        with self._keyboard.single_keys() as pressed:

            def read_key(prompt: str) -> str:
                choice = ""
                with self._prompting(prompt):
                    self.say(prompt)
                    try:
                        choice = next((key for key in pressed if key in keys), keys[-1])
                    finally:
                        self.say(f"{choice if choice.isalpha() else ''}\n")
                return choice

            yield read_key

    def choose_key(self, prompt: str, keys: Sequence[str], default: str = "") -> str:
        """Ask for one of `keys`. A key must be pressed alone, so a word typed ahead chooses nothing.

        Enter chooses `default`, if given. At the end of input, return the last of `keys`.
        """
        if not self._keyboard:
            return self._choose_key_as_line(prompt, keys, default)
        choice = ""
        with self._keyboard.single_keys([*keys, "\n"] if default else keys) as pressed:
            try:
                while not choice:
                    self.say(prompt)
                    with self._prompting(prompt):
                        choice = next(pressed, keys[-1]).replace("\n", default)
                    prompt = f"\n{format_key_prompt(keys)} "
            finally:
                self.say(f"{choice}\n")
        return choice

    def _choose_key_as_line(self, prompt: str, keys: Sequence[str], default: str) -> str:
        while True:
            try:
                entry = self.ask(Question(prompt)).strip().lower() or default
            except EOFError:
                return keys[-1]
            if entry in keys:
                return entry
            prompt = f"{format_key_prompt(keys)} "

    def wait(self) -> None:
        """Pause for a moment at a terminal. Any key ends the pause."""
        if self._keyboard and self.pause_seconds:
            self._keyboard.wait(self.pause_seconds)

    def echo(self, enabled: bool) -> AbstractContextManager[None]:
        """Turn a terminal's echo on or off. A change discards input that was typed ahead."""
        return self._keyboard.echo(enabled) if self._keyboard else nullcontext()

    @contextmanager
    def alternate_screen(self) -> Iterator[None]:
        """Use the terminal's alternate screen, which keeps no scroll-back."""
        sys.stdout.write(_ENTER_ALTERNATE)
        self._alternate = ""
        self.clear()
        try:
            yield
        finally:
            self._alternate = None
            with suppress(OSError):  # the terminal may be gone
                sys.stdout.write(_CLEAR + _LEAVE_ALTERNATE)
                sys.stdout.flush()

    def _on_suspend(self) -> None:
        if self._alternate is not None:
            _write_unbuffered(_CLEAR + _LEAVE_ALTERNATE)

    def _on_resume(self) -> None:
        if self._alternate is not None:
            _write_unbuffered(_ENTER_ALTERNATE + _CLEAR + self._render(self._alternate))
        else:
            _write_unbuffered(self._render(self._open_prompt))

    def show_privately(self, text: str) -> None:
        """Show a text to one of two people, and clear the screen when they have read it."""
        columns, rows = self.size
        lines = wrap(text, columns).splitlines(keepends=True)
        page_length = max(1, rows - _PAUSE_LINES)
        try:
            for start in range(0, len(lines), page_length):
                self.clear()
                self.say("".join(lines[start : start + page_length]))
                is_last = start + page_length >= len(lines)
                self.pause(f"\nPress Enter {'to hide this' if is_last else 'for more'}. ")
        finally:
            with suppress(OSError):
                self.clear()

    def show_end(self, text: str) -> None:
        """Clear the screen and show the end of a text, with room for a prompt below it."""
        columns, rows = self.size
        self.clear()
        self.say("".join(wrap(text, columns).splitlines(keepends=True)[-max(1, rows - _PAUSE_LINES) :]))

    def clear(self) -> None:
        if self._alternate is not None:
            self._alternate = ""
        sys.stdout.write(_CLEAR)
        sys.stdout.flush()

    def pause(self, text: str) -> None:
        """Show a text and wait for Enter. Other keys are not echoed."""
        self.ask(Question(text), hidden=True)


def _write_unbuffered(text: str) -> None:
    # A signal may have interrupted a write of the buffered stream.
    os.write(sys.stdout.fileno(), text.encode())


def format_key_prompt(keys: Sequence[str]) -> str:
    """Format the message after a wrong key, which lists the valid keys."""
    return f"Press {join_or(keys)}."


def format_echo(entry: str) -> str:
    """Format an entry for a transcript: one printable line of limited length."""
    return quote(entry, _ECHO_LIMIT)[1:-1]


def get_terminal_size() -> tuple[int, int]:
    """Return columns and lines, 80 by 24 if the output is not a terminal."""
    import shutil  # slow to import

    return shutil.get_terminal_size()


def wrap(text: str, width: int) -> str:
    """Wrap lines that are wider than `width` at spaces. Ink marks have no width.

    If the next line continues a list item, it is joined with the rest of the item's wrapped line.
    """
    lines = text.split("\n")
    wrapped = []
    while lines:
        line = lines.pop(0)
        if len(strip_ink(line)) <= width:
            wrapped.append(line)
            continue
        hang = _measure_hang(line)
        indent = " " * (hang if hang <= width // 3 else len(line) - len(line.lstrip(" ")))
        *full_lines, rest = _break_line(line, width, indent)
        wrapped += full_lines
        if lines and hang and _continues(lines[0], hang):
            lines[0] = f"{rest} {lines[0].lstrip(' ')}"
        else:
            wrapped.append(rest)
    return "\n".join(wrapped)


def _measure_hang(line: str) -> int:
    """Return the indentation for the lines that continue this one."""
    hang = _LIST_ITEM_START.match(strip_ink(line))
    return hang.end() if hang else 0


def _continues(line: str, hang: int) -> bool:
    line = strip_ink(line)
    return (
        _measure_hang(line) == hang and line[:hang].isspace() and _CONTINUATION.match(line, hang) is not None
    )


def _break_line(line: str, width: int, indent: str) -> list[str]:
    lines, current = [], ""
    for piece in _PIECES.findall(line):
        if current.strip() and len(strip_ink(current + piece).rstrip()) > width:
            lines.append(current.rstrip(" "))
            current = indent
            piece = piece.lstrip(" ")
        current += piece
    return [*lines, current]
