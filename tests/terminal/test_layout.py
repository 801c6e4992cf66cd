"""Wrapping breaks lines between words, and ink takes no room."""

import io
import re
from pathlib import Path
from random import Random

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st

from duels.core.record import dump_record
from duels.core.words import Ink, strip_ink
from duels.games import all_games
from duels.terminal.commands import cli
from duels.terminal.screen import get_terminal_size, wrap
from tests.analysis.matches import random_match
from tests.support import duels
from tests.terminal.terminal import Terminal

WORDS = st.lists(st.text("abc.,'-", min_size=1, max_size=12), min_size=1, max_size=60)


@given(WORDS, st.integers(12, 100), st.sampled_from(["", "  ", "- "]))
def test_no_line_is_too_wide_and_no_word_is_broken(words: list[str], width: int, start: str) -> None:
    inked = start + " ".join(Ink.ONE(word) if number % 3 == 0 else word for number, word in enumerate(words))
    wrapped = wrap(inked, width)
    lines = strip_ink(wrapped).split("\n")
    mark = "- " if words[0] == "-" else ""  # a list item
    longest = max(map(len, words)) + len(start + mark)
    assert all(len(line) <= max(width, longest) for line in lines)
    assert " ".join(lines).split() == strip_ink(inked).split()
    assert inked.count("\ue001") == wrapped.count("\ue001")


def test_a_row_is_wrapped_between_cells() -> None:
    row = "".join(f"[{cell}]" for cell in range(1, 22))
    lines = wrap(f"{row}\n", 40).split("\n")
    assert "".join(lines) == row
    assert all(line.endswith("]") for line in lines if line)


def test_text_to_copy_is_not_wrapped() -> None:
    command = Ink.COPIED("duels solve chain --position '__X?O__ 2'")
    assert wrap(f"Look at it with: {command} now\n", 30) == f"Look at it with:\n{command}\nnow\n"
    assert wrap(f"It is {Ink.COPIED('a b')} here", 30) == f"It is {Ink.COPIED('a b')} here"


def test_text_that_fits_is_unchanged() -> None:
    board = "   1   2   3\nA [ ] [4] [ ]\n"
    assert wrap(board, 80) == board


def test_the_rest_of_a_line_joins_the_next_line_of_its_paragraph() -> None:
    card = "Turn      one two three four five\n          six\n- seven eight nine ten eleven twelve\n  13\n"
    assert wrap(card, 30) == (
        "Turn      one two three four\n          five six\n- seven eight nine ten eleven\n  twelve 13\n"
    )


def test_rows_of_a_drawing_are_not_joined() -> None:
    rows = "  50% |####\n      |####\n"
    assert wrap(rows, 8).split() == rows.split()
    listed = "  1. one  two three four five six\n  2. seven\n"
    assert wrap(listed, 30) == "  1. one  two three four five\n          six\n  2. seven\n"


@pytest.mark.parametrize("width", [20, 30, 40])
@pytest.mark.parametrize(
    "item", ["    NAME {}  ", "  {}. name  ", "  {}. a-longer-name  ", "name{}  ", "  name{}  ", "- {} "]
)
def test_items_of_a_list_are_not_joined(item: str, width: int) -> None:
    listed = [item.format(number) + "so much text that it does not fit in a line" for number in (1, 2)]
    one, two = (wrap(line, width) for line in listed)
    assert "\n" in one
    assert wrap("\n".join(listed), width) == f"{one}\n{two}"


def test_a_list_in_a_paragraph_is_not_joined() -> None:
    card = (
        "Turn  one of\n      MOVE n   here or there\n      STAY     where you are\n      You must do one.\n"
    )
    assert wrap(card, 20) == (
        "Turn  one of\n      MOVE n   here\n      or there\n      STAY     where\n      you are\n"
        "      You must do\n      one.\n"
    )
    card = "Turn  F: flip one of them, or\n      Q: flip two of them, once in a\n      game\n"
    assert wrap(card, 26) == (
        "Turn  F: flip one of them,\n      or\n      Q: flip two of them,\n      once in a game\n"
    )


def test_every_game_of_the_menu_begins_a_line(tmp_path: Path) -> None:
    with Terminal(tmp_path) as terminal:
        terminal.answer("Number or name: ", "play")
        terminal.expect("Which game?")
        terminal.answer("Number or name: ", "quit")
        assert terminal.wait() == 0
    listed = terminal.text.split("Which game?")[1]
    assert re.findall(r"^  (\d)\. (\S+)", listed, re.MULTILINE) == [
        (str(number), game.name) for number, game in enumerate(all_games(), start=1)
    ]
    assert max(map(len, listed.splitlines())) <= 80


@pytest.mark.parametrize("columns", [60, 80])
@pytest.mark.parametrize("game", ["lights", "chain"])
def test_every_entry_of_a_review_begins_a_line(game: str, columns: int, tmp_path: Path) -> None:
    match = random_match(game, Random(1), max_entries=39)
    path = tmp_path / "match.duel"
    path.write_text(dump_record(match), encoding="utf-8")
    with Terminal(tmp_path, "review", path, size=(columns, 24)) as terminal:
        assert terminal.wait() == 0
    table, curve = re.sub(r"\x1b\[[0-9;]*m", "", terminal.text).split("entry by entry:\n")
    entries: list[int] = []
    for alone, first, last in re.findall(r"^ *(?:(\d+)\. .*%|entries (\d+) to (\d+): )", table, re.MULTILINE):
        entries += [int(alone)] if alone else range(int(first), int(last) + 1)
    assert entries == list(range(1, len(match.turns) + 1))
    assert max(map(len, table.splitlines())) <= columns
    assert [line[:5] for line in curve.splitlines()[:10]] == [
        *("100% ", "     ", "     ", "     ", " 50% ", "     ", "     ", "  0% ", "     ", "     ")
    ]
    assert max(map(len, curve.splitlines()[:10])) <= columns


@pytest.mark.parametrize("arguments", [("rules", "chain"), ("games",), ("players",)])
def test_lists_and_cards_fit_a_narrow_terminal(arguments: tuple[str, ...], tmp_path: Path) -> None:
    with Terminal(tmp_path, *arguments, size=(50, 24)) as terminal:
        assert terminal.wait() == 0
    assert max(map(len, terminal.text.splitlines())) <= 50
    assert terminal.text.split() == duels(tmp_path, *arguments).out.split()


@pytest.mark.parametrize(("columns", "width"), [("70", 70), ("abc", 80), ("-5", 80), ("0", 80), ("", 80)])
def test_an_invalid_width_in_the_environment_is_ignored(
    columns: str, width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdout", io.StringIO())  # no terminal
    monkeypatch.setenv("COLUMNS", columns)
    assert get_terminal_size() == (width, 24)


def test_examples_fit_a_terminal() -> None:
    context = click.Context(cli)
    commands = [cli, *filter(None, (cli.get_command(context, name) for name in cli.list_commands(context)))]
    commands += [each for group in commands[1:] for each in getattr(group, "commands", {}).values()]
    lines = [line for command in commands for line in (command.epilog or "").splitlines()]
    assert len(lines) > len(commands)
    assert [line for line in lines if len(f"  {line}") > 80] == []
