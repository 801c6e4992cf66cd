"""The one writer of reports: tables and sentences as data, for a terminal, for a page and as Markdown."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from importlib.resources import files
from math import isfinite
from string import Template
from textwrap import wrap
from typing import Any

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


# -- text for a terminal ---------------------------------------------------------------------------------


def write_text(*blocks: Iterable[str]) -> str:
    """Blocks of lines with an empty line between them; empty blocks are left out."""
    return "\n\n".join(filter(None, map("\n".join, blocks))) + "\n"


def sentences(*texts: str) -> list[str]:
    """Sentences that may be empty, each on lines of its own."""
    return [line for each in texts for line in wrap(each, _WIDTH)]


def listed(title: str, items: Iterable[object]) -> list[str]:
    """Items a line each, indented, folded where they are longer than a terminal is wide; under a title."""
    lines = [line for each in items for line in wrap(str(each), _WIDTH, **_INDENTED)]
    return [*filter(None, [title]), *lines] if lines else []


_INDENTED: dict[str, Any] = {
    "initial_indent": "  ",
    "subsequent_indent": "    ",
    "break_on_hyphens": False,
    "break_long_words": False,
}


def in_short(summary: Iterable[str]) -> list[str]:
    """The summary at the top of a report."""
    lines = ["In short:"]
    for each in summary:
        lines += wrap(each, _WIDTH, initial_indent="- ", subsequent_indent="  ", break_on_hyphens=False)
    return lines


# -- a page ----------------------------------------------------------------------------------------------


def write_page(title: str, introduction: str, summary: Iterable[str], *blocks: str) -> str:
    """A page that needs nothing but itself, with a summary at the top, around blocks of HTML."""
    template = Template(files(__package__).joinpath("report.html").read_text(encoding="utf-8"))
    body = heading("In short", 2) + bullets(summary) + "".join(blocks)
    return template.substitute(
        title=escape(title), summary=escape(introduction), boards=stylesheet(), body=body
    )


def heading(title: str, level: int = 3) -> str:
    """A heading on a page."""
    return f"<h{level}>{escape(title)}</h{level}>"


def bullets(items: Iterable[str]) -> str:
    """A list on a page."""
    return f"<ul>{''.join(f'<li>{escape(each)}</li>' for each in items)}</ul>"


def paragraphs(*texts: str) -> str:
    """Paragraphs of a page; those without anything in them are left out."""
    return "".join(f"<p>{escape(each)}</p>" for each in texts if each)


def scrolling(table: str) -> str:
    """A table that can be scrolled where it is wider than the page, by keys too."""
    return f'<div class="scroll" tabindex="0">{table}</div>'
