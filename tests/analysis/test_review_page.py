"""A review as a page: it stands alone, and shows what the match and the review hold."""

import json
import re
from html.parser import HTMLParser
from itertools import pairwise
from random import Random
from typing import Any

import duels
from duels.analysis.review_page import review_as_page
from duels.core.match import Match
from tests.analysis.matches import random_match

LOST = ("1-2", "4", "3", "5-6", "7")


def page_of(match: Match[Any, Any, Any]) -> str:
    return review_as_page(duels.review(match))


def steps_of(page: str) -> list[dict[str, str]]:
    found = re.search(r"const steps = (.*);", page)
    assert found
    steps: list[dict[str, str]] = json.loads(found[1])
    return steps


class _Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.sources: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.sources += [value or "" for name, value in attrs if name in ("src", "href")]


def test_a_page_stands_alone() -> None:
    text = page_of(duels.start("lights").play_text(*LOST))
    parsed = _Page()
    parsed.feed(text)
    assert parsed.tags.count("circle") == 6  # the start and five entries
    assert parsed.sources == []
    assert "http" not in text.replace("http://www.w3.org/2000/svg", "")
    steps = steps_of(text)
    assert len(steps) == 6
    assert "States: X X O O O O O" in steps[1]["board"]


def test_the_page_shows_what_was_shown_and_lists_the_slips() -> None:
    match = duels.start("flip").play_text("A1+A2", "3,5", "keep A1", "A3", "4")
    text = page_of(match)
    steps = steps_of(text)
    assert "Shown and face down: A2 is a 5." in steps[3]["text"]
    assert "Quantum Flips left: Player 2." in steps[3]["text"]
    assert re.findall(r'<li data-step="(\d+)"', text) == ["1"]


def test_a_long_curve_keeps_its_dots_apart() -> None:
    page = page_of(random_match("chain", Random(1), 150))
    places = [float(x) for x in re.findall(r'cx="([0-9.]+)"', page)]
    assert len(places) > 100
    assert min(b - a for a, b in pairwise(places)) >= 12


def test_a_page_breaks_no_lines_of_the_account() -> None:
    account = page_of(duels.start("lights").play_text(*LOST)).split("<pre>")[1].split("</pre>")[0]
    (slip,) = (line for line in account.splitlines() if line.startswith("- Entry 2, 4, gave away"))
    assert len(slip) > 150
    assert slip.endswith(".")
