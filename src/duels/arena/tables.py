"""The one writer of reports: blocks of tables and sentences, as text for a terminal and as a page."""

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
_WIDEST = 44  # of a column that is no name: what is longer is told in full elsewhere, or as data
_TO = "\N{NO-BREAK SPACE}to\N{NO-BREAK SPACE}"


@dataclass(frozen=True)
class Table:
    """Rows under columns, with notes. The first `names` columns say what a row is about; the others count."""

    title: str
    """On a page."""
    columns: Sequence[str]
    rows: Sequence[Sequence[object]]
    names: int = 1
    notes: Sequence[str] = ()
    """Sentences below the table; they may be empty."""
    level: int = 3
    """Of the title, among those of a page."""

    def text(self) -> list[str]:
        """Lines for a terminal, in columns as wide as they need to be; those without anything are left out.

        What does not fit stands below, with the names of the rows again. Where these are too long for that
        they are shortened.
        """
        if not self.rows:
            return []
        lines = [self.columns, *([str(cell) for cell in row] for row in self.rows)]
        kept = [place for place in range(len(self.columns)) if any(line[place] for line in lines[1:])]
        names, widths = kept[: self.names], self._widths(lines, kept)
        blocks = [names]
        for place in kept[self.names :]:
            together = [*blocks[-1], place]
            if len(blocks[-1]) > self.names and sum(widths[each] + 2 for each in together) - 2 > _WIDTH:
                blocks.append([*names, place])
            else:
                blocks[-1] = together
        found: list[str] = []
        for block in blocks:
            found += [""] * bool(found)
            for line in lines:
                cells = (_shorten(line[place], widths[place]).ljust(widths[place]) for place in block)
                found.append("  ".join(cells).rstrip())
        return found + sentences(*self.notes)

    def _widths(self, lines: Sequence[Sequence[str]], kept: list[int]) -> dict[int, int]:
        """How wide columns are, so that the names and the widest of the others fit a terminal."""
        widths = {place: max(len(line[place]) for line in lines) for place in kept}
        names, others = kept[: self.names], kept[self.names :]
        for place in others:
            widths[place] = min(widths[place], _WIDEST)
        room = _WIDTH - 2 * len(names) - max((widths[place] for place in others), default=0)
        while sum(widths[place] for place in names) > room:
            widths[max(names, key=widths.__getitem__)] -= 1
        return widths

    def html(self) -> str:
        """A table for a page, which scrolls where it is wider than that; nothing without rows."""
        if not self.rows:
            return ""
        lines = [_row("th", self.columns, self.names), *(_row("td", row, self.names) for row in self.rows)]
        table = scrolling(f"<table>{''.join(lines)}</table>")
        return heading(self.title, self.level) + table + paragraphs(*self.notes)

    def markdown(self) -> str:
        """A table for a Markdown file."""
        lines = [f"| {' | '.join(map(str, row))} |\n" for row in (self.columns, *self.rows)]
        return f"{lines[0]}|{'---|' * len(self.columns)}\n{''.join(lines[1:])}"


def _shorten(text: str, width: int) -> str:
    """Leave out the middle of a text that is too long: names often differ at their ends."""
    if len(text) <= width:
        return text
    end = (width - 1) // 2
    return f"{text[: width - 1 - end]}…{text[len(text) - end :]}"


def _row(tag: str, cells: Iterable[object], names: int) -> str:
    """A row of a page's table; where numbers fold, their intervals stay whole."""
    texts = [escape(str(cell)) for cell in cells]
    named = [f'<{tag} class="text">{text}</{tag}>' for text in texts[:names]]
    numbers = [f"<{tag}>{text.replace(' to ', _TO)}</{tag}>" for text in texts[names:]]
    return f"<tr>{''.join(named + numbers)}</tr>"


# -- numbers ---------------------------------------------------------------------------------------------


def share(interval: Interval, count: int) -> str:
    """A share of the points in so many matches or pairs; a dash where there were none."""
    return percent(interval) if count else "–"


def percent(interval: Interval) -> str:
    """A share with its interval: `62.5 (58.1 to 66.7)`, or `62.5 (–)` if that is not known."""
    if not isfinite(interval.margin):
        return f"{100 * interval.estimate:.1f} (–)"
    return f"{100 * interval.estimate:.1f} ({100 * interval.low:.1f} to {100 * interval.high:.1f})"


def points(interval: Interval) -> str:
    """What was given away, in points of a hundred, with its margin if that is known."""
    margin = f"{100 * interval.margin:.2f}" if isfinite(interval.margin) else "?"
    return f"{100 * interval.estimate:.2f} ±{margin}"


# -- documents -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Prose:
    """Sentences, some of which may be empty, under a title of their own if there is one."""

    sentences: Sequence[str]
    title: str = ""

    def text(self) -> list[str]:
        """Each sentence on lines of its own."""
        return sentences(self.title, *self.sentences) if any(self.sentences) else []

    def html(self) -> str:
        """Each sentence as a paragraph."""
        told = paragraphs(*self.sentences)
        return heading(self.title, 2) + told if told and self.title else told


@dataclass(frozen=True)
class Items:
    """A list under a title, if it has any items."""

    title: str
    items: Sequence[object]
    mark: str = "  "
    """What an item begins with at a terminal."""
    level: int = 3

    def text(self) -> list[str]:
        """Items a line each, folded where they are longer than a terminal is wide."""
        lines = [line for each in self.items for line in _fold(f"{self.mark}{each}")]
        return [f"{self.title}:", *lines] if lines else []

    def html(self) -> str:
        """A list under a heading."""
        found = "".join(f"<li>{escape(str(each))}</li>" for each in self.items)
        return f"{heading(self.title, self.level)}<ul>{found}</ul>" if found else ""


@dataclass(frozen=True)
class PageOnly:
    """What takes more room, or more colours, than a terminal has."""

    page: str

    def text(self) -> list[str]:
        """Nothing."""
        return []

    def html(self) -> str:
        """As it is."""
        return self.page


Block = Table | Prose | Items | PageOnly
"""A part of a document; it may be empty, as text or on a page."""


@dataclass(frozen=True)
class Document:
    """A report: an introduction, a summary, and blocks."""

    title: str
    introduction: str
    summary: Sequence[str]
    blocks: Sequence[Block]

    def text(self) -> str:
        """The report for a terminal."""
        return write_text(Prose([self.introduction]), *self._summary_and_blocks())

    def html(self) -> str:
        """The report as a page that needs nothing but itself."""
        template = Template(files(__package__).joinpath("report.html").read_text(encoding="utf-8"))
        body = "".join(each.html() for each in self._summary_and_blocks())
        told = {"title": escape(self.title), "summary": escape(self.introduction)}
        return template.substitute(told, boards=stylesheet(), body=body)

    def _summary_and_blocks(self) -> list[Block]:
        return [Items("In short", self.summary, "- ", level=2), *self.blocks]


def write_text(*blocks: Block) -> str:
    """Blocks with an empty line between them; empty ones are left out."""
    return "\n\n".join(filter(None, ("\n".join(each.text()) for each in blocks))) + "\n"


def _fold(item: str) -> list[str]:
    return wrap(item, _WIDTH, subsequent_indent="    ", break_on_hyphens=False, break_long_words=False)


def sentences(*texts: str) -> list[str]:
    """Sentences that may be empty, each on lines of its own."""
    return [line for each in texts for line in wrap(each, _WIDTH)]


def heading(title: str, level: int = 3) -> str:
    """A heading on a page."""
    return f"<h{level}>{escape(title)}</h{level}>"


def paragraphs(*texts: str) -> str:
    """Paragraphs of a page; those without anything in them are left out."""
    return "".join(f"<p>{escape(each)}</p>" for each in texts if each)


def scrolling(table: str) -> str:
    """A table that can be scrolled where it is wider than the page, by keys too."""
    return f'<div class="scroll" tabindex="0">{table}</div>'
