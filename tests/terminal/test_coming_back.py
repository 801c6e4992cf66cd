"""Statistics, daily puzzles and practice levels."""

import json
import os
import re
from datetime import date, timedelta
from pathlib import Path
from unittest import mock

import pytest

from duels.analysis.exercises import Exercise, Skill, exercises, get_daily_puzzle, select_by_skill
from duels.games import GAMES, find_game
from duels.play.library import read_record
from duels.terminal.puzzle_commands import save_progress
from tests.support import duels
from tests.terminal.terminal import Terminal

DAY = date(2031, 5, 5)

# -- statistics ----------------------------------------------------------------------------------

RECORD = "duels record 2\ngame: {}\nseat1: {}\nseat2: {}\nseed: 1\n\n{}"


def keep(folder: Path, name: str, game: str, one: str, two: str, *entries: str, day: int = 0) -> Path:
    path = folder / "matches" / f"{name}.duel"
    path.parent.mkdir(exist_ok=True)
    path.write_text(RECORD.format(game, one, two, "".join(f"{entry}\n" for entry in entries)))
    when = 1_790_000_000 + 86_400 * day
    os.utime(path, (when, when))
    return path


def test_statistics_of_matches_against_the_machine(tmp_path: Path) -> None:
    assert duels(tmp_path, "stats").out == "You have not finished a match against the machine yet.\n"
    won = ("4", "1-2", "6-7", "3", "5")  # the middle, then the mirror image
    keep(tmp_path, "a", "lights", "human", "club", "1", "resign", day=1)
    keep(tmp_path, "b", "lights", "human", "club", "1", "2-3", "4", "5-6", "7", day=2)
    keep(tmp_path, "c", "lights", "human", "club", *won, day=3)
    keep(tmp_path, "d", "lights", "club", "human", "1", "resign", day=4)
    keep(tmp_path, "e", "lights", "human", "human", "1", "resign", day=5)  # a friend
    keep(tmp_path, "f", "lights", "human", "club", "1", day=6)  # unfinished
    result = duels(tmp_path, "stats")
    assert (result.code, result.err) == (0, "")
    assert re.search(r"^lights +club +3 +1 +0   1 lost; longest 3 won$", result.out, flags=re.MULTILINE)
    assert "- lights: turning off one light" in result.out
    data = json.loads(duels(tmp_path, "stats", "--json").out)
    assert data["matches"] == 4
    assert data["tallies"][0]["won"] == 3
    last = data["stages"]["lights"][-1]
    assert (last["matches"], last["loss"]) == (1, 0), "resigning is not a graded decision"
    assert all(set(mistake) == {"game", "kind", "times", "loss"} for mistake in data["mistakes"])


# -- daily puzzles -------------------------------------------------------------------------------


def answers(day: date, right: bool) -> list[str]:
    """Return the lines that answer the daily puzzles."""
    lines: list[str] = []
    for game in GAMES.values():
        exercise = get_daily_puzzle(day, game)
        action = next(a for a in exercise.sight.actions if exercise.grade(a).right == right)
        lines += game.words(game.rules()).entries(exercise.sight, action)
    return lines


def play_daily(folder: Path, day: date, lines: list[str]) -> str:
    """Run `duels daily` as if today were that day."""
    with mock.patch("duels.terminal.puzzle_commands.date", Today(day)):
        result = duels(folder, "daily", entered="".join(f"{line}\n" for line in lines))
    assert result.code == 0, result
    return result.out


class Today:
    """A stand-in for `datetime.date` on another day."""

    def __init__(self, day: date) -> None:
        self.today = lambda: day


def test_daily_grades_answers_and_counts_the_streak(tmp_path: Path) -> None:
    first = play_daily(tmp_path, DAY, answers(DAY, right=True))
    assert first.count("Right: ") == len(GAMES)
    assert [first.count(term) for term in ("(Nim-sum: ", "(The strategy: ", "(The mixture: ")] == [1, 1, 1]
    assert first.endswith("duels daily 2031-05-05: ■■■■■ 5/5\nYour streak: 1 day. Come back tomorrow.\n")
    again = play_daily(tmp_path, DAY, [])
    assert "Right: " not in again, "answered puzzles are not asked again"
    assert again.endswith("duels daily 2031-05-05: ■■■■■ 5/5\nYour streak: 1 day. Come back tomorrow.\n")
    tomorrow = DAY + timedelta(days=1)
    second = play_daily(tmp_path, tomorrow, answers(tomorrow, right=False))
    assert second.endswith(
        "duels daily 2031-05-06: □□□□□ 0/5, day 2 in a row\nYour streak: 2 days. Come back tomorrow.\n"
    )


def test_daily_continues_after_the_last_answer(tmp_path: Path) -> None:
    lines = answers(DAY, right=True)
    left = play_daily(tmp_path, DAY, ["hint", "help", *lines[:2], "quit"])
    assert "There are no hints here." in left
    assert left.endswith("1 of 5 answered. Continue with: duels daily\n")
    rest = play_daily(tmp_path, DAY, lines[2:])
    assert rest.count("Right: ") == len(GAMES) - 1
    assert rest.endswith("■■■■■ 5/5\nYour streak: 1 day. Come back tomorrow.\n")


def test_puzzles_of_another_day_are_not_saved(tmp_path: Path) -> None:
    lines = answers(DAY, right=True)
    result = duels(tmp_path, "daily", "--date", "2031-05-05", entered="".join(f"{line}\n" for line in lines))
    assert result.out.endswith("duels daily 2031-05-05: ■■■■■ 5/5\n")
    assert not (tmp_path / "daily.json").exists()
    assert duels(tmp_path, "daily", "--date", "tomorrow").code == 2


def test_a_program_gets_the_puzzles_without_their_answers(tmp_path: Path) -> None:
    data = json.loads(duels(tmp_path, "daily", "--date", "2031-05-05", "--json").out)
    assert [each["game"] for each in data["puzzles"]] == list(GAMES)
    assert data["puzzles"][0]["position"] == get_daily_puzzle(DAY, GAMES["lights"]).position
    assert (data["answers"], data["complete"], data["streak"]) == ([], False, 0)
    assert "right" not in json.dumps(data)


@pytest.mark.parametrize("damage", ["", "[]", "{", '{"2031-05-05": 7}', "\xff"])
def test_a_damaged_progress_file_is_ignored(damage: str, tmp_path: Path) -> None:
    for name in ("daily", "practice"):
        (tmp_path / f"{name}.json").write_text(damage, encoding="latin-1")
    assert play_daily(tmp_path, DAY, ["quit"]).endswith("0 of 5 answered. Continue with: duels daily\n")
    assert duels(tmp_path, "practice", "leap", "--count", "1", entered="1\n").code == 0


# -- practice ------------------------------------------------------------------------------------


def test_practice_remembers_the_skill(tmp_path: Path) -> None:
    for rules, count in (("lights", "1"), ("lights", "1"), ("leap", "1")):
        entered = "1\n1\n2\n3\n4\n5\n6\n7\n"  # the first light that is on, or a leap of 1
        assert duels(tmp_path, "practice", rules, "--count", count, entered=entered).code == 0
    progress = json.loads((tmp_path / "practice.json").read_text())
    assert set(progress) == {repr(find_game("lights").rules()), repr(find_game("leap").rules())}
    assert all(Skill.from_data(data) != Skill() for data in progress.values())
    before = (tmp_path / "practice.json").read_bytes()
    seeded = duels(tmp_path, "practice", "leap", "--count", "1", "--seed", "1", entered="1\n")
    assert (tmp_path / "practice.json").read_bytes() == before, (
        "practice with a seed does not change the level"
    )
    assert "Next time" not in seeded.out


def test_two_concurrent_practices_are_both_saved(tmp_path: Path) -> None:
    def answer(exercise: Exercise, *_: object) -> object:
        save_progress("practice", {"another game": {}})
        return exercise.sight.actions[0]

    with mock.patch("duels.terminal.puzzle_commands.ask_exercise", answer):
        assert duels(tmp_path, "practice", "leap", "--count", "1").code == 0
    progress = json.loads((tmp_path / "practice.json").read_text())
    assert set(progress) == {"another game", repr(find_game("leap").rules())}


@pytest.mark.parametrize(("right", "outlook"), [(True, "harder"), (False, "easier")])
def test_practice_says_whether_puzzles_get_harder(right: bool, outlook: str, tmp_path: Path) -> None:
    exercise = next(select_by_skill(exercises("leap", "a seed"), Skill()))
    action = next(a for a in exercise.sight.actions if exercise.grade(a).right == right)
    with mock.patch(
        "duels.terminal.puzzle_commands.exercises", lambda rules, seed: exercises(rules, "a seed")
    ):
        entered = f"{exercise.sight.rules.format(action)}\n"
        result = duels(tmp_path, "practice", "leap", "--count", "1", entered=entered)
    assert result.out.endswith(f"{int(right)} of 1 right. The next puzzles will be {outlook}.\n")


# -- the strongest player ------------------------------------------------------------------------


@pytest.mark.parametrize("name", GAMES)
def test_best_is_called_perfect_in_solved_games(name: str, tmp_path: Path) -> None:
    path = tmp_path / "match.duel"
    play = ("play", name, "--seat1", "perfect", "--seat2", "best", "--seed", "1", "--save", path)
    result = duels(tmp_path, *play)
    assert result.code == 0
    headers = read_record(path).headers
    if name == "hunt":
        assert result.err.startswith("Perfect play is unknown in hunt, so best plays instead.\n")
        assert result.err.count("best plays") == 1
    else:
        assert "best plays" not in result.err
    assert (headers["seat1"], headers["seat2"]) == ("best" if name == "hunt" else "perfect", "best")


def test_an_old_record_of_hunt_resumes_against_best(tmp_path: Path) -> None:
    path = keep(tmp_path, "old", "hunt", "human", "perfect", "move 3", "observe 5", "move 6", "observe 1")
    with Terminal(tmp_path, "resume", path, NO_COLOR="1") as terminal:
        terminal.expect("You are Player 1 against best.")
        terminal.answer("Where do you go? MOVE n, STAY or TUNNEL n: ", "quit")
        assert terminal.wait() == 0
