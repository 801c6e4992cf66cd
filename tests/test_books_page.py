"""docs/books.md states everything that the rule books state, and names tests that exist."""

import ast
import importlib.util
import re
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from duels.games import GAMES

ROOT = Path(__file__).parent.parent
TESTS = ROOT / "tests"
BUILD = ROOT / "docs" / "books" / "build.py"
# The books are not ours to publish. They lie beside the project where it is developed.
RULE_BOOKS = ROOT.parent / "shared" / "rulebooks"
COPIED = 8  # words in a row that would be a sentence of the book


def load_build() -> Any:
    spec = importlib.util.spec_from_file_location("books_build", BUILD)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


build = load_build()
BOOKS = {book.name: book for book in build.read_books()}
needs_books = pytest.mark.skipif(not RULE_BOOKS.is_dir(), reason="the rule books are not here")


def read_book(name: str) -> str:
    return (RULE_BOOKS / f"{name}.md").read_text(encoding="utf-8")


@cache
def test_ids(path: Path) -> dict[str, set[str]]:
    """The test functions of a file, each with the words that its parametrized names are made of."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    titles = {}
    for function in functions:
        parametrized = [node for node in function.decorator_list if "parametrize" in ast.unparse(node)]
        nodes = [node for decorator in parametrized for node in ast.walk(decorator)]
        words = {
            node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)
        }
        if any(isinstance(node, ast.Name) and node.id in ("GAMES", "GAME_NAMES") for node in nodes):
            words |= set(GAMES)
        titles[function.name] = words
    return titles


test_ids.__test__ = False  # type: ignore[attr-defined]


def exists(test: str) -> bool:
    """Return whether a test, transcript (`G: lights/commands`) or book (`B: lights`) exists."""
    if test.startswith("G: "):
        return (TESTS / "golden" / f"{test[3:]}.txt").is_file()
    if test.startswith("B: "):
        return (TESTS / "golden" / f"{test[3:]}.book").is_file()
    named = re.fullmatch(r"([\w/]+\.py)::(test_\w+)(?:\[([\w-]+)\])?", test)
    if not named or not (TESTS / named[1]).is_file():
        return False
    tests = test_ids(TESTS / named[1])
    return named[2] in tests and (named[3] is None or set(named[3].split("-")) <= tests[named[2]])


def test_the_page_is_what_the_generator_writes() -> None:
    result = subprocess.run([sys.executable, BUILD, "--check"], capture_output=True, text=True)
    assert not result.returncode, result.stderr


def test_every_game_has_its_book() -> None:
    assert list(BOOKS) == [*GAMES, "all"]


@pytest.mark.parametrize("name", GAMES)
def test_every_line_of_every_section_has_a_statement(name: str) -> None:
    for section in BOOKS[name].sections:
        stated = {line for statement in section.statements for line in statement.lines}
        assert stated == set(range(1, section.lines + 1)), f"{name} {section.number} {section.title}"
        assert all(statement.lines for statement in section.statements)


@needs_books
@pytest.mark.parametrize("name", GAMES)
def test_sections_and_lines_equal_those_of_the_book(name: str) -> None:
    in_book = [(title, len(lines)) for title, lines in build.split_book(read_book(name))]
    assert [(section.title, section.lines) for section in BOOKS[name].sections] == in_book


@needs_books
@pytest.mark.parametrize("name", GAMES)
def test_statements_are_in_our_own_words(name: str) -> None:
    def words_of(text: str) -> list[str]:
        return re.findall(r"[a-z0-9']+", text.lower())

    in_book = " ".join(words_of(read_book(name)))
    for statement in BOOKS[name].statements:
        own = words_of(re.sub(r"`[^`]*`", " ", statement.words))  # what is printed is the interface
        runs = (" ".join(own[i : i + COPIED]) for i in range(len(own) - COPIED + 1))
        assert not [run for run in runs if run in in_book], statement.number


@pytest.mark.parametrize("name", BOOKS)
def test_every_statement_has_a_class_and_existing_tests(name: str) -> None:
    for statement in BOOKS[name].statements:
        assert statement.kind in build.CLASSES, statement.number
        assert bool(statement.tests) is (statement.kind != "advice"), statement.number
        missing = [test for test in statement.tests if not exists(test)]
        assert not missing, f"{statement.number} names tests that do not exist: {missing}"


@pytest.mark.parametrize("name", BOOKS)
def test_every_named_test_is_used(name: str) -> None:
    named = set(BOOKS[name].data["tests"].values())
    assert named <= {test for statement in BOOKS[name].statements for test in statement.tests}


@pytest.mark.parametrize("name", BOOKS)
def test_every_ruling_of_the_ledger_is_on_the_page(name: str) -> None:
    ledger = (ROOT / "docs" / "rulings.md").read_text(encoding="utf-8")
    heading = "All games" if name == "all" else name
    section = ledger.split(f"## {heading}\n")[1].split("\n## ")[0]
    rows = [line for line in section.splitlines() if line.startswith("|")][2:]
    assert len(BOOKS[name].rulings) == len(rows)


@pytest.mark.parametrize(
    "test",
    [
        "G: lights/nothing",
        "B: chess",
        "games/lights/test_rules.py::test_nothing",
        "games/nothing/test_rules.py::test_seven_lights_are_on_at_the_start",
        "core/test_laws.py::test_every_law_holds_along_matches[chess]",
        "core/test_laws.py",
    ],
)
def test_detects_a_missing_test(test: str) -> None:
    assert not exists(test)


def test_introductory_lines_have_no_statement() -> None:
    book = "# Book\n## One\n- **Players**:\n  - Two.\n  - They move.\n\n```\n> 2\n\nOff.\nOn.\n```\n## Two\n"
    assert build.split_book(book) == [("One", ["Two.", "They move.", "> 2", "Off.\nOn."])]
