"""The widgets to choose from: the cells of a board, and a list of actions; by cursor or mouse."""

from collections.abc import Sequence
from itertools import groupby

from textual import events
from textual.color import Color
from textual.containers import VerticalScroll
from textual.content import Content
from textual.geometry import Region
from textual.message import Message
from textual.style import Style
from textual.widget import Widget

from duels.core.narration import Cell
from duels.core.rules import Seat
from duels.core.words import Ink, split_by_ink, strip_ink
from duels.terminal.board.choice import Choice, ChoiceOption
from duels.terminal.board.grid import BoardGrid, Point, fit_grid

# The terminal's own colours, so that dark and light terminals both stay readable.
_YOURS, _THEIRS = Style(foreground=Color.parse("ansi_cyan")), Style(foreground=Color.parse("ansi_yellow"))
_STYLES = {
    Ink.CHANGED: Style(bold=True),
    Ink.WON: Style(foreground=Color.parse("ansi_green"), bold=True),
    Ink.LOST: Style(foreground=Color.parse("ansi_red"), bold=True),
    Ink.DIM: Style(dim=True),
    Ink.COPIED: Style(),
}
_BORDER = Style(dim=True)
_CHOOSABLE = Style(bold=True)
_CURSOR = _YOURS + Style(reverse=True, bold=True)
# Around what the cursor is on and what is chosen: colours are not for everybody.
_POINTING, _CHOSEN = (">", "<"), ("[", "]")
_NEW = "•"  # behind the name of a cell in which something has changed


class Palette:
    """What each ink looks like; the first player's colour means you, whichever seat that is."""

    def __init__(self, you: Seat = Seat.ONE) -> None:
        self._styles = {**_STYLES, Ink.for_seat(you): _YOURS, Ink.for_seat(you.other): _THEIRS}

    def style(self, *inks: Ink) -> Style:
        """The style of what these inks lie on."""
        style = Style()
        for ink in inks:
            style += self._styles[ink]
        return style

    def content(self, text: str) -> Content:
        """A text with ink as something to show."""
        return Content.assemble(*((piece, self.style(*inks)) for piece, inks in split_by_ink(text)))


class Canvas:
    """Letters with styles, by column and row."""

    def __init__(self, lines: Sequence[str], style: Style) -> None:
        self._letters = [[(letter, style) for letter in line] for line in lines]

    def write(self, point: Point, text: str, style: Style) -> None:
        """Put a text at a point."""
        column, row = point
        for offset, letter in enumerate(text):
            self._letters[row][column + offset] = (letter, style)

    def content(self) -> Content:
        """What is on it."""
        return Content("\n").join(_joined(line) for line in self._letters)


def _joined(line: Sequence[tuple[str, Style]]) -> Content:
    """A line, with letters of one style in one piece: the less there is to write, the less it flickers."""
    runs = groupby(line, key=lambda letter: letter[1])
    return Content.assemble(*(("".join(letter for letter, _ in run), style) for style, run in runs))


class BoardView(Widget):
    """Cells in boxes. Knows nothing of the game but what it is shown."""

    DEFAULT_CSS = "BoardView { width: auto; height: auto; }"

    class Picked(Message):
        """A cell was clicked."""

        def __init__(self, cell: int) -> None:
            super().__init__()
            self.cell = cell

    def __init__(self, palette: Palette) -> None:
        super().__init__(id="cells")
        self.cursor: int | None = None
        """The cell that is pointed at."""
        self._palette = palette
        self._rows: Sequence[Sequence[Cell]] = ()
        self._grid = BoardGrid((), 0, 0)
        self._choosable: frozenset[int] = frozenset()
        self._chosen: tuple[int, ...] = ()
        self._changed: frozenset[int] = frozenset()

    def show(self, rows: Sequence[Sequence[Cell]], room: Point) -> None:
        """Show these cells, in so many columns and rows."""
        self._rows = rows
        self._grid = fit_grid(rows, *room)
        self.display = bool(rows)
        self.refresh(layout=True)

    def mark(self, choice: Choice | None, changed: frozenset[int]) -> None:
        """Mark what can be chosen, what is chosen, and where something has changed."""
        self._changed = changed
        self._chosen = choice.chosen if choice else ()
        self._choosable = choice.cells if choice else frozenset()
        if self._choosable and self.cursor not in self._choosable:
            self.cursor = min(self._choosable, key=lambda n: abs(n - (self.cursor or 0)), default=None)

    def move(self, step: Point) -> None:
        """Move the cursor to the next cell that can be chosen."""
        if self.cursor is not None:
            self.point_at(self._grid.towards(self.cursor, step, self._choosable) or self.cursor)

    def point_at(self, cell: int) -> None:
        """Put the cursor on a cell, and that into sight."""
        self.cursor = cell
        self.refresh()
        column, row = self._grid.origin(cell)
        box = Region(column, row - 1, self._grid.width, self._grid.height + 2)
        _bring_into_sight(self, box)

    def get_content_width(self, *_: object) -> int:
        return self._grid.size[0] if self._grid.rows else 0

    def get_content_height(self, *_: object) -> int:
        return self._grid.size[1] if self._grid.rows else 0

    def render(self) -> Content:
        canvas = Canvas(self._grid.lines(), _BORDER)
        for row in self._rows:
            for cell in row:
                self._draw(cell, canvas)
        for number in self._chosen:
            self._put_between(number, _CHOSEN, canvas)
        if self.cursor in self._choosable:
            self._put_between(self.cursor, _POINTING, canvas)
        return canvas.content()

    def _put_between(self, cell: int, signs: tuple[str, str], canvas: Canvas) -> None:
        """Put a cell between two signs, which stand on its borders: inside there may be no room."""
        column, row = self._grid.origin(cell)
        middle = row + self._grid.height // 2
        canvas.write((column - 1, middle), signs[0], _CHOOSABLE)
        canvas.write((column + self._grid.width, middle), signs[1], _CHOOSABLE)

    def _draw(self, cell: Cell, canvas: Canvas) -> None:
        grid, (column, row) = self._grid, self._grid.origin(cell.number)
        content = strip_ink(cell.text)
        text = content.strip()
        choosable = cell.number in self._choosable
        marked = cell.number in self._chosen or (choosable and cell.number == self.cursor)
        if marked:
            for line in range(grid.height):
                canvas.write((column, row + line), " " * grid.width, _CURSOR)
        named = _NEW * (cell.number in self._changed)
        if text != cell.label:
            named = cell.label + named
        canvas.write((column, row - 1), named[: grid.width], _CHOOSABLE if choosable else _BORDER)
        left = column + (grid.width - len(text)) // 2 - (len(content) - len(content.lstrip()))
        at = 0
        for piece, inks in split_by_ink(cell.text):
            style = self._palette.style(*inks) + (_CHOOSABLE if choosable else Style())
            for letter in piece:
                if not letter.isspace():
                    point = (left + at, row + grid.height // 2)
                    canvas.write(point, letter, _CURSOR if marked else style)
                at += 1

    def on_click(self, event: events.Click) -> None:
        cell = self._grid.at((event.x, event.y))
        if cell:
            self.post_message(self.Picked(cell.number))

    def on_mouse_move(self, event: events.MouseMove) -> None:
        cell = self._grid.at((event.x, event.y))
        if cell and cell.number in self._choosable and cell.number != self.cursor:
            self.cursor = cell.number
            self.refresh()


class ActionList(Widget):
    """Actions that have no place on the board, one after another."""

    DEFAULT_CSS = "ActionList { width: auto; height: auto; }"

    class Picked(Message):
        """An action was clicked."""

        def __init__(self, option: ChoiceOption) -> None:
            super().__init__()
            self.option = option

    def __init__(self) -> None:
        super().__init__(id="list")
        self._options: Sequence[ChoiceOption] = ()
        self._columns = 1
        self._cursor = 0

    @property
    def current(self) -> ChoiceOption | None:
        """Where the cursor is."""
        return self._options[self._cursor] if self._options else None

    def show(self, options: Sequence[ChoiceOption], columns: int) -> None:
        """Show these, in so many columns of letters."""
        if options != self._options:
            self._cursor = 0
        self._options = options
        self._columns = max(1, columns // self._width) if options else 1
        self.display = bool(options)
        self.refresh(layout=True)

    def move(self, step: Point) -> None:
        """Move the cursor."""
        moved = self._cursor + step[0] + step[1] * self._columns
        if 0 <= moved < len(self._options):
            self._cursor = moved
            self.refresh()
            _bring_into_sight(self, Region(0, moved // self._columns, 1, 1))

    def point_at(self, option: ChoiceOption) -> None:
        """Put the cursor on an action."""
        self._cursor = list(self._options).index(option)
        self.refresh()

    @property
    def _width(self) -> int:
        return max(len(_called(option)) for option in self._options) + 5

    def get_content_width(self, *_: object) -> int:
        return min(self._columns, len(self._options)) * self._width - 1 if self._options else 0

    def get_content_height(self, *_: object) -> int:
        return -(-len(self._options) // self._columns)

    def render(self) -> Content:
        width = self._width if self._options else 0
        parts: list[Content] = []
        for number, option in enumerate(self._options):
            here = number == self._cursor
            left, right = _POINTING if here else _CHOSEN
            name = _called(option).ljust(width - 5)
            parts.append(Content.styled(f"{left} {name} {right}", _CURSOR if here else _CHOOSABLE))
            parts.append(Content("\n" if (number + 1) % self._columns == 0 else " "))
        return Content("").join(parts[:-1])

    def on_click(self, event: events.Click) -> None:
        if not self._options:
            return
        column = event.x // self._width
        number = event.y * self._columns + column
        if column < self._columns and number < len(self._options):
            self.post_message(self.Picked(self._options[number]))


def _bring_into_sight(widget: Widget, region: Region) -> None:
    """Scroll whatever the widget is in until this part of it can be seen."""
    for parent in widget.ancestors:
        region = region.translate(widget.virtual_region.offset)
        if isinstance(parent, VerticalScroll):
            parent.scroll_to_region(region, animate=False)
            return
        if not isinstance(parent, Widget):
            return
        widget = parent


def _called(option: ChoiceOption) -> str:
    """Its name, and what answers the question at the prompt, where that is something else."""
    entry = option.entries[-1] if option.entries else option.name
    return option.name if entry.lower() == option.name.lower() else f"{entry}: {option.name}"
