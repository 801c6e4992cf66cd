"""What can go wrong, told apart: unreadable text, a move that is not allowed, a damaged record.

Every message is one line, quotes the input it is about, and says what would have been allowed.
"""

from collections.abc import Iterable, Sequence

_LONGEST_NAME = 40  # letters that are compared with the known names


class DuelsError(ValueError):
    """The base class of every error that this package raises on purpose."""


class NotationError(DuelsError):
    """The text cannot be read as an action or a position."""


class IllegalMove(DuelsError):
    """The action can be read but is not allowed now."""


class NotYourTurn(IllegalMove):
    """It is somebody else's turn."""


class GameOver(IllegalMove):
    """The match has ended; nothing more can be played."""


class RecordError(DuelsError):
    """A record is damaged or illegal; `line` is the first wrong line, counted from 1."""

    def __init__(self, message: str, line: int | None = None) -> None:
        super().__init__(f"line {line}: {message}" if line else message)
        self.line = line

    def in_file(self, file: object) -> "RecordError":
        """The same error, naming the file it is in."""
        self.args = (f"{file}: {self}",)
        return self


class UnknownName(DuelsError):
    """No game, player or option goes by that name."""


class BadOption(DuelsError):
    """An option has a value with which there is no game."""


class TooLarge(DuelsError):
    """A game is too large for what was asked: it has too many states, actions, chances or ways to go."""


def escape_unprintable(text: str, but: str = "") -> str:
    """`text` without anything that a terminal would act on, `but` for these characters."""
    return "".join(c if c.isprintable() or c in but else c.encode("unicode_escape").decode() for c in text)


def quote(text: str, limit: int = 40) -> str:
    """`text` as it may be shown in a message: printable, in quotes, cut to `limit`."""
    shown = escape_unprintable(text[:limit])
    return f"'{shown}…'" if len(text) > limit else f"'{shown}'"


def find_nearest(name: str, known: Iterable[str]) -> str:
    """Which of the known names a mistyped one is nearest to; empty if none is near."""
    from difflib import get_close_matches  # slow to import, and only mistakes need it

    return next(iter(get_close_matches(name.strip().lower()[:_LONGEST_NAME], known, n=1)), "")


def format_unknown_name(what: str, name: str, known: Sequence[str]) -> str:
    """That there is no `what` of that name, which one may be meant, and which there are."""
    near = find_nearest(name, known)
    meant = f" did you mean {near}? There" if near else " there"
    return f"There is no {what} {quote(name)};{meant} are {', '.join(known)}."


def format_install_command(extra: str) -> str:
    """How to install an extra, with the package or from its sources."""
    return f"pip install 'duels[{extra}]', or '.[{extra}]' in its folder"
