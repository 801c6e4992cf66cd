"""Draws pictures for README and docs: a real match as a terminal shows it, and a board of each game.

python docs/images/draw.py [FOLDER]
"""

import io
import re
import sys
from contextlib import redirect_stdout
from html import escape
from pathlib import Path

import duels
from duels.core.rules import Seat
from duels.core.svg import COLOURS, WIDTH
from duels.games import find_game
from duels.play.narrator import Narrator
from duels.terminal.screen import Screen

MOVES = "3 5 4 challenge heads 6 challenge tails 2 challenge heads 6 challenge heads 1 challenge heads"
SHOWN_LINES = 31
INKS = {"36": "#56c8d8", "33": "#e5c07b", "1;32": "#7ec77e", "2": "#7f848e"}
SCREEN_WIDTH, SIZE, LETTER, LEADING = 690, 14, 8.4, 19
# A telling position of each game, as the seat to move sees it.
BOARDS = {
    "lights": ["4", "1-2"],
    "leap": ["enter", "enter", "1", "1", "2", "2", "4", "1"],
    "chain": ["3", "5", "2", "accept", "6", "accept", "4"],
    "hunt": ["move 3", "observe 5", "move 2", "observe 4", "move 3", "observe 6", "tunnel 6", "observe 7"],
    "flip": ["B2", "4", "C3", "5", "D4+D5", "2,5"],
}
EDGE = 16


def coloured_transcript() -> str:
    match = duels.start("chain").play_text(*MOVES.split())
    screen = Screen()
    screen.colour = True
    words = find_game("chain").words(match.rules)
    with redirect_stdout(io.StringIO()) as out:
        for text in Narrator(words, frozenset(Seat)).render_match(match):
            screen.say(text)
    return out.getvalue()


def styled(line: str) -> str:
    """A line with terminal codes as SVG text; every word has its place, since browsers merge spaces."""
    spans, style, column = [], "", 0
    for piece in re.split(r"(\x1b\[[0-9;]*m)", line):
        code = re.fullmatch(r"\x1b\[([0-9;]*)m", piece)
        if not code:
            for word in re.finditer(r"\S+", piece):
                x, width = 18 + LETTER * (column + word.start()), LETTER * len(word[0])
                place = f'x="{x:.1f}" textLength="{width:.1f}"'
                spans.append(f"<tspan {place}{style}>{escape(word[0])}</tspan>")
            column += len(piece)
        elif code[1] == "0":
            style = ""
        elif code[1] == "1":
            style += ' font-weight="bold"'
        else:
            style = f' fill="{INKS[code[1]]}"' + (' font-weight="bold"' if code[1] == "1;32" else "")
    return "".join(spans)


def terminal() -> str:
    lines = ["$ duels replay evening.duel", "…", *coloured_transcript().splitlines()[-SHOWN_LINES:]]
    height = LEADING * len(lines) + 30
    size = f'width="{SCREEN_WIDTH}" height="{height}"'
    drawn = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} viewBox="0 0 {SCREEN_WIDTH} {height}">',
        f'<rect {size} rx="8" fill="#21252b"/>',
        f'<g font-family="monospace" font-size="{SIZE}" fill="#d7dae0">',
        *(
            f'<text y="{28 + number * LEADING}">{styled(line)}</text>'
            for number, line in enumerate(lines)
            if line
        ),
        "</g></svg>",
    ]
    return "\n".join(drawn) + "\n"


def board(name: str) -> str:
    """A board on a card, so that it can be seen on a dark page too."""
    match = duels.start(name).play_text(*BOARDS[name])
    assert isinstance(match.actor, Seat)
    svg = find_game(name).drawing(match.rules).draw(match.sight(match.actor), targets=True)
    height = int(re.search(r'viewBox="0 0 [0-9]+ ([0-9]+)"', svg)[1])  # type: ignore[index]
    wide, high = WIDTH + 2 * EDGE, height + 2 * EDGE
    card = (
        f'<rect x="0.5" y="0.5" width="{wide - 1}" height="{high - 1}" rx="20" fill="{COLOURS["card"]}" '
        f'stroke="{COLOURS["line"]}"/>'
    )
    placed = svg.replace("<svg ", f'<svg x="{EDGE}" y="{EDGE}" width="{WIDTH}" height="{height}" ', 1)
    size = f'width="{wide}" height="{high}" viewBox="0 0 {wide} {high}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size}>{card}{placed}</svg>\n'


def main(folder: Path) -> None:
    (folder / "chain.svg").write_text(terminal(), encoding="utf-8")
    for name in BOARDS:
        (folder / f"board-{name}.svg").write_text(board(name), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
