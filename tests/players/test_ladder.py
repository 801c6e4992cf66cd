"""The statements about the strength of players agree with the measurement in docs/ladder.md."""

import re
from itertools import pairwise
from pathlib import Path

from duels.players.levels import DISTINCT_LEVELS, get_level_shares
from duels.terminal import list_commands

PAGE = Path(__file__).parents[2] / "docs" / "ladder.md"
STEP = 54  # percent


def read_scores(game: str) -> dict[tuple[str, str], float]:
    """Return the score of each player against each other one, in percent."""
    section = PAGE.read_text(encoding="utf-8").split(f"({game})\n", 1)[1].split("\n##", 1)[0]
    table = section.split("row against column:\n\n")[1]
    header, _, *rows = [line.strip("|").split("|") for line in re.findall(r"^\|.*\|$", table, re.MULTILINE)]
    columns = [name.strip() for name in header[1:]]
    return {
        (row[0].strip(), column): float(score.split()[0])
        for row in rows
        for column, score in zip(columns, row[1:], strict=False)
        if score.strip()
    }


def test_distinct_levels_are_steps_of_the_ladder() -> None:
    for game in DISTINCT_LEVELS:
        scores = read_scores(game)
        for lower, higher in pairwise(get_level_shares(game)):
            assert scores[higher, lower] >= STEP


def test_the_strength_of_greedy_is_that_of_the_ladder() -> None:
    assert list_commands.GREEDY_STRENGTH == (
        "perfect in leap, stronger than expert in chain, weaker than club in lights"
    )
    assert read_scores("leap")["greedy", "best"] == 50
    assert read_scores("chain")["greedy", "expert"] > 50
    assert read_scores("lights")["greedy", "club"] < 50
