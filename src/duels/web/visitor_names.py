"""The names that visitors choose. None can be mistaken for another player or for a word of the server."""

import re
from collections.abc import Iterable, Iterator
from itertools import count
from unicodedata import category, combining, normalize

from duels.core.rules import Seat
from duels.players import PLAYER_KINDS

MAX_NAME_LENGTH = 30
"""The length of a name, in code points."""
_SUFFIX_LENGTH = len(" (2)")
_MAX_MARKS = 3  # combining marks on one character: more would cover the lines above and below
_WORDS = (
    *("You", "Your", "Yourself", "Chance", "Nobody", "Friend", "A friend", "X", "O"),
    *(seat.label for seat in Seat),
)
_READERS = ("you", "your")
"""First words with which a name could be a sentence to the reader, such as `Your turn` or `You've`."""
_NUMBERED = re.compile(r" \(\d+\)$")
_EMOJI = "[\u2190-\u27ff\u2900-\u2bff\U0001f000-\U0001faff][\ufe0f\U0001f3fb-\U0001f3ff]?"
_REGION_FLAG = "\U0001f3f4[\U000e0030-\U000e0039\U000e0061-\U000e007a]{4,6}\U000e007f"
_KEYCAP = "[0-9#*]\ufe0f?\u20e3"
_PIECE = re.compile(
    f"[\U0001f1e6-\U0001f1ff]{{2}}|{_REGION_FLAG}|{_KEYCAP}|{_EMOJI}(?:\u200d{_EMOJI})*|.", re.DOTALL
)
"""A flag, a keycap, an emoji with its skin tone and joined emoji, or one character."""
_INVISIBLE = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)
"""Invisible characters that Python calls printable."""
_LOOK_ALIKES = str.maketrans(
    "ΑΒΕΖΗΙΚΜΝΟΡΤΥΧαορυνАВЕКМНОРСТУХІЈЅаеорсухіјѕԁһ", "ABEZHIKMNOPTYXaopuvABEKMHOPCTYXIJSaeopcyxijsdh"
)
_EQUAL_SHAPES = str.maketrans("i10", "llo")


def clean_name(name: str, others: Iterable[str] = ()) -> str:
    """Return a name as one short line without invisible characters and bidirectional marks.

    A name that looks like one of `others`, a bot's name or a word such as `You` gets a number.

    >>> clean_name("  Ann \\u202e")
    'Ann'
    >>> clean_name("y o u")
    'y o u (2)'
    """
    visible = "".join(_clean_pieces(_PIECE.findall(normalize("NFC", name))))
    name = unique = _cut(" ".join(visible.split()), MAX_NAME_LENGTH)
    taken = {_make_key(word) for word in (*_WORDS, *PLAYER_KINDS, *others)}
    numbers = count(2)
    while name and (_make_key(unique) in taken or _addresses_reader(unique)):
        unique = f"{_cut(name, MAX_NAME_LENGTH - _SUFFIX_LENGTH)} ({next(numbers)})"
    return unique


def _addresses_reader(name: str) -> bool:
    first, *_ = name.split()
    words = first, re.split(r"(?<=\w)['’ʼ＇`´]", first)[0]
    return any(_make_key(word) in _READERS for word in words) and not _NUMBERED.search(name)


def _clean_pieces(pieces: Iterable[str]) -> Iterator[str]:
    """Yield the visible pieces of a name, with a few combining marks on each character."""
    marks = 0
    for piece in pieces:
        cleaned = piece if len(piece) > 1 else _clean_character(piece)
        if len(cleaned) == 1 and category(cleaned) in ("Mn", "Me"):
            marks += 1
        elif cleaned:
            marks = 0
        if marks <= _MAX_MARKS:
            yield cleaned


def _clean_character(character: str) -> str:
    if character.isspace() or category(character) == "Cc":
        return " "
    return character if character.isprintable() and not _INVISIBLE.match(character) else ""


def _cut(name: str, length: int) -> str:
    """Return the first `length` code points of a name, without a part of an emoji at the end."""
    while len(name) > length:
        name = "".join(_PIECE.findall(name)[:-1])
    return name.strip()


def _make_key(name: str) -> str:
    """Return a string that is equal for names that look alike: without case, accents, spaces and symbols."""
    visible = _INVISIBLE.sub("", name.replace("\u200d", ""))
    folded = normalize("NFKD", visible.translate(_LOOK_ALIKES)).casefold().translate(_EQUAL_SHAPES)
    return "".join(filter(_is_in_key, folded)) or visible


def _is_in_key(character: str) -> bool:
    kind = category(character)
    return kind[0] in "LN" or (kind in ("Mn", "Mc") and not combining(character))
