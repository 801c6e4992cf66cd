"""The keys of the board: what they do, and which of them were pressed by themselves."""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from time import monotonic

from textual.message_pump import MessagePump
from textual.timer import Timer

from duels.terminal import prompts
from duels.terminal.board.grid import Point
from duels.terminal.keyboard import KEY_GAP_SECONDS, SILENCE_SECONDS

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


HINT = Command("hint", "h", "f2", prompts.COMMANDS["hint"])
QUIT = Command("quit", "q", "f10", prompts.COMMANDS["quit"], always=True)
COMMANDS = (
    HINT,
    Command("undo", "u", "f3", prompts.COMMANDS["undo"]),
    Command("review", "v", "f4", "what every decision so far was worth"),
    Command("resign", "r", "f5", prompts.COMMANDS["resign"]),
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


class SingleKeyFilter:
    """Hears keys; calls `choose` with one that is wanted and came alone, and `refuse` for anything else.

    After that nothing is heard until there was a moment of silence.
    """

    def __init__(self, pump: MessagePump, choose: Callable[[str], None], refuse: Callable[[], None]) -> None:
        self._pump = pump
        self._choose = choose
        self._refuse = refuse
        self._waiting: Timer | None = None
        self._chosen = ""  # while it waits for what may follow
        self._deaf_until = 0.0

    def press(self, key: str, wanted: Collection[str]) -> None:
        """Hear a key: its letter, or its name."""
        waiting, self._waiting = self._waiting, None
        if waiting:
            waiting.stop()
        deaf = monotonic() < self._deaf_until
        if waiting and key == "enter":
            self._act()
        elif key in wanted and not waiting and not deaf:
            self._chosen = key
            self._waiting = self._pump.set_timer(KEY_GAP_SECONDS, self._act)
        else:
            self._deaf_until = monotonic() + SILENCE_SECONDS
            if not deaf:
                self._refuse()

    def _act(self) -> None:
        self._waiting = None
        self._choose(self._chosen)
