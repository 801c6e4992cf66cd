"""Golden boards: drawings of positions of every game. `make golden` rewrites them."""

from dataclasses import dataclass, field
from pathlib import Path

from duels.core.match import AnyMatch, Match
from duels.core.rules import Seat
from duels.games import find_game

FOLDER = Path(__file__).parent / "boards"


@dataclass(frozen=True)
class Board:
    """A drawing of what `seat` sees after `entries`, with or without click targets."""

    game: str
    name: str
    entries: str = ""
    seat: Seat = Seat.ONE
    targets: bool = True
    options: dict[str, int] = field(default_factory=dict)

    @property
    def path(self) -> Path:
        return FOLDER / f"{self.game}-{self.name}.svg"

    @property
    def match(self) -> AnyMatch:
        entries = [entry.strip() for entry in self.entries.split(";") if entry.strip()]
        return Match.start(find_game(self.game).rules(**self.options)).play_text(*entries)

    def draw(self) -> str:
        match = self.match
        drawing = find_game(self.game).drawing(match.rules)
        # One element per line makes differences readable.
        return drawing.draw(match.sight(self.seat), targets=self.targets).replace("><", ">\n<") + "\n"


ENDED_LEAP = "enter; enter; 1; 1; 2; 2; 4; 1; 8; 1; 4; 1; 1"
HUNT = "move 3; observe 5; move 2; observe 4"
FLIP = "B2; 4; C3; 5; D4+D5; 2,5"
BOARDS = (
    Board("lights", "turn", "4; 1-2"),
    Board("lights", "over", "1; 2-3; 4; 5-6; 7", targets=False),
    Board("lights", "two-rows", "3", Seat.TWO, options={"lights": 12}),
    Board("leap", "start", targets=False),
    Board("leap", "turn", "enter; enter; 1; 1; 2; 2; 4; 1"),
    Board("leap", "over", ENDED_LEAP),
    Board("chain", "doubt", "3; 5; 2", Seat.TWO),
    Board("chain", "tails", "3; 5; 2; challenge; tails", Seat.TWO),
    Board("chain", "over", "3; 7; 2; accept; 6; accept; 4; challenge; heads; 5; accept; 1; accept"),
    Board("hunt", "move", f"{HUNT}; move 3; observe 6; tunnel 6; observe 7"),
    Board("hunt", "observe", f"{HUNT}; tunnel 3; observe 1; move 2; observe 7; move 4"),
    Board("hunt", "captured", "move 3; observe 5; move 2; observe 3", Seat.TWO),
    Board("hunt", "collided", "move 3; observe 5; move 3; observe 4", targets=False),
    Board("flip", "turn", "B2; 4; C3; 3", options={"side": 4, "values": 4, "copies": 4, "target": 15}),
    Board("flip", "choice", FLIP),
    Board("flip", "turned-back", f"{FLIP}; keep D4", Seat.ONE),
    Board("flip", "over", "A1; 1; A2; 5; A3; 2; A4; 5; A5; 1; B1; 5; B2; 2; B3; 5; B4; 1; B5; 1"),
)


def regenerate() -> None:
    for board in BOARDS:
        board.path.write_text(board.draw(), encoding="utf-8")


if __name__ == "__main__":
    regenerate()
