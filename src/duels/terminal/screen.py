"""The one place that reads the keyboard and writes to the screen.

In a pipe every entry is written after its prompt, so that the transcript reads like the book. On a
terminal the terminal does that itself, and secret entries are not echoed at all.
"""

import getpass
import os
import sys

from duels.core.errors import quote
from duels.core.words import Ink, Question, inked, plain

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


class Screen:
    """Where a match is shown and entries are made."""

    def __init__(self, plain_text: bool = False) -> None:
        for stream in (sys.stdin, sys.stdout, sys.stderr):
            # Bytes that are no text, or a terminal that lacks a letter, are no reason to stop.
            if hasattr(stream, "reconfigure"):
                stream.reconfigure(errors="replace")
        self.on_terminal = sys.stdin.isatty() and sys.stdout.isatty()
        self.colour = (
            sys.stdout.isatty()
            and not plain_text
            and not os.environ.get("NO_COLOR")
            and os.environ.get("TERM") != "dumb"
        )

    def say(self, text: str) -> None:
        """Write to the match's transcript."""
        sys.stdout.write(inked(text, _CODES) if self.colour else plain(text))
        sys.stdout.flush()

    def notice(self, text: str) -> None:
        """Say something that is not part of the transcript."""
        sys.stdout.flush()
        sys.stderr.write(f"{text}\n")
        sys.stderr.flush()

    def ask(self, question: Question, unseen: bool = False) -> str:
        """The line entered; `unseen` keeps it off a terminal. EOFError at the end of input."""
        if question.notice:
            self.say(f"{question.notice}\n")
        if unseen and self.on_terminal:
            self.say(question.prompt)
            # getpass writes its prompt to the terminal itself, past the transcript.
            return getpass.getpass("")
        self.say(question.prompt)
        line = sys.stdin.readline()
        if not line:
            self.say("\n")
            raise EOFError
        entry = line.rstrip("\r\n")
        if not self.on_terminal:
            self.say(f"{as_typed(entry)}\n")
        return entry

    def whisper(self, text: str) -> None:
        """Show something that must not stay on the screen or in its scroll-back."""
        if not self.on_terminal:
            self.say(text)
            return
        self.say(_ASIDE + _CLEAR + text)
        try:
            self.pause("\nPress Enter to hide this. ")
        finally:
            self.say(_CLEAR + _BACK)

    def clear(self) -> None:
        """An empty screen, with nothing to scroll back to where the terminal allows it."""
        self.say(_CLEAR)

    def pause(self, text: str) -> None:
        """Wait for Enter; whatever else is typed is not shown."""
        getpass.getpass(text)


def as_typed(entry: str) -> str:
    """An entry as a transcript shows it: one printable line, not a megabyte."""
    return quote(entry, _ECHO_LIMIT)[1:-1]
