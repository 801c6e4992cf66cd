"""The board of Quantum Leap: a path that winds up to the goal, and legal leaps as arcs."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from duels.core.drawing import Drawing
from duels.core.narration import SEAT_LABELS, PlayerNames
from duels.core.rules import Event, Seat, Sight
from duels.core.svg import (
    MIN_TEXT_SIZE,
    WIDTH,
    Picture,
    board,
    box,
    cache_shape,
    cell,
    chip,
    decoration,
    group,
    hit_box,
    mark,
    path,
    target,
    text,
    translate,
)
from duels.core.track import Track
from duels.games.leap.rules import OFF_GRID, STEPS, Action, Leap, QuantumLeap, State

_ROW_HEIGHT, _BOTTOM_MARGIN = 106, 34
_CELL_SIZE = 64
_SHARED_OFFSET = 15  # of each token from the centre of a cell that both are on


@dataclass(frozen=True)
class LeapDrawing(Drawing[Action, State]):
    rules: QuantumLeap

    def is_on_board(self, action: Action) -> bool:
        return isinstance(action, Leap)

    def instruction(self, sight: Sight[Action, State]) -> str:
        number = sight.view.cell_of(sight.seat)
        return f"Leap by a divisor of {number}." if number else "Enter the grid."

    @property
    def guide(self) -> tuple[str, ...]:
        return (
            "Both players are on cell 1 when play begins.",
            "Arcs lead to every cell that you can leap to. Press one of those cells; +4 is a leap by 4.",
        )

    def picture(
        self, sight: Sight[Action, State], *, targets: bool = False, names: PlayerNames = SEAT_LABELS
    ) -> Picture:
        top = 76 if targets else 44  # room for arcs
        track = _make_track(self.rules.goal, top)
        cells = sight.view.cells
        scene = _draw_scene(track, cells, frozenset({*_find_visited_cells(sight.events), *cells}))
        pressable = None
        if targets:
            leaps = tuple([action.by for action in sight.actions if isinstance(action, Leap)])
            pressable = [_draw_targets(self.rules, track, cells[sight.seat - 1], leaps)] if leaps else []
        return board(
            top + track.height - _ROW_HEIGHT + _CELL_SIZE / 2 + _BOTTOM_MARGIN,
            self._describe_board(cells),
            scene,
            pressable,
        )

    def _describe_board(self, cells: tuple[int, int]) -> str:
        x, o = [f"on cell {cell}" if cell else "off the grid" for cell in cells]
        return f"A path of {self.rules.goal} cells. X is {x}, O is {o}."


@lru_cache
def _make_track(goal: int, top: float) -> Track:
    return Track(goal, _ROW_HEIGHT, top, per_row=7, margin=52, upwards=True)


def _draw_scene(track: Track, cells: tuple[int, int], visited: frozenset[int]) -> tuple[str, ...]:
    scene = [_draw_path(track)]
    x, o = cells
    tokens = {x: "X and O"} if x == o else {x: "X", o: "O"}
    for number in range(1, track.cells + 1):
        scene.append(_draw_cell(track, number, number in visited, tokens.get(number, "")))
    scene += [_draw_token(track, seat, cells[seat - 1], cells[seat.other - 1]) for seat in Seat]
    return tuple(scene)


@cache_shape
def _draw_path(track: Track) -> str:
    return decoration(path(track.line(), "line", 12, opacity=0.7))


@cache_shape
def _draw_cell(track: Track, number: int, visited: bool, tokens: str) -> str:
    x, y = track.at(number)
    label = f"Cell {number}: {tokens or ('visited' if visited else 'free')}"
    if number == track.cells:
        shape = box(0, 0, _CELL_SIZE + 4, _CELL_SIZE + 4, 18, "goal", "goal-edge", stroke_width=3)
        words = "" if tokens else text(0, 0, str(number), 30, "goal-ink", font_weight=700)
        return cell(number, f"{label}, the goal", shape, words, x=x, y=y)
    shape = box(
        0, 0, _CELL_SIZE, _CELL_SIZE, 17, "card" if visited and not tokens else "well", "line", stroke_width=2
    )
    return cell(number, label, shape, "" if visited else text(0, 0, str(number), 24), x=x, y=y)


@cache_shape
def _draw_token(track: Track, seat: Seat, here: int, other: int) -> str:
    offset = (_SHARED_OFFSET if seat is Seat.TWO else -_SHARED_OFFSET) if here == other else 0
    if here == OFF_GRID:
        # A token off the grid waits below the first cell.
        x, y = track.at(1)
        x, y = x + (-17 if seat is Seat.ONE else 17), y + _CELL_SIZE / 2 + 20
    else:
        x, y = track.at(here)
        x += offset
    size = 9.0 if here == OFF_GRID else 10.5 if offset else 16.0
    # Every token is drawn at one size and scaled, so that the page can animate a move.
    shape = group(mark(seat, 0, 0, 16), transform=f"scale({size / 16:.2f})", classes="resized")
    return decoration(shape, transform=translate(x, y), data_key=f"token-{seat.value}", **{"class": "moves"})


@cache_shape
def _draw_targets(rules: QuantumLeap, track: Track, here: int, leaps: tuple[int, ...]) -> str:
    """Draw the legal leaps: arcs, and the cells to press."""
    # Arcs are not part of a target: they would move its centre away from the cell.
    arcs = decoration(*(_draw_arc(track, here, leap) for leap in leaps))
    return "".join((arcs, *(_draw_target(track, here, leap, rules.format(Leap(leap))) for leap in leaps)))


def _draw_arc(track: Track, here: int, leap: int) -> str:
    return path(_format_arc(track, here, here + leap), "ok", 2.5, stroke_dasharray="1 7", classes="offer")


def _format_arc(track: Track, here: int, there: int) -> str:
    """Return the SVG path of a leap. It runs between rows and crosses neither cells nor numbers."""
    (x, y), (tx, ty) = track.at(here), track.at(there)
    top, half = y - _CELL_SIZE / 2, _CELL_SIZE / 2
    if ty == y:
        bow = 22 + abs(tx - x) * 0.1
        return f"M{x:.1f} {top:.1f}Q{(x + tx) / 2:.1f} {top - bow:.1f} {tx:.1f} {top:.1f}"
    line = f"M{x:.1f} {top:.1f}"
    gap, landing = _ROW_HEIGHT - _CELL_SIZE, ty + half  # the arc reaches the target from below
    if landing < top - gap:  # to pass other rows, go up between two columns
        lane = tx + (track.pitch / 2 if x > tx or x == tx < WIDTH / 2 else -track.pitch / 2)
        line += f"{_format_curve(x, lane, top, top - gap)}V{landing + gap:.1f}"
        x, top = lane, landing + gap
    return line + _format_curve(x, tx, top, landing)


def _format_curve(x: float, tx: float, y: float, ty: float) -> str:
    """Return the curve from (x, y) up to (tx, ty) through the space between two rows."""
    middle = (y + ty) / 2
    return f"C{x:.1f} {middle:.1f} {tx:.1f} {middle:.1f} {tx:.1f} {ty:.1f}"


def _draw_target(track: Track, here: int, leap: int, notation: str) -> str:
    goal = here + leap
    x, y = track.at(goal)
    words = f"+{leap}"
    return target(
        notation,
        [goal],
        f"Leap {leap}, to cell {goal}",
        box(x, y, _CELL_SIZE, _CELL_SIZE, 17, "none", "ok", stroke_width=3, classes="offer"),
        chip(x, y - _CELL_SIZE / 2 - 4, words, 22 + MIN_TEXT_SIZE * 0.6 * len(words)),
        hit_box(x, y - 6, track.pitch - 2, _ROW_HEIGHT - 6),
    )


def _find_visited_cells(events: Sequence[Event]) -> set[int]:
    return {number for event in events if isinstance(event, STEPS) for number in event.cells}


DRAWING = LeapDrawing
