"""Daily puzzles and streaks."""

import subprocess
import sys
from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duels.analysis.exercises import count_streak, format_daily_result, get_daily_puzzle, is_complete
from duels.games import GAMES

DAY = date(2026, 11, 16)
ALL = [True] * len(GAMES)
NONE = [False] * len(GAMES)


@pytest.mark.parametrize("name", GAMES)
def test_a_day_has_one_puzzle_of_each_game(name: str) -> None:
    exercise = get_daily_puzzle(DAY, GAMES[name])
    later = get_daily_puzzle(DAY + timedelta(days=2), GAMES[name])
    assert exercise.position != later.position, "another day, another puzzle"
    assert exercise.sight.rules == GAMES[name].rules()
    assert (
        0 < len([a for a in exercise.sight.actions if exercise.grade(a).right]) < len(exercise.sight.actions)
    )


def test_the_daily_puzzle_is_the_same_in_every_process() -> None:
    """Whatever was computed before, and however strings are hashed there."""
    program = (
        "from datetime import date\nfrom duels.analysis.exercises import get_daily_puzzle\n"
        "from duels.games import GAMES\n"
        "print(get_daily_puzzle(date(2026, 11, 16), GAMES['chain']).position)"
    )
    output = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    ).stdout
    get_daily_puzzle(DAY, GAMES["leap"])
    assert output == f"{get_daily_puzzle(DAY, GAMES['chain']).position}\n"


def test_a_streak_counts_days_in_a_row() -> None:
    days = {(DAY - timedelta(days=ago)).isoformat(): NONE for ago in (1, 2, 3, 5)}
    assert count_streak(days, DAY) == 3, "today is not over yet"
    assert count_streak({**days, DAY.isoformat(): ALL}, DAY) == 4, "right or wrong"
    assert count_streak({**days, DAY.isoformat(): ALL[1:]}, DAY) == 3
    assert count_streak(days, DAY + timedelta(days=1)) == 0
    assert count_streak({}, DAY) == 0
    assert count_streak({DAY.isoformat(): [None, *ALL[1:]]}, DAY) == 0, "one is open"


@given(st.lists(st.none() | st.booleans(), max_size=len(GAMES)), st.integers(0, 400))
def test_the_shared_line_shows_results_and_the_streak(answers: list[bool | None], days: int) -> None:
    marks = "".join("·" if right is None else "■" if right else "□" for right in answers).ljust(
        len(GAMES), "·"
    )
    row = f", day {days} in a row" if days > 1 else ""
    line = format_daily_result(DAY, answers, days)
    assert line == f"duels daily 2026-11-16: {marks} {answers.count(True)}/{len(GAMES)}{row}"
    assert is_complete(answers) == (len(answers) == len(GAMES) and None not in answers)
