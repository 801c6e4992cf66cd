"""Practice adapts its difficulty to success."""

from itertools import islice
from typing import Any

import pytest

from duels.analysis.exercises import Skill, exercises, rate_exercise, select_by_skill


# Whatever the game, the choice is made by the difficulty alone; hunt's, of a mixture, takes long to find.
@pytest.mark.parametrize("game", ["leap", "chain", pytest.param("hunt", marks=pytest.mark.slow)])
def test_skill_decides_the_difficulty(game: str) -> None:
    """The same exercises, in another order."""
    exercise_list = list(islice(exercises(game, "a seed"), 8))
    easy, hard = (list(islice(select_by_skill(iter(exercise_list), Skill(aim)), 3)) for aim in (0.0, 1.0))
    assert all(0 <= exercise.difficulty <= 1 for exercise in (*easy, *hard))
    assert sum(map(rate_exercise, easy)) < sum(map(rate_exercise, hard))


def test_every_exercise_is_selected_once() -> None:
    exercise_list = list(islice(exercises("chain", "a seed"), 12))
    positions = [e.position for e in select_by_skill(iter(exercise_list), Skill(0.7))]
    assert sorted(positions) == sorted(e.position for e in exercise_list)


def test_skill_follows_the_results() -> None:
    skill = Skill()
    aims = [skill.aim]
    for right in (True, True, False):
        skill.update(right)
        aims.append(skill.aim)
    assert aims[0] < aims[1] < aims[2] > aims[3]
    for right in (True, False):
        for _ in range(30):
            skill.update(right)
        assert skill.aim == float(right)


@pytest.mark.parametrize("data", [None, {}, [], "x", {"aim": "high"}, {"aim": 7}, {"aim": 10**400}, 3])
def test_invalid_data_give_the_default_skill(data: Any) -> None:
    assert Skill.from_data(data) == Skill()
    assert Skill.from_data(Skill(0.7).as_data()) == Skill(0.7)
