"""Puts a live match on the board, in place of the prompt, and gives the terminal back as it was."""

import os
import sys

from duels.core.errors import DuelsError
from duels.play.live import LiveMatch
from duels.terminal.board.app import AppResult, BoardApp
from duels.terminal.messages import find_solo_seat, format_result
from duels.terminal.next_step import NextStep
from duels.terminal.screen import Screen
from duels.terminal.signals import redirect_signals

_MOST_CELLS = 400


class BoardMatch:
    """A live match on a full screen. DuelsError where that cannot be."""

    def __init__(self, live: LiveMatch, screen: Screen) -> None:
        self.live = live
        self.screen = screen
        name = live.match.rules.name
        # Textual draws on stderr, so that what is piped elsewhere stays clean.
        if not (screen.on_terminal and screen.can_clear and sys.stderr.isatty()):
            raise DuelsError("a full-screen board needs a terminal.")
        if not live.people:
            raise DuelsError("a full-screen board is for people; machines play at the prompt.")
        if live.match.rules.has_secrets and len(live.people) == 2:
            raise DuelsError(
                f"two people play {name} at the prompt: on a board the cursor would show the other's cell. "
                "Against the machine: --seat2 casual."
            )
        count = sum(map(len, live.words.board(live.match.sight(min(live.people))).cells))
        if count > _MOST_CELLS:
            raise DuelsError(
                f"{count} cells are too many for a board, which shows {_MOST_CELLS}: play at the prompt."
            )

    def run(self) -> NextStep:
        """Play to the end, and ask what comes next."""
        if not self.screen.colour:
            os.environ["NO_COLOR"] = "1"  # which Textual reads, and removes
        app = BoardApp(self.live, self.screen.pause_seconds)
        left: AppResult | None = None
        with self.screen.redirect_notices(app.notice), redirect_signals(app.leave):
            try:
                left = app.run()
            except OSError:
                if not app.told_to_leave:  # else the terminal may be gone
                    raise
        left = app.told_to_leave or left
        if isinstance(left, BaseException):
            raise left
        if left is None:
            raise DuelsError("the board failed; the match is saved as far as it went.")
        self._tell_result()
        return left

    def _tell_result(self) -> None:
        """Leave a line on the terminal, which shows again what was there before."""
        outcome, you = self.live.match.outcome, find_solo_seat(self.live)
        if outcome:
            self.screen.say(
                f"{outcome.reason} {format_result(self.live, you) if you else ''}".rstrip() + "\n"
            )
