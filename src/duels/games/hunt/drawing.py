"""The board of Quantum Duel: the hunt. It shows fog, the player's own token and past observations."""

from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from duels.core.drawing import Drawing
from duels.core.narration import SEAT_LABELS, PlayerNames
from duels.core.rules import Event, Seat, Sight
from duels.core.svg import (
    Picture,
    board,
    box,
    cache_shape,
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
    title,
    token,
    translate,
)
from duels.core.track import Track
from duels.games.hunt.rules import (
    NONE_NAMED,
    OFF_GRID,
    Action,
    Collided,
    Move,
    Observed,
    Phase,
    QuantumHunt,
    Tunnel,
    View,
)

_EYE_OFFSETS = {Seat.ONE: -62, Seat.TWO: 102}  # from the centre of a cell to its eye
_NUMBER_OFFSET, _TUNNEL_OFFSET = 62, 168
# Relative to the tunnel. The hit box stays clear of the words below it.
_TUNNEL_HIT_OFFSET, _TUNNEL_WORDS_OFFSET = -8, 43
_EYE_OPACITIES = (1.0, 0.55, 0.3)  # opacity of eyes, newest first
_FOG_PUFFS = ((-13, 8, 18), (12, 6, 20), (-1, -8, 18), (17, -12, 11), (-19, -9, 10))


@dataclass(frozen=True)
class HuntDrawing(Drawing[Action, View]):
    rules: QuantumHunt

    def is_on_board(self, action: Action) -> bool:
        return True

    def instruction(self, sight: Sight[Action, View]) -> str:
        if sight.view.phase is Phase.OBSERVE:
            return "Name the position of the other token."
        verb = "Enter in secret" if sight.view.cell == OFF_GRID else "Move in secret"
        # The sentence is public, so it must not reveal whether the tunnel is left.
        return f"{verb}, by a step or the tunnel."

    @property
    def guide(self) -> tuple[str, ...]:
        return (
            "Press a position to move or to observe, and one of the openings below to tunnel there.",
            "The disc or the ring is your token, which only you see. "
            "'Hide my token' hides it from whoever looks over your shoulder.",
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

    def picture(
        self, sight: Sight[Action, View], *, targets: bool = False, names: PlayerNames = SEAT_LABELS
    ) -> Picture:
        track, view, seat = _make_track(self.rules.cells), sight.view, sight.seat
        revealed = _find_revealed_tokens(sight.events)
        tokens = revealed if seat in revealed else {seat: view.cell, **revealed}
        scene = _draw_scene(track, sight, tokens, revealed, _draw_own_tunnel(track, view.tunnel), names, seat)
        pressable = None
        if targets:
            pressable = [
                _draw_target(
                    track, type(action), action.cell, action.cell == view.cell, self.rules.format(action)
                )
                for action in sight.actions
            ]
        other_cell = tokens.get(seat.other)
        label = _describe_board(track.cells, seat, view.named, other_cell, (view.cell, view.tunnel), names)
        public_label = _describe_board(track.cells, seat, view.named, other_cell, None, names)
        return board(track.height, label, scene, pressable, public_label)

    def open_picture(
        self, one: Sight[Action, View], two: Sight[Action, View], *, names: PlayerNames = SEAT_LABELS
    ) -> Picture:
        """Draw both tokens, and beside the tunnel the marks of the players who still have it."""
        track, tokens = _make_track(self.rules.cells), {sight.seat: sight.view.cell for sight in (one, two)}
        holders = tuple(sight.seat for sight in (one, two) if sight.view.tunnel)
        scene = _draw_scene(
            track, one, tokens, _find_revealed_tokens(one.events), _draw_open_tunnel(track, holders), names
        )
        return board(track.height, self._describe_open_board(names, one, two), scene, None)

    def _describe_open_board(self, names: PlayerNames, *sights: Sight[Action, View]) -> str:
        clauses = [f"{self.rules.cells} positions"]
        for sight in sights:
            view, whose = sight.view, names.possessive(sight.seat)
            clauses.append(f"{whose} token is {f'on {view.cell}' if view.cell else 'off the grid'}")
            clauses.append(f"{whose} tunnel is {'left' if view.tunnel else 'spent'}")
            clauses.append(_describe_last_observation(names.name(sight.seat), view.named[sight.seat - 1]))
        return f"{'; '.join(clauses)}."


@lru_cache
def _make_track(cells: int) -> Track:
    return Track(cells, 306, 82, per_row=7 if cells > 9 else 9, margin=56)


@cache_shape
def _describe_board(
    cells: int,
    seat: Seat,
    named: tuple[int, int],
    other_cell: int | None,
    own: tuple[int, bool] | None,
    names: PlayerNames,
) -> str:
    """Describe the board for a seat. `own` is its cell and tunnel, or None to keep them secret."""
    other, clauses = seat.other, [f"{cells} positions in fog"]
    if own:
        clauses.append(f"your token is on {own[0]}" if own[0] else "your token is off the grid")
    if other_cell:
        clauses.append(f"{names.possessive(other)} token is on {other_cell}")
    if own:
        clauses.append(f"your tunnel is {'left' if own[1] else 'spent'}")
    clauses += [
        _describe_last_observation("you", named[seat - 1]),
        _describe_last_observation(names.name(other), named[other - 1]),
    ]
    return f"{'; '.join(clauses)}."


def _describe_last_observation(who: str, cell: int) -> str:
    return f"{who} named no position yet" if cell == NONE_NAMED else f"{who} named {cell} last"


def _draw_scene(
    track: Track,
    sight: Sight[Action, View],
    tokens: dict[Seat, int],
    revealed: Container[Seat],
    tunnel: str,
    names: PlayerNames,
    you: Seat | None = None,
) -> list[str]:
    """Draw the grid as seat `you` sees it, or with all secrets if `you` is None.

    The tokens of the seats in `revealed` are public.
    """
    tokens_on = _group_by_cell(tokens.items())
    observers = _group_by_cell(zip(Seat, sight.view.named, strict=True))
    scene = [_draw_path(track)]
    for number in range(1, track.cells + 1):
        scene.append(
            _draw_cell(track, number, tokens_on.get(number, ()), observers.get(number, ()), names, you)
        )
    for seat in Seat:
        for position, strength in zip(_list_newest_observations(sight, seat), _EYE_OPACITIES, strict=False):
            scene.append(_draw_eye(track, seat, position, strength, names.name(seat, begins=True)))
    scene.append(tunnel)
    for seat, position in tokens.items():
        whose = names.possessive(seat, begins=True)
        shared = position != OFF_GRID and tokens.get(seat.other) == position
        scene.append(_draw_token(track, seat, position, shared, whose if seat in revealed else "", you))
    return scene


def _group_by_cell(places: Iterable[tuple[Seat, int]]) -> dict[int, tuple[Seat, ...]]:
    seats: dict[int, tuple[Seat, ...]] = {}
    for seat, position in places:
        seats[position] = (*seats.get(position, ()), seat)
    return seats


@cache_shape
def _draw_path(track: Track) -> str:
    return decoration(path(track.line(), "line", 8, opacity=0.6))


@cache_shape
def _draw_cell(
    track: Track,
    number: int,
    tokens_here: tuple[Seat, ...],
    observers: tuple[Seat, ...],
    names: PlayerNames,
    you: Seat | None,
) -> str:
    """Draw a cell. `observers`: the seats whose last observation it was."""
    x, y = track.at(number)
    size = track.size
    tokens = [f"{'your' if seat is you else names.possessive(seat)} token" for seat in tokens_here]
    observations = [f"named last by {names.name(seat)}" for seat in observers]
    label, public_label = (
        f"Position {number}: {', '.join(parts) or 'fog'}"
        for parts in ([*tokens, *observations], observations)
    )
    swing = (number * 5) % 7 - 3  # fog differs between neighbours but not between matches
    scale = size / 78
    puffs = "".join(
        circle(scale * (dx + swing), scale * (dy - swing / 2), scale * r, "fog", opacity=0.32)
        for dx, dy, r in _FOG_PUFFS
    )
    return cell(
        number,
        label,
        box(0, 0, size, size, size / 4, "well", "line", stroke_width=2),
        group(puffs, classes="fog", transform=f"rotate({(number * 137) % 360})"),
        box(0, _NUMBER_OFFSET, 40, 32, 12, "card") if track.bends(number) else "",
        text(0, _NUMBER_OFFSET, str(number), 24),
        x=x,
        y=y,
        veiled=public_label if you in tokens_here else "",
    )


def _list_newest_observations(sight: Sight[Action, View], seat: Seat) -> list[int]:
    """Return the cells that get an eye of `seat`, newest first."""
    newest: list[int] = []
    for event in reversed(sight.events):
        if isinstance(event, Observed) and event.seat is seat and event.cell not in newest:
            newest.append(event.cell)
            if len(newest) == len(_EYE_OPACITIES):
                break
    last = sight.view.named[seat - 1]
    # A position read from text has no events.
    return newest or ([] if last == NONE_NAMED else [last])


@cache_shape
def _draw_eye(track: Track, seat: Seat, named: int, strength: float, name: str) -> str:
    """Draw the eye above or below a cell that `seat` observed."""
    x, y = track.at(named)
    line, pupil = ("p1", "p1") if seat is Seat.ONE else ("p2-edge", "p2")
    shape = path("M-19 0Q0 -21 19 0Q0 21 -19 0Z", line, 3, "card")
    if seat is Seat.ONE:
        shape += circle(0, 0, 6.5, pupil)
    else:
        shape += circle(0, 0, 5.5, "none", line, stroke_width=5) + circle(
            0, 0, 5.5, "none", pupil, stroke_width=3
        )
    return decoration(
        title(f"{name} named {named}"),
        shape,
        opacity=strength,
        transform=translate(x, y + _EYE_OFFSETS[seat]),
        data_key=f"eye-{seat.value}-{named}",
        **{"class": "eye"},
    )


@cache_shape
def _draw_own_tunnel(track: Track, is_left: bool) -> str:
    words = text(0, 0, "tunnel, once" if is_left else "tunnel, used", text_anchor="start")
    # A spent tunnel keeps its place: the height of the board must not reveal it.
    return _draw_tunnel(track, [words], "secret", 1 if is_left else 0.35)


@cache_shape
def _draw_open_tunnel(track: Track, holders: tuple[Seat, ...]) -> str:
    words = text(0, 0, "tunnel left to" if holders else "tunnel, used by both", text_anchor="start")
    marks = [token(seat, 166 + 30 * i, 0, 11) for i, seat in enumerate(holders)]
    return _draw_tunnel(track, [words, *marks])


def _draw_tunnel(track: Track, words: Sequence[str], classes: str = "", opacity: float = 1) -> str:
    """Draw the tunnel under the cells, with `words` below."""
    holes = []
    for number in range(1, track.cells + 1):
        x, y = track.at(number)
        holes.append(_draw_hole(x, y + _TUNNEL_OFFSET, 30, 15, fill="well", stroke="line", stroke_width=2))
        holes.append(_draw_hole(x, y + _TUNNEL_OFFSET + 2, 20, 8, fill="back", opacity=0.85))
    offset = translate(0, _TUNNEL_OFFSET)
    dashes = group(path(track.line(), "line", 3, stroke_dasharray="1 9"), transform=offset)
    x, y = track.at(1)
    caption = group(*words, transform=translate(x - 30, y + _TUNNEL_OFFSET + _TUNNEL_WORDS_OFFSET))
    tunnel_shape = group(dashes, *holes, opacity=opacity)
    return decoration(tunnel_shape, caption, data_key="tunnel", **{"class": classes} if classes else {})


@cache_shape
def _draw_token(track: Track, seat: Seat, position: int, shared: bool, owner: str, you: Seat | None) -> str:
    """Draw a token. `shared`: both are on this cell; `owner`: the player's name if the end revealed it."""
    x, y = track.at(position or 1)
    if position == OFF_GRID:
        # A token off the grid waits above the first cell, beside its eye.
        x, y = x - track.pitch / 2 + 13, y + _EYE_OFFSETS[seat if you is None else Seat.ONE]
    x += (-19 if seat is Seat.ONE else 19) if shared else 0
    r = 13 if position == OFF_GRID else 19 if shared else 23
    own = "secret moves" if seat is you else "moves"
    shape = token(seat, 0, 0, r, "Q" if owner else "")
    tooltip = title(f"{owner} token was revealed here") if owner else ""
    return decoration(
        tooltip, shape, transform=translate(x, y), data_key=f"token-{seat.value}", **{"class": own}
    )


@cache_shape
def _draw_target(track: Track, kind: type[Action], number: int, is_here: bool, notation: str) -> str:
    """Draw the target of an action. `is_here`: the player's own token is on this cell."""
    x, y = track.at(number)
    size, width = track.size, track.pitch - 2
    if kind is Tunnel:
        offer = _draw_hole(
            x, y + _TUNNEL_OFFSET, 33, 18, fill="none", stroke="ok", classes="offer", stroke_width=3
        )
        hit = hit_box(x, y + _TUNNEL_OFFSET + _TUNNEL_HIT_OFFSET, width, 78)
        return target(notation, [number], f"Tunnel to position {number}", offer, hit, classes="secret")
    offer = box(x, y, size, size, size / 4, "none", "ok", classes="offer", stroke_width=3)
    caption = chip(x, y + _NUMBER_OFFSET, str(number), min(track.pitch - 20, 48))
    hit = hit_box(x, y + 20, width, 122)
    if kind is Move:
        label = f"{'Stay at' if is_here else 'Move to'} position {number}"
        return target(notation, [number], label, offer, caption, hit, classes="secret")
    aim = path(f"M{x - 12:.1f} {y}h24M{x:.1f} {y - 12}v24", "ok", 2.5, classes="offer telling")
    label = f"Observe position {number}"
    return target(notation, [number], label, offer, caption, "" if is_here else aim, hit)


def _draw_hole(x: float, y: float, rx: float, ry: float, **style: Any) -> str:
    return element("ellipse", cx=x, cy=y, rx=rx, ry=ry, **style)


def _find_revealed_tokens(events: Sequence[Event]) -> dict[Seat, int]:
    """Return the tokens that the end revealed: both after a collision, the captured one after a hit."""
    if events and isinstance(events[-1], Collided):
        return dict.fromkeys(Seat, events[-1].cell)
    return {
        event.seat.other: event.cell for event in events[-2:] if isinstance(event, Observed) and event.hit
    }


DRAWING = HuntDrawing
