"""Matches on the board, driven by Textual's pilot: keys and clicks go in, the screen comes out as text."""

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
_PATIENCE = 30  # seconds until a test that waits in vain fails
_GLANCE = 0.004  # seconds; Textual looks every 0.02 whether all is done, several times for every key


class Player:
    """Somebody at the board."""

    def __init__(self, app: BoardApp, pilot: Pilot[AppResult]) -> None:
        self.app = app
        self.live = app.live
        self.pilot = pilot

    @property
    def shown(self) -> str:
        """What is on the screen."""
        return "\n".join(strip.text.rstrip() for strip in self.app.screen._compositor.render_strips())

    @property
    def story(self) -> str:
        """What is on the screen, in one line: long ones are wrapped."""
        return " ".join(self.shown.replace("│", " ").split())

    async def until(self, happened: Callable[[], bool]) -> None:
        """Wait for something."""
        deadline = monotonic() + _PATIENCE
        await self.pilot.pause()
        while not happened():
            assert monotonic() < deadline, f"waited in vain:\n{self.shown}"
            await self.pilot.pause()

    async def asked(self) -> None:
        """Wait until a person is asked or the match is over."""
        await self.until(lambda: self.app.choice is not None or self.live.match.over)
        await self.pilot.pause()

    async def press(self, *keys: str) -> None:
        """Press keys, and wait until somebody is asked again."""
        for key in keys:
            await self.pilot.press(key)
        await self.asked()

    async def see(self, text: str) -> None:
        """Wait until this is on the screen."""
        await self.until(lambda: text in self.story)

    async def click(self, cell: int) -> None:
        """Click into a cell."""
        view = self.app.screen.query_one(BoardView)
        await self.pilot.click(view, offset=view._grid.get_origin(cell))
        await self.asked()

    async def left(self) -> AppResult | None:
        """Wait until the screen is taken down; how it was left."""
        await self.until(lambda: self.app.return_value is not None)
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
    """A match with these players, after these entries, recorded at `path`; `chance` comes if it can."""
    found = find_game(game) if isinstance(game, str) else game
    match: AnyMatch = Match.start(found.rules(**options))
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
    moment: float = 0.0,
) -> AppResult | None:
    """Let somebody play; how the screen was left, if it was."""

    async def run() -> AppResult | None:
        app = BoardApp(live, moment)
        async with app.run_test(size=size) as pilot:
            player = Player(app, pilot)
            await player.asked()
            await act(player)
        return app.return_value

    try:
        with mock.patch.object(_wait, "SLEEP_GRANULARITY", _GLANCE):
            return asyncio.run(run())
    finally:
        if live.journal:
            live.journal.close()
