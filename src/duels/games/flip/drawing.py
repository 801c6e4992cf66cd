"""The board of Quantum Flip: the tiles, and a dial of points for each player."""

from dataclasses import dataclass
from functools import cached_property
from math import cos, pi, sin
from typing import Any

from duels.core import svg
from duels.core.drawing import Drawing
from duels.core.narration import SEAT_LABELS, PlayerNames
from duels.core.rules import Seat, Sight
from duels.games.flip.rules import Action, Flip, Keep, QuantumFlip, QuantumTiles, Scored, State
from duels.games.flip.words import describe_turned_back

_BOARD_SIZE, _MAX_PITCH = 390, 90
_BOARD_TOP = 118  # leaves room for the dials
_GAP = 7
_CORNER_RADIUS, _VALUE_HEIGHT = 0.19, 0.46  # relative to a tile
_DIAL_RADIUS, _RING_WIDTH = 46, 10
_DIAL_X, _LABEL_X = 62, 120  # from the side of the board to the centre of a dial, and to its label
_NAME_WIDTH = 160
_QUANTUM = "Quantum Flip"


@dataclass(frozen=True)
class FlipDrawing(Drawing[Action, State]):
    """The grid of tiles, with the scores and the Quantum Flips left."""

    rules: QuantumTiles

    def is_on_board(self, action: Action) -> bool:
        return isinstance(action, Flip | QuantumFlip | Keep)

    def instruction(self, sight: Sight[Action, State]) -> str:
        if sight.view.choosing:
            return "Keep one of the two; the other is turned back."
        can_use_quantum = any(isinstance(action, QuantumFlip) for action in sight.actions)
        return "Flip a tile, or use your Quantum Flip." if can_use_quantum else "Flip a tile."

    def recap(self, sight: Sight[Action, State]) -> str:
        return describe_turned_back(self.rules, sight.view)

    def opponent_task(self, sight: Sight[Action, State]) -> str:
        return "keep one of the two tiles" if sight.view.choosing else super().opponent_task(sight)

    @property
    def guide(self) -> tuple[str, ...]:
        return (
            "Press a tile to flip it. For a Quantum Flip press the button below the board, then both tiles, "
            "then the one to keep.",
            "The dials show the points of both players, and beside them whether a Quantum Flip is left.",
        )

    def draw(
        self, sight: Sight[Action, State], *, targets: bool = False, names: PlayerNames = SEAT_LABELS
    ) -> svg.Picture:
        grid, state = _Grid(self.rules), sight.view
        owners = {event.tile: event.seat for event in sight.events if isinstance(event, Scored)}
        newest = next(reversed(owners), None) if not state.lifted else None
        lifted = {tile: self._get_lifted_value(state, tile) for tile in state.lifted}
        dials = [
            _draw_dial(seat, score, self.rules.target, state.has_quantum(seat), names.name(seat, begins=True))
            for seat, score in zip(Seat, state.scores, strict=True)
        ]
        tiles = [
            _draw_flipped_tile(grid, tile, face, owners.get(tile), tile == newest, names)
            if face.isdigit()
            else _draw_face_down_tile(grid, tile)
            for tile, face in enumerate(state.tiles)
            if tile not in lifted
        ]
        # Lifted tiles overlap their neighbours, so they are drawn last.
        tiles += [_draw_lifted_tile(grid, tile, value, state.mover) for tile, value in lifted.items()]
        scene = [*dials, _draw_coordinates(grid), *tiles]
        pressable = None
        if targets:
            pressable = [
                _draw_target(grid, action, lifted[action.tile] if isinstance(action, Keep) else "")
                for action in sight.actions
            ]
        return svg.board(grid.height, _describe_board(grid, state, lifted, names), scene, pressable)

    def _get_lifted_value(self, state: State, tile: int) -> str:
        """Return the value of a lifted tile, or '' before it is shown."""
        return str(self.rules.value_of(state.tiles[tile])) if state.choosing else ""


@dataclass(frozen=True)
class _Grid:
    rules: QuantumTiles

    @cached_property
    def pitch(self) -> float:
        """The distance between the centres of two neighbours."""
        return min(_MAX_PITCH, _BOARD_SIZE / self.rules.side)

    @cached_property
    def height(self) -> float:
        """The height of the whole board."""
        return _BOARD_TOP + self.pitch * self.rules.side + 36

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The coordinates of the tiles, in reading order."""
        return tuple(map(self.rules.name_of, range(self.rules.side**2)))

    def at(self, tile: int) -> tuple[float, float]:
        """Return the centre of a tile."""
        row, column = divmod(tile, self.rules.side)
        left = svg.WIDTH / 2 - self.pitch * self.rules.side / 2
        return left + (column + 0.5) * self.pitch, _BOARD_TOP + (row + 0.5) * self.pitch


def _describe_board(grid: _Grid, state: State, lifted: dict[int, str], names: PlayerNames) -> str:
    flipped = [f"{name} {face}" for name, face in zip(grid.names, state.tiles, strict=True) if face.isdigit()]
    parts = [f"{grid.rules.side} by {grid.rules.side} tiles"]
    parts.append(f"flipped: {', '.join(flipped)}" if flipped else "all face down")
    if state.choosing:
        values = [f"{grid.names[tile]} {value}" for tile, value in lifted.items()]
        parts.append(f"shown by the Quantum Flip: {', '.join(values)}")
    for seat in Seat:
        quantum = f"{_QUANTUM} {'left' if state.has_quantum(seat) else 'used'}"
        has = f"{names.name(seat)} {'have' if seat is names.reader else 'has'}"
        parts.append(f"{has} {state.scores[seat - 1]} of {grid.rules.target} points, {quantum}")
    return f"{'; '.join(parts)}."


@svg.cache_shape
def _draw_dial(seat: Seat, score: int, goal: int, has_quantum: bool, name: str) -> str:

    def from_side(distance: float) -> float:
        return distance if seat is Seat.ONE else svg.WIDTH - distance

    x, y = from_side(_DIAL_X), 56
    r = _DIAL_RADIUS
    arc = _draw_arc(x, y, score / goal, f"p{seat.value}", _RING_WIDTH)
    if seat is Seat.TWO:
        arc = _draw_arc(x, y, score / goal, "p2-edge", _RING_WIDTH + 2.5) + arc
    anchor = "start" if seat is Seat.ONE else "end"
    return svg.decoration(
        svg.circle(x, y, r, "none", "well", stroke_width=_RING_WIDTH),
        svg.circle(x, y, r + 6, "none", "line", stroke_width=1.2),
        svg.circle(x, y, r - 6, "none", "line", stroke_width=1.2),
        arc,
        svg.text(x, y - 10, str(score), 34, "ink", font_weight=700),
        svg.text(x, y + 18, "over" if score > goal else f"/{goal}"),
        svg.mark(seat, from_side(_LABEL_X + 11), y - 20, 9),
        svg.text(
            from_side(_LABEL_X + 27), y - 20, name, fill="ink", max_width=_NAME_WIDTH, text_anchor=anchor
        ),
        _draw_quantum(seat, from_side(_LABEL_X + 9), y + 20, has_quantum),
        data_key=f"dial-{seat.value}",
    )


def _draw_quantum(seat: Seat, x: float, y: float, is_available: bool) -> str:
    """Draw two tiles and a label that show whether the Quantum Flip is available.

    There is no border, because it would look like a button.
    """
    direction, anchor = (1, "start") if seat is Seat.ONE else (-1, "end")
    colour, fill = ("ink", "back") if is_available else ("dim", "none")
    tiles = [svg.box(x + direction * 19 * i, y, 16, 16, 4, fill, colour, stroke_width=2) for i in (0, 1)]
    strike: dict[str, Any] = {} if is_available else {"text_decoration": "line-through"}
    words = svg.text(x + direction * 34, y, "Quantum", fill=colour, text_anchor=anchor, **strike)
    return svg.group(svg.title(f"{_QUANTUM} {'left' if is_available else 'used'}"), *tiles, words)


def _draw_arc(x: float, y: float, share: float, colour: str, width: float) -> str:
    if not share:
        return ""
    r, angle = _DIAL_RADIUS, 2 * pi * share
    if share >= 1:  # SVG does not draw an arc that ends where it begins
        return svg.circle(x, y, r, "none", colour, stroke_width=width)
    end = f"{x + r * sin(angle):.1f} {y - r * cos(angle):.1f}"
    return svg.path(f"M{x} {y - r}A{r} {r} 0 {int(share > 0.5)} 1 {end}", colour, width)


@svg.cache_shape
def _draw_coordinates(grid: _Grid) -> str:
    side, half = grid.rules.side, grid.pitch / 2
    left, bottom = grid.at(0)[0] - half - 11, grid.at(side**2 - 1)[1] + half + 16
    rows = [svg.text(left, grid.at(row * side)[1], grid.names[row * side][0]) for row in range(side)]
    columns = [svg.text(grid.at(column)[0], bottom, str(column + 1)) for column in range(side)]
    return svg.decoration(*rows, *columns)


@svg.cache_shape
def _draw_flipped_tile(
    grid: _Grid, tile: int, value: str, owner: Seat | None, newest: bool, names: PlayerNames
) -> str:
    size = grid.pitch - _GAP
    edge, width = (svg.get_edge_colour(owner), 3.5) if owner and newest else ("line", 2)
    face = svg.box(0, 0, size, size, size * _CORNER_RADIUS, "card", edge, stroke_width=width)
    words = svg.text(0, 0, value, size * _VALUE_HEIGHT, "ink", font_weight=700)
    mark = svg.mark(owner, size * 0.31, size * 0.31, size * 0.075) if owner else ""
    label = f"{value}, flipped by {names.name(owner)}" if owner else value
    shape = svg.group(face, words, mark, classes="fresh turns" if newest else "")
    return _draw_cell(grid, tile, label, shape)


def _draw_lifted_tile(grid: _Grid, tile: int, value: str, mover: Seat) -> str:
    """Draw a lifted tile. `value` is '' before it is shown."""
    size, edge = grid.pitch - _GAP, svg.get_edge_colour(mover)
    face = svg.box(0, 0, size + 4, size + 4, size * _CORNER_RADIUS, "card", edge, stroke_width=4)
    y = -size * 0.13 if value else 0  # leaves room for the words below
    words = svg.text(0, y, value or "?", size * _VALUE_HEIGHT, "ink", font_weight=700)
    shape = svg.group(svg.group(face, words, classes="turns"), transform=svg.translate(0, -5))
    return _draw_cell(grid, tile, value or "being turned", shape)


@svg.cache_shape
def _draw_face_down_tile(grid: _Grid, tile: int) -> str:
    size = grid.pitch - _GAP
    back = svg.box(0, 0, size, size, size * _CORNER_RADIUS, "back")
    return _draw_cell(grid, tile, "face down", back, _draw_diamond(grid, 0, 0, "back-mark"))


def _draw_cell(grid: _Grid, tile: int, label: str, *shapes: str) -> str:
    (x, y), name = grid.at(tile), grid.names[tile]
    return svg.cell(name, f"{name}: {label}", *shapes, x=x, y=y)


def _draw_diamond(grid: _Grid, x: float, y: float, colour: str) -> str:
    d = grid.pitch * 0.18
    diamond = f"M{x - d:.1f} {y:.1f}l{d:.1f} {-d:.1f}l{d:.1f} {d:.1f}l{-d:.1f} {d:.1f}Z"
    return svg.path(diamond, colour, 2.5, colour, fill_opacity=0.3)


@svg.cache_shape
def _draw_target(grid: _Grid, action: Action, value: str) -> str:
    """Draw the target of an action. `value` is the value of the tile to keep."""
    notation, pitch = grid.rules.format(action), grid.pitch
    if isinstance(action, QuantumFlip):
        (x, y), (second_x, second_y) = grid.at(action.first), grid.at(action.second)
        width, height = second_x - x + pitch - 2, second_y - y + pitch - 2
        center_x, center_y = (x + second_x) / 2, (y + second_y) / 2
        outline = svg.box(center_x, center_y, width, height, 16, "none", "ok", stroke_width=5)
        cells = grid.names[action.first], grid.names[action.second]
        return svg.target(notation, cells, f"{_QUANTUM} {cells[0]} and {cells[1]}", outline, mode=_QUANTUM)
    assert isinstance(action, Flip | Keep)
    (x, y), name = grid.at(action.tile), grid.names[action.tile]
    if isinstance(action, Flip):
        hit_box, diamond = svg.hit_box(x, y, pitch, pitch, 14), _draw_diamond(grid, x, y, "back-ok")
        return svg.target(notation, [name], f"Flip {name}", diamond, hit_box)
    chip = svg.chip(x, y + pitch / 2 - 12, "keep", 72)  # above the column numbers
    hit_box = svg.hit_box(x, y - 5, pitch, pitch, 14)
    return svg.target(notation, [name], f"Keep {name}, worth {value}", chip, hit_box)


DRAWING = FlipDrawing
