"""The board of Light Out Duel: bulbs on a cord, with a bracket under two neighbours."""

from dataclasses import dataclass

from duels.core import svg
from duels.core.drawing import Drawing
from duels.core.narration import SEAT_LABELS, PlayerNames
from duels.core.rules import Seat, Sight
from duels.core.svg import Track, make_track
from duels.core.words import join_and
from duels.games.lights.rules import ON, Lights, State, TurnedOff, TurnOff

_ROW_CENTER, _BULB_RADIUS, _NUMBER_OFFSET = 72, 28, 56
_CORD_OFFSET = _BULB_RADIUS + 26  # from the centre of a bulb up to the cord
_BRACKET_OFFSET = 122  # from the centre of a bulb down to the centre of its bracket
_GLOW = tuple((55 - 2.6 * ring, 0.035 + 0.009 * ring) for ring in range(10))  # radius and opacity


@dataclass(frozen=True)
class LightsDrawing(Drawing[TurnOff, State]):
    """The row of lights on a cord, with brackets below neighbours that are ON."""

    rules: Lights

    def is_on_board(self, action: TurnOff) -> bool:
        return True

    def instruction(self, sight: Sight[TurnOff, State]) -> str:
        pairs = any(action.count == 2 for action in sight.actions)
        return "Turn off one light, or two neighbours." if pairs else "Turn off one light."

    @property
    def guide(self) -> tuple[str, ...]:
        return ("Press a light that is ON to turn it off, or a bracket to turn off the two above it.",)

    def draw(
        self, sight: Sight[TurnOff, State], *, targets: bool = False, names: PlayerNames = SEAT_LABELS
    ) -> svg.Picture:
        track = make_track(self.rules.lights, 236 if targets else 152, _ROW_CENTER, 80)
        row = sight.view.row
        last_turn = next((event for event in reversed(sight.events) if isinstance(event, TurnedOff)), None)
        scene = [_draw_cord(track)]
        for number, light in enumerate(row, start=1):
            off_by = last_turn.seat if last_turn and number in last_turn.lights else None
            scene.append(_draw_light(track, number, light == ON, off_by))
        pressable = None
        if targets:
            pressable = [
                _draw_target(track, action.first, action.count, self.rules.format(action))
                for action in sight.actions
            ]
        return svg.board(track.height, _describe_row(row), scene, pressable)


def _describe_row(row: str) -> str:
    on = [str(number) for number, light in enumerate(row, start=1) if light == ON]
    return f"{len(row)} lights, {f'on: {join_and(on)}' if on else 'all off'}."


@svg.cache_shape
def _draw_cord(track: Track) -> str:
    x, y = track.centre(1)
    line = f"M{x:.1f} {y - _CORD_OFFSET:.1f}"
    for number in range(2, track.cells + 1):
        previous_x, (x, y) = x, track.centre(number)
        if track.bends(number - 1):
            bulge = 62 if x > svg.WIDTH / 2 else -62
            line += f"c{bulge} 0 {bulge} {track.row_height:.0f} 0 {track.row_height:.0f}"
        else:
            middle, cord_y = (previous_x + x) / 2, y - _CORD_OFFSET
            line += f"Q{middle:.1f} {cord_y + 18:.1f} {x:.1f} {cord_y:.1f}"
    return svg.decoration(svg.path(line, "dim", 3))


@svg.cache_shape
def _draw_light(track: Track, number: int, on: bool, off_by: Seat | None) -> str:
    """Draw a light. `off_by` is the player who turned it off on the last turn."""
    x, y = track.centre(number)
    scale = min(1, track.pitch / 84)
    glow = "".join(svg.circle(0, 0, r * scale, "glow", opacity=opacity) for r, opacity in _GLOW)
    opacity = 1.0 if on else 0.0
    return svg.cell(
        number,
        f"Light {number} is {'on' if on else 'off'}",
        svg.group(glow, classes="glow", opacity=opacity),
        svg.path(f"M0 {-_CORD_OFFSET}V{-_BULB_RADIUS - 8}", "dim", 3),
        svg.box(0, -_BULB_RADIUS - 4, 20, 16, 5, "dim"),
        svg.circle(0, 0, _BULB_RADIUS, "well", "line", stroke_width=2.5),
        svg.group(svg.mark(off_by, 0, 0, 9), classes="fresh") if off_by else "",
        svg.group(
            svg.circle(0, 0, _BULB_RADIUS, "bulb", "bulb-edge", stroke_width=2),
            svg.circle(-3, -4, 19, "bulb-core", opacity=0.45),
            svg.circle(-6, -8, 10, "bulb-core", opacity=0.9),
            classes="lit",
            opacity=opacity,
        ),
        svg.text(0, _NUMBER_OFFSET, str(number), 24),
        x=x,
        y=y,
    )


@svg.cache_shape
def _draw_target(track: Track, first: int, count: int, notation: str) -> str:
    x, y = track.centre(first)
    if count == 1:
        chip = svg.chip(x, y + _NUMBER_OFFSET, str(first), min(track.pitch - 20, 48))
        hit_box = svg.hit_box(x, y + 7, track.pitch - 2, 138)
        return svg.target(notation, [first], f"Turn off light {first}", chip, hit_box)
    if track.bends(first):
        # At the end of a row, the cord itself serves as the bracket.
        center, y, width, bracket = x + (42 if x > svg.WIDTH / 2 else -42), y + _BRACKET_OFFSET - 6, 76.0, ""
    else:
        left, right = sorted((x, track.centre(first + 1)[0]))
        center, y, width = (left + right) / 2, y + _BRACKET_OFFSET, right - left - 2
        line = f"M{left + 7:.1f} {y - 36}v24q0 12 12 12H{right - 19:.1f}q12 0 12 -12v-24"
        bracket = svg.path(line, "ok", 2.5)
    words = f"{first}–{first + 1}"
    chip = svg.chip(center, y, words, 16 + svg.MIN_TEXT_SIZE * 0.56 * len(words))
    hit_box = svg.hit_box(center, y, width, 78)
    return svg.target(notation, (first, first + 1), f"Turn off lights {words}", bracket, chip, hit_box)


DRAWING = LightsDrawing
