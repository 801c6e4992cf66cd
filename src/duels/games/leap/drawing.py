"""The board of Quantum Leap: a path that winds up to the goal, and legal leaps as arcs."""

from dataclasses import dataclass

from duels.core import svg
from duels.core.drawing import Drawing
from duels.core.narration import SEAT_LABELS, PlayerNames
from duels.core.rules import Seat, Sight
from duels.core.svg import Track, make_track
from duels.games.leap.rules import OFF_GRID, STEPS, Action, Leap, QuantumLeap, State

_ROW_HEIGHT, _BOTTOM_MARGIN = 106, 34
_CELL_SIZE = 64
_SHARED_OFFSET = 15  # from the centre of a cell with both tokens to each of them


@dataclass(frozen=True)
class LeapDrawing(Drawing[Action, State]):
    """The line of cells, with arcs to the cells within reach."""

    rules: QuantumLeap

    def is_on_board(self, action: Action) -> bool:
        return isinstance(action, Leap)

    def instruction(self, sight: Sight[Action, State]) -> str:
        cell = sight.view.cell_of(sight.seat)
        return f"Leap by a divisor of {cell}." if cell else "Enter the grid."

    @property
    def guide(self) -> tuple[str, ...]:
        return (
            "Both players are on cell 1 when play begins.",
            "Arcs lead to every cell that you can leap to. Press one of those cells; +4 is a leap by 4.",
        )

    def draw(
        self, sight: Sight[Action, State], *, targets: bool = False, names: PlayerNames = SEAT_LABELS
    ) -> svg.Picture:
        top = 76 if targets else 44  # room for arcs
        track = make_track(self.rules.goal, _ROW_HEIGHT, top, 52, per_row=7, upwards=True)
        cells = sight.view.cells
        visited = {
            *cells,
            *(cell for event in sight.events if isinstance(event, STEPS) for cell in event.cells),
        }
        x, o = cells
        tokens = {x: "X and O"} if x == o else {x: "X", o: "O"}
        scene = [track.draw_line(12, 0.7)]
        for cell in range(1, track.cells + 1):
            scene.append(_draw_cell(track, cell, cell in visited, tokens.get(cell, "")))
        scene += [_draw_token(track, seat, cells[seat - 1], x == o) for seat in Seat]
        pressable = None
        if targets:
            leaps = tuple([action.by for action in sight.actions if isinstance(action, Leap)])
            pressable = [_draw_targets(self.rules, track, cells[sight.seat - 1], leaps)] if leaps else []
        height = top + track.height - _ROW_HEIGHT + _CELL_SIZE / 2 + _BOTTOM_MARGIN
        return svg.board(height, self._describe_board(cells), scene, pressable)

    def _describe_board(self, cells: tuple[int, int]) -> str:
        x, o = [f"on cell {cell}" if cell else "off the grid" for cell in cells]
        return f"A path of {self.rules.goal} cells. X is {x}, O is {o}."


@svg.cache_shape
def _draw_cell(track: Track, number: int, visited: bool, tokens: str) -> str:
    x, y = track.centre(number)
    label = f"Cell {number}: {tokens or ('visited' if visited else 'free')}"
    if number == track.cells:
        shape = svg.box(0, 0, _CELL_SIZE + 4, _CELL_SIZE + 4, 18, "goal", "goal-edge", stroke_width=3)
        words = "" if tokens else svg.text(0, 0, str(number), 30, "goal-ink", font_weight=700)
        return svg.cell(number, f"{label}, the goal", shape, words, x=x, y=y)
    fill = "card" if visited and not tokens else "well"
    shape = svg.box(0, 0, _CELL_SIZE, _CELL_SIZE, 17, fill, "line", stroke_width=2)
    words = (
        "" if tokens else svg.text(0, 0, str(number), 22 if visited else 24, "faint" if visited else "dim")
    )
    return svg.cell(number, label, shape, words, x=x, y=y)


@svg.cache_shape
def _draw_token(track: Track, seat: Seat, cell: int, shared: bool) -> str:
    """Draw a token. With `shared`, both tokens are on this cell."""
    x, y = track.centre(cell or 1)
    side, size = (-1 if seat is Seat.ONE else 1), 16.0
    if cell == OFF_GRID:  # the token waits below the first cell
        x, y, size = x + side * 17, y + _CELL_SIZE / 2 + 20, 9.0
    elif shared:
        x, size = x + side * _SHARED_OFFSET, 10.5
    # Every token is drawn at one size and scaled, so that the page can animate a move.
    shape = svg.group(svg.mark(seat, 0, 0, 16), transform=f"scale({size / 16:.2f})", classes="resized")
    return svg.decoration(
        shape, transform=svg.translate(x, y), data_key=f"token-{seat.value}", **{"class": "moves"}
    )


@svg.cache_shape
def _draw_targets(rules: QuantumLeap, track: Track, cell: int, leaps: tuple[int, ...]) -> str:
    # Arcs are not part of a target: they would move its centre away from the cell.
    arcs = [
        svg.path(_format_arc(track, cell, cell + leap), "ok", 2.5, stroke_dasharray="1 7", classes="offer")
        for leap in leaps
    ]
    return svg.decoration(*arcs) + "".join(_draw_target(rules, track, cell, leap) for leap in leaps)


def _format_arc(track: Track, start: int, end: int) -> str:
    """Return the SVG path of a leap between two cells. It crosses neither cells nor numbers."""
    (x, y), (end_x, end_y) = track.centre(start), track.centre(end)
    y -= _CELL_SIZE / 2
    line = f"M{x:.1f} {y:.1f}"
    if track.centre(start)[1] == end_y:
        bow = 22 + abs(end_x - x) * 0.1
        return f"{line}Q{(x + end_x) / 2:.1f} {y - bow:.1f} {end_x:.1f} {y:.1f}"
    gap = _ROW_HEIGHT - _CELL_SIZE
    end_y += _CELL_SIZE / 2  # the arc reaches the cell from below
    if end_y < y - gap:  # to pass other rows, go up between two columns
        goes_right = x > end_x or x == end_x < svg.WIDTH / 2
        lane_x = end_x + (track.pitch / 2 if goes_right else -track.pitch / 2)
        line += f"{_format_curve(x, lane_x, y, y - gap)}V{end_y + gap:.1f}"
        x, y = lane_x, end_y + gap
    return line + _format_curve(x, end_x, y, end_y)


def _format_curve(x: float, end_x: float, y: float, end_y: float) -> str:
    """Return the curve from (x, y) up to (end_x, end_y) through the space between two rows."""
    middle = (y + end_y) / 2
    return f"C{x:.1f} {middle:.1f} {end_x:.1f} {middle:.1f} {end_x:.1f} {end_y:.1f}"


def _draw_target(rules: QuantumLeap, track: Track, cell: int, leap: int) -> str:
    target_cell = cell + leap
    x, y = track.centre(target_cell)
    words = f"+{leap}"
    return svg.target(
        rules.format(Leap(leap)),
        [target_cell],
        f"Leap {leap}, to cell {target_cell}",
        svg.box(x, y, _CELL_SIZE, _CELL_SIZE, 17, "none", "ok", stroke_width=3, classes="offer"),
        svg.chip(x, y - _CELL_SIZE / 2 - 4, words, 22 + svg.MIN_TEXT_SIZE * 0.6 * len(words)),
        svg.hit_box(x, y - 6, track.pitch - 2, _ROW_HEIGHT - 6),
    )


DRAWING = LeapDrawing
