"""Lines are broken between words, never in one, and ink takes no room."""

from pathlib import Path

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st

from duels.core.words import Ink, plain
from duels.terminal.commands import cli
from duels.terminal.layout import wrap
from tests.support import duels
from tests.terminal.terminal import Terminal

WORDS = st.lists(st.text("abc.,'-", min_size=1, max_size=12), min_size=1, max_size=60)


@given(WORDS, st.integers(12, 100), st.sampled_from(["", "  ", "- "]))
def test_no_line_is_too_wide_and_no_word_is_broken(words: list[str], width: int, start: str) -> None:
    inked = start + " ".join(Ink.ONE(word) if number % 3 == 0 else word for number, word in enumerate(words))
    wrapped = wrap(inked, width)
    lines = plain(wrapped).split("\n")
    longest = max(map(len, words)) + len(start)
    assert all(len(line) <= max(width, longest) for line in lines)
    assert " ".join(lines).split() == plain(inked).split()
    assert inked.count("\ue001") == wrapped.count("\ue001")


def test_a_row_of_cells_is_broken_between_cells() -> None:
    row = "".join(f"[{cell}]" for cell in range(1, 22))
    lines = wrap(f"{row}\n", 40).split("\n")
    assert "".join(lines) == row
    assert all(line.endswith("]") for line in lines if line)


def test_what_fits_stays_as_it_is() -> None:
    board = "   1   2   3\nA [ ] [4] [ ]\n"
    assert wrap(board, 80) == board


def test_what_does_not_fit_goes_on_in_the_next_line_of_a_paragraph() -> None:
    card = "Turn      one two three four five\n          six\n- seven eight nine ten eleven twelve\n  13\n"
    assert wrap(card, 30) == (
        "Turn      one two three four\n          five six\n- seven eight nine ten eleven\n  twelve 13\n"
    )


def test_rows_of_a_drawing_stay_apart() -> None:
    rows = "  50% |####\n      |####\n"
    assert wrap(rows, 8).split() == rows.split()
    listed = "  1. one  two three four five six\n  2. seven\n"
    assert wrap(listed, 30) == "  1. one  two three four five\n          six\n  2. seven\n"


@pytest.mark.parametrize("arguments", [("rules", "chain"), ("games",), ("players",)])
def test_lists_and_cards_fit_a_narrow_terminal(arguments: tuple[str, ...], tmp_path: Path) -> None:
    with Terminal(tmp_path, *arguments, size=(50, 24)) as terminal:
        assert terminal.wait() == 0
    assert max(map(len, terminal.text.splitlines())) <= 50
    assert terminal.text.split() == duels(tmp_path, *arguments).out.split()


def test_examples_fit_a_terminal() -> None:
    context = click.Context(cli)
    commands = [cli, *filter(None, (cli.get_command(context, name) for name in cli.list_commands(context)))]
    shown = [line for command in commands for line in (command.epilog or "").splitlines()]
    assert len(shown) > len(commands)
    assert [line for line in shown if len(f"  {line}") > 80] == []
