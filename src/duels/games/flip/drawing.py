"""The board of Quantum Flip: tiles that turn, and two dials that go to the target."""

from dataclasses import dataclass
from math import cos, pi, sin
from typing import Any

from duels.core.drawing import Drawing
from duels.core.rules import Seat, Sight
from duels.core.svg import (
    WIDTH,
    Picture,
    at,
    board,
    box,
    cell,
    chip,
    circle,
    decoration,
    edge_of,
    element,
    group,
    hit_box,
    mark,
    path,
    target,
    text,
)
from duels.games.flip.rules import Action, Flip, Keep, QuantumFlip, QuantumTiles, Scored, State

_WIDE, _LARGEST = 390, 90  # the tiles together; one of them
_TOP = 118  # of the tiles: above them are the dials, and beside each a name
_DIAL, _RING = 42, 10
_EDGE, _BESIDE = 62, 120  # from the side of the board to the middle of a dial, and to what stands beside it
_QUANTUM = "Quantum Flip"


@dataclass(frozen=True)
class FlipDrawing(Drawing[Action, State]):
    rules: QuantumTiles

    def has_place(self, action: Action) -> bool:
        return isinstance(action, Flip | QuantumFlip | Keep)

    @property
    def _pitch(self) -> float:
        return min(_LARGEST, _WIDE / self.rules.side)

    def _at(self, tile: int) -> tuple[float, float]:
        """The middle of a tile."""
        row, column = divmod(tile, self.rules.side)
        left = WIDTH / 2 - self._pitch * self.rules.side / 2
        return left + (column + 0.5) * self._pitch, _TOP + (row + 0.5) * self._pitch

    def asked(self, sight: Sight[Action, State]) -> str:
        if sight.view.choosing:
            return "Keep one of the two; the other is turned back."
        quantum = any(isinstance(action, QuantumFlip) for action in sight.actions)
        return "Flip a tile, or use your Quantum Flip." if quantum else "Flip a tile."

    def awaited(self, sight: Sight[Action, State]) -> str:
        return "keep one of the two tiles" if sight.view.choosing else super().awaited(sight)

    @property
    def guide(self) -> tuple[str, ...]:
        return (
            "Press a tile to flip it. For a Quantum Flip press the button below the board, then both tiles.",
            "The dials show the points of both players, and beside them whether a Quantum Flip is left.",
        )

    def picture(self, sight: Sight[Action, State], *, targets: bool = False) -> Picture:
        state = sight.view
        scored = [event for event in sight.events if isinstance(event, Scored)]
        owner = {event.tile: event.seat for event in scored}
        newest = scored[-1].tile if scored and not state.lifted else None
        height = _TOP + self._pitch * self.rules.side + 36
        scene = [self._dial(state, seat) for seat in Seat]
        scene.append(decoration(*self._coordinates()))
        # What is raised lies over its neighbours.
        tiles = sorted(range(self.rules.side**2), key=lambda tile: tile in state.lifted)
        scene += [self._tile(state, tile, owner.get(tile), tile == newest) for tile in tiles]
        pressed = [self._target(state, action) for action in sight.actions] if targets else None
        return board(height, self._told(state), scene, pressed)

    def _told(self, state: State) -> str:
        flipped = [f"{self.rules.name_of(i)} {tile}" for i, tile in enumerate(state.tiles) if tile.isdigit()]
        shown = [f"{self.rules.name_of(i)} {self._shown(state, i)}" for i in state.lifted if state.choosing]
        side, target_score = self.rules.side, self.rules.target
        parts = [f"{side} by {side} tiles"]
        parts.append(f"flipped: {', '.join(flipped)}" if flipped else "all face down")
        if shown:
            parts.append(f"shown by the Quantum Flip: {', '.join(shown)}")
        for seat, points in zip(Seat, state.scores, strict=True):
            quantum = "Quantum Flip left" if self._has_quantum(state, seat) else "Quantum Flip used"
            parts.append(f"{seat.label} has {points} of {target_score} points, {quantum}")
        return f"{'; '.join(parts)}."

    def _has_quantum(self, state: State, seat: Seat) -> bool:
        """Whether a seat's Quantum Flip is left: the one that is being made is spent."""
        return state.quantum[seat - 1] and not (state.choosing and seat is state.mover)

    def _shown(self, state: State, tile: int) -> str:
        """What is seen of a tile: a value once shown and turned back is for players to remember."""
        face = state.tiles[tile]
        if face.isdigit():
            return face
        return str(self.rules.value_of(face)) if state.choosing and tile in state.lifted else ""

    def _dial(self, state: State, seat: Seat) -> str:
        """A seat's points; beside them its name, and whether its Quantum Flip is left."""

        def inwards(distance: float) -> float:
            return distance if seat is Seat.ONE else WIDTH - distance

        x, y = inwards(_EDGE), 56
        score, goal = state.scores[seat - 1], self.rules.target
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
            text(x, y - 6, str(score), 36, "ink", font_weight=700),
            text(x, y + 21, "over" if score > goal else f"/{goal}"),
            mark(seat, inwards(_BESIDE + 11), y - 20, 9),
            text(inwards(_BESIDE + 27), y - 20, seat.label, fill="ink", text_anchor=side),
            _quantum(seat, inwards(_BESIDE + 9), y + 20, self._has_quantum(state, seat)),
            data_key=f"dial-{seat.value}",
        )

    def _coordinates(self) -> list[str]:
        side = self.rules.side
        left, bottom = self._at(0)[0] - self._pitch / 2 - 11, self._at(side**2 - 1)[1] + self._pitch / 2 + 16
        rows = [text(left, self._at(row * side)[1], self.rules.name_of(row * side)[0]) for row in range(side)]
        columns = [text(self._at(column)[0], bottom, str(column + 1)) for column in range(side)]
        return rows + columns

    def _tile(self, state: State, tile: int, owner: Seat | None, newest: bool) -> str:
        x, y = self._at(tile)
        size = self._pitch - 7
        name, shown, lifted = self.rules.name_of(tile), self._shown(state, tile), tile in state.lifted
        radius = size * 0.19
        said = shown or ("being turned" if lifted else "face down")
        if lifted:
            face = box(0, 0, size + 4, size + 4, radius, "card", edge_of(state.mover), stroke_width=4)
            above = size * 0.13 if state.choosing else 0  # what is written below it
            inside = face + text(0, -above, shown or "?", size * 0.46, "ink", font_weight=700)
            raised = group(group(inside, classes="turns"), transform=at(0, -5))
            return cell(name, f"{name}: {said}", raised, x=x, y=y)
        if shown:
            edge, width = (edge_of(owner), 3.5) if owner and newest else ("line", 2)
            face = box(0, 0, size, size, radius, "card", edge, stroke_width=width)
            value = text(0, 0, shown, size * 0.46, "ink", font_weight=700)
            by = mark(owner, size * 0.31, size * 0.31, size * 0.075) if owner else ""
            if owner:
                said += f", flipped by {owner.label}"
            return cell(
                name,
                f"{name}: {said}",
                group(face, value, by, classes="fresh turns" if newest else ""),
                x=x,
                y=y,
            )
        back = box(0, 0, size, size, radius, "back")
        return cell(name, f"{name}: {said}", back, self._diamond(0, 0, "back-mark"), x=x, y=y)

    def _diamond(self, x: float, y: float, colour: str) -> str:
        d = self._pitch * 0.18
        way = f"M{x - d:.1f} {y:.1f}l{d:.1f} {-d:.1f}l{d:.1f} {d:.1f}l{-d:.1f} {d:.1f}Z"
        return path(way, colour, 2.5, colour, fill_opacity=0.3)

    def _target(self, state: State, action: Action) -> str:
        name, pitch = self.rules.format(action), self._pitch
        if isinstance(action, QuantumFlip):
            (x, y), (ox, oy) = self._at(action.first), self._at(action.second)
            outline = box(
                (x + ox) / 2,
                (y + oy) / 2,
                ox - x + pitch - 2,
                oy - y + pitch - 2,
                16,
                "none",
                "ok",
                stroke_width=5,
            )
            cells = [self.rules.name_of(tile) for tile in (action.first, action.second)]
            return target(name, cells, f"Quantum Flip {cells[0]} and {cells[1]}", outline, mode=_QUANTUM)
        assert isinstance(action, Flip | Keep)
        tile = self.rules.name_of(action.tile)
        x, y = self._at(action.tile)
        if isinstance(action, Keep):
            said = f"Keep {tile}, worth {self._shown(state, action.tile)}"
            offer = chip(x, y + pitch / 2 - 12, "keep", 72)  # above the numbers of the columns
            return target(name, [tile], said, offer, hit_box(x, y - 5, pitch, pitch, 14))
        return target(
            name, [tile], f"Flip {tile}", self._diamond(x, y, "back-ok"), hit_box(x, y, pitch, pitch, 14)
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
    return group(element("title", f"{_QUANTUM} {'left' if left else 'used'}"), *tiles, words)


def _arc(x: float, y: float, part: float, colour: str, width: float) -> str:
    """What of a dial is filled: nothing, an arc from the top, or all of it."""
    if not part:
        return ""
    if part >= 1:  # an arc that ends where it begins is not drawn at all
        return circle(x, y, _DIAL, "none", colour, stroke_width=width)
    end = f"{x + _DIAL * sin(2 * pi * part):.1f} {y - _DIAL * cos(2 * pi * part):.1f}"
    return path(f"M{x} {y - _DIAL}A{_DIAL} {_DIAL} 0 {int(part > 0.5)} 1 {end}", colour, width)


DRAWING = FlipDrawing
