"""A board in text: rendered line by line, its cells numbered and labelled."""

from duels.core.narration import Cell, Row, TextBoard


def test_a_board_is_rendered_with_heading_rows_and_text() -> None:
    row = Row(("X", "2"), " ", " | ", "", above=" 1   2\n", below="-\n")
    assert str(TextBoard("Score: 3\n", (row, Row(("3",))), "Board:\n")) == (
        "Board:\n 1   2\n X | 2\n-\n[3]\nScore: 3\n"
    )


def test_cells_are_numbered_from_row_to_row() -> None:
    board = TextBoard(rows=(Row(("a", "b")), Row(("c",))))
    assert board.cells == ((Cell(1, "1", "a"), Cell(2, "2", "b")), (Cell(3, "3", "c"),))


def test_a_named_row_labels_its_cells() -> None:
    board = TextBoard(rows=(Row(("a",), name="A"), Row(("b", "c"), name="B")))
    assert [cell.label for row in board.cells for cell in row] == ["A1", "B1", "B2"]
    assert [cell.number for row in board.cells for cell in row] == [1, 2, 3]


def test_a_text_only_board_has_no_cells() -> None:
    board = TextBoard("No bid yet.\n")
    assert board.cells == ()
    assert str(board) == "No bid yet.\n"
