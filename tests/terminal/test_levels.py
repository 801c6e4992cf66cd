"""duels levels: what each level gives away, how it does against the next, and how sure that is."""

import json
from random import Random
from statistics import mean

import pytest

from duels.core.rules import Seat
from duels.games import find_game
from duels.players.levels import SHARE
from duels.terminal.commands import run
from duels.terminal.levels import _Judge, _play, _ratio, levels_as_text, measure_levels


def test_levels_are_ordered(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["levels", "lights", "--matches", "300", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [row["name"] for row in rows] == ["novice", "casual", "club", "expert", "perfect"]
    given_away = [row["given_away"] for row in rows]
    assert given_away == sorted(given_away, reverse=True)
    assert given_away[-1] == 0
    assert all(row["score"] - row["margin"] > 0.5 for row in rows[1:])


@pytest.mark.parametrize("game", ["lights", "leap"])
def test_taking_luck_out_does_not_change_the_score(game: str) -> None:
    rules = find_game(game).rules()
    judge = _Judge(rules, find_game(game).oracle(rules))
    rng = Random(4)
    played = [_play(judge, Seat(n % 2 + 1), SHARE["club"], SHARE["casual"], rng) for n in range(1500)]
    assert mean(p.points for p in played) == pytest.approx(
        mean(judge.score(p, n) for n, p in enumerate(played)), abs=0.04
    )


def test_perfect_gives_nothing_away_in_hunt_and_estimates_are_called_so() -> None:
    told: list[tuple[str, int]] = []
    room = find_game("hunt")
    rows = measure_levels(room, 4, "x", lambda name, number: told.append((name, number)))
    assert rows[-1].given_away == 0
    assert rows[0].given_away > 0
    assert told == [(name, number) for name in SHARE for number in range(4)]
    assert "estimates" in levels_as_text(room, rows, 4)


def test_the_margin_narrows_with_the_number_of_matches() -> None:
    few, many = _ratio([0.0, 1.0] * 10, [1] * 20), _ratio([0.0, 1.0] * 1000, [1] * 2000)
    assert few[0] == many[0] == 0.5
    assert few[1] / many[1] == pytest.approx(10, rel=0.05)
    assert many[1] == pytest.approx(1.96 * 0.5 / 2000**0.5, rel=0.01)
    assert _ratio([0.2, 0.4], [1, 2])[0] == pytest.approx(0.2)
