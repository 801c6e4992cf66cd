"""What the page on environments shows runs as it stands, in the order of the page."""

import re
from pathlib import Path
from typing import Any

from duels.games import GAMES

PAGE = (Path(__file__).parent.parent.parent / "docs" / "environments.md").read_text(encoding="utf-8")


def test_every_piece_of_code_runs() -> None:
    pieces = re.findall(r"^```python\n(.*?)^```", PAGE, flags=re.MULTILINE | re.DOTALL)
    assert len(pieces) >= 7
    names: dict[str, Any] = {}
    for number, piece in enumerate(pieces):
        exec(compile(piece, f"environments.md, piece {number}", "exec"), names)


def test_the_sizes_of_observations_are_those_of_the_page() -> None:
    told = dict(re.findall(r"^\| (\w+) \| (\d+) \|", PAGE, flags=re.MULTILINE))
    assert told == {name: str(game.encoding(game.rules()).size) for name, game in GAMES.items()}
