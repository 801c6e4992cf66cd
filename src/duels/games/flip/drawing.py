"""The board of Quantum Flip: tiles that turn, and two dials that go to the target."""

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
from duels.games.flip.words import turned_back

_WIDE, _LARGEST = 390, 90  # the tiles together; one of them
_TOP = 118  # of the tiles: above them are the dials, and beside each a name
_GAP = 7  # between two tiles
_ROUND, _VALUE = 0.19, 0.46  # of a tile: its corners; the height of its value
_DIAL, _RING = 46, 10
_EDGE, _BESIDE = 62, 120  # from the side of the board to the middle of a dial, and to what stands beside it
_NAME = 160  # the room for a name there
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
        return turned_back(self.rules, sight.view)

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
        grid, state = _grid(self.rules), sight.view
        scored = [event for event in sight.events if isinstance(event, Scored)]
        owner = {event.tile: event.seat for event in scored}
        newest = scored[-1].tile if scored and not state.lifted else None
        lifted = {tile: self._shown(state, tile) for tile in state.lifted}
        dials = [
            _dial(seat, score, self.rules.target, state.has_quantum(seat), names.name(seat, begins=True))
            for seat, score in zip(Seat, state.scores, strict=True)
        ]
        tiles = [
            _face(grid, tile, face, owner.get(tile), tile == newest, names)
            if face.isdigit()
            else _back(grid, tile)
            for tile, face in enumerate(state.tiles)
            if tile not in lifted
        ]
        # What is raised lies over its neighbours.
        raised = [_raised(grid, tile, shown, state.mover) for tile, shown in lifted.items()]
        pressed = [_target(grid, action, lifted) for action in sight.actions] if targets else None
        scene = [*dials, _coordinates(grid), *tiles, *raised]
        return board(grid.height, _told(grid, state, lifted, names), scene, pressed)

    def _shown(self, state: State, tile: int) -> str:
        """What is seen of a tile that is being turned; what it showed earlier is for players to remember."""
        return str(self.rules.value_of(state.tiles[tile])) if state.choosing else ""


@dataclass(frozen=True, eq=False)  # parts are remembered by the grid itself, which is quicker than by rules
class _Grid:
    """Where the tiles lie, and what they are called."""

    rules: QuantumTiles

    @cached_property
    def pitch(self) -> float:
        """From the middle of a tile to the middle of the next."""
        return min(_LARGEST, _WIDE / self.rules.side)

    @cached_property
    def height(self) -> float:
        """Of the whole board."""
        return _TOP + self.pitch * self.rules.side + 36

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The coordinates of the tiles, in reading order."""
        return tuple(map(self.rules.name_of, range(self.rules.side**2)))

    def at(self, tile: int) -> tuple[float, float]:
        """The middle of a tile."""
        row, column = divmod(tile, self.rules.side)
        left = WIDTH / 2 - self.pitch * self.rules.side / 2
        return left + (column + 0.5) * self.pitch, _TOP + (row + 0.5) * self.pitch


_grid = lru_cache(_Grid)


def _told(grid: _Grid, state: State, lifted: dict[int, str], names: PlayerNames) -> str:
    flipped = [f"{name} {face}" for name, face in zip(grid.names, state.tiles, strict=True) if face.isdigit()]
    parts = [f"{grid.rules.side} by {grid.rules.side} tiles"]
    parts.append(f"flipped: {', '.join(flipped)}" if flipped else "all face down")
    if state.choosing:
        shown = [f"{grid.names[tile]} {value}" for tile, value in lifted.items()]
        parts.append(f"shown by the Quantum Flip: {', '.join(shown)}")
    for seat in Seat:
        quantum = f"{_QUANTUM} {'left' if state.has_quantum(seat) else 'used'}"
        has = f"{names.name(seat)} {'have' if seat is names.reader else 'has'}"
        parts.append(f"{has} {state.scores[seat - 1]} of {grid.rules.target} points, {quantum}")
    return f"{'; '.join(parts)}."


@cache_shape
def _dial(seat: Seat, score: int, goal: int, quantum: bool, name: str) -> str:
    """A seat's points; beside them its name, and whether its Quantum Flip is left."""

    def inwards(distance: float) -> float:
        return distance if seat is Seat.ONE else WIDTH - distance

    x, y = inwards(_EDGE), 56
    r = _DIAL
    arc = _arc(x, y, score / goal, f"p{seat.value}", _RING)
    if seat is Seat.TWO:
        arc = _arc(x, y, score / goal, "p2-edge", _RING + 2.5) + arc
    side = "start" if seat is Seat.ONE else "end"
    return decoration(
        circle(x, y, r, "none", "well", stroke_width=_RING),
        circle(x, y, r + 6, "none", "line", stroke_width=1.2),
        circle(x, y, r - 6, "none", "line", stroke_width=1.2),
        arc,
        text(x, y - 10, str(score), 34, "ink", font_weight=700),
        text(x, y + 18, "over" if score > goal else f"/{goal}"),
        mark(seat, inwards(_BESIDE + 11), y - 20, 9),
        text(inwards(_BESIDE + 27), y - 20, name, fill="ink", room=_NAME, text_anchor=side),
        _quantum(seat, inwards(_BESIDE + 9), y + 20, quantum),
        data_key=f"dial-{seat.value}",
    )


def _quantum(seat: Seat, x: float, y: float, left: bool) -> str:
    """Whether a seat's Quantum Flip is left: two tiles beside the word, or outlines and the word struck out.

    It begins at x and goes inwards. With a border it would look like something to press.
    """
    way, side = (1, "start") if seat is Seat.ONE else (-1, "end")
    tone, tile = ("ink", "back") if left else ("dim", "none")
    tiles = [box(x + way * 19 * number, y, 16, 16, 4, tile, tone, stroke_width=2) for number in (0, 1)]
    struck: dict[str, Any] = {} if left else {"text_decoration": "line-through"}
    words = text(x + way * 34, y, "Quantum", fill=tone, text_anchor=side, **struck)
    return group(title(f"{_QUANTUM} {'left' if left else 'used'}"), *tiles, words)


def _arc(x: float, y: float, part: float, colour: str, width: float) -> str:
    """What of a dial is filled: nothing, an arc from the top, or all of it."""
    if not part:
        return ""
    if part >= 1:  # an arc that ends where it begins is not drawn at all
        return circle(x, y, _DIAL, "none", colour, stroke_width=width)
    end = f"{x + _DIAL * sin(2 * pi * part):.1f} {y - _DIAL * cos(2 * pi * part):.1f}"
    return path(f"M{x} {y - _DIAL}A{_DIAL} {_DIAL} 0 {int(part > 0.5)} 1 {end}", colour, width)


@cache_shape
def _coordinates(grid: _Grid) -> str:
    side, half = grid.rules.side, grid.pitch / 2
    left, bottom = grid.at(0)[0] - half - 11, grid.at(side**2 - 1)[1] + half + 16
    rows = [text(left, grid.at(row * side)[1], grid.names[row * side][0]) for row in range(side)]
    columns = [text(grid.at(column)[0], bottom, str(column + 1)) for column in range(side)]
    return decoration(*rows, *columns)


@cache_shape
def _face(grid: _Grid, tile: int, value: str, owner: Seat | None, newest: bool, names: PlayerNames) -> str:
    """A tile that is turned up."""
    size = grid.pitch - _GAP
    edge, width = (get_edge_colour(owner), 3.5) if owner and newest else ("line", 2)
    face = box(0, 0, size, size, size * _ROUND, "card", edge, stroke_width=width)
    words = text(0, 0, value, size * _VALUE, "ink", font_weight=700)
    by = mark(owner, size * 0.31, size * 0.31, size * 0.075) if owner else ""
    said = f"{value}, flipped by {names.name(owner)}" if owner else value
    return _cell(grid, tile, said, group(face, words, by, classes="fresh turns" if newest else ""))


@cache_shape
def _raised(grid: _Grid, tile: int, shown: str, mover: Seat) -> str:
    """A tile that is being turned; `shown` is its value once it is seen."""
    size = grid.pitch - _GAP
    face = box(0, 0, size + 4, size + 4, size * _ROUND, "card", get_edge_colour(mover), stroke_width=4)
    above = size * 0.13 if shown else 0  # what is written below it
    inside = face + text(0, -above, shown or "?", size * _VALUE, "ink", font_weight=700)
    return _cell(
        grid, tile, shown or "being turned", group(group(inside, classes="turns"), transform=translate(0, -5))
    )


@cache_shape
def _back(grid: _Grid, tile: int) -> str:
    """A tile that is face down."""
    size = grid.pitch - _GAP
    back = box(0, 0, size, size, size * _ROUND, "back")
    return _cell(grid, tile, "face down", back, _diamond(grid, 0, 0, "back-mark"))


def _cell(grid: _Grid, tile: int, said: str, *shapes: str) -> str:
    (x, y), name = grid.at(tile), grid.names[tile]
    return cell(name, f"{name}: {said}", *shapes, x=x, y=y)


def _diamond(grid: _Grid, x: float, y: float, colour: str) -> str:
    d = grid.pitch * 0.18
    way = f"M{x - d:.1f} {y:.1f}l{d:.1f} {-d:.1f}l{d:.1f} {d:.1f}l{-d:.1f} {d:.1f}Z"
    return path(way, colour, 2.5, colour, fill_opacity=0.3)


def _target(grid: _Grid, action: Action, lifted: dict[int, str]) -> str:
    if isinstance(action, Flip):
        return _flip(grid, action.tile)
    if isinstance(action, QuantumFlip):
        return _quantum_flip(grid, action.first, action.second)
    assert isinstance(action, Keep)
    return _keep(grid, action.tile, lifted[action.tile])


@cache_shape
def _flip(grid: _Grid, tile: int) -> str:
    (x, y), name, pitch = grid.at(tile), grid.names[tile], grid.pitch
    offer = _diamond(grid, x, y, "back-ok")
    hit = hit_box(x, y, pitch, pitch, 14)
    return target(grid.rules.format(Flip(tile)), [name], f"Flip {name}", offer, hit)


@cache_shape
def _quantum_flip(grid: _Grid, first: int, second: int) -> str:
    (x, y), (ox, oy) = grid.at(first), grid.at(second)
    wide, high = ox - x + grid.pitch - 2, oy - y + grid.pitch - 2
    outline = box((x + ox) / 2, (y + oy) / 2, wide, high, 16, "none", "ok", stroke_width=5)
    cells = grid.names[first], grid.names[second]
    notation = grid.rules.format(QuantumFlip(first, second))
    return target(notation, cells, f"{_QUANTUM} {cells[0]} and {cells[1]}", outline, mode=_QUANTUM)


@cache_shape
def _keep(grid: _Grid, tile: int, value: str) -> str:
    (x, y), name, pitch = grid.at(tile), grid.names[tile], grid.pitch
    offer = chip(x, y + pitch / 2 - 12, "keep", 72)  # above the numbers of the columns
    hit = hit_box(x, y - 5, pitch, pitch, 14)
    return target(grid.rules.format(Keep(tile)), [name], f"Keep {name}, worth {value}", offer, hit)


DRAWING = FlipDrawing
