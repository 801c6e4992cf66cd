"""The board of Quantum Duel: the hunt. It shows fog, the player's own token and recent observations."""

from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from duels.core import svg
from duels.core.drawing import Drawing
from duels.core.narration import SEAT_LABELS, PlayerNames
from duels.core.rules import Seat, Sight
from duels.core.svg import Track, make_track
from duels.games.hunt.rules import (
    NONE_OBSERVED,
    OFF_GRID,
    Action,
    Move,
    Observed,
    Phase,
    QuantumHunt,
    Tunnel,
    View,
)
from duels.games.hunt.words import find_revealed_tokens

_TRACK = (306, 82, 56)  # the height of a row, the centre of the first one, and the margin
_EYE_OFFSETS = {Seat.ONE: -62, Seat.TWO: 102}  # from the centre of a cell to a player's eye
_NUMBER_OFFSET, _TUNNEL_OFFSET = 62, 168
# Relative to the tunnel. The hit box must not cover the caption.
_TUNNEL_HIT_OFFSET, _CAPTION_OFFSET = -8, 43
_EYE_OPACITIES = (1.0, 0.55, 0.3)  # newest first
_OFFER: dict[str, Any] = {"classes": "offer", "stroke_width": 3}
_FAINT_OFFER: dict[str, Any] = {**_OFFER, "stroke_width": 1.5, "stroke_dasharray": "3 5"}
_FOG_PUFFS = ((-13, 8, 18), (12, 6, 20), (-1, -8, 18), (17, -12, 11), (-19, -9, 10))


@dataclass(frozen=True)
class HuntDrawing(Drawing[Action, View]):
    """The row of positions, with the seat's own token and the latest observations."""

    rules: QuantumHunt

    def is_on_board(self, action: Action) -> bool:
        return True

    def instruction(self, sight: Sight[Action, View]) -> str:
        if sight.view.phase is Phase.OBSERVE:
            if sight.view.last_observed == (NONE_OBSERVED, NONE_OBSERVED):
                return "Name any position. The other token is off the grid."
            return "Name the position of the other token."
        if sight.view.cell == OFF_GRID:
            return "Enter in secret, at any position or by the tunnel."
        # Everybody reads this sentence, so it must not reveal whether the tunnel is left.
        return "Move in secret: stay, step or tunnel."

    @property
    def guide(self) -> tuple[str, ...]:
        return (
            "Press a position to move or to observe, and one of the openings below to tunnel there.",
            "The disc or the ring is your token, which only you see. "
            "Press 'Hide my token' if somebody looks over your shoulder.",
            "An eye above a position: Player 1 observed it; below: Player 2. The newest is the strongest.",
            "After the end, Q marks a token that was revealed.",
        )

    def example(self, sight: Sight[Action, View]) -> str:
        if sight.view.phase is Phase.OBSERVE:
            return f"o {sight.actions[len(sight.actions) // 2].cell}"
        # The example must not reveal the token's position or its tunnel.
        middle = self.rules.cells // 2 + 1
        stay = "" if sight.view.cell == OFF_GRID else ", stay"
        return f"m {middle}{stay} or t {middle}"

    def draw(
        self, sight: Sight[Action, View], *, targets: bool = False, names: PlayerNames = SEAT_LABELS
    ) -> svg.Picture:
        track, view, seat = make_track(self.rules.cells, *_TRACK), sight.view, sight.seat
        revealed = find_revealed_tokens(sight.events)
        tokens = revealed if seat in revealed else {seat: view.cell, **revealed}
        scene = _draw_scene(track, sight, tokens, revealed, _draw_own_tunnel(track, view.tunnel), names, seat)
        pressable = None
        if targets:
            steps = {action.cell for action in sight.actions if isinstance(action, Move)}
            pressable = [
                _draw_target(
                    track,
                    type(action),
                    action.cell,
                    action.cell == view.cell,
                    action.cell in steps,
                    self.rules.format(action),
                )
                for action in sight.actions
            ]
        other_cell = tokens.get(seat.other)
        label = _describe_board(
            track.cells, seat, view.last_observed, other_cell, (view.cell, view.tunnel), names
        )
        public_label = _describe_board(track.cells, seat, view.last_observed, other_cell, None, names)
        return svg.board(track.height, label, scene, pressable, public_label)

    def draw_open(
        self, one: Sight[Action, View], two: Sight[Action, View], *, names: PlayerNames = SEAT_LABELS
    ) -> svg.Picture:
        """Draw both tokens, and mark the players who still have their tunnel."""
        track, tokens = (
            make_track(self.rules.cells, *_TRACK),
            {sight.seat: sight.view.cell for sight in (one, two)},
        )
        holders = tuple(sight.seat for sight in (one, two) if sight.view.tunnel)
        scene = _draw_scene(
            track, one, tokens, find_revealed_tokens(one.events), _draw_open_tunnel(track, holders), names
        )
        return svg.board(track.height, self._describe_open_board(names, one, two), scene, None)

    def _describe_open_board(self, names: PlayerNames, *sights: Sight[Action, View]) -> str:
        clauses = [f"{self.rules.cells} positions"]
        for sight in sights:
            view, whose = sight.view, names.possessive(sight.seat)
            clauses.append(f"{whose} token is {f'on {view.cell}' if view.cell else 'off the grid'}")
            clauses.append(f"{whose} tunnel is {'left' if view.tunnel else 'spent'}")
            clauses.append(
                _describe_last_observation(names.name(sight.seat), view.last_observed[sight.seat - 1])
            )
        return f"{'; '.join(clauses)}."


def _describe_board(
    cells: int,
    seat: Seat,
    last_observed: tuple[int, int],
    other_cell: int | None,
    own: tuple[int, bool] | None,
    names: PlayerNames,
) -> str:
    """Describe the board for `seat`. `own` is the seat's cell and tunnel, or None to hide them."""
    other, clauses = seat.other, [f"{cells} positions in fog"]
    if own:
        clauses.append(f"your token is on {own[0]}" if own[0] else "your token is off the grid")
    if other_cell:
        clauses.append(f"{names.possessive(other)} token is on {other_cell}")
    if own:
        clauses.append(f"your tunnel is {'left' if own[1] else 'spent'}")
    clauses += [
        _describe_last_observation("you", last_observed[seat - 1]),
        _describe_last_observation(names.name(other), last_observed[other - 1]),
    ]
    return f"{'; '.join(clauses)}."


def _describe_last_observation(who: str, cell: int) -> str:
    return f"{who} named no position yet" if cell == NONE_OBSERVED else f"{who} named {cell} last"


def _draw_scene(
    track: Track,
    sight: Sight[Action, View],
    tokens: dict[Seat, int],
    revealed: Container[Seat],
    tunnel: str,
    names: PlayerNames,
    you: Seat | None = None,
) -> list[str]:
    """Draw the grid for the seat `you`, or with both tokens if `you` is None.

    The end of the match revealed the tokens of the seats in `revealed`.
    """
    tokens_on = _group_by_cell(tokens.items())
    observers = _group_by_cell(zip(Seat, sight.view.last_observed, strict=True))
    scene = [track.draw_line(8, 0.6)]
    for number in range(1, track.cells + 1):
        scene.append(
            _draw_cell(track, number, tokens_on.get(number, ()), observers.get(number, ()), names, you)
        )
    for seat in Seat:
        for position, opacity in zip(_list_newest_observations(sight, seat), _EYE_OPACITIES, strict=False):
            scene.append(_draw_eye(track, seat, position, opacity, names.name(seat, begins=True)))
    scene.append(tunnel)
    for seat, position in tokens.items():
        whose = names.possessive(seat, begins=True)
        shared = position != OFF_GRID and tokens.get(seat.other) == position
        scene.append(_draw_token(track, seat, position, shared, whose if seat in revealed else "", you))
    return scene


def _group_by_cell(cells: Iterable[tuple[Seat, int]]) -> dict[int, tuple[Seat, ...]]:
    seats: dict[int, tuple[Seat, ...]] = {}
    for seat, position in cells:
        seats[position] = (*seats.get(position, ()), seat)
    return seats


@svg.cache_shape
def _draw_cell(
    track: Track,
    number: int,
    tokens_here: tuple[Seat, ...],
    observers: tuple[Seat, ...],
    names: PlayerNames,
    you: Seat | None,
) -> str:
    """Draw a cell and its fog. The last observation of each seat in `observers` was this cell."""
    x, y = track.centre(number)
    size = track.size
    tokens = [f"{'your' if seat is you else names.possessive(seat)} token" for seat in tokens_here]
    observations = [f"named last by {names.name(seat)}" for seat in observers]
    label, public_label = (
        f"Position {number}: {', '.join(parts) or 'fog'}"
        for parts in ([*tokens, *observations], observations)
    )
    swing = (number * 5) % 7 - 3  # neighbouring cells differ, and every match looks the same
    scale = size / 78
    puffs = "".join(
        svg.circle(scale * (dx + swing), scale * (dy - swing / 2), scale * r, "fog", opacity=0.32)
        for dx, dy, r in _FOG_PUFFS
    )
    return svg.cell(
        number,
        label,
        svg.box(0, 0, size, size, size / 4, "well", "line", stroke_width=2),
        svg.group(puffs, classes="fog", transform=f"rotate({(number * 137) % 360})"),
        svg.box(0, _NUMBER_OFFSET, 40, 32, 12, "card") if track.bends(number) else "",
        svg.text(0, _NUMBER_OFFSET, str(number), 24),
        x=x,
        y=y,
        veiled=public_label if you in tokens_here else "",
    )


def _list_newest_observations(sight: Sight[Action, View], seat: Seat) -> list[int]:
    """Return the cells that `seat` observed most recently, newest first: each gets an eye."""
    newest: list[int] = []
    for event in reversed(sight.events):
        if isinstance(event, Observed) and event.seat is seat and event.cell not in newest:
            newest.append(event.cell)
            if len(newest) == len(_EYE_OPACITIES):
                break
    last = sight.view.last_observed[seat - 1]
    # A sight without events knows only the last observation.
    return newest or ([] if last == NONE_OBSERVED else [last])


@svg.cache_shape
def _draw_eye(track: Track, seat: Seat, number: int, opacity: float, name: str) -> str:
    """Draw the eye of `seat` above or below a cell."""
    x, y = track.centre(number)
    line, pupil = ("p1", "p1") if seat is Seat.ONE else ("p2-edge", "p2")
    shape = svg.path("M-19 0Q0 -21 19 0Q0 21 -19 0Z", line, 3, "card")
    if seat is Seat.ONE:
        shape += svg.circle(0, 0, 6.5, pupil)
    else:
        shape += svg.circle(0, 0, 5.5, "none", line, stroke_width=5) + svg.circle(
            0, 0, 5.5, "none", pupil, stroke_width=3
        )
    return svg.decoration(
        svg.title(f"{name} named {number}"),
        shape,
        opacity=opacity,
        transform=svg.translate(x, y + _EYE_OFFSETS[seat]),
        data_key=f"eye-{seat.value}-{number}",
        **{"class": "eye"},
    )


def _draw_own_tunnel(track: Track, is_available: bool) -> str:
    words = svg.text(0, 0, "tunnel, once" if is_available else "tunnel, used", text_anchor="start")
    # A spent tunnel stays on the board: its height must not reveal the secret.
    return _draw_tunnel(track, [words], "secret", 1 if is_available else 0.35)


def _draw_open_tunnel(track: Track, holders: tuple[Seat, ...]) -> str:
    words = svg.text(0, 0, "tunnel left to" if holders else "tunnel, used by both", text_anchor="start")
    marks = [svg.token(seat, 166 + 30 * i, 0, 11) for i, seat in enumerate(holders)]
    return _draw_tunnel(track, [words, *marks])


def _draw_tunnel(track: Track, words: Sequence[str], classes: str = "", opacity: float = 1) -> str:
    """Draw the tunnel under the cells, and a caption of `words` below it."""
    holes = []
    for number in range(1, track.cells + 1):
        x, y = track.centre(number)
        holes.append(_draw_hole(x, y + _TUNNEL_OFFSET, 30, 15, fill="well", stroke="line", stroke_width=2))
        holes.append(_draw_hole(x, y + _TUNNEL_OFFSET + 2, 20, 8, fill="back", opacity=0.85))
    offset = svg.translate(0, _TUNNEL_OFFSET)
    dashes = svg.group(svg.path(track.line(), "line", 3, stroke_dasharray="1 9"), transform=offset)
    x, y = track.centre(1)
    caption = svg.group(*words, transform=svg.translate(x - 30, y + _TUNNEL_OFFSET + _CAPTION_OFFSET))
    tunnel_shape = svg.group(dashes, *holes, opacity=opacity)
    return svg.decoration(tunnel_shape, caption, data_key="tunnel", **{"class": classes} if classes else {})


@svg.cache_shape
def _draw_token(track: Track, seat: Seat, position: int, shared: bool, owner: str, you: Seat | None) -> str:
    """Draw a token. With `shared`, both tokens are here. `owner` is a name if the end revealed the token."""
    x, y = track.centre(position or 1)
    if position == OFF_GRID:
        # A token off the grid waits beside the place of the first cell's eye.
        x, y = x - track.pitch / 2 + 13, y + _EYE_OFFSETS[seat if you is None else Seat.ONE]
    x += (-19 if seat is Seat.ONE else 19) if shared else 0
    r = 13 if position == OFF_GRID else 19 if shared else 23
    classes = "secret moves" if seat is you else "moves"
    shape = svg.token(seat, 0, 0, r, "Q" if owner else "")
    tooltip = svg.title(f"{owner} token was revealed here") if owner else ""
    return svg.decoration(
        tooltip, shape, transform=svg.translate(x, y), data_key=f"token-{seat.value}", **{"class": classes}
    )


@svg.cache_shape
def _draw_target(
    track: Track, action_type: type[Action], number: int, is_here: bool, is_near: bool, notation: str
) -> str:
    """Draw the target of an action.

    With `is_here`, the player's own token is on this cell. With `is_near`, a move leads there without the
    tunnel: that opening is drawn faintly.
    """
    x, y = track.centre(number)
    size, width = track.size, track.pitch - 2
    if action_type is Tunnel:
        offer = _draw_hole(
            x, y + _TUNNEL_OFFSET, 33, 18, fill="none", stroke="ok", **_FAINT_OFFER if is_near else _OFFER
        )
        hit = svg.hit_box(x, y + _TUNNEL_OFFSET + _TUNNEL_HIT_OFFSET, width, 78)
        label = f"Tunnel to position {number}{', though you can move there without it' if is_near else ''}"
        return svg.target(notation, [number], label, offer, hit, classes="secret")
    offer = svg.box(x, y, size, size, size / 4, "none", "ok", classes="offer", stroke_width=3)
    caption = svg.chip(x, y + _NUMBER_OFFSET, str(number), min(track.pitch - 20, 48))
    hit = svg.hit_box(x, y + 20, width, 122)
    if action_type is Move:
        label = f"{'Stay at' if is_here else 'Move to'} position {number}"
        return svg.target(notation, [number], label, offer, caption, hit, classes="secret")
    aim = svg.path(f"M{x - 12:.1f} {y}h24M{x:.1f} {y - 12}v24", "ok", 2.5, classes="offer telling")
    label = f"Observe position {number}"
    return svg.target(notation, [number], label, offer, caption, "" if is_here else aim, hit)


def _draw_hole(x: float, y: float, rx: float, ry: float, **style: Any) -> str:
    return svg.element("ellipse", cx=x, cy=y, rx=rx, ry=ry, **style)


DRAWING = HuntDrawing
