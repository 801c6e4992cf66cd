"""Lines that fit a terminal: broken between words, never in one."""

import re

from duels.core.words import plain

# A line may be broken at spaces, and between the cells of a row: [1][2].
_PIECES = re.compile(r"\s+|\[[^\]]*\]|[^\s\[]+|\[")


def wrap(text: str, width: int) -> str:
    """The text with no line wider than `width`, unless a single word is; marks of ink take no room."""
    return "\n".join(_wrapped(line, width) for line in text.split("\n"))


def _wrapped(line: str, width: int) -> str:
    if len(plain(line)) <= width:
        return line
    indent = " " * (len(line) - len(line.lstrip(" ")) + 2 * line.lstrip(" ").startswith("- "))
    lines, current = [], ""
    for piece in _PIECES.findall(line):
        if current.strip() and len(plain(current + piece).rstrip()) > width:
            lines.append(current.rstrip(" "))
            current = indent
            piece = piece.lstrip(" ")
        current += piece
    return "\n".join([*lines, current])
