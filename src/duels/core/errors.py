"""The errors that this package raises.

A message is one line. It quotes the input and says what is allowed.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

_MAX_COMPARED = 40  # characters of a mistyped name; comparing long names is slow


class DuelsError(ValueError):
    """The base class of all errors that this package raises on purpose.

    >>> import duels
    >>> try:
    ...     duels.find_game("chess")
    ... except duels.DuelsError as error:
    ...     print(type(error).__name__)
    UnknownName
    """


class NotationError(DuelsError):
    """A text is not an action or a position of the game.

    >>> import duels
    >>> duels.start("leap").play_text("jump")
    Traceback (most recent call last):
    duels.core.errors.NotationError: Cannot read 'jump': say how many cells to leap (4), or enter.
    """


class IllegalMove(DuelsError):
    """An action is not allowed now.

    >>> import duels
    >>> duels.start("leap").play_text("4")
    Traceback (most recent call last):
    duels.core.errors.IllegalMove: '4' is not allowed now; allowed: enter.
    """


class NotYourTurn(IllegalMove):
    """An action came from the wrong seat.

    >>> import duels
    >>> match = duels.start("lights")
    >>> match.play(duels.Seat.TWO, match.actions[0])
    Traceback (most recent call last):
    duels.core.errors.NotYourTurn: It is Player 1's turn.
    """


class GameOver(IllegalMove):
    """An action came after the end of the match.

    >>> import duels
    >>> duels.start("leap").play_text("resign", "enter")
    Traceback (most recent call last):
    duels.core.errors.GameOver: The match is over.
    """


class RecordError(DuelsError):
    """A record is damaged or contains an illegal entry.

    `line` is the number of the first wrong line, counted from 1, or None.

    >>> import duels
    >>> duels.load_record("duels record 2\\ngame: leap\\n\\n4\\n")
    Traceback (most recent call last):
    duels.core.errors.RecordError: line 4: '4' is not allowed now; allowed: enter.
    """

    def __init__(self, message: str, line: int | None = None) -> None:
        super().__init__(f"line {line}: {message}" if line else message)
        self.line = line

    def in_file(self, file: object) -> "RecordError":
        """Add the name of the file to the message and return the error."""
        self.args = (f"{file}: {self}",)
        return self


class UnknownName(DuelsError):
    """No game, player or option has this name.

    >>> import duels
    >>> duels.start("lights", lamps=5)
    Traceback (most recent call last):
    duels.core.errors.UnknownName: lights has no option 'lamps'; it has lights.
    """


class BadOption(DuelsError):
    """An option of a game has a value that is not allowed.

    >>> import duels
    >>> duels.start("leap", goal=0)
    Traceback (most recent call last):
    duels.core.errors.BadOption: goal must be at least 1 in leap, not 0.
    """


class TooLarge(DuelsError):
    """A game is too large for the requested method."""


class MissingExtra(ModuleNotFoundError, DuelsError):
    """An optional dependency is not installed; the message says how to install it."""


def escape_unprintable(text: str, keep: str = "") -> str:
    """Escape all unprintable characters in `text` except those in `keep`."""
    return "".join(c if c.isprintable() or c in keep else c.encode("unicode_escape").decode() for c in text)


def quote(text: str, limit: int = 40) -> str:
    """Quote `text` for a message: printable, and at most `limit` characters long."""
    printable = escape_unprintable(text[:limit])
    return f"'{printable}…'" if len(text) > limit else f"'{printable}'"


def shorten_list(items: Sequence[str], limit: int) -> list[str]:
    """Return the first `limit` items, and `N more` if there are others."""
    remaining = len(items) - limit
    return [*items[:limit], f"{remaining} more"] if remaining > 0 else list(items)


def find_nearest(name: str, candidates: Iterable[str]) -> str:
    """Return the candidate most similar to a mistyped name, or '' if none is similar."""
    from difflib import get_close_matches  # slow to import, and only mistakes need it

    return next(iter(get_close_matches(name.strip().lower()[:_MAX_COMPARED], candidates, n=1)), "")


def format_unknown_name(kind: str, name: str, candidates: Sequence[str]) -> str:
    """Return a message for an unknown name, with the nearest candidate and the list of all."""
    nearest = find_nearest(name, candidates)
    hint = f" did you mean {nearest}? There" if nearest else " there"
    return f"There is no {kind} {quote(name)};{hint} are {', '.join(candidates)}."


def format_install_command(extra: str) -> str:
    """Return the command that installs an extra."""
    return f"pip install 'duels[{extra}]', or '.[{extra}]' in its folder"


@contextmanager
def require_extra(name: str) -> Iterator[None]:
    """Raise MissingExtra for an import that fails inside this context."""
    try:
        yield
    except ModuleNotFoundError as missing:
        raise MissingExtra(
            f"This needs {missing.name}: {format_install_command(name)}.", name=missing.name
        ) from None
