"""A key that was pressed by itself, told from a word that was typed ahead."""

from collections.abc import Callable, Collection
from time import monotonic

from textual.message_pump import MessagePump
from textual.timer import Timer

from duels.terminal.keyboard import ALONE, SILENCE


class Deliberate:
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
            self._waiting = self._pump.set_timer(ALONE, self._act)
        else:
            self._deaf_until = monotonic() + SILENCE
            if not deaf:
                self._refuse()

    def _act(self) -> None:
        self._waiting = None
        self._choose(self._chosen)
