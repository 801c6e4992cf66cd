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
SEEDS = {"lights": 20, "leap": 20, "chain": 20, "flip": 2, "hunt": 5}


def random_match(game: str, rng: Random, most: int = 80) -> Match[Any, Any, Any]:
    match: Match[Any, Any, Any] = duels.start(game)
    while (actor := match.actor) is not None and len(match.turns) < most:
        match = match.play(actor, draw(match, rng) if actor is CHANCE else rng.choice(match.actions))
    return match


@pytest.mark.parametrize("game", SEEDS)
def test_luck_and_losses_add_up_to_the_result(game: str) -> None:
    room = find_game(game)
    oracle = room.oracle(room.rules())
    for seed in range(SEEDS[game]):
        match = random_match(game, Random(seed))
        review = review_match(room, match, oracle)
        total = review.opening + review.luck - review.loss(Seat.ONE) + review.loss(Seat.TWO)
        assert total == pytest.approx(review.result)
        if match.outcome:
            assert review.result == float(match.outcome.winner is Seat.ONE)
        for moment in review.moments:
            assert moment.loss >= 0
            if moment.actor is not CHANCE and game in OPEN_GAMES:
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
    assert "Why Player 2 lost:\n- Entry 2, 4, gave away 100.0 points; best was " in out
    assert "blunder, gave away 100.0 points" in out
    assert "= 100.0, the result." in out


def reviewed(tmp_path: Path, match: Match[Any, Any, Any], *options: str) -> None:
    path = tmp_path / "some.duel"
    path.write_text(dumps(match), encoding="utf-8")
    assert run(["review", str(path), *options]) == 0


def test_where_all_is_lost_nothing_is_called_best(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    reviewed(tmp_path, duels.start("lights").play_text("4", "1", "7", "2-3", "5-6"))
    lines = capsys.readouterr().out.splitlines()
    assert next(line for line in lines if line.startswith("  1.")).endswith("  best")
    assert next(line for line in lines if line.startswith("  2.")).endswith("  all actions lose alike")
    assert "- The game is lost for it from the start if the other makes no mistake." in lines
    assert "- It gave nothing away." in lines


def test_bad_luck_is_told_apart_from_slips(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    match = next(match for seed in range(50) if (match := random_match("chain", Random(seed))).over)
    reviewed(tmp_path, match)
    out = capsys.readouterr().out
    review = review_match(find_game("chain"), match, find_game("chain").oracle(match.rules))
    assert match.outcome
    assert match.outcome.winner
    loser = match.outcome.winner.other
    against = review.luck if loser is Seat.TWO else -review.luck
    told = f"Luck took {100 * against:.1f}" if against > 0 else f"by {-100 * against:.1f} points"
    assert f"Why {loser.label} lost:" in out
    assert told in out


def test_an_unfinished_match_is_reviewed_as_it_stands(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    match = duels.start("chain").play_text("2", "5", "1", "challenge", "tails", "6", "accept", "7")
    reviewed(tmp_path, match)
    out = capsys.readouterr().out
    assert out.startswith("chain: unfinished; the values are as it stands.")
    assert "50.0 at the start + 0.0 luck - 8.3 + 0.0 given away = 41.7, the value as it stands." in out
    assert "Why" not in out
    reviewed(tmp_path, match, "--json")
    answer = json.loads(capsys.readouterr().out)
    assert answer["finished"] is False
    total = answer["opening"] + answer["luck"] - answer["loss"]["1"] + answer["loss"]["2"]
    assert total == pytest.approx(answer["result"])


def test_a_hunt_shows_both_beliefs_over_time(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    match = duels.start("hunt").play_text(
        *("move 3", "observe 5", "move 6", "observe 1", "move 3", "observe 2", "move 6", "observe 3")
    )
    page = tmp_path / "hunt.html"
    reviewed(tmp_path, match, "--html", str(page))
    out = capsys.readouterr().out
    strips = [line for line in out.splitlines() if re.match(r" +\d+\. [\[(]", line)]
    assert len(strips) == 8
    assert all(len(re.findall(r"[\[(].[\])]", line)) == 14 for line in strips)
    # Before the last entry both are where they are, and Player 1 cannot be on the cell that it named.
    one_of_two, two_of_one = strips[-1][5:26], strips[-1][29:50]
    assert one_of_two[15] == two_of_one[6] == "("
    assert one_of_two[3:6] == "[ ]"
    assert "(All values are estimates.)" in out
    text = page.read_text(encoding="utf-8")
    assert text.count('<td class="cell') == 8 * 14
    assert text.count("cell true") == 7 + 5  # Player 1 entered with the first entry, Player 2 with the third


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
