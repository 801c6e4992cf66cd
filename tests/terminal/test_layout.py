"""Lines are broken between words, never in one, and ink takes no room."""

from hypothesis import given
from hypothesis import strategies as st

from duels.core.words import Ink, plain
from duels.terminal.layout import wrap

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
