"""A review accounts for the result: the opening's value, luck, and what both gave away."""

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from random import Random
from typing import Any

import pytest

import duels
from duels.core.match import Match, draw
from duels.core.record import dumps
from duels.core.rules import CHANCE, Seat
from duels.games import find_game
from duels.terminal.commands import run
from duels.terminal.review import review_match

OPEN_GAMES = ("lights", "leap", "chain")


def random_match(game: str, rng: Random, most: int = 80) -> Match[Any, Any, Any]:
    match: Match[Any, Any, Any] = duels.start(game)
    while (actor := match.actor) is not None and len(match.turns) < most:
        match = match.play(actor, draw(match, rng) if actor is CHANCE else rng.choice(match.actions))
    return match


@pytest.mark.parametrize("game", OPEN_GAMES)
def test_luck_and_losses_add_up_to_the_result(game: str) -> None:
    room = find_game(game)
    oracle = room.oracle(room.rules())
    for seed in range(20):
        match = random_match(game, Random(seed))
        review = review_match(room, match, oracle)
        total = review.opening + review.luck - review.loss(Seat.ONE) + review.loss(Seat.TWO)
        assert total == pytest.approx(review.result)
        if match.outcome:
            assert review.result == float(match.outcome.winner is Seat.ONE)
        for moment in review.moments:
            assert moment.loss >= 0
            if moment.actor is not CHANCE:
                assert moment.luck == 0  # nothing is hidden: a decision alone moves nothing else


def test_resigning_gives_the_rest_away() -> None:
    room = find_game("lights")
    match = duels.start("lights").play_text("1", "resign")
    review = review_match(room, match, room.oracle(match.rules))
    assert review.moments[-1].loss == 1
    assert review.moments[-1].mark == "blunder"
    assert review.result == 1


@pytest.fixture
def record(tmp_path: Path) -> Path:
    path = tmp_path / "match.duel"
    match = duels.start("lights").play_text("1-2", "4", "3", "5-6", "7")
    path.write_text(dumps(match), encoding="utf-8")
    return path


def test_review_tells_why_the_match_was_lost(record: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["review", str(record)]) == 0
    out = capsys.readouterr().out
    assert "Player 2 lost most with entry" in out
    assert "blunder, gave away 100.0 points" in out
    assert re.search(r"= 100\.0\.", out)


def test_review_as_json(record: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["review", str(record), "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["winner"] == 1
    assert [moment["entry"] for moment in answer["moments"]] == ["1-2", "4", "3", "5-6", "7"]
    losses = answer["loss"]
    assert answer["opening"] + answer["luck"] - losses["1"] + losses["2"] == pytest.approx(answer["result"])


class _Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.sources: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.sources += [value or "" for name, value in attrs if name in ("src", "href")]


def test_review_page_stands_alone(record: Path, tmp_path: Path) -> None:
    page = tmp_path / "review.html"
    assert run(["review", str(record), "--html", str(page)]) == 0
    text = page.read_text(encoding="utf-8")
    parsed = _Page()
    parsed.feed(text)
    assert parsed.tags.count("circle") == 6  # the start and five entries
    assert parsed.sources == []
    assert "http" not in text.replace("http://www.w3.org/2000/svg", "")
    steps = json.loads(re.search(r"const steps = (.*);", text)[1])  # type: ignore[index]
    assert len(steps) == 6
    assert "States: X X O O O O O" in steps[1]["text"]


def test_an_unfinished_hunt_is_not_reviewed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "hunt.duel"
    path.write_text(dumps(duels.start("hunt").play_text("move 3", "observe 5")), encoding="utf-8")
    assert run(["review", str(path)]) == 1
    assert "once it is over" in capsys.readouterr().err
