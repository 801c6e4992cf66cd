"""The board of Quantum Duel: four in a row. It shows symbols, the doubtful cell and the coin."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from duels.core import svg
from duels.core.drawing import Drawing
from duels.core.narration import SEAT_LABELS, PlayerNames
from duels.core.rules import Event, Seat, Sight
from duels.core.svg import Track, make_track
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

_ROW_CENTER, _ROW_HEIGHT = 64, 152
_COIN_RADIUS = 19
_MARK_SIZE = 0.235  # relative to the cell
_SEAT_BY_SYMBOL = {symbol: seat for seat, symbol in SYMBOL.items()}


@dataclass(frozen=True)
class ChainDrawing(Drawing[Action, State]):
    """The row of cells, with a doubtful symbol marked as such."""

    rules: QuantumChain

    def is_on_board(self, action: Action) -> bool:
        return isinstance(action, Observe)

    def instruction(self, sight: Sight[Action, State]) -> str:
        state = sight.view
        if state.phase is Phase.OBSERVE:
            return "Observe a free cell to place your symbol there."
        symbol = SYMBOL[state.mover]
        return f"{symbol} observed cell {state.doubtful_cell}. Challenge it with a coin flip?"

    def opponent_task(self, sight: Sight[Action, State]) -> str:
        return "accept or challenge" if sight.view.phase is Phase.CHALLENGE else super().opponent_task(sight)

    def last_change(self, sight: Sight[Action, State]) -> str:
        has_decohered = sight.events and isinstance(sight.events[-1], Decohered)
        return "The full board decohered." if has_decohered else ""

    @property
    def guide(self) -> tuple[str, ...]:
        return (
            "Press a free cell to observe it. Use the buttons below the board to challenge or accept.",
            "A symbol that can still be lost has a dashed border and a question mark. "
            "The coin then shows H for heads or T for tails.",
        )

    def draw(
        self, sight: Sight[Action, State], *, targets: bool = False, names: PlayerNames = SEAT_LABELS
    ) -> svg.Picture:
        track, state = make_track(self.rules.cells, _ROW_HEIGHT, _ROW_CENTER, 60), sight.view
        first, last = self.rules.chain_of(state.cells) or (0, 0)
        scene = [track.draw_line(8, 0.6)]
        if first:
            scene.append(_draw_chain(track, first, last, state.cells[first - 1]))
        changed_cell, coin = _find_last_change(sight.events)
        is_tossed = state.phase is Phase.COIN
        for number, symbol in enumerate(state.cells, start=1):
            if number == state.doubtful_cell:
                scene.append(_draw_doubtful_cell(track, number, state.mover, is_tossed))
            else:
                in_chain, changed = first <= number <= last, number == changed_cell
                scene.append(_draw_cell(track, number, symbol, in_chain, changed, coin if changed else ""))
        pressable = None
        if targets:
            pressable = [
                _draw_target(track, action.cell, self.rules.format(action))
                for action in sight.actions
                if isinstance(action, Observe)
            ]
        label = _describe_board(state.cells, state.mover, state.doubtful_cell, is_tossed)
        return svg.board(track.height, label, scene, pressable)


def _describe_board(cells: str, mover: Seat, doubtful_cell: int, is_tossed: bool) -> str:
    clauses = []
    for seat, symbol in SYMBOL.items():
        numbers = [str(i) for i, cell_symbol in enumerate(cells, start=1) if cell_symbol == symbol]
        if numbers:
            clauses.append(f"{symbol} on {', '.join(numbers)}")
        if doubtful_cell and seat is mover:
            clauses.append(f"{symbol} in doubt on {doubtful_cell}")
    label = f"{len(cells)} cells, {'; '.join(clauses) or 'all free'}."
    return label + (" A coin decides." if is_tossed else "")


def _draw_chain(track: Track, first: int, last: int, symbol: str) -> str:
    return svg.decoration(svg.path(track.line(first, last), svg.get_edge_colour(_SEAT_BY_SYMBOL[symbol]), 16))


@svg.cache_shape
def _draw_cell(track: Track, number: int, symbol: str, in_chain: bool, changed: bool, coin: str) -> str:
    """Draw a cell that is not doubtful. `coin` is the side that the coin showed for this cell, or ''."""
    label = "free" if symbol == FREE else symbol
    edge, width = (svg.get_edge_colour(_SEAT_BY_SYMBOL[symbol]), 4) if in_chain else ("line", 2)
    shapes = [_draw_square(track.size, "well", edge, stroke_width=width)]
    if symbol != FREE:
        mark = svg.mark(_SEAT_BY_SYMBOL[symbol], 0, 0, track.size * _MARK_SIZE)
        shapes.append(svg.group(mark, classes="fresh") if changed else mark)
    if coin:
        label += f", the coin showed {coin}"
        # After tails, the cell is free for the coin.
        x, y = _locate_sign(track) if coin == Coin.HEADS.value else (0.0, 0.0)
        shapes.append(_draw_coin(x, y, coin[0].upper()))
    return _draw_numbered_cell(track, number, label, *shapes)


def _draw_doubtful_cell(track: Track, number: int, mover: Seat, is_tossed: bool) -> str:
    """Draw the doubtful cell. With `is_tossed`, the coin decides."""
    size, colour, edge = track.size, f"p{mover.value}", svg.get_edge_colour(mover)
    x, y = _locate_sign(track)
    disc = svg.circle(x, y, 17, colour, "card", stroke_width=2)
    question_mark = svg.text(x, y, "?", 24, f"{colour}-ink", font_weight=700)
    return _draw_numbered_cell(
        track,
        number,
        f"{SYMBOL[mover]}, in doubt",
        _draw_square(size, "well", "line", stroke_width=2),
        _draw_square(size, "none", edge, classes="doubt", stroke_width=3, stroke_dasharray="8 7"),
        svg.group(svg.mark(mover, 0, 0, size * _MARK_SIZE), classes="shimmer", opacity=0.45),
        _draw_coin(x, y, "?") if is_tossed else disc + question_mark,
    )


def _locate_sign(track: Track) -> tuple[float, float]:
    """Return the centre of a sign. It covers neither the cell's mark nor the next cell."""
    return track.pitch / 2 - _COIN_RADIUS - 1.5, -track.size / 2 - 2


def _draw_square(size: float, fill: str, stroke: str, **style: Any) -> str:
    return svg.box(0, 0, size, size, size / 4, fill, stroke, **style)


def _draw_numbered_cell(track: Track, number: int, label: str, *shapes: str) -> str:
    x, y = track.centre(number)
    number_y = track.size / 2 + 28
    backing = svg.box(0, number_y, 40, 32, 12, "card") if track.bends(number) else ""
    words = svg.text(0, number_y, str(number), 24)
    return svg.cell(number, f"Cell {number}: {label}", *shapes, backing, words, x=x, y=y)


def _draw_coin(x: float, y: float, letter: str) -> str:
    edge = svg.circle(0, 0, _COIN_RADIUS, "card", "ink", stroke_width=2.5)
    ring = svg.circle(0, 0, _COIN_RADIUS - 5, "none", "dim", stroke_width=1.2)
    coin = svg.group(edge, ring, svg.text(0, 0, letter, 22, "ink", font_weight=700), classes="turns")
    return svg.group(coin, transform=f"translate({x:.1f} {y:.1f})")


@svg.cache_shape
def _draw_target(track: Track, number: int, notation: str) -> str:
    x, y = track.centre(number)
    size = track.size
    outline = svg.box(x, y, size, size, size / 4, "none", "ok", classes="offer", stroke_width=3)
    chip = svg.chip(x, y + size / 2 + 28, str(number), min(track.pitch - 20, 48))
    hit_box = svg.hit_box(x, y + 18, track.pitch - 2, _ROW_HEIGHT - 10)
    return svg.target(notation, [number], f"Observe cell {number}", outline, chip, hit_box)


def _find_last_change(events: Sequence[Event]) -> tuple[int, str]:
    """Return the cell that the last turn decided (0: not decided yet) and the coin's face, or ''."""
    cell, coin = 0, ""
    for event in reversed(events):
        if isinstance(event, Observed | Decohered):
            break
        if isinstance(event, Settled):
            cell = event.cell
        if isinstance(event, CoinFell):
            coin = event.face.value
    return cell, coin


DRAWING = ChainDrawing
