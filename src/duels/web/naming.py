"""Texts and drawings that call players by their seats, told with names, and to one of them as `you`."""

import re
from collections.abc import Mapping
from html import escape

from duels.core.rules import Seat
from duels.core.svg import shortened

Names = Mapping[Seat, str]

_LABEL = re.compile(r"\bPlayer ([12])\b")
_SUBJECT = re.compile(r"\bPlayer ([12])(?P<owns>'s)?\b(?: (?P<verb>[a-z]+s)\b)?")
_DRAWN_LABEL = re.compile(r' data-(?!veiled)[\w-]+="[^"]*"|(>?)\bPlayer ([12])\b(<?)')
_ROOM = 103  # of a name that stands beside the board, in units of the drawing
_VERBS = {"has": "have", "is": "are", "reaches": "reach"}


def with_names(text: str, names: Names) -> str:
    """A text with the players' names."""
    return _LABEL.sub(lambda found: names[Seat(int(found[1]))], text)


def told_to(reader: Seat | None, text: str, names: Names) -> str:
    """The same, with `you` for its reader: `Player 1 resigns.` is `You resign.`"""

    def told(found: re.Match[str]) -> str:
        if Seat(int(found[1])) is not reader:
            return found[0]
        verb = found["verb"]
        you = "your" if found["owns"] else "you"
        begins = not found.start() or text[found.start() - 2] in ".!:"
        if found["owns"] and text[found.end() : found.end() + 1] in ".,!":
            you = "yours"
        rest = (verb if found["owns"] else _VERBS.get(verb, verb[:-1])) if verb else ""
        return f"{you.capitalize() if begins else you}{' ' * bool(rest)}{rest}"

    return with_names(_SUBJECT.sub(told, text), names)


def drawn_with_names(svg: str, names: Names) -> str:
    """A drawing with names: cut short where one stands alone, with the whole name as a title."""

    def named(found: re.Match[str]) -> str:
        if found[0].startswith(" data-"):
            return found[0]
        before, seat, after = found.groups()
        name = names[Seat(int(seat))]
        if before and after and (short := shortened(name, _ROOM)) != name:
            return f"{before}<title>{escape(name)}</title>{escape(short)}{after}"
        return f"{before}{escape(name)}{after}"

    # Few boards name anybody, so the cheapest test comes first: a single letter.
    return _DRAWN_LABEL.sub(named, svg) if "P" in svg and "Player " in svg else svg
