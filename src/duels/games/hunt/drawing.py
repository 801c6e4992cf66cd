"""The board of Quantum Duel, hidden movement: fog, one's own token, and who named which cell."""

from dataclasses import dataclass
from typing import Any

from duels.core.drawing import Drawing
from duels.core.rules import Seat, Sight
from duels.core.svg import (
    at,
    board,
    box,
    cell,
    chip,
    circle,
    decoration,
    element,
    group,
    hit_box,
    path,
    target,
    text,
    token,
)
from duels.core.track import Track
from duels.games.hunt.rules import (
    NONE_NAMED,
    OFF_GRID,
    Action,
    Collided,
    Known,
    Move,
    Observed,
    QuantumHunt,
    Tunnel,
)

_EYES = {Seat.ONE: -62, Seat.TWO: 102}  # from the middle of a cell to the middle of a row of eyes
_NUMBER, _TUNNEL = 62, 168
_STRENGTH = (1.0, 0.55, 0.3)  # of an eye: of the cell named last, of the one before…
_PUFFS = ((-13, 8, 18), (12, 6, 20), (-1, -8, 18), (17, -12, 11), (-19, -9, 10))


@dataclass(frozen=True)
class HuntDrawing(Drawing[Action, Known]):
    rules: QuantumHunt

    def has_place(self, action: Action) -> bool:
        return True

    def draw(self, sight: Sight[Action, Known], *, targets: bool = False) -> str:
        lane = sight.view.tunnel  # open as long as one's own tunnel is
        per_row = 7 if self.rules.cells > 9 else 9
        track = Track(self.rules.cells, 306 if lane else 208, 82, per_row, margin=56)
        tokens = _tokens(sight)
        scene = [decoration(path(track.line(), "line", 8, opacity=0.6))]
        whose = {sight.seat: "your token", sight.seat.other: f"{sight.seat.other.label}'s token"}
        scene += self._cells(track, sight, tokens, whose)
        if lane:
            scene.append(self._lane(track))
        if sight.view.cell == OFF_GRID:
            # The token waits beside the first cell, half out of the picture.
            tokens = {sight.seat: OFF_GRID}
        scene += [self._token(track, seat, place, sight, tokens) for seat, place in tokens.items()]
        pressed = [self._target(track, action, sight) for action in sight.actions] if targets else None
        return board(track.height, self._told(sight, tokens), scene, pressed)

    def draw_open(self, one: Sight[Action, Known], two: Sight[Action, Known]) -> tuple[str, ...]:
        track = Track(self.rules.cells, 208, 82, 7 if self.rules.cells > 9 else 9, margin=56)
        tokens = {sight.seat: sight.view.cell for sight in (one, two)}
        whose = {seat: f"{seat.label}'s token" for seat in Seat}
        scene = [decoration(path(track.line(), "line", 8, opacity=0.6))]
        scene += self._cells(track, one, tokens, whose)
        scene += [self._token(track, seat, place, one, tokens) for seat, place in tokens.items()]
        said = [f"{self.rules.cells} cells"]
        for sight in (one, two):
            place = f"on {sight.view.cell}" if sight.view.cell else "off the grid"
            named = one.view.named[sight.seat - 1]
            said.append(
                f"{whose[sight.seat]} is {place}, its tunnel {'left' if sight.view.tunnel else 'spent'}"
            )
            said.append(f"{sight.seat.label} named {named or 'no cell'} last")
        return (board(track.height, f"{'; '.join(said)}.", scene),)

    def _told(self, sight: Sight[Action, Known], tokens: dict[Seat, int]) -> str:
        view, other = sight.view, sight.seat.other
        said = [f"{self.rules.cells} cells in fog"]
        said.append(f"your token is on {view.cell}" if view.cell else "your token is off the grid")
        if other in tokens:
            said.append(f"{other.label}'s token is on {tokens[other]}")
        said.append(f"your tunnel is {'left' if view.tunnel else 'spent'}")
        for who, seat in (("you", sight.seat), (other.label, other)):
            named = view.named[seat - 1]
            said.append(f"{who} named {named or 'no cell'} last" if named else f"{who} named no cell yet")
        return f"{'; '.join(said)}."

    def _cells(
        self, track: Track, sight: Sight[Action, Known], tokens: dict[Seat, int], whose: dict[Seat, str]
    ) -> list[str]:
        """The cells, and over and under them who named which."""
        drawn = []
        for number in range(1, self.rules.cells + 1):
            here = [whose[seat] for seat, place in tokens.items() if place == number]
            named = [seat.label for seat in Seat if sight.view.named[seat - 1] == number]
            drawn.append(self._cell(track, number, [*here, *(f"named last by {name}" for name in named)]))
        for seat in Seat:
            drawn += self._eyes(track, sight, seat)
        return drawn

    def _cell(self, track: Track, number: int, said: list[str]) -> str:
        x, y = track.at(number)
        size = min(track.pitch * 0.88, 80)
        swing = (number * 5) % 7 - 3  # no two neighbours alike, the same in every match
        scale = size / 78
        puffs = "".join(
            circle(scale * (dx + swing), scale * (dy - swing / 2), scale * r, "fog", opacity=0.32)
            for dx, dy, r in _PUFFS
        )
        return cell(
            number,
            f"Cell {number}: {', '.join(said) or 'fog'}",
            box(0, 0, size, size, size / 4, "well", "line", stroke_width=2),
            group(puffs, classes="fog", transform=f"rotate({(number * 137) % 360})"),
            box(0, _NUMBER, 40, 32, 12, "card") if track.bends(number) else "",
            text(0, _NUMBER, str(number), 24),
            x=x,
            y=y,
        )

    def _eyes(self, track: Track, sight: Sight[Action, Known], seat: Seat) -> list[str]:
        """The cells that a seat named, the newest the strongest."""
        newest = [
            event.cell
            for event in reversed(sight.events)
            if isinstance(event, Observed) and event.seat is seat
        ]
        last = sight.view.named[seat - 1]
        if not newest and last != NONE_NAMED:
            newest = [last]  # only the position is known
        eyes = []
        for named, strength in zip(dict.fromkeys(newest), _STRENGTH, strict=False):
            x, y = track.at(named)
            line, pupil = (f"p{seat.value}", "p1") if seat is Seat.ONE else ("p2-edge", "p2")
            shape = path("M-19 0Q0 -21 19 0Q0 21 -19 0Z", line, 3, "card")
            if seat is Seat.ONE:
                shape += circle(0, 0, 6.5, pupil)
            else:
                shape += circle(0, 0, 5.5, "none", line, stroke_width=5) + circle(
                    0, 0, 5.5, "none", pupil, stroke_width=3
                )
            told = element("title", f"{seat.label} named {named}")
            eyes.append(
                decoration(
                    told,
                    shape,
                    opacity=strength,
                    transform=at(x, y + _EYES[seat]),
                    data_key=f"eye-{seat.value}-{named}",
                    **{"class": "eye"},
                )
            )
        return eyes

    def _lane(self, track: Track) -> str:
        """The tunnel under the cells: a way to any of them, once."""
        holes = []
        for number in range(1, self.rules.cells + 1):
            x, y = track.at(number)
            holes.append(_hole(x, y + _TUNNEL, 30, 15, fill="well", stroke="line", stroke_width=2))
            holes.append(_hole(x, y + _TUNNEL + 2, 20, 8, fill="back", opacity=0.85))
        down = at(0, _TUNNEL)
        way = group(path(track.line(), "line", 3, stroke_dasharray="1 9"), transform=down)
        x, y = track.at(1)
        words = text(x - 30, y + _TUNNEL + 34, "tunnel, once", text_anchor="start")
        return decoration(way, *holes, words, data_key="tunnel", **{"class": "secret"})

    def _token(
        self, track: Track, seat: Seat, place: int, sight: Sight[Action, Known], tokens: dict[Seat, int]
    ) -> str:
        x, y = track.at(place or 1)
        both = tokens.get(seat.other) == place
        if place == OFF_GRID:
            below = both and seat is Seat.TWO
            x, y = x - track.pitch / 2 + 4, y + 62 if below else y - 62
        # Two tokens that have collided and one that was observed show their Q.
        collided = sight.outcome is not None and isinstance(_ending(sight), Collided)
        together = both and place != OFF_GRID
        x += (-19 if seat is Seat.ONE else 19) if together else 0
        letter = "Q" if collided or place in _hits(sight, seat.other) else ""
        r = 15 if place == OFF_GRID else 19 if together else 23
        own = "secret moves" if seat is sight.seat else "moves"
        return decoration(
            token(seat, 0, 0, r, letter), transform=at(x, y), data_key=f"token-{seat.value}", **{"class": own}
        )

    def _target(self, track: Track, action: Action, sight: Sight[Action, Known]) -> str:
        x, y = track.at(action.cell)
        size = min(track.pitch * 0.88, 80)
        name, wide = self.rules.format(action), track.pitch - 2
        if isinstance(action, Tunnel):
            offer = _hole(x, y + _TUNNEL, 33, 18, fill="none", stroke="ok", classes="offer", stroke_width=3)
            hit = hit_box(x, y + _TUNNEL, wide, 78)
            return target(name, [action.cell], f"Tunnel to cell {action.cell}", offer, hit, classes="secret")
        offer = box(x, y, size, size, size / 4, "none", "ok", classes="offer", stroke_width=3)
        number = chip(x, y + _NUMBER, str(action.cell), min(track.pitch - 20, 48))
        hit = hit_box(x, y + 20, wide, 122)
        if isinstance(action, Move):
            said = f"{'Stay on' if action.cell == sight.view.cell else 'Move to'} cell {action.cell}"
            return target(name, [action.cell], said, offer, number, hit, classes="secret")
        aim = path(f"M{x - 12:.1f} {y}h24M{x:.1f} {y - 12}v24", "ok", 2.5, classes="offer")
        return target(
            name,
            [action.cell],
            f"Observe cell {action.cell}",
            offer,
            number,
            "" if action.cell == sight.view.cell else aim,
            hit,
        )


def _hole(x: float, y: float, rx: float, ry: float, **look: Any) -> str:
    return element("ellipse", cx=x, cy=y, rx=rx, ry=ry, **look)


def _tokens(sight: Sight[Action, Known]) -> dict[Seat, int]:
    """The tokens that this seat knows the place of: its own, and at the end perhaps the other's."""
    known = {sight.seat: sight.view.cell} if sight.view.cell else {}
    end = _ending(sight)
    if isinstance(end, Collided):
        return dict.fromkeys(Seat, end.cell)
    for named in _hits(sight, sight.seat):
        known[sight.seat.other] = named
    return known


def _ending(sight: Sight[Action, Known]) -> object:
    return sight.events[-1] if sight.events else None


def _hits(sight: Sight[Action, Known], by: Seat) -> list[int]:
    """The cell on which `by` found the other's token, if it did."""
    return [
        event.cell
        for event in sight.events[-2:]
        if isinstance(event, Observed) and event.hit and event.seat is by
    ]


DRAWING = HuntDrawing
