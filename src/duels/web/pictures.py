"""Previews of links (Open Graph) and the icons of the installed app, as PNG drawn from SVG.

A preview shows only what a visitor without a seat may see, and no token.
"""

from dataclasses import dataclass
from functools import lru_cache
from html import escape
from importlib.resources import files

from duels.core.svg import COLOURS
from duels.games import GAMES
from duels.raster import LETTER_WIDTH, render_png

WIDTH, HEIGHT = 1200, 630
_MARGIN, _LARGEST, _SMALLEST = 64, 60, 26  # in pixels: the sides, and the sizes of text
_PAPER = "#f4f5fa"
_QUESTION_MARK = "M-15 -14A15 15 0 1 1 0 1V9M0 27V27.1"
ICON_SIZES = (192, 512)
_ICON_SHARE = 0.62  # the mark's share of an icon: systems cut off up to a fifth at each side


@dataclass(frozen=True)
class Preview:
    """The title, the text and the picture that other sites show for a link."""

    title: str
    description: str
    picture: str
    """The path of the picture."""


def draw_preview(preview: Preview, board: str = "") -> str:
    """Return the picture of a link: a title, a sentence, and a board."""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" color="{COLOURS["ink"]}">'
        f'<svg x="{_MARGIN}" y="36" width="56" height="56" viewBox="0 0 32 32">{_read_mark()}</svg>'
        f"{_draw_line('duels', 136, 82, 44)}{_draw_line(preview.title, _MARGIN, 168)}"
        f"{_draw_line(preview.description, _MARGIN, 222, 30, COLOURS['dim'])}"
        f'<svg x="{_MARGIN}" y="260" width="{WIDTH - 2 * _MARGIN}" height="{HEIGHT - 300}">'
        f"{board}</svg></svg>"
    )


def _draw_line(content: str, x: float, y: float, size: float = _LARGEST, fill: str = COLOURS["ink"]) -> str:
    """Return a line of text, smaller or shortened if it is too long."""
    room = WIDTH - _MARGIN - x
    size = min(size, max(_SMALLEST, room / (LETTER_WIDTH * max(1, len(content)))))
    max_letters = int(room / (LETTER_WIDTH * _SMALLEST))
    short = content if len(content) <= max_letters else f"{content[: max_letters - 1].rstrip()}…"
    return (
        f'<text x="{x}" y="{y}" font-size="{size:.1f}" font-weight="700" fill="{fill}">{escape(short)}</text>'
    )


def draw_marks(answers: str) -> str:
    """Return a drawing of a day's answers: `1` for right, `0` for wrong, `-` for open, and no solution."""
    marks = []
    for number in range(len(GAMES)):
        answer = answers[number : number + 1]
        fill = {"1": COLOURS["ok"], "0": COLOURS["p2"]}.get(answer, COLOURS["fog"])
        shape = {"1": "M-26 2L-8 22L28 -20", "0": "M-22 -22L22 22M22 -22L-22 22"}.get(answer, _QUESTION_MARK)
        marks.append(
            f'<g transform="translate({70 + 130 * number} 70)">'
            f'<rect x="-56" y="-56" width="112" height="112" rx="24" fill="{fill}"/>'
            f'<path d="{shape}" fill="none" stroke="#fff" stroke-width="12" '
            'stroke-linecap="round" stroke-linejoin="round"/></g>'
        )
    return f'<svg viewBox="0 0 {10 + 130 * len(GAMES)} 140">{"".join(marks)}</svg>'


@lru_cache(maxsize=64)
def render_preview(svg: str) -> bytes:
    """Return the PNG of a preview."""
    return render_png(svg, _PAPER)


@lru_cache
def render_icon(size: int) -> bytes:
    """Return the app's icon: the mark on a square, which a system may cut to its own shape."""
    edge = 32 / _ICON_SHARE
    start = (32 - edge) / 2
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{size}" height="{size}" '
        f'viewBox="{start:.2f} {start:.2f} {edge:.2f} {edge:.2f}">{_read_mark()}</svg>'
    )
    return render_png(svg, _PAPER)


@lru_cache
def _read_mark() -> str:
    """Return the shapes of the tab's icon, without its style sheet."""
    icon = files("duels.web").joinpath("static/icon.svg").read_text(encoding="utf-8")
    return icon[icon.index("<path") : icon.rindex("</svg>")]
