"""Texts that call players by their seats, told with names, and to one of them as `you`."""

import re
from collections.abc import Mapping
from functools import lru_cache

from duels.core.rules import Seat

Names = Mapping[Seat, str]
LABELS: Names = {seat: seat.label for seat in Seat}
"""What everybody is called who has no name."""

_LABEL = re.compile(r"\bPlayer ([12])\b")
_SUBJECT = re.compile(r"\bPlayer ([12])(?P<owns>'s)?\b(?: (?P<verb>[a-z]+s)\b)?")
_AND = re.compile(r"(\b[Yy]ou\b[^.!:;]* and )(win|lose)s\b")  # the second verb, where there is one
_VERBS = {"has": "have", "is": "are"}
_ADDS_E = re.compile(r"(?:ss|sh|ch|x|zz|o)es$")  # passes, reaches, goes
MOST_TEXTS = 2048  # that are remembered: moves are told in the same words again and again


def with_names(text: str, names: Names) -> str:
    """A text with the players' names."""
    return _LABEL.sub(lambda found: names[Seat(int(found[1]))], text)


def told_to(reader: Seat | None, text: str, names: Names) -> str:
    """The same, with `you` for its reader: `Player 1 resigns.` is `You resign.`"""
    return _told_to(reader, text, names[Seat.ONE], names[Seat.TWO])


@lru_cache(MOST_TEXTS)
def _told_to(reader: Seat | None, text: str, one: str, two: str) -> str:
    names = {Seat.ONE: one, Seat.TWO: two}

    def told(found: re.Match[str]) -> str:
        if Seat(int(found[1])) is not reader:
            return found[0]
        begins = not found.start() or text[found.start() - 2] in ".!:"
        ends = text[found.end() : found.end() + 1] in ".,!"
        return _you(found["owns"], found["verb"], begins, ends)

    return with_names(_AND.sub(r"\1\2", _SUBJECT.sub(told, text)), names)


def _you(owns: str | None, verb: str | None, begins: bool, ends: bool) -> str:
    """A player as `you`, with the verb that follows, at the beginning or the end of a sentence."""
    you = ("yours" if ends else "your") if owns else "you"
    rest = (verb if owns else _second_person(verb)) if verb else ""
    return f"{you.capitalize() if begins else you}{' ' * bool(rest)}{rest}"


def _second_person(verb: str) -> str:
    """What you do, if `verb` is what somebody else does."""
    if verb.endswith("ies") and len(verb) > len("ties"):  # which keeps its e, as lies and dies do
        return f"{verb[:-3]}y"
    return _VERBS.get(verb, verb[:-2] if _ADDS_E.search(verb) else verb[:-1])
