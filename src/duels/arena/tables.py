"""The building blocks of reports, rendered as text for a terminal or as HTML."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from importlib.resources import files
from string import Template
from textwrap import wrap

from duels.arena.confidence import Interval
from duels.core.svg import stylesheet

_WIDTH = 80
_MAX_VALUE_WIDTH = 44  # longer cells appear in full elsewhere in the report
_UNBREAKABLE_TO = "\N{NO-BREAK SPACE}to\N{NO-BREAK SPACE}"


@dataclass(frozen=True)
class Table:
    """A table with notes. The first `label_columns` columns label a row; the others contain values."""

    title: str
    """Shown in HTML only."""
    columns: Sequence[str]
    rows: Sequence[Sequence[object]]
    label_columns: int = 1
    notes: Sequence[str] = ()
    """Sentences below the table; empty ones are left out."""
    level: int = 3

    def render_text(self) -> list[str]:
        """Render the table for a terminal, without empty columns.

        Columns that do not fit follow in another table below, with the row labels. Long labels are shortened.
        """
        if not self.rows:
            return []
        lines = [self.columns, *([str(cell) for cell in row] for row in self.rows)]
        columns = [index for index in range(len(self.columns)) if any(line[index] for line in lines[1:])]
        labels, widths = columns[: self.label_columns], self._fit_widths(lines, columns)
        blocks = [labels]
        for column in columns[self.label_columns :]:
            wider = [*blocks[-1], column]
            fits = sum(widths[each] + 2 for each in wider) - 2 <= _WIDTH
            if fits or blocks[-1] == labels:
                blocks[-1] = wider
            else:
                blocks.append([*labels, column])
        rendered: list[str] = []
        for block in blocks:
            rendered += [""] * bool(rendered)
            for line in lines:
                cells = (_shorten(line[each], widths[each]).ljust(widths[each]) for each in block)
                rendered.append("  ".join(cells).rstrip())
        return rendered + wrap_sentences(*self.notes)

    def _fit_widths(self, lines: Sequence[Sequence[str]], columns: list[int]) -> dict[int, int]:
        """Return column widths such that the labels and the widest value fit on a line."""
        widths = {column: max(len(line[column]) for line in lines) for column in columns}
        labels, values = columns[: self.label_columns], columns[self.label_columns :]
        for column in values:
            widths[column] = min(widths[column], _MAX_VALUE_WIDTH)
        label_room = _WIDTH - 2 * len(labels) - max((widths[column] for column in values), default=0)
        while sum(widths[column] for column in labels) > label_room:
            widths[max(labels, key=widths.__getitem__)] -= 1
        return widths

    def render_html(self) -> str:
        """Render a scrollable HTML table; empty without rows."""
        if not self.rows:
            return ""
        lines = [
            _render_row("th", self.columns, self.label_columns),
            *(_render_row("td", row, self.label_columns) for row in self.rows),
        ]
        table = render_scrollable(f"<table>{''.join(lines)}</table>")
        return render_heading(self.title, self.level) + table + render_paragraphs(*self.notes)

    def render_markdown(self) -> str:
        lines = [f"| {' | '.join(map(str, row))} |\n" for row in (self.columns, *self.rows)]
        return f"{lines[0]}|{'---|' * len(self.columns)}\n{''.join(lines[1:])}"


def _shorten(text: str, width: int) -> str:
    """Cut out the middle of a long text, as names often differ at their ends."""
    if len(text) <= width:
        return text
    end = (width - 1) // 2
    return f"{text[: width - 1 - end]}…{text[len(text) - end :]}"


def _render_row(tag: str, cells: Iterable[object], label_columns: int) -> str:
    """Render a table row. Intervals do not wrap."""
    texts = [escape(str(cell)) for cell in cells]
    labels = [f'<{tag} class="text">{text}</{tag}>' for text in texts[:label_columns]]
    numbers = [f"<{tag}>{text.replace(' to ', _UNBREAKABLE_TO)}</{tag}>" for text in texts[label_columns:]]
    return f"<tr>{''.join(labels + numbers)}</tr>"


def format_interval(interval: Interval, digits: int = 1) -> str:
    """Format a share in percent: `62.5 (58.1 to 66.7)`, `62.5 (–)` without bounds, `62.5` if it is exact."""
    estimate, low, high = (
        f"{100 * each:.{digits}f}" for each in (interval.estimate, interval.low, interval.high)
    )
    if not interval.margin:
        return estimate
    return f"{estimate} ({low} to {high})" if interval.has_bounds else f"{estimate} (–)"


def format_points(interval: Interval) -> str:
    """Format a loss in percentage points: `1.25 ±0.30`, `1.25 ±?` without bounds, `1.25` if it is exact."""
    estimate, margin = f"{100 * interval.estimate:.2f}", f"{100 * interval.margin:.2f}"
    if not interval.margin:
        return estimate
    return f"{estimate} ±{margin}" if interval.has_bounds else f"{estimate} ±?"


@dataclass(frozen=True)
class Prose:
    """Sentences with an optional title. Empty sentences are left out."""

    sentences: Sequence[str]
    title: str = ""

    def render_text(self) -> list[str]:
        return wrap_sentences(self.title, *self.sentences) if any(self.sentences) else []

    def render_html(self) -> str:
        body = render_paragraphs(*self.sentences)
        return render_heading(self.title, 2) + body if body and self.title else body


@dataclass(frozen=True)
class Items:
    """A list with a title. It is left out if it has no items."""

    title: str
    items: Sequence[object]
    mark: str = "  "
    """The prefix of an item on a terminal."""
    level: int = 3

    def render_text(self) -> list[str]:
        lines = [line for each in self.items for line in _fold(f"{self.mark}{each}")]
        return [f"{self.title}:", *lines] if lines else []

    def render_html(self) -> str:
        items = "".join(f"<li>{escape(str(each))}</li>" for each in self.items)
        return f"{render_heading(self.title, self.level)}<ul>{items}</ul>" if items else ""


@dataclass(frozen=True)
class PageOnly:
    """HTML that the text version leaves out."""

    html: str

    def render_text(self) -> list[str]:
        return []

    def render_html(self) -> str:
        return self.html


Block = Table | Prose | Items | PageOnly


@dataclass(frozen=True)
class Document:
    """A report: an introduction, a summary, and blocks."""

    title: str
    introduction: str
    summary: Sequence[str]
    blocks: Sequence[Block]

    def render_text(self) -> str:
        return render_blocks(Prose([self.introduction]), *self._summary_and_blocks())

    def render_html(self) -> str:
        template = Template(files(__package__).joinpath("report.html").read_text(encoding="utf-8"))
        body = "".join(each.render_html() for each in self._summary_and_blocks())
        values = {"title": escape(self.title), "summary": escape(self.introduction)}
        return template.substitute(values, boards=stylesheet(), body=body)

    def _summary_and_blocks(self) -> list[Block]:
        return [Items("In short", self.summary, "- ", level=2), *self.blocks]


def render_blocks(*blocks: Block) -> str:
    """Render blocks as text with empty lines between them; empty blocks are left out."""
    return "\n\n".join(filter(None, ("\n".join(each.render_text()) for each in blocks))) + "\n"


def _fold(item: str) -> list[str]:
    return wrap(item, _WIDTH, subsequent_indent="    ", break_on_hyphens=False, break_long_words=False)


def wrap_sentences(*texts: str) -> list[str]:
    """Wrap each sentence to the width of a terminal."""
    return [line for each in texts for line in wrap(each, _WIDTH)]


def render_heading(title: str, level: int = 3) -> str:
    """Return an HTML heading."""
    return f"<h{level}>{escape(title)}</h{level}>"


def render_paragraphs(*texts: str) -> str:
    """Render HTML paragraphs; empty texts are left out."""
    return "".join(f"<p>{escape(each)}</p>" for each in texts if each)


def render_scrollable(table: str) -> str:
    """Wrap a table so that it scrolls, also with the keyboard, if it is too wide."""
    return f'<div class="scroll" tabindex="0">{table}</div>'
