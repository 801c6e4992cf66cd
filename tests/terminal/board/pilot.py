"""Matches on the full-screen board, driven by Textual's pilot."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from time import monotonic
from typing import Any
from unittest import mock

from textual import _wait
from textual.pilot import Pilot

from duels.core.game import Game
from duels.core.match import AnyMatch, Match
from duels.games import find_game
from duels.play.journal import Journal
from duels.play.live import LiveMatch
from duels.play.new_match import seat_players
from duels.terminal.board.app import AppResult, BoardApp
from duels.terminal.board.view import BoardView

SIZES = ((80, 24), (120, 40))
_PATIENCE = 30  # seconds
_POLL_SECONDS = 0.004  # Textual's default of 0.02 makes every key slow


class Player:
    """A person at the board."""

    def __init__(self, app: BoardApp, pilot: Pilot[AppResult]) -> None:
        self.app = app
        self.live = app.live
        self.pilot = pilot

    @property
    def screen_text(self) -> str:
        """The lines of the screen."""
        return "\n".join(strip.text.rstrip() for strip in self.app.screen._compositor.render_strips())

    @property
    def screen_words(self) -> str:
        """The words of the screen in one line, so that wrapping does not matter."""
        return " ".join(self.screen_text.replace("│", " ").split())

    async def wait_until(self, condition: Callable[[], bool]) -> None:
        deadline = monotonic() + _PATIENCE
        await self.pilot.pause()
        while not condition():
            assert monotonic() < deadline, f"timed out:\n{self.screen_text}"
            await self.pilot.pause()

    async def wait_for_turn(self) -> None:
        """Wait until a person is to move or the match is over."""
        await self.wait_until(lambda: self.app.choice is not None or self.live.match.over)
        await self.pilot.pause()

    async def press(self, *keys: str) -> None:
        """Press keys and wait until a person is to move."""
        for key in keys:
            await self.pilot.press(key)
        await self.wait_for_turn()

    async def see(self, text: str) -> None:
        """Wait until the text is on the screen."""
        await self.wait_until(lambda: text in self.screen_words)

    async def click(self, cell: int) -> None:
        view = self.app.screen.query_one(BoardView)
        await self.pilot.click(view, offset=view._grid.get_origin(cell))
        await self.wait_for_turn()

    async def wait_for_exit(self) -> AppResult | None:
        """Wait until the application exits, and return its result."""
        await self.wait_until(lambda: self.app.return_value is not None)
        return self.app.return_value


def live_match(
    game: str | Game,
    one: str = "human",
    two: str = "human",
    path: Path | None = None,
    entries: str = "",
    chance: str = "",
    notice: Callable[[str], None] = lambda text: None,
    **options: Any,
) -> LiveMatch:
    """Start a match between these players and play the entries. Record it at `path`."""
    rules = (find_game(game) if isinstance(game, str) else game).rules(**options)
    match: AnyMatch = Match.start(rules)
    headers = {"seat1": one, "seat2": two, "seed": "7", "chance": chance}
    journal = Journal.create(path, match, headers) if path else None
    live = seat_players(match, headers, journal, notice)
    for entry in entries.split():
        after = live.match.play_text(entry)
        assert after.last
        live.play(after.last.actor, after.last.action)
    return live


def at_board(
    live: LiveMatch,
    act: Callable[[Player], Awaitable[None]],
    size: tuple[int, int] = SIZES[0],
    pause_seconds: float = 0.0,
) -> AppResult | None:
    """Run `act` at the board and return the result of the application."""

    async def run() -> AppResult | None:
        app = BoardApp(live, pause_seconds)
        async with app.run_test(size=size) as pilot:
            player = Player(app, pilot)
            await player.wait_for_turn()
            await act(player)
        return app.return_value

    try:
        with mock.patch.object(_wait, "SLEEP_GRANULARITY", _POLL_SECONDS):
            return asyncio.run(run())
    finally:
        if live.journal:
            live.journal.close()
