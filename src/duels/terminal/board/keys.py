"""The keys of the full-screen board."""

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
    """A command of the board."""

    name: str
    letter: str
    """Runs the command unless the game uses the letter itself."""
    key: str
    """The function key, which always runs the command."""
    description: str
    always: bool = False
    """Whether the command also works while no person is to move."""


HINT = Command("hint", "h", "f2", prompts.COMMANDS["hint"])
QUIT = Command("quit", "q", "f10", prompts.COMMANDS["quit"], always=True)
COMMANDS = (
    HINT,
    Command("undo", "u", "f3", prompts.COMMANDS["undo"]),
    Command("review", "v", "f4", "show what each decision cost"),
    Command("resign", "r", "f5", prompts.COMMANDS["resign"]),
    Command("help", "?", "f1", "show these keys and the rules", always=True),
    QUIT,
)
_CHOOSING = {
    "arrows": "point at a cell or an action",
    "Enter": "choose it",
    "digits": "choose by number or name; press Enter if a longer number would be possible",
    "mouse": "click on it",
    "Tab": "choose another kind of action; its first letter works too",
    "Escape": "start this choice again",
}
_WIDTH = 10


def format_key_help() -> str:
    """Format the list of keys."""
    keys = {**_CHOOSING, **{f"{c.letter} {c.key.upper()}": f"{c.name}: {c.description}" for c in COMMANDS}}
    lines = "".join(f"  {key:<{_WIDTH}}{description}\n" for key, description in keys.items())
    return f"Keys\n{lines}  {'Ctrl-C':<{_WIDTH}}leave at once; the match is saved\n"


class SingleKeyFilter:
    """Calls `choose` with a valid key that was pressed alone, and `reject` for anything else.

    After a rejection, keys are ignored until nothing was typed for a moment.
    """

    def __init__(self, pump: MessagePump, choose: Callable[[str], None], reject: Callable[[], None]) -> None:
        self._pump = pump
        self._choose = choose
        self._reject = reject
        self._timer: Timer | None = None  # runs while another key may follow
        self._pending_key = ""
        self._ignore_until = 0.0

    def press(self, key: str, valid_keys: Collection[str]) -> None:
        """Handle a key, given by its letter or its name."""
        timer, self._timer = self._timer, None
        if timer:
            timer.stop()
        is_ignored = monotonic() < self._ignore_until
        if timer and key == "enter":
            self._accept()
        elif key in valid_keys and not timer and not is_ignored:
            self._pending_key = key
            self._timer = self._pump.set_timer(KEY_GAP_SECONDS, self._accept)
        else:
            self._ignore_until = monotonic() + SILENCE_SECONDS
            if not is_ignored:
                self._reject()

    def _accept(self) -> None:
        self._timer = None
        self._choose(self._pending_key)
