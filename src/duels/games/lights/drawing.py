"""The board of Light Out Duel: bulbs on a cord, with a bracket under two neighbours."""

from dataclasses import dataclass
from functools import lru_cache

from duels.core.drawing import Drawing
from duels.core.narration import SEAT_LABELS, PlayerNames
from duels.core.notation import join_and
from duels.core.rules import Seat, Sight
from duels.core.svg import (
    MIN_TEXT_SIZE,
    Picture,
    board,
    box,
    cache_shape,
    cell,
    chip,
    circle,
    decoration,
    group,
    hit_box,
    mark,
    path,
    target,
    text,
)
from duels.core.track import Track
from duels.games.lights.rules import ON, Lights, State, TurnedOff, TurnOff

_PER_ROW = 7  # leaves room for the brackets at both ends of a row
_ROW_CENTER, _BULB_RADIUS, _NUMBER_OFFSET = 72, 28, 56
_BRACKET_OFFSET = 122  # from the centre of a bulb to the centre of its bracket
_GLOW = tuple((55 - 2.6 * ring, 0.035 + 0.009 * ring) for ring in range(10))  # radius and opacity


@dataclass(frozen=True)
class LightsDrawing(Drawing[TurnOff, State]):
    rules: Lights

    def is_on_board(self, action: TurnOff) -> bool:
        return True

    def instruction(self, sight: Sight[TurnOff, State]) -> str:
        pairs = any(action.count == 2 for action in sight.actions)
        return "Turn off one light, or two neighbours." if pairs else "Turn off one light."

    @property
    def guide(self) -> tuple[str, ...]:
        return ("Press a light that is ON to turn it off, or a bracket to turn off the two above it.",)

    def picture(
        self, sight: Sight[TurnOff, State], *, targets: bool = False, names: PlayerNames = SEAT_LABELS
    ) -> Picture:
        track = _make_track(self.rules.lights, targets)
        row = sight.view.row
        last = next((event for event in reversed(sight.events) if isinstance(event, TurnedOff)), None)
        scene = [_draw_cord(track)]
        for number, light in enumerate(row, start=1):
            off_by = last.seat if last and number in last.lights else None
            scene.append(_draw_light(track, number, light == ON, off_by))
        pressable = None
        if targets:
            pressable = [
                _draw_target(track, action.first, action.count, self.rules.format(action))
                for action in sight.actions
            ]
        return board(track.height, _describe_row(row), scene, pressable)


@lru_cache
def _make_track(lights: int, targets: bool) -> Track:
    per_row = _PER_ROW if lights > 9 else 9
    return Track(lights, 236 if targets else 152, _ROW_CENTER, per_row, margin=80)


@cache_shape
def _describe_row(row: str) -> str:
    on = [str(number) for number, light in enumerate(row, start=1) if light == ON]
    return f"{len(row)} lights, {f'on: {join_and(on)}' if on else 'all off'}."


@cache_shape
def _draw_cord(track: Track) -> str:
    """Draw the cord that the bulbs hang on."""
    x, y = track.at(1)
    top = _BULB_RADIUS + 26
    line = f"M{x:.1f} {y - top:.1f}"
    for number in range(2, track.cells + 1):
        before, (x, y) = x, track.at(number)
        if track.bends(number - 1):
            side = 62 if x > 312 else -62
            line += f"c{side} 0 {side} {track.row_height:.0f} 0 {track.row_height:.0f}"
        else:
            line += f"Q{(before + x) / 2:.1f} {y - top + 18:.1f} {x:.1f} {y - top:.1f}"
    return decoration(path(line, "dim", 3))


@cache_shape
def _draw_light(track: Track, number: int, on: bool, off_by: Seat | None) -> str:
    """Draw a light. `off_by` is the player who turned it off on the last turn."""
    x, y = track.at(number)
    reach = min(1, track.pitch / 84)
    glow = "".join(circle(0, 0, r * reach, "glow", opacity=opacity) for r, opacity in _GLOW)
    lit = 1.0 if on else 0.0
    return cell(
        number,
        f"Light {number} is {'on' if on else 'off'}",
        group(glow, classes="glow", opacity=lit),
        path(f"M0 {-_BULB_RADIUS - 26}V{-_BULB_RADIUS - 8}", "dim", 3),
        box(0, -_BULB_RADIUS - 4, 20, 16, 5, "dim"),
        circle(0, 0, _BULB_RADIUS, "well", "line", stroke_width=2.5),
        group(mark(off_by, 0, 0, 9), classes="fresh") if off_by else "",
        group(
            circle(0, 0, _BULB_RADIUS, "bulb", "bulb-edge", stroke_width=2),
            circle(-3, -4, 19, "bulb-core", opacity=0.45),
            circle(-6, -8, 10, "bulb-core", opacity=0.9),
            classes="lit",
            opacity=lit,
        ),
        text(0, _NUMBER_OFFSET, str(number), 24),
        x=x,
        y=y,
    )


@cache_shape
def _draw_target(track: Track, first: int, count: int, notation: str) -> str:
    x, y = track.at(first)
    if count == 1:
        offer = chip(x, y + _NUMBER_OFFSET, str(first), min(track.pitch - 20, 48))
        hit = hit_box(x, y + 7, track.pitch - 2, 138)
        return target(notation, [first], f"Turn off light {first}", offer, hit)
    lights = (first, first + 1)
    words = f"{lights[0]}–{lights[1]}"
    label = f"Turn off lights {words}"
    width = 16 + MIN_TEXT_SIZE * 0.56 * len(words)
    if track.bends(first):
        side = 1 if x > 312 else -1
        # At the end of a row, the cord itself serves as the bracket.
        far, down = x + side * 42, y + _BRACKET_OFFSET - 6
        return target(notation, lights, label, chip(far, down, words, width), hit_box(far, down, 76, 78))
    other = track.at(first + 1)[0]
    left, right, down = min(x, other), max(x, other), y + _BRACKET_OFFSET
    bracket = f"M{left + 7:.1f} {down - 36}v24q0 12 12 12H{right - 19:.1f}q12 0 12 -12v-24"
    shape = path(bracket, "ok", 2.5) + chip((left + right) / 2, down, words, width)
    return target(notation, lights, label, shape, hit_box((left + right) / 2, down, right - left - 2, 78))


DRAWING = LightsDrawing
