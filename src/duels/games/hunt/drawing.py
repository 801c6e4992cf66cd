"""The board of Quantum Duel, hidden movement: fog, one's own token, and who named which cell."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from duels.core.drawing import Drawing
from duels.core.rules import Seat, Sight
from duels.core.svg import (
    Picture,
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
    Phase,
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

    def asked(self, sight: Sight[Action, Known]) -> str:
        if sight.view.phase is Phase.OBSERVE:
            return "Name the position of the other token."
        way = "Enter in secret" if sight.view.cell == OFF_GRID else "Move in secret"
        # The same whether the tunnel is left or not: that is a secret, and this is never hidden.
        return f"{way}, by a step or, once, through the tunnel."

    @property
    def guide(self) -> tuple[str, ...]:
        return (
            "Press a position to move or to observe, and one of the openings below to tunnel there.",
            "The disc or the ring is your token, which only you see. "
            "'Hide my token' hides it from whoever looks over your shoulder.",
            "An eye above a position: Player 1 observed it; below: Player 2. The newest is the strongest.",
        )

    def example(self, sight: Sight[Action, Known]) -> str:
        letter = "o" if sight.view.phase is Phase.OBSERVE else "m"
        return f"{letter} {min(5, self.rules.cells)}"

    def picture(self, sight: Sight[Action, Known], *, targets: bool = False) -> Picture:
        track, tokens, left = self._track(), _tokens(sight), sight.view.tunnel
        words = text(0, 0, "tunnel, once" if left else "tunnel, used", text_anchor="start")
        # Where it is used it keeps its place: how high the board is must not tell of it.
        lane = self._lane(track, [words], "secret", 1 if left else 0.35)
        scene = self._scene(track, sight, tokens, sight.seat, lane)
        pressed = [self._target(track, action, sight) for action in sight.actions] if targets else None
        told, veiled = (self._told(sight, tokens, secrets=secrets) for secrets in (True, False))
        return board(track.height, told, scene, pressed, veiled)

    def open_picture(self, one: Sight[Action, Known], two: Sight[Action, Known]) -> Picture:
        """Both tokens on one grid, and beside the tunnel the marks of those who have not used it."""
        track, tokens = self._track(), {sight.seat: sight.view.cell for sight in (one, two)}
        left = [sight.seat for sight in (one, two) if sight.view.tunnel]
        words = text(0, 0, "tunnel left to" if left else "tunnel, used by both", text_anchor="start")
        marks = [token(seat, 166 + 30 * place, 0, 11) for place, seat in enumerate(left)]
        scene = self._scene(track, one, tokens, None, self._lane(track, [words, *marks]))
        return board(track.height, self._told_open(one, two), scene, None)

    def _track(self) -> Track:
        per_row = 7 if self.rules.cells > 9 else 9
        return Track(self.rules.cells, 306, 82, per_row, margin=56)

    def _scene(
        self,
        track: Track,
        sight: Sight[Action, Known],
        tokens: dict[Seat, int],
        you: Seat | None,
        lane: str,
    ) -> list[str]:
        """The grid with these tokens, as `you` may see it; None who looks back on the match."""
        return [
            decoration(path(track.line(), "line", 8, opacity=0.6)),
            *(self._cell(track, number, sight, tokens, you) for number in range(1, self.rules.cells + 1)),
            *(eye for seat in Seat for eye in self._eyes(track, sight, seat)),
            lane,
            *(self._token(track, seat, sight, tokens, you) for seat in tokens),
        ]

    def _told_open(self, *sights: Sight[Action, Known]) -> str:
        said = [f"{self.rules.cells} positions"]
        for sight in sights:
            view, label = sight.view, sight.seat.label
            said.append(f"{label}'s token is {f'on {view.cell}' if view.cell else 'off the grid'}")
            said.append(f"{label}'s tunnel is {'left' if view.tunnel else 'spent'}")
            said.append(_named(label, view.named[sight.seat - 1]))
        return f"{'; '.join(said)}."

    def _told(self, sight: Sight[Action, Known], tokens: dict[Seat, int], *, secrets: bool) -> str:
        view, other = sight.view, sight.seat.other
        said = [f"{self.rules.cells} positions in fog"]
        if secrets:
            said.append(f"your token is on {view.cell}" if view.cell else "your token is off the grid")
        if other in tokens:
            said.append(f"{other.label}'s token is on {tokens[other]}")
        if secrets:
            said.append(f"your tunnel is {'left' if view.tunnel else 'spent'}")
        for who, seat in (("you", sight.seat), (other.label, other)):
            said.append(_named(who, view.named[seat - 1]))
        return f"{'; '.join(said)}."

    def _cell(
        self,
        track: Track,
        number: int,
        sight: Sight[Action, Known],
        tokens: dict[Seat, int],
        you: Seat | None,
    ) -> str:
        x, y = track.at(number)
        size = min(track.pitch * 0.88, 80)
        here = [
            "your token" if seat is you else f"{seat.label}'s token"
            for seat, place in tokens.items()
            if place == number
        ]
        named = [seat.label for seat in Seat if sight.view.named[seat - 1] == number]
        known = [f"named last by {name}" for name in named]
        said, veiled = (f"Position {number}: {', '.join(what) or 'fog'}" for what in ([*here, *known], known))
        swing = (number * 5) % 7 - 3  # no two neighbours alike, the same in every match
        scale = size / 78
        puffs = "".join(
            circle(scale * (dx + swing), scale * (dy - swing / 2), scale * r, "fog", opacity=0.32)
            for dx, dy, r in _PUFFS
        )
        return cell(
            number,
            said,
            box(0, 0, size, size, size / 4, "well", "line", stroke_width=2),
            group(puffs, classes="fog", transform=f"rotate({(number * 137) % 360})"),
            box(0, _NUMBER, 40, 32, 12, "card") if track.bends(number) else "",
            text(0, _NUMBER, str(number), 24),
            x=x,
            y=y,
            veiled=veiled if you and tokens.get(you) == number else "",
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

    def _lane(self, track: Track, words: Sequence[str], classes: str = "", opacity: float = 1) -> str:
        """The tunnel under the cells: a way to any of them; `words` are drawn from where they begin."""
        holes = []
        for number in range(1, self.rules.cells + 1):
            x, y = track.at(number)
            holes.append(_hole(x, y + _TUNNEL, 30, 15, fill="well", stroke="line", stroke_width=2))
            holes.append(_hole(x, y + _TUNNEL + 2, 20, 8, fill="back", opacity=0.85))
        down = at(0, _TUNNEL)
        way = group(path(track.line(), "line", 3, stroke_dasharray="1 9"), transform=down)
        x, y = track.at(1)
        below = group(*words, transform=at(x - 30, y + _TUNNEL + 34))
        drawn = group(way, *holes, opacity=opacity)
        return decoration(drawn, below, data_key="tunnel", **{"class": classes} if classes else {})

    def _token(
        self,
        track: Track,
        seat: Seat,
        sight: Sight[Action, Known],
        tokens: dict[Seat, int],
        you: Seat | None,
    ) -> str:
        place = tokens[seat]
        x, y = track.at(place or 1)
        if place == OFF_GRID:
            # The token waits in the corner over the first cell, beside its eye.
            x, y = x - track.pitch / 2 + 13, y + _EYES[seat if you is None else Seat.ONE]
        # Two tokens on one cell collide; one that was observed shows its Q, as do both at the end.
        shared = place != OFF_GRID and tokens.get(seat.other) == place
        collided = sight.outcome is not None and isinstance(_ending(sight), Collided)
        x += (-19 if seat is Seat.ONE else 19) if shared else 0
        letter = "Q" if collided or place in _hits(sight, seat.other) else ""
        r = 13 if place == OFF_GRID else 19 if shared else 23
        own = "secret moves" if seat is you else "moves"
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
            return target(
                name, [action.cell], f"Tunnel to position {action.cell}", offer, hit, classes="secret"
            )
        offer = box(x, y, size, size, size / 4, "none", "ok", classes="offer", stroke_width=3)
        number = chip(x, y + _NUMBER, str(action.cell), min(track.pitch - 20, 48))
        hit = hit_box(x, y + 20, wide, 122)
        if isinstance(action, Move):
            said = f"{'Stay at' if action.cell == sight.view.cell else 'Move to'} position {action.cell}"
            return target(name, [action.cell], said, offer, number, hit, classes="secret")
        aim = path(f"M{x - 12:.1f} {y}h24M{x:.1f} {y - 12}v24", "ok", 2.5, classes="offer telling")
        return target(
            name,
            [action.cell],
            f"Observe position {action.cell}",
            offer,
            number,
            "" if action.cell == sight.view.cell else aim,
            hit,
        )


def _hole(x: float, y: float, rx: float, ry: float, **look: Any) -> str:
    return element("ellipse", cx=x, cy=y, rx=rx, ry=ry, **look)


def _tokens(sight: Sight[Action, Known]) -> dict[Seat, int]:
    """The tokens that this seat knows the place of: its own, and at the end perhaps the other's."""
    known = {sight.seat: sight.view.cell}
    end = _ending(sight)
    if isinstance(end, Collided):
        return dict.fromkeys(Seat, end.cell)
    for named in _hits(sight, sight.seat):
        known[sight.seat.other] = named
    return known


def _named(who: str, cell: int) -> str:
    return f"{who} named no position yet" if cell == NONE_NAMED else f"{who} named {cell} last"


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
