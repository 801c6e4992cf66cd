"""SVG elements of boards: named colours, shapes, the players' marks, targets, and tracks of cells.

Every coloured element has an attribute with the colour in the light theme, so that a drawing needs no style
sheet, and a class by which `boards.css` restyles it. No element has an id: several boards share a page.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from html import escape
from importlib.resources import files
from math import ceil, inf
from typing import Any, TypeVar, cast
from unicodedata import combining, east_asian_width

from duels.core.rules import Seat

WIDTH = 624
"""The width of every board, in units of the drawing."""
MIN_TEXT_SIZE = 22
"""The minimum font size: more than 12 pixels on a board that is 360 pixels wide."""
COLOURS = {
    "card": "#ffffff",
    "ink": "#1b2033",
    "dim": "#596180",
    "faint": "#6d7490",
    "line": "#c9cee2",
    "well": "#eceef6",
    "p1": "#0072b2",
    "p1-ink": "#ffffff",
    "p2": "#e69f00",
    "p2-edge": "#8f6200",
    "p2-ink": "#1c1300",
    "ok": "#007a58",
    "ok-wash": "#def2ec",
    "back": "#39436f",
    "back-mark": "#6b76a8",
    "back-ok": "#7fe0c0",
    "bulb": "#ffc53d",
    "bulb-core": "#fff7db",
    "bulb-edge": "#b98500",
    "glow": "#ffc94d",
    "goal": "#ffefcb",
    "goal-edge": "#b98500",
    "goal-ink": "#6d4d00",
    "fog": "#8b93b0",
}
"""The colours of the light theme, by use."""
_MAX_PITCH = 96
_MAX_CELL_SIZE = 80
_MAX_CELLS_IN_ONE_ROW = 9  # so that cells can be pressed on a phone
_MAX_CELLS_PER_ROW = 7  # if there are several rows, which need room for the bends at both ends
_FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif"

F = TypeVar("F", bound=Callable[..., str])


def cache_shape(shape: F) -> F:
    """Cache the results of a function: most parts of a board do not change from move to move."""
    return cast(F, lru_cache(maxsize=8192)(shape))


def stylesheet() -> str:
    """Return `boards.css`: the themes, the motion, and the style of targets."""
    return files(__package__).joinpath("boards.css").read_text(encoding="utf-8")


def element(
    name: str, *children: str, fill: str = "", stroke: str = "", classes: str = "", **attributes: Any
) -> str:
    """Return an element; `fill` and `stroke` are names of colours, and `_` in an attribute becomes `-`."""
    start = _start(name, fill, stroke, classes, **attributes)
    return "".join((start, ">", *children, "</", name, ">")) if children else f"{start}/>"


@cache_shape
def _start(name: str, fill: str, stroke: str, classes: str, **attributes: Any) -> str:
    """Return a start tag without its closing bracket."""
    colour_classes = {f"f-{fill}": fill, f"s-{stroke}": stroke}
    names = [classes, *(name for name, colour in colour_classes.items() if colour in COLOURS)]
    values: dict[str, Any] = {"class": " ".join(filter(None, names))}
    values |= {"fill": COLOURS.get(fill, fill), "stroke": COLOURS.get(stroke, stroke)}
    values = {key: value for key, value in values.items() if value}
    values |= {key.replace("_", "-"): value for key, value in attributes.items()}
    return f"<{name}" + "".join(f' {key}="{_format_value(value)}"' for key, value in values.items())


def _format_value(value: str | float) -> str:
    return escape(value) if isinstance(value, str) else f"{value:.2f}".rstrip("0").rstrip(".")


def group(*children: str, classes: str = "", **attributes: Any) -> str:
    """Return a group of shapes. They are drawn around (0, 0), which `transform` moves."""
    return element("g", *children, classes=classes, **attributes)


def translate(x: float, y: float) -> str:
    """Return the value of `transform` that moves a group's (0, 0) to (x, y)."""
    return f"translate({_format_value(x)} {_format_value(y)})"


def text(
    x: float,
    y: float,
    content: str,
    size: float = MIN_TEXT_SIZE,
    fill: str = "dim",
    classes: str = "",
    max_width: float = inf,
    **attributes: Any,
) -> str:
    """Return a text that is centred on (x, y): vertically, the middle of its digits is at y.

    A text wider than `max_width` is shortened, and its tooltip shows the full text.
    """
    short = shorten(content, max_width, size)
    tooltip = "" if short == content else title(content)
    layout: dict[str, Any] = {"x": x, "y": y + size * 0.36, "font_size": size, "text_anchor": "middle"}
    return element("text", tooltip + escape(short), fill=fill, classes=classes, **{**layout, **attributes})


def title(content: str) -> str:
    """Return the tooltip of the surrounding element."""
    return element("title", escape(content, quote=False))


def shorten(content: str, max_width: float, size: float = MIN_TEXT_SIZE) -> str:
    """Shorten a text with an ellipsis, so that it fits `max_width` in any usual font."""
    if _max_width(content) * size <= max_width:
        return content
    prefix = content
    while prefix and _max_width(f"{prefix}…") * size > max_width:
        prefix = prefix[:-1]
    return f"{prefix.rstrip()}…"


def _max_width(content: str) -> float:
    """Return the maximum width in units of the font size: that of DejaVu Sans, the widest font."""
    return sum(_letter_width(letter) for letter in content)


def _letter_width(letter: str) -> float:
    if combining(letter):
        return 0
    if east_asian_width(letter) in "WF" or letter in "mwMWQOG…@%":
        return 1
    if letter in " .,:;'!|ijlI":
        return 0.34
    if letter in "frt-()[]/":
        return 0.42
    return 0.72 if letter.isupper() else 0.64


def path(d: str, stroke: str, width: float, fill: str = "none", classes: str = "", **attributes: Any) -> str:
    """Return a line with round ends."""
    ends: dict[str, Any] = {"stroke_width": width, "stroke_linecap": "round", "stroke_linejoin": "round"}
    return element("path", fill=fill, stroke=stroke, classes=classes, d=d, **ends, **attributes)


def circle(x: float, y: float, r: float, fill: str, stroke: str = "", **attributes: Any) -> str:
    """Return a circle around (x, y); its `fill` may be "none"."""
    return element("circle", fill=fill, stroke=stroke, cx=x, cy=y, r=r, **attributes)


def box(
    x: float,
    y: float,
    width: float,
    height: float,
    radius: float,
    fill: str,
    stroke: str = "",
    classes: str = "",
    **attributes: Any,
) -> str:
    """Return a rectangle with round corners, centred on (x, y); its `fill` may be "none"."""
    layout = {"x": x - width / 2, "y": y - height / 2, "width": width, "height": height, "rx": radius}
    return element("rect", fill=fill, stroke=stroke, classes=classes, **layout, **attributes)


def mark(seat: Seat, x: float, y: float, r: float) -> str:
    """Return a player's mark: a cross for Player 1, a ring for Player 2."""
    width = r * 0.4
    if seat is Seat.ONE:
        left, top, length = _format_value(x - r), _format_value(y - r), _format_value(2 * r)
        return path(f"M{left} {top}l{length} {length}m0 -{length}l-{length} {length}", "p1", width)
    return _ring(x, y, r * 1.05, width)


def token(seat: Seat, x: float, y: float, r: float, letter: str = "") -> str:
    """Return a player's token: a solid disc for Player 1, a ring for Player 2, with a letter inside."""
    if seat is Seat.ONE:
        disc = circle(x, y, r, "p1") + circle(
            x, y, r * 0.74, "none", "p1-ink", stroke_width=r * 0.09, opacity=0.45
        )
        return disc + (text(x, y, letter, r * 1.1, "p1-ink", font_weight=700) if letter else "")
    ring = circle(x, y, r * 0.8, "card") + _ring(x, y, r * 0.8, r * 0.36)
    return ring + (text(x, y, letter, r * 1.1, "ink", font_weight=700) if letter else "")


def _ring(x: float, y: float, r: float, width: float) -> str:
    """Return an orange ring with a darker edge, for contrast."""
    return circle(x, y, r, "none", "p2-edge", stroke_width=width + max(1.6, width * 0.24)) + circle(
        x, y, r, "none", "p2", stroke_width=width
    )


def get_edge_colour(seat: Seat) -> str:
    """Return the colour of a player's lines."""
    return "p1" if seat is Seat.ONE else "p2-edge"


def chip(x: float, y: float, label: str, width: float) -> str:
    """Return a small label with a border, for a target."""
    border = box(x, y, width, 34, 17, "ok-wash", "ok", stroke_width=2)
    return border + text(x, y, label, MIN_TEXT_SIZE, "ok", font_weight=600)


def hit_box(x: float, y: float, width: float, height: float, radius: float = 18) -> str:
    """Return a clickable area centred on (x, y), visible only under the pointer or with focus."""
    return box(x, y, width, height, radius, "none", classes="hit", pointer_events="all")


def target(
    action: str, cells: Iterable[object], label: str, *children: str, mode: str = "", classes: str = ""
) -> str:
    """Return the element that selects a legal action on the board.

    `action` is the notation and `cells` are the names of the action's cells. The player clicks the element.
    With a `mode` it is invisible: the page offers the mode as a switch, and the player then picks the cells
    one after another.
    """
    hidden: dict[str, Any] = {"data_mode": mode, "opacity": 0.0, "pointer_events": "none"} if mode else {}
    return element(
        "g",
        *children,
        classes=f"target {classes}".strip(),
        data_action=action,
        data_cells=" ".join(map(str, cells)),
        role="button",
        tabindex="-1",
        aria_label=label,
        **hidden,
    )


def cell(name: object, label: str, *children: str, x: float, y: float, veiled: str = "") -> str:
    """Return a cell around (x, y). `label` describes its content, and `veiled` does so without a secret."""
    return element(
        "g",
        *children,
        classes="cell",
        data_cell=str(name),
        data_key=f"cell-{name}",
        role="img",
        aria_label=label,
        transform=translate(x, y),
        **_veil(veiled),
    )


def _veil(label: str) -> dict[str, str]:
    """Return the attribute with the label that replaces an element's own while secrets are hidden."""
    return {"data_veiled": label} if label else {}


class Picture(str):
    """A drawing: one `<svg>` element with the width WIDTH."""

    height: int


def board(
    height: float, label: str, scene: Iterable[str], targets: Sequence[str] | None = None, veiled: str = ""
) -> Picture:
    """Return the drawing of the elements in `scene`, with `targets` on top if they are given.

    `label` describes the drawing, and `veiled` does so without the player's secrets.
    """
    groups = [] if targets is None else [element("g", "", *targets, classes="targets", data_key="targets")]
    svg = element(
        "svg",
        *scene,
        *groups,
        classes="board",
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {WIDTH} {round(height)}",
        role="img" if targets is None else "group",
        aria_label=label,
        font_family=_FONT,
        **_veil(veiled),
    )
    picture = Picture(svg)
    picture.height = round(height)
    return picture


def decoration(*children: str, **attributes: Any) -> str:
    """Return shapes that screen readers skip."""
    return element("g", *children, aria_hidden="true", **attributes)


@dataclass(frozen=True, eq=False)  # compared by identity, so that cached shapes are found quickly
class Track:
    """A track of `cells` cells, numbered from 1. Odd rows run left to right, even rows right to left.

    Neighbours are always side by side or one above the other. If there are several rows, `margin` is the
    space on both sides of them. With `upwards`, the first row is at the bottom.
    """

    cells: int
    row_height: float
    first_row: float
    margin: float
    per_row: int | None = None
    """The maximum number of cells per row, or None for 9 in a single row and 7 in several."""
    upwards: bool = False

    @cached_property
    def rows(self) -> int:
        """The number of rows."""
        if self.per_row is None and self.cells <= _MAX_CELLS_IN_ONE_ROW:
            return 1
        return ceil(self.cells / (self.per_row or _MAX_CELLS_PER_ROW))

    @cached_property
    def columns(self) -> int:
        """The number of cells per row; the last row may have fewer."""
        return ceil(self.cells / self.rows)

    @cached_property
    def pitch(self) -> float:
        """The distance between the centres of two neighbours."""
        if self.rows == 1:
            return min(_MAX_PITCH, (WIDTH - 22) / self.columns)
        return min(_MAX_PITCH, (WIDTH - 2 * self.margin) / max(1, self.columns - 1))

    @cached_property
    def size(self) -> float:
        """The side of a square cell. It is smaller than the pitch, so that cells do not touch."""
        return min(self.pitch * 0.88, _MAX_CELL_SIZE)

    @property
    def height(self) -> float:
        """The height of all rows."""
        return self.rows * self.row_height

    def centre(self, cell: int) -> tuple[float, float]:
        """Return the centre of a cell."""
        row, column = divmod(cell - 1, self.columns)
        column = self.columns - 1 - column if row % 2 else column
        display_row = self.rows - 1 - row if self.upwards else row
        x = WIDTH / 2 + (column - (self.columns - 1) / 2) * self.pitch
        return x, self.first_row + display_row * self.row_height

    def line(self, first: int = 1, last: int | None = None) -> str:
        """Return the path data of the line from one cell to another."""
        points = [self.centre(cell) for cell in range(first, (last or self.cells) + 1)]
        return "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points)

    @cache_shape
    def draw_line(self, width: float, opacity: float) -> str:
        """Draw the line through all cells."""
        return decoration(path(self.line(), "line", width, opacity=opacity))

    def bends(self, cell: int) -> bool:
        """Return whether the next cell is in another row."""
        return cell < self.cells and self.centre(cell)[1] != self.centre(cell + 1)[1]


make_track = lru_cache(Track)
"""Return the track with these properties: the same object every time."""
