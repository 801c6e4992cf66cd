"""A live match on the full-screen board."""

import os

from duels.core.errors import DuelsError
from duels.play.live import LiveMatch
from duels.terminal import messages
from duels.terminal.board.app import AppResult, BoardApp
from duels.terminal.board.grid import MAX_CELLS
from duels.terminal.next_step import NextStep
from duels.terminal.screen import Screen
from duels.terminal.signals import redirect_signals


class BoardMatch:
    """A live match on the full-screen board. Raises DuelsError if the board cannot show it."""

    def __init__(self, live: LiveMatch, screen: Screen) -> None:
        self.live = live
        self.screen = screen
        if not screen.can_fill:
            raise DuelsError(
                "the full-screen board needs a terminal. "
                "Leave out --board, or do not redirect input and output."
            )
        if not live.people:
            raise DuelsError("the full-screen board needs a person at one of the seats. Leave out --board.")
        count = sum(map(len, live.words.board(live.match.sight(min(live.people))).cells))
        if count > MAX_CELLS:
            raise DuelsError(
                f"the full-screen board shows at most {MAX_CELLS} cells, not {count}. Leave out --board."
            )

    def run(self) -> NextStep:
        """Play to the end and return the next step that the person chose."""
        if not self.screen.colour:
            os.environ["NO_COLOR"] = "1"  # Textual reads and removes it
        app = BoardApp(self.live, self.screen.pause_seconds, self.screen.in_menu)
        result: AppResult | None = None
        with self.screen.redirect_notices(app.notice), redirect_signals(app.leave):
            try:
                result = app.run()
            except OSError:
                if not app.exit_request:  # otherwise the terminal may be gone
                    raise
        result = app.exit_request or result
        if isinstance(result, BaseException):
            raise result
        if result is None:
            raise DuelsError("the full-screen board failed. The match is saved: continue with duels resume.")
        self._show_result()
        return result

    def _show_result(self) -> None:
        if outcome := self.live.match.outcome:
            reason = outcome.sentence.render(messages.name_players(self.live))
            self.screen.say(f"{reason} {messages.format_score(self.live)}".rstrip() + "\n")
