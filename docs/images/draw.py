"""Draws the README's picture: a real match, as a terminal shows it.

python docs/images/draw.py > docs/images/chain.svg
"""

import io
import re
import sys
from contextlib import redirect_stdout
from html import escape

import duels
from duels.core.rules import Seat
from duels.games import find_game
from duels.play.narrator import Narrator
from duels.terminal.screen import Screen

MOVES = "3 5 4 challenge heads 6 challenge tails 2 challenge heads 6 challenge heads 1 challenge heads"
SHOWN_LINES = 31
COLOURS = {"36": "#56c8d8", "33": "#e5c07b", "1;32": "#7ec77e", "2": "#7f848e"}
WIDTH, SIZE, LEADING = 690, 14, 19


def coloured_transcript() -> str:
    match = duels.start("chain").play_text(*MOVES.split())
    screen = Screen()
    screen.colour = True
    words = find_game("chain").words(match.rules)
    with redirect_stdout(io.StringIO()) as out:
        for text in Narrator(words, frozenset(Seat)).retell(match):
            screen.say(text)
    return out.getvalue()


def styled(line: str) -> str:
    """A line with terminal codes as SVG text spans."""
    spans, style = [], ""
    for piece in re.split(r"(\x1b\[[0-9;]*m)", line):
        code = re.fullmatch(r"\x1b\[([0-9;]*)m", piece)
        if not code:
            spans.append(f"<tspan{style}>{escape(piece)}</tspan>" if style and piece else escape(piece))
        elif code[1] == "0":
            style = ""
        elif code[1] == "1":
            style += ' font-weight="bold"'
        else:
            style = f' fill="{COLOURS[code[1]]}"' + (' font-weight="bold"' if code[1] == "1;32" else "")
    return "".join(spans)


def main() -> None:
    lines = ["$ duels replay evening.duel", "…", *coloured_transcript().splitlines()[-SHOWN_LINES:]]
    height = LEADING * len(lines) + 30
    size = f'width="{WIDTH}" height="{height}"'
    print(f'<svg xmlns="http://www.w3.org/2000/svg" {size} viewBox="0 0 {WIDTH} {height}">')
    print(f'<rect {size} rx="8" fill="#21252b"/>')
    print(f'<g font-family="monospace" font-size="{SIZE}" fill="#d7dae0" xml:space="preserve">')
    for number, line in enumerate(lines):
        print(f'<text x="18" y="{28 + number * LEADING}">{styled(line)}</text>')
    print("</g></svg>")


if __name__ == "__main__":
    sys.stdout.reconfigure(encoding="utf-8")  # type: ignore[union-attr]
    main()
