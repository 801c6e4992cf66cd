"""Writes docs/books.md from the statements of the rule books in docs/books/*.toml.

python docs/books/build.py                  writes the page
python docs/books/build.py --check          fails if the page is not what the files say
python docs/books/build.py --lines FOLDER   prints the statements beside the lines of the books in FOLDER

A file has a title, names for tests (`[tests]`), the sections of the book, and the rulings of the ledger
(`rulings`). A section counts the lines of the book that state something: list items, paragraphs, and the
paragraphs of sample screens. A line that only introduces others (`Players:`) does not count. A statement
names the lines that it states (`lines = "2"` or `lines = "2-4"`).
"""

import re
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent
PAGE = FOLDER.parent / "books.md"
BOOKS = ("lights", "leap", "chain", "hunt", "flip")
CLASSES = {
    "rule": "defines what players may do, and the result",
    "screen": "defines a prompt, a message or a board",
    "example": "shows rules at work",
    "advice": "is about good play, or praises the game",
    "ruling": "follows [our rulings](rulings.md): the book is silent or unclear, or its clause never applies",
}
TRANSCRIPT = "golden/test_golden.py::test_the_command_prints_the_transcript"
FRAGMENTS = "golden/test_golden.py::test_transcripts_contain_the_books_own_lines"

HEAD = """\
# The rule books, statement by statement

For players who want to know whether `duels` plays by the book, and for contributors who change a rule or a
screen: this page lists every statement of the five rule books and the tests that fail if `duels` breaks it.

`make books` writes this page from `docs/books/*.toml`, and `tests/test_books_page.py` checks that it is
complete. The statements are in our own words. `lights 3.2` is the second statement in section 3 of the book
of lights. `lights R2` is the second ruling on lights.

| class | the statement |
|---|---|
{classes}

*ruled* marks a statement that a ruling limits or explains. *ours* marks a ruling that no book suggests.

Tests are named by their path in `tests/`. Two kinds have a short form:

- `G: lights/book-example` plays the transcript `tests/golden/lights/book-example.txt`:
  `{transcript}`.
- `B: lights` finds the screens typed from the book, `tests/golden/lights.book`, in the transcripts:
  `{fragments}`.

Advice needs no test; its last column says where `duels` gives it.
"""


@dataclass(frozen=True)
class Statement:
    """What a book or the ledger states, in our words, and what pins it."""

    number: str
    kind: str
    words: str
    tests: tuple[str, ...] = ()
    lines: range = range(0)
    ruled: bool | str = False
    """Whether a ruling on this game decides it; "all" if a ruling on all games does."""
    ours: bool = False
    where: str = "nowhere"


@dataclass(frozen=True)
class Section:
    """A section of a book: its heading, how many of its lines state something, and what they state."""

    number: int
    title: str
    lines: int
    statements: tuple[Statement, ...]


@dataclass(frozen=True)
class Book:
    """A rule book, or the rulings on all games (which have no book)."""

    name: str
    data: dict[str, Any]

    @property
    def title(self) -> str:
        return str(self.data["title"])

    @cached_property
    def sections(self) -> tuple[Section, ...]:
        return tuple(
            Section(
                number,
                section["title"],
                section["lines"],
                tuple(
                    self._statement(f"{number}.{place}", fields)
                    for place, fields in enumerate(section["statements"], start=1)
                ),
            )
            for number, section in enumerate(self.data.get("sections", ()), start=1)
        )

    @cached_property
    def rulings(self) -> tuple[Statement, ...]:
        return tuple(
            self._statement(f"R{place}", {"class": "ruling"} | fields)
            for place, fields in enumerate(self.data["rulings"], start=1)
        )

    @property
    def statements(self) -> Iterator[Statement]:
        for section in self.sections:
            yield from section.statements
        yield from self.rulings

    def _statement(self, number: str, fields: dict[str, Any]) -> Statement:
        first, _, last = fields.get("lines", "1-0").partition("-")
        named = self.data["tests"]
        return Statement(
            f"{self.name} {number}",
            fields["class"],
            fields["words"],
            tuple(test if test[1] == ":" else named[test] for test in fields.get("tests", ())),
            range(int(first), int(last or first) + 1),
            **{name: fields[name] for name in ("ruled", "ours", "where") if name in fields},
        )


def read_books() -> list[Book]:
    """The five books, and the rulings on all games."""
    return [
        Book(name, tomllib.loads((FOLDER / f"{name}.toml").read_text(encoding="utf-8")))
        for name in (*BOOKS, "all")
    ]


def split_book(text: str) -> list[tuple[str, list[str]]]:
    """The sections of a rule book that state something: the heading, and the lines that do."""
    sections: list[tuple[str, list[str]]] = []
    fenced = joined = False
    for line in text.splitlines():
        bare = line.strip() if fenced else re.sub(r"^\s*(?:[-*]|\d+\.) +|\*\*|[_`]", "", line).strip()
        if line.strip().startswith("```"):
            fenced, joined = not fenced, False
        elif not fenced and re.match(r"#{1,3} ", line):
            sections.append((line.strip("#* "), []))
            joined = False
        elif not re.search(r"[\w\[]", bare) or (not fenced and (line.startswith("#") or bare.endswith(":"))):
            joined = False
        else:
            listed = not fenced and re.match(r"\s*(?:[-*]|\d+\.) ", line)
            if joined and not listed:
                sections[-1][1][-1] += "\n" + bare
            else:
                sections[-1][1].append(bare)
            joined = True
    return [section for section in sections if section[1]]


def page() -> str:
    """The page as the files have it."""
    classes = "\n".join(f"| {name} | {meaning} |" for name, meaning in CLASSES.items())
    parts = [HEAD.format(classes=classes, transcript=TRANSCRIPT, fragments=FRAGMENTS)]
    for book in read_books():
        ledger = "all-games" if book.name == "all" else book.name
        rows = [f"## {book.title}", "", "| number | statement | class | test |", "|---|---|---|---|"]
        for section in book.sections:
            rows.append(f"| **{section.number}** | **{section.title}** | | |")
            rows += [_row(statement, ledger) for statement in section.statements]
        rows.append("| **R** | **Rulings** | | |")
        rows += [_row(statement, ledger) for statement in book.rulings]
        parts.append("\n".join(rows) + "\n")
    return "\n".join(parts)


def _row(statement: Statement, ledger: str) -> str:
    kind = statement.kind
    if kind == "ruling":
        kind = f"[ruling](rulings.md#{ledger})"
    elif statement.ruled:
        kind += f", [ruled](rulings.md#{'all-games' if statement.ruled == 'all' else ledger})"
    if statement.ours:
        kind += ", *ours*"
    pinned = "<br>".join(f"`{test}`" for test in statement.tests) or f"shown {statement.where}"
    return f"| {statement.number} | {statement.words} | {kind} | {pinned} |".replace("\n", " ")


def _print_lines(folder: Path) -> None:
    for name, book in zip(BOOKS, read_books(), strict=False):
        sections = split_book((folder / f"{name}.md").read_text(encoding="utf-8"))
        for (title, lines), section in zip(sections, book.sections, strict=True):
            print(f"\n{name} {section.number} {title} ({len(lines)} lines)")
            for statement in section.statements:
                print(f"  {statement.number} [{statement.kind}] {statement.words}")
                for line in statement.lines:
                    print("      " + lines[line - 1].replace("\n", " / ")[:150])


def main() -> None:
    """Write the page, check it, or print the statements beside their books."""
    if sys.argv[1:2] == ["--lines"]:
        _print_lines(Path(sys.argv[2]))
    elif "--check" not in sys.argv[1:]:
        PAGE.write_text(page(), encoding="utf-8")
    elif not PAGE.exists() or PAGE.read_text(encoding="utf-8") != page():
        sys.exit("docs/books.md is not what docs/books/*.toml say; run make books.")


if __name__ == "__main__":
    main()
