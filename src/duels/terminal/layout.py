"""Lines that fit a terminal: broken between words, never in one."""

import os
import re
import sys

from duels.core.words import Ink, plain

# A line may be broken at spaces, and between the cells of a row: [1][2]; never in what is to be copied.
_PIECES = re.compile(rf"{Ink.COPIED('.*?')}|\s+|\[[^\]]*\]|[^\s\[{Ink.COPIED.value}]+|.")

# What stands before the text of a list's line: `  1. name  `, `- `, `help  `, `MOVE n  `.
_HANG = re.compile(r" *(?:(?:[0-9]+\.|-) +)?(?:[^\s\[]+(?: [^\s\[]+)? {2,})?")

# Text that may go on from the line above: no row of a drawing, and no choice, `Q: `.
_TEXT = re.compile(r"\w(?!:)")


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
        if len(plain(line)) <= width:
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
    hang = _HANG.match(plain(line))
    return hang.end() if hang else 0


def _goes_on(line: str, hang: int) -> bool:
    """Whether there is only text, so far in: it is no item of the same list, no row of a drawing."""
    line = plain(line)
    return _hang(line) == hang and line[:hang].isspace() and _TEXT.match(line, hang) is not None


def _broken(line: str, width: int, indent: str) -> list[str]:
    lines, current = [], ""
    for piece in _PIECES.findall(line):
        if current.strip() and len(plain(current + piece).rstrip()) > width:
            lines.append(current.rstrip(" "))
            current = indent
            piece = piece.lstrip(" ")
        current += piece
    return [*lines, current]
