"""The board's widgets: the cells, and a list of the actions that have no cell."""

from collections.abc import Sequence
from itertools import groupby

from textual import events
from textual.color import Color
from textual.containers import VerticalScroll
from textual.content import Content
from textual.geometry import Region
from textual.style import Style
from textual.widget import Widget
from textual.widgets import Static

from duels.core.narration import Cell
from duels.core.rules import Seat
from duels.core.words import Ink, split_by_ink, strip_ink
from duels.terminal.board.choice import Choice, ChoiceOption
from duels.terminal.board.grid import BoardGrid, Point, fit_grid

# The terminal's own colours are readable on dark and light backgrounds.
_YOUR_STYLE = Style(foreground=Color.parse("ansi_cyan"))
_OPPONENT_STYLE = Style(foreground=Color.parse("ansi_yellow"))
_STYLES = {
    Ink.CHANGED: Style(bold=True),
    Ink.WON: Style(foreground=Color.parse("ansi_green"), bold=True),
    Ink.LOST: Style(foreground=Color.parse("ansi_red"), bold=True),
    Ink.DIM: Style(dim=True),
    Ink.COPIED: Style(),
}
_BORDER = Style(dim=True)
_CHOOSABLE = Style(bold=True)
_CURSOR = _YOUR_STYLE + Style(reverse=True, bold=True)
# Signs around picked cells and the cell at the cursor, for people who cannot see the colours.
_CURSOR_SIGNS, _PICKED_SIGNS = (">", "<"), ("[", "]")
_CHANGE_MARK = "•"  # after the label of a cell that has changed


class Palette:
    """The style of each ink. Your seat always has the first colour."""

    def __init__(self, you: Seat = Seat.ONE) -> None:
        self._styles = {**_STYLES, Ink.for_seat(you): _YOUR_STYLE, Ink.for_seat(you.other): _OPPONENT_STYLE}

    def get_style(self, *inks: Ink) -> Style:
        return sum((self._styles[ink] for ink in inks), Style())

    def make_content(self, text: str) -> Content:
        return Content.assemble(*((piece, self.get_style(*inks)) for piece, inks in split_by_ink(text)))


class Canvas:
    """Lines of styled characters that can be overwritten in place."""

    def __init__(self, lines: Sequence[str], style: Style) -> None:
        self._letters = [[(letter, style) for letter in line] for line in lines]

    def write(self, point: Point, text: str, style: Style) -> None:
        column, row = point
        for offset, letter in enumerate(text):
            self._letters[row][column + offset] = (letter, style)

    def make_content(self) -> Content:
        return Content("\n").join(_join_runs(line) for line in self._letters)


def _join_runs(line: Sequence[tuple[str, Style]]) -> Content:
    # Fewer pieces make less output, and so less flicker.
    runs = groupby(line, key=lambda letter: letter[1])
    return Content.assemble(*(("".join(letter for letter, _ in run), style) for style, run in runs))


class BoardView(Widget):
    """The cells of a board in boxes."""

    def __init__(self, palette: Palette) -> None:
        super().__init__(id="cells")
        self.cursor: int | None = None
        self._palette = palette
        self._rows: Sequence[Sequence[Cell]] = ()
        self._grid = BoardGrid((), 0, 0)
        self._choosable: frozenset[int] = frozenset()
        self._picked: tuple[int, ...] = ()
        self._changed: frozenset[int] = frozenset()

    def show(
        self, rows: Sequence[Sequence[Cell]], room: Point, choice: Choice | None, changed: frozenset[int]
    ) -> None:
        self._rows = rows
        self._grid = fit_grid(rows, *room)
        self._changed = changed
        self._picked = choice.picked_cells if choice else ()
        self._choosable = choice.cells if choice else frozenset()
        if self._choosable and self.cursor not in self._choosable:
            self.cursor = min(self._choosable, key=lambda cell: abs(cell - (self.cursor or 0)))
        self.display = bool(rows)
        self.refresh(layout=True)

    def move(self, step: Point) -> None:
        if self.cursor is not None:
            self.point_at(self._grid.find_next_cell(self.cursor, step, self._choosable) or self.cursor)

    def point_at(self, cell: int) -> None:
        self.cursor = cell
        self.refresh()
        column, row = self._grid.get_origin(cell)
        box = Region(column, row - 1, self._grid.width, self._grid.height + 2)
        _scroll_to(self, box)

    def get_content_width(self, *_: object) -> int:
        return self._grid.size[0] if self._grid.rows else 0

    def get_content_height(self, *_: object) -> int:
        return self._grid.size[1] if self._grid.rows else 0

    def render(self) -> Content:
        canvas = Canvas(self._grid.draw_borders(), _BORDER)
        for row in self._rows:
            for cell in row:
                self._draw_cell(cell, canvas)
        for number in self._picked:
            self._draw_signs(number, _PICKED_SIGNS, canvas)
        if self.cursor in self._choosable:
            self._draw_signs(self.cursor, _CURSOR_SIGNS, canvas)
        return canvas.make_content()

    def _draw_signs(self, cell: int, signs: tuple[str, str], canvas: Canvas) -> None:
        # Draw on the borders: a small box has no room inside.
        column, row = self._grid.get_origin(cell)
        middle = row + self._grid.height // 2
        canvas.write((column - 1, middle), signs[0], _CHOOSABLE)
        canvas.write((column + self._grid.width, middle), signs[1], _CHOOSABLE)

    def _draw_cell(self, cell: Cell, canvas: Canvas) -> None:
        grid, (column, row) = self._grid, self._grid.get_origin(cell.number)
        content = strip_ink(cell.text)
        text = content.strip()
        choosable = cell.number in self._choosable
        is_marked = cell.number in self._picked or (choosable and cell.number == self.cursor)
        if is_marked:
            for line in range(grid.height):
                canvas.write((column, row + line), " " * grid.width, _CURSOR)
        label = _CHANGE_MARK * (cell.number in self._changed)
        if text != cell.label:
            label = cell.label + label
        canvas.write((column, row - 1), label[: grid.width], _CHOOSABLE if choosable else _BORDER)
        start = column + (grid.width - len(text)) // 2 - (len(content) - len(content.lstrip()))
        offset = 0
        for piece, inks in split_by_ink(cell.text):
            style = self._palette.get_style(*inks) + (_CHOOSABLE if choosable else Style())
            for letter in piece:
                if not letter.isspace():
                    point = (start + offset, row + grid.height // 2)
                    canvas.write(point, letter, _CURSOR if is_marked else style)
                offset += 1

    async def on_click(self, event: events.Click) -> None:
        cell = self._grid.find_cell_at((event.x, event.y))
        if cell:
            await self.run_action(f"app.pick({cell.number})")

    def on_mouse_move(self, event: events.MouseMove) -> None:
        cell = self._grid.find_cell_at((event.x, event.y))
        if cell and cell.number in self._choosable and cell.number != self.cursor:
            self.cursor = cell.number
            self.refresh()


class ActionList(Static):
    """A list of the actions that have no cell."""

    def __init__(self) -> None:
        super().__init__(id="list")
        self._options: Sequence[ChoiceOption] = ()
        self._columns = 1
        self._width = 0  # columns of characters per action
        self._cursor = 0

    @property
    def current(self) -> ChoiceOption | None:
        return self._options[self._cursor] if self._options else None

    def show(self, options: Sequence[ChoiceOption], columns: int) -> None:
        if options != self._options:
            self._cursor = 0
        self._options = options
        self._width = max((len(_format_option(option)) for option in options), default=0) + 5
        self._columns = max(1, columns // self._width)
        self.display = bool(options)
        self._draw()

    def move(self, step: Point) -> None:
        target = self._cursor + step[0] + step[1] * self._columns
        if 0 <= target < len(self._options):
            self._cursor = target
            self._draw()
            _scroll_to(self, Region(0, target // self._columns, 1, 1))

    def _draw(self) -> None:
        parts: list[Content] = []
        for number, option in enumerate(self._options):
            is_current = number == self._cursor
            left, right = _CURSOR_SIGNS if is_current else _PICKED_SIGNS
            name = _format_option(option).ljust(self._width - 5)
            link = Style.from_meta({"@click": f"app.pick_listed({number})"})
            style = link + (_CURSOR if is_current else _CHOOSABLE)
            parts.append(Content.styled(f"{left} {name} {right}", style))
            parts.append(Content("\n" if (number + 1) % self._columns == 0 else " "))
        self.update(Content("").join(parts[:-1]))


def _scroll_to(widget: Widget, region: Region) -> None:
    """Scroll the container until this region of the widget is visible."""
    container = widget.query_ancestor(VerticalScroll)
    offset = widget.region.offset - container.region.offset + container.scroll_offset
    container.scroll_to_region(region.translate(offset), animate=False)


def _format_option(option: ChoiceOption) -> str:
    """Format the action's name, preceded by its entry at the prompt if the two differ."""
    entry = option.entries[-1] if option.entries else option.name
    return option.name if entry.lower() == option.name.lower() else f"{entry}: {option.name}"
