"""The board of Quantum Duel, four in a row: symbols, one of them perhaps in doubt, and the coin."""

from collections.abc import Sequence
from dataclasses import dataclass

from duels.core.drawing import Drawing
from duels.core.rules import Event, Sight
from duels.core.svg import (
    Picture,
    board,
    box,
    cell,
    chip,
    circle,
    decoration,
    edge_of,
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

_MIDDLE, _ROW = 58, 146
_SEAT = {symbol: seat for seat, symbol in SYMBOL.items()}


@dataclass(frozen=True)
class ChainDrawing(Drawing[Action, State]):
    rules: QuantumChain

    def has_place(self, action: Action) -> bool:
        return isinstance(action, Observe)

    def asked(self, sight: Sight[Action, State]) -> str:
        state = sight.view
        if state.phase is Phase.OBSERVE:
            full = "Nobody has a chain: the full board decohered. " if _decohered(sight) else ""
            return f"{full}Observe a free cell."
        symbol = SYMBOL[state.mover]
        return f"{symbol} observed cell {state.doubt}, beside its own. Challenge it, so that a coin decides?"

    def awaited(self, sight: Sight[Action, State]) -> str:
        if _decohered(sight):
            return "move: nobody has a chain, the full board decohered"
        return "accept or challenge" if sight.view.phase is Phase.CHALLENGE else super().awaited(sight)

    @property
    def guide(self) -> tuple[str, ...]:
        return (
            "Press a free cell to observe it. Challenge and accept by the buttons below the board.",
            "A symbol that can still be lost has a dashed border and a question mark. "
            "The coin then shows H for heads or T for tails.",
        )

    def picture(self, sight: Sight[Action, State], *, targets: bool = False) -> Picture:
        per_row = 7 if self.rules.cells > 9 else 9
        track = Track(self.rules.cells, _ROW, _MIDDLE, per_row, margin=60)
        state = sight.view
        chain = self.rules.chain_of(state.cells)
        scene = [decoration(path(track.line(), "line", 8, opacity=0.6))]
        if chain:
            winner = _SEAT[state.cells[chain[0] - 1]]
            scene.append(decoration(path(track.line(*chain), edge_of(winner), 16)))
        fell = _coin_of_last_turn(sight.events)
        for number, symbol in enumerate(state.cells, start=1):
            scene.append(self._cell(track, state, number, symbol, fell))
        pressed = None
        if targets:
            pressed = [self._target(track, action) for action in sight.actions if isinstance(action, Observe)]
        return board(track.height, self._told(state), scene, pressed)

    def _told(self, state: State) -> str:
        held = []
        for seat, symbol in SYMBOL.items():
            places = [str(i) for i, held_by in enumerate(state.cells, start=1) if held_by == symbol]
            if places:
                held.append(f"{symbol} on {', '.join(places)}")
            if state.doubt and seat is state.mover:
                held.append(f"{symbol} in doubt on {state.doubt}")
        label = f"{self.rules.cells} cells, {'; '.join(held) or 'all free'}."
        return label + (" A coin decides." if state.phase is Phase.COIN else "")

    def _cell(
        self, track: Track, state: State, number: int, symbol: str, fell: tuple[Settled, Coin | None] | None
    ) -> str:
        x, y = track.at(number)
        size = min(track.pitch * 0.88, 80)
        radius, r = size / 4, size * 0.235
        chain = self.rules.chain_of(state.cells)
        if chain and chain[0] <= number <= chain[1]:
            shapes = [box(0, 0, size, size, radius, "well", edge_of(_SEAT[symbol]), stroke_width=4)]
        else:
            shapes = [box(0, 0, size, size, radius, "well", "line", stroke_width=2)]
        said = "free"
        last = fell[0] if fell and fell[0].cell == number else None
        if number == state.doubt:
            said = f"{SYMBOL[state.mover]}, in doubt"
            shapes += self._doubt(state, size, radius, r)
        elif symbol != FREE:
            said = symbol
            shown = mark(_SEAT[symbol], 0, 0, r)
            shapes.append(group(shown, classes="fresh") if last else shown)
        if last and fell and fell[1]:
            said += f", the coin showed {fell[1].value}"
            place = size / 2 - 6 if fell[1] is Coin.HEADS else 0  # tails leave the cell to the coin
            shapes.append(_coin(place, -place, fell[1].value[0].upper()))
        if track.bends(number):
            shapes.append(box(0, size / 2 + 28, 40, 32, 12, "card"))
        shapes.append(text(0, size / 2 + 28, str(number), 24))
        return cell(number, f"Cell {number}: {said}", *shapes, x=x, y=y)

    def _doubt(self, state: State, size: float, radius: float, r: float) -> list[str]:
        colour = f"p{state.mover.value}"
        edge = edge_of(state.mover)
        badge = size / 2 - 6
        if state.phase is Phase.COIN:
            sign = _coin(badge, -badge, "?")
        else:
            sign = circle(badge, -badge, 17, colour, "card", stroke_width=2) + text(
                badge, -badge, "?", 24, f"{colour}-ink", font_weight=700
            )
        return [
            box(
                0,
                0,
                size,
                size,
                radius,
                "none",
                edge,
                classes="doubt",
                stroke_width=3,
                stroke_dasharray="8 7",
            ),
            group(mark(state.mover, 0, 0, r), classes="shimmer", opacity=0.45),
            sign,
        ]

    def _target(self, track: Track, action: Observe) -> str:
        x, y = track.at(action.cell)
        size = min(track.pitch * 0.88, 80)
        offer = box(x, y, size, size, size / 4, "none", "ok", classes="offer", stroke_width=3)
        number = chip(x, y + size / 2 + 28, str(action.cell), min(track.pitch - 20, 48))
        hit = hit_box(x, y + 18, track.pitch - 2, _ROW - 10)
        name = self.rules.format(action)
        return target(name, [action.cell], f"Observe cell {action.cell}", offer, number, hit)


def _decohered(sight: Sight[Action, State]) -> bool:
    """Whether the last turn filled the board without a chain, so that it is empty again."""
    return bool(sight.events) and isinstance(sight.events[-1], Decohered)


def _coin(x: float, y: float, letter: str) -> str:
    shape = circle(0, 0, 19, "card", "ink", stroke_width=2.5) + circle(
        0, 0, 14, "none", "dim", stroke_width=1.2
    )
    return group(group(shape, text(0, 0, letter, 22, "ink", font_weight=700), classes="turns"),
                 transform=f"translate({x:.1f} {y:.1f})")  # fmt: skip


def _coin_of_last_turn(events: Sequence[Event]) -> tuple[Settled, Coin | None] | None:
    """How the last observation was settled, with the coin if any; None while one is open, or gone."""
    settled = coin = None
    for event in reversed(events):
        if isinstance(event, Observed | Decohered):
            break
        if isinstance(event, Settled):
            settled = event
        if isinstance(event, CoinFell):
            coin = event.face
    return (settled, coin) if settled else None


DRAWING = ChainDrawing
