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
    assert 'aria-label="7 lights, on: 1, 2, 3, 4, 5, 6 and 7."' in steps[0]["board"]
    assert 'aria-label="7 lights, on: 3, 4, 5, 6 and 7."' in steps[1]["board"]


def test_the_page_shows_what_was_shown_and_lists_the_slips() -> None:
    match = duels.start("flip").play_text("A1+A2", "3,5", "keep A1", "A3", "4")
    text = page_of(match)
    steps = steps_of(text)
    assert "Shown and face down: A2 is a 5." in steps[3]["text"]
    assert "Quantum Flips left: Player 2." in steps[3]["text"]
    assert re.findall(r'<button data-step="(\d+)" data-slip>', text) == ["1"]


def test_a_long_curve_keeps_its_dots_apart() -> None:
    page = page_of(random_match("chain", Random(1), 150))
    curve = re.search(r'<svg width="([0-9]+)" height="0"></svg><svg width="100%".*?</svg>', page)
    assert curve
    places = [float(x) / 100 * int(curve[1]) for x in re.findall(r'cx="([0-9.]+)%"', curve[0])]
    assert len(places) > 100
    assert min(b - a for a, b in pairwise(places)) >= 12


def test_every_entry_is_listed_with_what_it_cost() -> None:
    page = page_of(duels.start("lights").play_text(*LOST))
    listed = re.findall(
        r'<button data-step="(\d)".*?<span class="p([12])">.*?class="cost[^>]*>(.*?)</span>', page
    )
    assert [(number, seat) for number, seat, _ in listed] == [
        (str(n), "12"[(n - 1) % 2]) for n in range(1, 6)
    ]
    assert listed[1][2] == "blunder, 100.0 points"


def test_players_and_date_stand_at_the_top() -> None:
    review = duels.review(duels.start("lights").play_text(*LOST))
    headers = {"seat1": "human", "seat2": "<club>", "started": "2026-01-02 03:04 UTC"}
    page = review_as_page(review, headers)
    assert '<b class="p1">Player 1</b>: human · <b class="p2">Player 2</b>: &lt;club&gt;' in page
    assert "<time>2026-01-02 03:04 UTC</time>" in page
    assert 'class="players"' not in review_as_page(review)


def test_commands_play_on_from_every_board_but_the_last_and_repeat_what_was_a_slip() -> None:
    review = duels.review(duels.start("lights").play_text(*LOST))
    steps = steps_of(review_as_page(review, play_on=lambda entries: f"at {entries}"))
    assert [step.get("here") for step in steps] == [*(f"at {n}" for n in range(5)), None]
    assert [step.get("again") for step in steps] == [None, "at 0", "at 1", "at 2", "at 3", None]
    assert "here" not in steps_of(review_as_page(review))[0]


def test_beliefs_stand_under_the_numbers_of_the_cells() -> None:
    match = duels.start("hunt").play_text("move 3", "observe 5", "move 2", "observe 3")
    tables = page_of(match).split("<table>")[1:]
    assert [table.split("</caption>")[0] for table in tables] == [
        "<caption>Player 1 about Player 2",
        "<caption>Player 2 about Player 1",
    ]
    for table in tables:
        assert re.findall(r'<th scope="col">(\d)</th>', table) == list("1234567")
        rows = table.split("<tbody>")[1].split("</tr>")[:-1]
        assert [row.count('class="place"') for row in rows] == [7] * len(match.turns)
    assert '<td class="place" style="--p:1.00"' in tables[1]
    assert "●" in tables[1].split('data-step="3"')[1].split("</tr>")[0]


def test_a_page_breaks_no_lines_of_the_account() -> None:
    account = page_of(duels.start("lights").play_text(*LOST)).split("<pre>")[1].split("</pre>")[0]
    (slip,) = (line for line in account.splitlines() if line.startswith("- Entry 2, 4, gave away"))
    assert len(slip) > 150
    assert slip.endswith(".")
