"""The board of Quantum Flip: the tiles, and a dial of points for each player."""

from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import cos, pi, sin
from typing import Any

from duels.core.drawing import Drawing
from duels.core.narration import SEAT_LABELS, PlayerNames
from duels.core.rules import Seat, Sight
from duels.core.svg import (
    WIDTH,
    Picture,
    board,
    box,
    cache_shape,
    cell,
    chip,
    circle,
    decoration,
    get_edge_colour,
    group,
    hit_box,
    mark,
    path,
    target,
    text,
    title,
    translate,
)
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
    rules: QuantumTiles

    def is_on_board(self, action: Action) -> bool:
        return isinstance(action, Flip | QuantumFlip | Keep)

    def instruction(self, sight: Sight[Action, State]) -> str:
        if sight.view.choosing:
            return "Keep one of the two; the other is turned back."
        quantum = any(isinstance(action, QuantumFlip) for action in sight.actions)
        return "Flip a tile, or use your Quantum Flip." if quantum else "Flip a tile."

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

    def picture(
        self, sight: Sight[Action, State], *, targets: bool = False, names: PlayerNames = SEAT_LABELS
    ) -> Picture:
        grid, state = _make_grid(self.rules), sight.view
        scored = [event for event in sight.events if isinstance(event, Scored)]
        owner = {event.tile: event.seat for event in scored}
        newest = scored[-1].tile if scored and not state.lifted else None
        lifted = {tile: self._get_lifted_value(state, tile) for tile in state.lifted}
        dials = [
            _draw_dial(seat, score, self.rules.target, state.has_quantum(seat), names.name(seat, begins=True))
            for seat, score in zip(Seat, state.scores, strict=True)
        ]
        tiles = [
            _draw_flipped_tile(grid, tile, face, owner.get(tile), tile == newest, names)
            if face.isdigit()
            else _draw_face_down_tile(grid, tile)
            for tile, face in enumerate(state.tiles)
            if tile not in lifted
        ]
        # Lifted tiles overlap their neighbours, so they are drawn last.
        raised = [_draw_lifted_tile(grid, tile, value, state.mover) for tile, value in lifted.items()]
        pressable = [_draw_target(grid, action, lifted) for action in sight.actions] if targets else None
        scene = [*dials, _draw_coordinates(grid), *tiles, *raised]
        return board(grid.height, _describe_board(grid, state, lifted, names), scene, pressable)

    def _get_lifted_value(self, state: State, tile: int) -> str:
        """Return the value of a lifted tile, or '' before it is shown."""
        return str(self.rules.value_of(state.tiles[tile])) if state.choosing else ""


@dataclass(frozen=True, eq=False)  # drawings are cached by grid, which is faster than by rules
class _Grid:
    """The places and names of the tiles."""

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
        left = WIDTH / 2 - self.pitch * self.rules.side / 2
        return left + (column + 0.5) * self.pitch, _BOARD_TOP + (row + 0.5) * self.pitch


_make_grid = lru_cache(_Grid)


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


@cache_shape
def _draw_dial(seat: Seat, score: int, goal: int, quantum: bool, name: str) -> str:
    """Draw a player's points, name and Quantum Flip."""

    def inwards(distance: float) -> float:
        return distance if seat is Seat.ONE else WIDTH - distance

    x, y = inwards(_DIAL_X), 56
    r = _DIAL_RADIUS
    arc = _draw_arc(x, y, score / goal, f"p{seat.value}", _RING_WIDTH)
    if seat is Seat.TWO:
        arc = _draw_arc(x, y, score / goal, "p2-edge", _RING_WIDTH + 2.5) + arc
    side = "start" if seat is Seat.ONE else "end"
    return decoration(
        circle(x, y, r, "none", "well", stroke_width=_RING_WIDTH),
        circle(x, y, r + 6, "none", "line", stroke_width=1.2),
        circle(x, y, r - 6, "none", "line", stroke_width=1.2),
        arc,
        text(x, y - 10, str(score), 34, "ink", font_weight=700),
        text(x, y + 18, "over" if score > goal else f"/{goal}"),
        mark(seat, inwards(_LABEL_X + 11), y - 20, 9),
        text(inwards(_LABEL_X + 27), y - 20, name, fill="ink", room=_NAME_WIDTH, text_anchor=side),
        _draw_quantum(seat, inwards(_LABEL_X + 9), y + 20, quantum),
        data_key=f"dial-{seat.value}",
    )


def _draw_quantum(seat: Seat, x: float, y: float, is_left: bool) -> str:
    """Draw two tiles and a label that show whether the Quantum Flip is left, from x inwards.

    There is no border, because it would look like a button.
    """
    direction, side = (1, "start") if seat is Seat.ONE else (-1, "end")
    tone, tile = ("ink", "back") if is_left else ("dim", "none")
    tiles = [box(x + direction * 19 * i, y, 16, 16, 4, tile, tone, stroke_width=2) for i in (0, 1)]
    decoration_style: dict[str, Any] = {} if is_left else {"text_decoration": "line-through"}
    words = text(x + direction * 34, y, "Quantum", fill=tone, text_anchor=side, **decoration_style)
    return group(title(f"{_QUANTUM} {'left' if is_left else 'used'}"), *tiles, words)


def _draw_arc(x: float, y: float, part: float, colour: str, width: float) -> str:
    """Draw the filled part of a dial."""
    if not part:
        return ""
    if part >= 1:  # SVG does not draw an arc that ends where it begins
        return circle(x, y, _DIAL_RADIUS, "none", colour, stroke_width=width)
    end = f"{x + _DIAL_RADIUS * sin(2 * pi * part):.1f} {y - _DIAL_RADIUS * cos(2 * pi * part):.1f}"
    return path(
        f"M{x} {y - _DIAL_RADIUS}A{_DIAL_RADIUS} {_DIAL_RADIUS} 0 {int(part > 0.5)} 1 {end}", colour, width
    )


@cache_shape
def _draw_coordinates(grid: _Grid) -> str:
    side, half = grid.rules.side, grid.pitch / 2
    left, bottom = grid.at(0)[0] - half - 11, grid.at(side**2 - 1)[1] + half + 16
    rows = [text(left, grid.at(row * side)[1], grid.names[row * side][0]) for row in range(side)]
    columns = [text(grid.at(column)[0], bottom, str(column + 1)) for column in range(side)]
    return decoration(*rows, *columns)


@cache_shape
def _draw_flipped_tile(
    grid: _Grid, tile: int, value: str, owner: Seat | None, newest: bool, names: PlayerNames
) -> str:
    """Draw a flipped tile."""
    size = grid.pitch - _GAP
    edge, width = (get_edge_colour(owner), 3.5) if owner and newest else ("line", 2)
    face = box(0, 0, size, size, size * _CORNER_RADIUS, "card", edge, stroke_width=width)
    words = text(0, 0, value, size * _VALUE_HEIGHT, "ink", font_weight=700)
    owner_mark = mark(owner, size * 0.31, size * 0.31, size * 0.075) if owner else ""
    label = f"{value}, flipped by {names.name(owner)}" if owner else value
    return _draw_cell(
        grid, tile, label, group(face, words, owner_mark, classes="fresh turns" if newest else "")
    )


@cache_shape
def _draw_lifted_tile(grid: _Grid, tile: int, value: str, mover: Seat) -> str:
    """Draw a lifted tile. `value` is '' before it is shown."""
    size = grid.pitch - _GAP
    face = box(
        0, 0, size + 4, size + 4, size * _CORNER_RADIUS, "card", get_edge_colour(mover), stroke_width=4
    )
    above = size * 0.13 if value else 0  # leaves room for the words below
    inside = face + text(0, -above, value or "?", size * _VALUE_HEIGHT, "ink", font_weight=700)
    return _draw_cell(
        grid, tile, value or "being turned", group(group(inside, classes="turns"), transform=translate(0, -5))
    )


@cache_shape
def _draw_face_down_tile(grid: _Grid, tile: int) -> str:
    size = grid.pitch - _GAP
    back = box(0, 0, size, size, size * _CORNER_RADIUS, "back")
    return _draw_cell(grid, tile, "face down", back, _draw_diamond(grid, 0, 0, "back-mark"))


def _draw_cell(grid: _Grid, tile: int, label: str, *shapes: str) -> str:
    (x, y), name = grid.at(tile), grid.names[tile]
    return cell(name, f"{name}: {label}", *shapes, x=x, y=y)


def _draw_diamond(grid: _Grid, x: float, y: float, colour: str) -> str:
    d = grid.pitch * 0.18
    diamond = f"M{x - d:.1f} {y:.1f}l{d:.1f} {-d:.1f}l{d:.1f} {d:.1f}l{-d:.1f} {d:.1f}Z"
    return path(diamond, colour, 2.5, colour, fill_opacity=0.3)


def _draw_target(grid: _Grid, action: Action, lifted: dict[int, str]) -> str:
    if isinstance(action, Flip):
        return _draw_flip_target(grid, action.tile)
    if isinstance(action, QuantumFlip):
        return _draw_quantum_target(grid, action.first, action.second)
    assert isinstance(action, Keep)
    return _draw_keep_target(grid, action.tile, lifted[action.tile])


@cache_shape
def _draw_flip_target(grid: _Grid, tile: int) -> str:
    (x, y), name, pitch = grid.at(tile), grid.names[tile], grid.pitch
    offer = _draw_diamond(grid, x, y, "back-ok")
    hit = hit_box(x, y, pitch, pitch, 14)
    return target(grid.rules.format(Flip(tile)), [name], f"Flip {name}", offer, hit)


@cache_shape
def _draw_quantum_target(grid: _Grid, first: int, second: int) -> str:
    (x, y), (ox, oy) = grid.at(first), grid.at(second)
    width, height = ox - x + grid.pitch - 2, oy - y + grid.pitch - 2
    outline = box((x + ox) / 2, (y + oy) / 2, width, height, 16, "none", "ok", stroke_width=5)
    cells = grid.names[first], grid.names[second]
    notation = grid.rules.format(QuantumFlip(first, second))
    return target(notation, cells, f"{_QUANTUM} {cells[0]} and {cells[1]}", outline, mode=_QUANTUM)


@cache_shape
def _draw_keep_target(grid: _Grid, tile: int, value: str) -> str:
    (x, y), name, pitch = grid.at(tile), grid.names[tile], grid.pitch
    offer = chip(x, y + pitch / 2 - 12, "keep", 72)  # above the column numbers
    hit = hit_box(x, y - 5, pitch, pitch, 14)
    return target(grid.rules.format(Keep(tile)), [name], f"Keep {name}, worth {value}", offer, hit)


DRAWING = FlipDrawing
