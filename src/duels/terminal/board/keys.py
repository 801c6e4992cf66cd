"""The keys of the board, and what they do."""

from dataclasses import dataclass

from duels.terminal.board.grid import Point
from duels.terminal.dialogue import WHAT_A_HINT_IS

ARROWS: dict[str, Point] = {"left": (-1, 0), "right": (1, 0), "up": (0, -1), "down": (0, 1)}


@dataclass(frozen=True)
class Command:
    """Something to do beside choosing an action."""

    name: str
    letter: str
    """Does it where the game has no meaning of its own for it."""
    key: str
    """Always does it."""
    what: str
    always: bool = False
    """Also while nobody is to decide."""


HINT = Command("hint", "h", "f2", WHAT_A_HINT_IS)
QUIT = Command("quit", "q", "f10", "leave; the match is saved and can be resumed", always=True)
COMMANDS = (
    HINT,
    Command("undo", "u", "f3", "take back your last decision"),
    Command("review", "v", "f4", "what every decision so far was worth"),
    Command("resign", "r", "f5", "give up"),
    Command("help", "?", "f1", "these keys, and the rules", always=True),
    QUIT,
)
_CHOOSING = {
    "arrows": "point at a cell or an action",
    "Enter": "choose it",
    "digits": "choose by number or name at once; Enter ends one that could go on",
    "mouse": "click on it",
    "Tab": "something else to do there; so does its first letter",
    "Escape": "begin this choice again",
}
_WIDTH = 10


def help_text() -> str:
    """What every key does."""
    keys = {**_CHOOSING, **{f"{c.letter} {c.key.upper()}": f"{c.name}: {c.what}" for c in COMMANDS}}
    lines = "".join(f"  {key:<{_WIDTH}}{what}\n" for key, what in keys.items())
    return f"Keys\n{lines}  {'Ctrl-C':<{_WIDTH}}leave at once; the match is saved\n"
