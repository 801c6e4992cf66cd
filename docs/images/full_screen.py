"""Draws the picture of the full-screen board: a real match, as Textual shows it.

python docs/images/full_screen.py > docs/images/full-screen.svg
"""

import asyncio
import re
import sys

import duels
from duels.core.rules import Seat
from duels.play.dice import Dice
from duels.play.live import LiveMatch
from duels.players import make_player
from duels.terminal.board.app import BoardApp

ENTRIES = "B2 3 D4 5 C3 4 E1 2"
KEYS = ("q", "right")
FONT = "DejaVu Sans Mono, Menlo, Consolas, monospace"


async def draw_board() -> str:
    match = duels.start("flip").play_text(*ENTRIES.split())
    players = {Seat.ONE: None, Seat.TWO: make_player("club", match.rules)}
    app = BoardApp(LiveMatch(match, players, Dice("7"), names={Seat.ONE: "human", Seat.TWO: "club"}))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        await pilot.press(*KEYS)
        await pilot.pause()
        return app.export_screenshot(title="duels play flip --seat2 club --board")


def main() -> None:
    picture = asyncio.run(draw_board())
    # Fonts are the reader's own: nothing is loaded from elsewhere.
    picture = re.sub(r"@font-face \{.*?\}\s*", "", picture, flags=re.DOTALL)
    picture = re.sub(r"terminal-\d+-", "board-", picture)
    print(re.sub(r"font-family: (Fira Code|arial)[^;]*;", f"font-family: {FONT};", picture))


if __name__ == "__main__":
    sys.stdout.reconfigure(encoding="utf-8")  # type: ignore[union-attr]
    main()
