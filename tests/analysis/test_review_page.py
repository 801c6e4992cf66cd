"""The page of a review: it needs no other files and shows the match and the review."""

import json
import re
from html.parser import HTMLParser
from random import Random

import pytest

import duels
from duels.analysis.review import review_record
from duels.analysis.review_page import render_review_page
from duels.core.match import AnyMatch
from duels.core.record import Record
from duels.core.rules import Seat
from duels.core.words import strip_ink
from tests.analysis.matches import random_match
from tests.support import GAME_NAMES

LOST = ("1-2", "4", "3", "5-6", "7")


def page_of(match: AnyMatch) -> str:
    return render_review_page(duels.review(match))


def steps_of(page: str) -> list[dict[str, str]]:
    line = re.search(r"const steps = (.*);", page)
    assert line
    steps: list[dict[str, str]] = json.loads(line[1])
    return steps


class _Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.sources: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.sources += [value or "" for name, value in attrs if name in ("src", "href")]


def test_the_page_needs_no_other_files() -> None:
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


def test_resigning_on_the_other_turn_has_a_cost() -> None:
    text = steps_of(page_of(duels.start("lights").play_text("4", "resign 1")))[-1]["text"]
    assert "Player 1 gave away 100.0 points." in text
    assert "Best was to play on." in text


def test_the_page_shows_each_step_and_lists_the_slips() -> None:
    match = duels.start("flip").play_text("A1+A2", "3,5", "keep A1", "A3", "4")
    text = page_of(match)
    steps = steps_of(text)
    assert "Shown and face down: A2 is a 5." in steps[3]["text"]
    assert "Quantum Flips left: Player 2." in steps[3]["text"]
    assert re.findall(r'<button data-step="(\d+)" data-slip>', text) == ["1"]


def test_a_long_curve_fits_and_every_entry_is_clickable() -> None:
    page = page_of(random_match("chain", Random(1), 150))
    places = [float(x) for x in re.findall(r'cx="([0-9.]+)%"', page)]
    assert len(places) > 100
    assert (places[0], places[-1]) == (0, 100)
    bands = re.findall(r'class="band" data-step="(\d+)" x="(-?[0-9.]+)%" y="0" width="([0-9.]+)%"', page)
    assert [int(step) for step, _, _ in bands] == list(range(len(places)))
    for (_, x, width), place in zip(bands, places, strict=True):
        assert abs(float(x) + float(width) / 2 - place) < 0.01


def test_the_result_and_its_cause_come_first() -> None:
    match = duels.start("lights").play_text(*LOST)
    for person, verdict in ((Seat.ONE, "won"), (Seat.TWO, "lost")):
        headers = {f"seat{person.value}": "human", f"seat{person.other.value}": "club"}
        page = render_review_page(review_record(Record(match, headers)), headers)
        body = page[page.index("<main>") :]
        assert f"<p>{'You win' if verdict == 'won' else 'club wins'} by" in body
        assert f'<b class="p{person.value}">{person.label}</b>: you' in body
        parts = (f"<h2>Why you {verdict}</h2>", 'id="curve-card"', "<h2>Summary</h2>")
        places = [body.index(part) for part in parts]
        assert places == sorted(places)
        assert body.count("Why you") == 1
        assert f'class="curve side-{person.value}"' in body
    assert "<b>You" not in page_of(match), "two people"


@pytest.mark.parametrize("game", GAME_NAMES)
def test_a_drawing_replaces_the_text_board(game: str) -> None:
    match = duels.start(game).resign(Seat.ONE)
    board = strip_ink(str(match.rules.game.words(match.rules).board(match.after(0).sight(Seat.ONE))))
    start = steps_of(page_of(match))[0]["text"]
    assert not {line for line in board.splitlines() if line} & set(start.splitlines())
    assert "Board:" not in start


def test_chain_pages_show_board_numbers_and_stakes() -> None:
    page = page_of(random_match("chain", Random(1), 150))
    listed = page[page.index("<ol>") : page.index("</ol>")]
    boards = re.findall(r'<li class="board-number">Board (\d+)</li>', listed)
    assert boards == [str(number) for number in range(1, len(boards) + 1)]
    assert len(boards) > 1
    assert re.search(r'class="cost ">\d of Player [12]&#x27;s \d replies would have lost', listed)
    assert any("replies would have lost" in step["text"] for step in steps_of(page))
    assert "Board 1" not in page_of(duels.start("lights").play_text(*LOST))


def test_hunt_is_shown_on_one_grid_with_both_tokens() -> None:
    match = duels.start("hunt").play_text("move 3", "observe 5", "move 2", "observe 3")
    for step in steps_of(page_of(match)):
        assert step["board"].count("<svg") == 1
        assert [f'data-key="token-{seat}"' in step["board"] for seat in (1, 2)] == [True, True]
    last = steps_of(page_of(match))[-1]["board"]
    assert "Position 2: Player 2&#x27;s token" in last
    assert "Position 3: Player 1&#x27;s token, named last by Player 2" in last


def test_every_entry_is_listed_with_its_cost() -> None:
    page = page_of(duels.start("lights").play_text(*LOST))
    listed = re.findall(
        r'<button data-step="(\d)".*?<span class="p([12])">.*?class="cost[^>]*>(.*?)</span>', page
    )
    assert [(number, seat) for number, seat, _ in listed] == [
        (str(n), "12"[(n - 1) % 2]) for n in range(1, 6)
    ]
    assert listed[1][2] == "blunder, 100.0 points"


def test_the_page_starts_with_players_and_date() -> None:
    review = duels.review(duels.start("lights").play_text(*LOST))
    headers = {"seat1": "human", "seat2": "<club>", "started": "2026-01-02 03:04 UTC"}
    page = render_review_page(review, headers)
    assert '<b class="p1">Player 1</b>: human · <b class="p2">Player 2</b>: &lt;club&gt;' in page
    assert "<time>2026-01-02 03:04 UTC</time>" in page
    assert 'class="players"' not in render_review_page(review)


def test_the_page_offers_commands_to_continue_from_each_board() -> None:
    review = duels.review(duels.start("lights").play_text(*LOST))
    steps = steps_of(render_review_page(review, make_command=lambda entries: f"at {entries}"))
    assert [step.get("here") for step in steps] == [*(f"at {n}" for n in range(5)), None]
    assert [step.get("again") for step in steps] == [None, "at 0", "at 1", "at 2", "at 3", None]
    assert "here" not in steps_of(render_review_page(review))[0]


def test_beliefs_are_listed_under_cell_numbers() -> None:
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


def test_a_long_position_is_folded() -> None:
    named = (7, 1, 6, 2) * 3
    entries = [
        entry
        for at, cell in zip((3, 5) * 6, named, strict=True)
        for entry in (f"move {at}", f"observe {cell}")
    ]
    page = page_of(duels.start("hunt").play_text(*entries).resign(Seat.ONE))
    assert re.search(r"<details><summary>Position</summary><code>.{60,}?</code></details></li>", page)
    assert "<br>Position: <code>" in page_of(duels.start("lights").play_text(*LOST))
    assert "What Player 1 could know about Player 2's token: 1: " in steps_of(page)[1]["text"]


def test_the_page_does_not_wrap_the_review() -> None:
    account = page_of(duels.start("lights").play_text(*LOST)).split('id="why">')[1].split("</section>")[0]
    assert "- " not in account.split("<br>")[0], "a list needs no hyphens"
    (slip,) = (
        line
        for line in re.findall("<li>([^<]*)<br>", account)
        if line.startswith("Your first move (entry 2: light 4) threw")
    )
    assert len(slip) > 150
    assert slip.endswith(".")
