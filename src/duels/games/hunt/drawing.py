"""The board of Quantum Duel, hidden movement: fog, one's own token, and who named which cell."""

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
    Known,
    Move,
    Observed,
    Phase,
    QuantumHunt,
    Tunnel,
)

_EYES = {Seat.ONE: -62, Seat.TWO: 102}  # from the middle of a cell to the middle of a row of eyes
_NUMBER, _TUNNEL = 62, 168
_TUNNEL_HIT, _TUNNEL_WORDS = -8, 43  # from there; what is pressed frames none of the words below it
_STRENGTH = (1.0, 0.55, 0.3)  # of an eye: of the cell named last, of the one before…
_PUFFS = ((-13, 8, 18), (12, 6, 20), (-1, -8, 18), (17, -12, 11), (-19, -9, 10))


@dataclass(frozen=True)
class HuntDrawing(Drawing[Action, Known]):
    rules: QuantumHunt

    def is_on_board(self, action: Action) -> bool:
        return True

    def instruction(self, sight: Sight[Action, Known]) -> str:
        if sight.view.phase is Phase.OBSERVE:
            return "Name the position of the other token."
        way = "Enter in secret" if sight.view.cell == OFF_GRID else "Move in secret"
        # The same whether the tunnel is left or not: that is a secret, and this is never hidden.
        return f"{way}, by a step or the tunnel."

    @property
    def guide(self) -> tuple[str, ...]:
        return (
            "Press a position to move or to observe, and one of the openings below to tunnel there.",
            "The disc or the ring is your token, which only you see. "
            "'Hide my token' hides it from whoever looks over your shoulder.",
            "An eye above a position: Player 1 observed it; below: Player 2. The newest is the strongest.",
            "After the end, Q marks a token that was revealed.",
        )

    def example(self, sight: Sight[Action, Known]) -> str:
        if sight.view.phase is Phase.OBSERVE:
            return f"o {sight.actions[len(sight.actions) // 2].cell}"
        # Where the token can go, and whether its tunnel is left, is a secret: any position does.
        middle = self.rules.cells // 2 + 1
        stay = "" if sight.view.cell == OFF_GRID else ", stay"
        return f"m {middle}{stay} or t {middle}"

    def picture(
        self, sight: Sight[Action, Known], *, targets: bool = False, names: PlayerNames = SEAT_LABELS
    ) -> Picture:
        track, view, seat = _track(self.rules.cells), sight.view, sight.seat
        shown = _uncovered(sight.events)
        tokens = shown if seat in shown else {seat: view.cell, **shown}
        scene = _scene(track, sight, tokens, shown, _own_lane(track, view.tunnel), names, seat)
        pressed = None
        if targets:
            pressed = [
                _target(track, type(action), action.cell, action.cell == view.cell, self.rules.format(action))
                for action in sight.actions
            ]
        found = tokens.get(seat.other)
        told = _told(track.cells, seat, view.named, found, (view.cell, view.tunnel), names)
        veiled = _told(track.cells, seat, view.named, found, None, names)
        return board(track.height, told, scene, pressed, veiled)

    def open_picture(
        self, one: Sight[Action, Known], two: Sight[Action, Known], *, names: PlayerNames = SEAT_LABELS
    ) -> Picture:
        """Both tokens on one grid, and beside the tunnel the marks of those who have not used it."""
        track, tokens = _track(self.rules.cells), {sight.seat: sight.view.cell for sight in (one, two)}
        left = tuple(sight.seat for sight in (one, two) if sight.view.tunnel)
        scene = _scene(track, one, tokens, _uncovered(one.events), _open_lane(track, left), names)
        return board(track.height, self._told_open(names, one, two), scene, None)

    def _told_open(self, names: PlayerNames, *sights: Sight[Action, Known]) -> str:
        said = [f"{self.rules.cells} positions"]
        for sight in sights:
            view, whose = sight.view, names.possessive(sight.seat)
            said.append(f"{whose} token is {f'on {view.cell}' if view.cell else 'off the grid'}")
            said.append(f"{whose} tunnel is {'left' if view.tunnel else 'spent'}")
            said.append(_named(names.name(sight.seat), view.named[sight.seat - 1]))
        return f"{'; '.join(said)}."


@lru_cache
def _track(cells: int) -> Track:
    return Track(cells, 306, 82, per_row=7 if cells > 9 else 9, margin=56)


@cache_shape
def _told(
    cells: int,
    seat: Seat,
    named: tuple[int, int],
    found: int | None,
    own: tuple[int, bool] | None,
    names: PlayerNames,
) -> str:
    """What a seat knows: where it `found` the other's token, and its `own` token and tunnel, or without."""
    other, said = seat.other, [f"{cells} positions in fog"]
    if own:
        said.append(f"your token is on {own[0]}" if own[0] else "your token is off the grid")
    if found:
        said.append(f"{names.possessive(other)} token is on {found}")
    if own:
        said.append(f"your tunnel is {'left' if own[1] else 'spent'}")
    said += [_named("you", named[seat - 1]), _named(names.name(other), named[other - 1])]
    return f"{'; '.join(said)}."


def _named(who: str, cell: int) -> str:
    return f"{who} named no position yet" if cell == NONE_NAMED else f"{who} named {cell} last"


def _scene(
    track: Track,
    sight: Sight[Action, Known],
    tokens: dict[Seat, int],
    shown: Container[Seat],
    lane: str,
    names: PlayerNames,
    you: Seat | None = None,
) -> list[str]:
    """The grid with these tokens, of which some are `shown` to both, as `you` may see it.

    `you` is None for whoever looks back on the match.
    """
    here, named = _by_cell(tokens.items()), _by_cell(zip(Seat, sight.view.named, strict=True))
    scene = [_way(track)]
    for number in range(1, track.cells + 1):
        scene.append(_cell(track, number, here.get(number, ()), named.get(number, ()), names, you))
    for seat in Seat:
        for place, strength in zip(_newest_named(sight, seat), _STRENGTH, strict=False):
            scene.append(_eye(track, seat, place, strength, names.name(seat, begins=True)))
    scene.append(lane)
    for seat, place in tokens.items():
        whose = names.possessive(seat, begins=True)
        shared = place != OFF_GRID and tokens.get(seat.other) == place
        scene.append(_token(track, seat, place, shared, whose if seat in shown else "", you))
    return scene


def _by_cell(places: Iterable[tuple[Seat, int]]) -> dict[int, tuple[Seat, ...]]:
    """The seats that each cell belongs to."""
    found: dict[int, tuple[Seat, ...]] = {}
    for seat, place in places:
        found[place] = (*found.get(place, ()), seat)
    return found


@cache_shape
def _way(track: Track) -> str:
    return decoration(path(track.line(), "line", 8, opacity=0.6))


@cache_shape
def _cell(
    track: Track,
    number: int,
    here: tuple[Seat, ...],
    named: tuple[Seat, ...],
    names: PlayerNames,
    you: Seat | None,
) -> str:
    """A cell; `here` are the tokens on it, and the seats in `named` named it last."""
    x, y = track.at(number)
    size = track.size
    tokens = [f"{'your' if seat is you else names.possessive(seat)} token" for seat in here]
    known = [f"named last by {names.name(seat)}" for seat in named]
    said, veiled = (f"Position {number}: {', '.join(what) or 'fog'}" for what in ([*tokens, *known], known))
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
        veiled=veiled if you in here else "",
    )


def _newest_named(sight: Sight[Action, Known], seat: Seat) -> list[int]:
    """The cells that a seat named, the newest first, as many as have an eye."""
    newest: list[int] = []
    for event in reversed(sight.events):
        if isinstance(event, Observed) and event.seat is seat and event.cell not in newest:
            newest.append(event.cell)
            if len(newest) == len(_STRENGTH):
                break
    last = sight.view.named[seat - 1]
    # Without events only the position is known.
    return newest or ([] if last == NONE_NAMED else [last])


@cache_shape
def _eye(track: Track, seat: Seat, named: int, strength: float, name: str) -> str:
    """Above or below a cell that a seat named."""
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
        transform=translate(x, y + _EYES[seat]),
        data_key=f"eye-{seat.value}-{named}",
        **{"class": "eye"},
    )


@cache_shape
def _own_lane(track: Track, left: bool) -> str:
    words = text(0, 0, "tunnel, once" if left else "tunnel, used", text_anchor="start")
    # Where it is used it keeps its place: how high the board is must not tell of it.
    return _lane(track, [words], "secret", 1 if left else 0.35)


@cache_shape
def _open_lane(track: Track, left: tuple[Seat, ...]) -> str:
    words = text(0, 0, "tunnel left to" if left else "tunnel, used by both", text_anchor="start")
    marks = [token(seat, 166 + 30 * place, 0, 11) for place, seat in enumerate(left)]
    return _lane(track, [words, *marks])


def _lane(track: Track, words: Sequence[str], classes: str = "", opacity: float = 1) -> str:
    """The tunnel under the cells: a way to any of them; `words` are drawn from where they begin."""
    holes = []
    for number in range(1, track.cells + 1):
        x, y = track.at(number)
        holes.append(_hole(x, y + _TUNNEL, 30, 15, fill="well", stroke="line", stroke_width=2))
        holes.append(_hole(x, y + _TUNNEL + 2, 20, 8, fill="back", opacity=0.85))
    down = translate(0, _TUNNEL)
    way = group(path(track.line(), "line", 3, stroke_dasharray="1 9"), transform=down)
    x, y = track.at(1)
    below = group(*words, transform=translate(x - 30, y + _TUNNEL + _TUNNEL_WORDS))
    drawn = group(way, *holes, opacity=opacity)
    return decoration(drawn, below, data_key="tunnel", **{"class": classes} if classes else {})


@cache_shape
def _token(track: Track, seat: Seat, place: int, shared: bool, shown: str, you: Seat | None) -> str:
    """A token; `shared` if the other is on the same cell, `shown` says whose Q the end uncovered."""
    x, y = track.at(place or 1)
    if place == OFF_GRID:
        # The token waits in the corner over the first cell, beside its eye.
        x, y = x - track.pitch / 2 + 13, y + _EYES[seat if you is None else Seat.ONE]
    x += (-19 if seat is Seat.ONE else 19) if shared else 0
    r = 13 if place == OFF_GRID else 19 if shared else 23
    own = "secret moves" if seat is you else "moves"
    shape = token(seat, 0, 0, r, "Q" if shown else "")
    told = title(f"{shown} token was revealed here") if shown else ""
    return decoration(
        told, shape, transform=translate(x, y), data_key=f"token-{seat.value}", **{"class": own}
    )


@cache_shape
def _target(track: Track, kind: type[Action], number: int, here: bool, notation: str) -> str:
    """An action of a kind about a cell; `here` if one's own token is on it."""
    x, y = track.at(number)
    size, wide = track.size, track.pitch - 2
    if kind is Tunnel:
        offer = _hole(x, y + _TUNNEL, 33, 18, fill="none", stroke="ok", classes="offer", stroke_width=3)
        hit = hit_box(x, y + _TUNNEL + _TUNNEL_HIT, wide, 78)
        return target(notation, [number], f"Tunnel to position {number}", offer, hit, classes="secret")
    offer = box(x, y, size, size, size / 4, "none", "ok", classes="offer", stroke_width=3)
    below = chip(x, y + _NUMBER, str(number), min(track.pitch - 20, 48))
    hit = hit_box(x, y + 20, wide, 122)
    if kind is Move:
        said = f"{'Stay at' if here else 'Move to'} position {number}"
        return target(notation, [number], said, offer, below, hit, classes="secret")
    aim = path(f"M{x - 12:.1f} {y}h24M{x:.1f} {y - 12}v24", "ok", 2.5, classes="offer telling")
    return target(notation, [number], f"Observe position {number}", offer, below, "" if here else aim, hit)


def _hole(x: float, y: float, rx: float, ry: float, **look: Any) -> str:
    return element("ellipse", cx=x, cy=y, rx=rx, ry=ry, **look)


def _uncovered(events: Sequence[Event]) -> dict[Seat, int]:
    """The tokens whose place the end shows to both: those that collided, or the one that was observed."""
    if events and isinstance(events[-1], Collided):
        return dict.fromkeys(Seat, events[-1].cell)
    return {
        event.seat.other: event.cell for event in events[-2:] if isinstance(event, Observed) and event.hit
    }


DRAWING = HuntDrawing
