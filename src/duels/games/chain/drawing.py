"""The board of Quantum Duel, four in a row: symbols, one of them perhaps in doubt, and the coin."""

from collections.abc import Sequence
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
    get_edge_colour,
    group,
    hit_box,
    mark,
    path,
    target,
    text,
)
from duels.core.track import Track
from duels.games.chain.rules import (
    FREE,
    SYMBOL,
    Action,
    Coin,
    CoinFell,
    Decohered,
    Observe,
    Observed,
    Phase,
    QuantumChain,
    Settled,
    State,
)

_MIDDLE, _ROW = 64, 152
_COIN = 19  # its radius
_MARK = 0.235  # of a cell
_SEAT = {symbol: seat for seat, symbol in SYMBOL.items()}


@dataclass(frozen=True)
class ChainDrawing(Drawing[Action, State]):
    rules: QuantumChain

    def is_on_board(self, action: Action) -> bool:
        return isinstance(action, Observe)

    def instruction(self, sight: Sight[Action, State]) -> str:
        state = sight.view
        if state.phase is Phase.OBSERVE:
            return "Observe a free cell."
        symbol = SYMBOL[state.mover]
        return f"{symbol} observed cell {state.doubt}, beside its own. Challenge it?"

    def opponent_task(self, sight: Sight[Action, State]) -> str:
        return "accept or challenge" if sight.view.phase is Phase.CHALLENGE else super().opponent_task(sight)

    def last_change(self, sight: Sight[Action, State]) -> str:
        return "The full board decohered." if _decohered(sight) else ""

    @property
    def guide(self) -> tuple[str, ...]:
        return (
            "Press a free cell to observe it. Use the buttons below the board to challenge or accept.",
            "A symbol that can still be lost has a dashed border and a question mark. "
            "The coin then shows H for heads or T for tails.",
        )

    def picture(
        self, sight: Sight[Action, State], *, targets: bool = False, names: PlayerNames = SEAT_LABELS
    ) -> Picture:
        track, state = _track(self.rules.cells), sight.view
        first, last = self.rules.chain_of(state.cells) or (0, 0)
        scene = [_way(track)]
        if first:
            scene.append(_chain(track, first, last, state.cells[first - 1]))
        settled, coin = _last_settled(sight.events)
        tossed = state.phase is Phase.COIN
        for number, symbol in enumerate(state.cells, start=1):
            if number == state.doubt:
                scene.append(_doubt(track, number, state.mover, tossed))
            else:
                chained, fresh = first <= number <= last, number == settled
                scene.append(_cell(track, number, symbol, chained, fresh, coin if fresh else ""))
        pressed = None
        if targets:
            pressed = [
                _target(track, action.cell, self.rules.format(action))
                for action in sight.actions
                if isinstance(action, Observe)
            ]
        return board(track.height, _told(state.cells, state.mover, state.doubt, tossed), scene, pressed)


@lru_cache
def _track(cells: int) -> Track:
    return Track(cells, _ROW, _MIDDLE, per_row=7 if cells > 9 else 9, margin=60)


@cache_shape
def _told(cells: str, mover: Seat, doubt: int, tossed: bool) -> str:
    held = []
    for seat, symbol in SYMBOL.items():
        places = [str(i) for i, held_by in enumerate(cells, start=1) if held_by == symbol]
        if places:
            held.append(f"{symbol} on {', '.join(places)}")
        if doubt and seat is mover:
            held.append(f"{symbol} in doubt on {doubt}")
    label = f"{len(cells)} cells, {'; '.join(held) or 'all free'}."
    return label + (" A coin decides." if tossed else "")


@cache_shape
def _way(track: Track) -> str:
    return decoration(path(track.line(), "line", 8, opacity=0.6))


@cache_shape
def _chain(track: Track, first: int, last: int, symbol: str) -> str:
    return decoration(path(track.line(first, last), get_edge_colour(_SEAT[symbol]), 16))


@cache_shape
def _cell(track: Track, number: int, symbol: str, chained: bool, fresh: bool, coin: str) -> str:
    """A cell that is not in doubt; `fresh` if the last turn was about it, and then what its `coin` showed."""
    size, said, shapes = track.size, "free", []
    if symbol != FREE:
        said = symbol
        shown = mark(_SEAT[symbol], 0, 0, size * _MARK)
        shapes.append(group(shown, classes="fresh") if fresh else shown)
    if coin:
        said += f", the coin showed {coin}"
        x, y = _corner(track) if coin == Coin.HEADS.value else (0.0, 0.0)  # tails leave the cell to the coin
        shapes.append(_coin(x, y, coin[0].upper()))
    edge, width = (get_edge_colour(_SEAT[symbol]), 4) if chained else ("line", 2)
    return _numbered(track, number, said, _square(size, "well", edge, stroke_width=width), *shapes)


@cache_shape
def _doubt(track: Track, number: int, mover: Seat, tossed: bool) -> str:
    """The cell in doubt, which the mover observed; `tossed` if a coin decides."""
    size, colour = track.size, f"p{mover.value}"
    x, y = _corner(track)
    if tossed:
        sign = _coin(x, y, "?")
    else:
        sign = circle(x, y, 17, colour, "card", stroke_width=2) + text(
            x, y, "?", 24, f"{colour}-ink", font_weight=700
        )
    return _numbered(
        track,
        number,
        f"{SYMBOL[mover]}, in doubt",
        _square(size, "well", "line", stroke_width=2),
        _square(
            size, "none", get_edge_colour(mover), classes="doubt", stroke_width=3, stroke_dasharray="8 7"
        ),
        group(mark(mover, 0, 0, size * _MARK), classes="shimmer", opacity=0.45),
        sign,
    )


def _corner(track: Track) -> tuple[float, float]:
    """Where a sign stands on a cell: clear of its mark and of the next cell, which is drawn over it."""
    return track.pitch / 2 - _COIN - 1.5, -track.size / 2 - 2


def _square(size: float, fill: str, stroke: str, **look: Any) -> str:
    return box(0, 0, size, size, size / 4, fill, stroke, **look)


def _numbered(track: Track, number: int, said: str, *shapes: str) -> str:
    """A cell of these shapes, with its number below."""
    x, y = track.at(number)
    below = track.size / 2 + 28
    over_way = box(0, below, 40, 32, 12, "card") if track.bends(number) else ""
    words = text(0, below, str(number), 24)
    return cell(number, f"Cell {number}: {said}", *shapes, over_way, words, x=x, y=y)


def _coin(x: float, y: float, letter: str) -> str:
    shape = circle(0, 0, _COIN, "card", "ink", stroke_width=2.5) + circle(
        0, 0, _COIN - 5, "none", "dim", stroke_width=1.2
    )
    return group(group(shape, text(0, 0, letter, 22, "ink", font_weight=700), classes="turns"),
                 transform=f"translate({x:.1f} {y:.1f})")  # fmt: skip


@cache_shape
def _target(track: Track, number: int, notation: str) -> str:
    x, y = track.at(number)
    size = track.size
    offer = box(x, y, size, size, size / 4, "none", "ok", classes="offer", stroke_width=3)
    below = chip(x, y + size / 2 + 28, str(number), min(track.pitch - 20, 48))
    hit = hit_box(x, y + 18, track.pitch - 2, _ROW - 10)
    return target(notation, [number], f"Observe cell {number}", offer, below, hit)


def _decohered(sight: Sight[Action, State]) -> bool:
    """Whether the last turn filled the board without a chain, so that it is empty again."""
    return bool(sight.events) and isinstance(sight.events[-1], Decohered)


def _last_settled(events: Sequence[Event]) -> tuple[int, str]:
    """The cell that was settled last and what the coin showed, if any; 0 while one is open, or gone."""
    settled, coin = 0, ""
    for event in reversed(events):
        if isinstance(event, Observed | Decohered):
            break
        if isinstance(event, Settled):
            settled = event.cell
        if isinstance(event, CoinFell):
            coin = event.face.value
    return settled, coin


DRAWING = ChainDrawing
