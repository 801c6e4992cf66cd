"""Blocks of reports, rendered as text for a terminal or as HTML."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from importlib.resources import files
from math import isfinite
from string import Template
from textwrap import wrap

from duels.arena.confidence import Interval
from duels.core.svg import stylesheet

_WIDTH = 80
_WIDEST = 44  # columns of values; longer cells appear in full elsewhere in the report
_TO = "\N{NO-BREAK SPACE}to\N{NO-BREAK SPACE}"


@dataclass(frozen=True)
class Table:
    """A table with notes. The first `names` columns label a row; the others hold values."""

    title: str
    """Shown in HTML only."""
    columns: Sequence[str]
    rows: Sequence[Sequence[object]]
    names: int = 1
    notes: Sequence[str] = ()
    """Sentences below the table; empty ones are left out."""
    level: int = 3

    def render_text(self) -> list[str]:
        """Render the table for a terminal, without empty columns.

        Columns that do not fit follow below, with the row labels again. Long labels are shortened.
        """
        if not self.rows:
            return []
        lines = [self.columns, *([str(cell) for cell in row] for row in self.rows)]
        columns = [place for place in range(len(self.columns)) if any(line[place] for line in lines[1:])]
        names, widths = columns[: self.names], self._fit_widths(lines, columns)
        blocks = [names]
        for place in columns[self.names :]:
            together = [*blocks[-1], place]
            if len(blocks[-1]) > self.names and sum(widths[each] + 2 for each in together) - 2 > _WIDTH:
                blocks.append([*names, place])
            else:
                blocks[-1] = together
        rendered: list[str] = []
        for block in blocks:
            rendered += [""] * bool(rendered)
            for line in lines:
                cells = (_shorten(line[place], widths[place]).ljust(widths[place]) for place in block)
                rendered.append("  ".join(cells).rstrip())
        return rendered + wrap_sentences(*self.notes)

    def _fit_widths(self, lines: Sequence[Sequence[str]], columns: list[int]) -> dict[int, int]:
        """Return column widths such that the labels and the widest value fit a terminal."""
        widths = {place: max(len(line[place]) for line in lines) for place in columns}
        names, others = columns[: self.names], columns[self.names :]
        for place in others:
            widths[place] = min(widths[place], _WIDEST)
        room = _WIDTH - 2 * len(names) - max((widths[place] for place in others), default=0)
        while sum(widths[place] for place in names) > room:
            widths[max(names, key=widths.__getitem__)] -= 1
        return widths

    def render_html(self) -> str:
        """Render a scrollable HTML table; empty without rows."""
        if not self.rows:
            return ""
        lines = [
            _render_row("th", self.columns, self.names),
            *(_render_row("td", row, self.names) for row in self.rows),
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


def _render_row(tag: str, cells: Iterable[object], names: int) -> str:
    """Render a table row. Intervals do not wrap."""
    texts = [escape(str(cell)) for cell in cells]
    labels = [f'<{tag} class="text">{text}</{tag}>' for text in texts[:names]]
    numbers = [f"<{tag}>{text.replace(' to ', _TO)}</{tag}>" for text in texts[names:]]
    return f"<tr>{''.join(labels + numbers)}</tr>"


def format_share(interval: Interval, count: int) -> str:
    """Format a share of the points, or a dash if `count` is 0."""
    return format_percent(interval) if count else "–"


def format_percent(interval: Interval) -> str:
    """Format a share with its interval: `62.5 (58.1 to 66.7)`, or `62.5 (–)` without bounds."""
    if not isfinite(interval.margin):
        return f"{100 * interval.estimate:.1f} (–)"
    return f"{100 * interval.estimate:.1f} ({100 * interval.low:.1f} to {100 * interval.high:.1f})"


def format_points(interval: Interval) -> str:
    """Format a loss in points of a hundred with its margin: `1.25 ±0.30`, or `±?` without bounds."""
    margin = f"{100 * interval.margin:.2f}" if isfinite(interval.margin) else "?"
    return f"{100 * interval.estimate:.2f} ±{margin}"


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
    """A list with a title; nothing without items."""

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
    """HTML that a terminal leaves out."""

    page: str

    def render_text(self) -> list[str]:
        return []

    def render_html(self) -> str:
        return self.page


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
    return f"<h{level}>{escape(title)}</h{level}>"


def render_paragraphs(*texts: str) -> str:
    """Render HTML paragraphs; empty texts are left out."""
    return "".join(f"<p>{escape(each)}</p>" for each in texts if each)


def render_scrollable(table: str) -> str:
    """Wrap a table so that it scrolls if it is too wide, with the keyboard too."""
    return f'<div class="scroll" tabindex="0">{table}</div>'
