"""Exact counts agree with the rules and with an independent count."""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from duels.core.explore import iter_reachable
from duels.core.match import Match
from duels.games import GAMES
from tests.support import count_lines

from . import independent_counts, toys

TABLE = Path(__file__).parents[2] / "docs" / "counts.md"
Options = dict[str, int]


def read_rows(heading: str) -> Iterator[list[str]]:
    """The cells of the table under `heading`, row by row."""
    section = TABLE.read_text(encoding="utf-8").split(f"## {heading}\n")[1].split("## ")[0]
    table = [line.strip("| ").split(" | ") for line in section.splitlines() if line.startswith("|")]
    yield from table[2:]


def parse_game(cell: str) -> tuple[str, Options]:
    name, *options = cell.split()
    return name, {key: int(value) for key, value in (option.split("=") for option in options)}


def number(cell: str) -> int:
    return int(cell.replace(",", ""))


STATES = [
    (*parse_game(game), (number(states), number(over)))
    for game, states, over in read_rows("Reachable states")
]
LINES = [
    (*parse_game(game), tuple(map(number, lines.split(" · ")))) for game, lines in read_rows("Lines of play")
]


def make_independent_game(name: str, options: Options) -> independent_counts.Game[Any]:
    game: independent_counts.Game[Any] = getattr(independent_counts, name)(**options)
    return game


@pytest.mark.parametrize(("name", "options", "stated"), STATES)
def test_reachable_states(name: str, options: Options, stated: tuple[int, int]) -> None:
    over = [match.over for match in iter_reachable(GAMES[name].rules(**options))]
    assert (len(over), sum(over)) == stated
    assert independent_counts.count_positions(make_independent_game(name, options)) == stated


@pytest.mark.parametrize(("name", "options", "stated"), LINES)
def test_lines_of_play(name: str, options: Options, stated: tuple[int, ...]) -> None:
    assert count_lines(GAMES[name].rules(**options), len(stated)) == stated
    assert independent_counts.count_lines(make_independent_game(name, options), len(stated)) == stated


def test_every_game_has_counts() -> None:
    assert {name for name, _, _ in STATES} == set(GAMES)
    assert [name for name, _, _ in LINES] == list(GAMES)


def test_the_second_count_does_not_import_the_package() -> None:
    tree = ast.parse(Path(independent_counts.__file__).read_text(encoding="utf-8"))
    imported = {
        name
        for node in ast.walk(tree)
        for name in (
            [alias.name for alias in node.names]
            if isinstance(node, ast.Import)
            else [node.module or "."]
            if isinstance(node, ast.ImportFrom)
            else []
        )
    }
    assert imported == {"collections.abc", "functools", "itertools", "typing"}


def test_reachable_gives_a_shortest_match_to_each_state() -> None:
    matches = list(iter_reachable(toys.Hide()))
    lengths = [len(match.turns) for match in matches]
    assert lengths == [0] + [1] * 2 + [2] * 4 + [3] * 8
    assert len({match.state for match in matches}) == len(matches)


def test_reachable_matches_can_be_replayed() -> None:
    *_, last = iter_reachable(toys.Hide())
    entries = [str(turn.action) for turn in last.turns]
    assert Match.start(toys.Hide()).play_text(*entries).state == last.state


def test_lines_stop_at_the_end_of_the_game() -> None:
    assert count_lines(toys.Hide(), 5) == (2, 4, 8, 0, 0)
