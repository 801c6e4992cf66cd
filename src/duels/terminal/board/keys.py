"""The keys of the full-screen board: its commands, and a filter for keys that are pressed alone."""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from time import monotonic
from typing import Any

from textual.app import App
from textual.timer import Timer

from duels.core.rules import AnyRules
from duels.terminal.keyboard import KEY_GAP_SECONDS, SILENCE_SECONDS
from duels.terminal.prompts import COMMANDS as PROMPT_COMMANDS
from duels.terminal.prompts import STOP_COMMAND


@dataclass(frozen=True)
class Command:
    """A command of the full-screen board and its keys."""

    name: str
    letter: str
    """The letter that runs the command, unless the game uses the letter itself."""
    key: str
    """The function key, which always runs the command."""
    description: str
    works_anytime: bool = False
    """Whether the command also works while no person is to move."""


HINT = Command("hint", "h", "f2", "show where to look; press it again for the best action, then to see why")
QUIT = Command("quit", "q", "f10", PROMPT_COMMANDS["quit"], works_anytime=True)
STOP = Command("stop", "s", "f6", STOP_COMMAND)
COMMANDS = (
    HINT,
    Command("undo", "u", "f3", PROMPT_COMMANDS["undo"]),
    Command("review", "v", "f4", "show what each decision cost"),
    Command("resign", "r", "f5", PROMPT_COMMANDS["resign"]),
    STOP,
    Command("help", "?", "f1", "show these keys and the rules", works_anytime=True),
    QUIT,
)
_CHOOSING = {
    "arrows": "move the cursor to a cell or a move",
    "Enter": "choose the cell or move at the cursor",
    "digits": "choose by number or name; press Enter if another digit could follow",
    "mouse": "click on a cell or a move to choose it",
    "Tab": "switch to another kind of move; its first letter works too",
    "Escape": "start this choice again",
}
_WIDTH = 10


def list_commands(rules: AnyRules) -> list[Command]:
    """Return the commands in a match with these rules."""
    return [command for command in COMMANDS if command is not STOP or rules.enough_boards]


def format_key_help(rules: AnyRules) -> str:
    """Format the list of all keys for the help screen."""
    commands = {f"{c.letter} {c.key.upper()}": f"{c.name}: {c.description}" for c in list_commands(rules)}
    keys = {**_CHOOSING, **commands}
    lines = "".join(f"  {key:<{_WIDTH}}{description}\n" for key, description in keys.items())
    return f"Keys\n{lines}  {'Ctrl-C':<{_WIDTH}}leave at once; the match is saved\n"


class SingleKeyFilter:
    """Calls `choose` with a valid key that was pressed alone, and `reject` for anything else.

    After a rejection, it ignores keys until the person stops typing for a moment.
    """

    def __init__(self, app: App[Any], choose: Callable[[str], None], reject: Callable[[], None]) -> None:
        self._app = app
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
            self._timer = self._app.set_timer(KEY_GAP_SECONDS, self._accept)
        else:
            self._ignore_until = monotonic() + SILENCE_SECONDS
            if not is_ignored:
                self._reject()

    def _accept(self) -> None:
        self._timer = None
        self._choose(self._pending_key)
