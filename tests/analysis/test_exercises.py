"""Exercises: clear answers, different themes, and grading."""

import re
from functools import cache
from itertools import islice, pairwise
from random import Random
from typing import Any

import pytest

import duels
from duels.analysis.exercises import (
    CLEAR_GAP,
    MAX_EQUAL_ACTIONS,
    MAX_EQUAL_SHARE,
    MAX_RIGHT_SHARE,
    MIN_RIGHT_WEIGHT,
    MIXED_GAP,
    Exercise,
    Skill,
    _find_exercises,
    find_clear_answer,
    select_by_skill,
)
from duels.games import find_game
from duels.games.chain.oracle import make_oracle
from duels.games.chain.rules import QuantumChain
from duels.games.hunt.rules import Phase
from duels.solving.oracle import OFTEN, ActionValue, Value, Verdict
from tests.analysis.toys import STEPS, Steps


def some(game: str, count: int, seed: object = 1) -> list[Exercise]:
    return list(islice(duels.exercises(game, str(seed)), count))


@cache
def sample(game: str) -> list[Exercise]:
    """Return the first exercises of a game, cached for all tests."""
    return some(game, 12 if game == "hunt" else 8)


@pytest.mark.parametrize("game", ["lights", "leap", "chain", "flip"])
def test_exercises_have_one_right_answer(game: str) -> None:
    exercise_list = sample(game)
    assert len(exercise_list) == 8
    assert len({exercise.position for exercise in exercise_list}) == 8
    for exercise in exercise_list:
        explainer = exercise.oracle
        ideas = {j.action: explainer.action_class(exercise.sight, j.action) for j in exercise.verdict.actions}
        right = [j for j in exercise.verdict.actions if ideas[j.action] in exercise.right_classes]
        wrong = [j.value.number for j in exercise.verdict.actions if j not in right]
        assert len(exercise.right_classes) == 1
        assert sum(judged.weight for judged in right) >= MIN_RIGHT_WEIGHT
        assert max(judged.value.number for judged in right) - max(wrong) >= CLEAR_GAP


def test_hunt_accepts_every_action_of_the_mixture() -> None:
    exercise_list = sample("hunt")
    assert len(exercise_list) == 12
    for exercise in exercise_list:
        idea = exercise.oracle.action_class
        worth = exercise.verdict.value.number
        graded = [
            (j, worth - j.value.number, idea(exercise.sight, j.action) in exercise.right_classes)
            for j in exercise.verdict.actions
        ]
        assert all(right for j, short, right in graded if j.weight >= OFTEN)
        assert all(short >= MIXED_GAP and j.weight < OFTEN for j, short, right in graded if not right)
        assert sum(right for j, _, right in graded) < len(graded)
        assert len(exercise.right_classes) <= MAX_RIGHT_SHARE * len({j.action.cell for j, _, _ in graded})


def test_hunt_asks_for_observations_and_steps() -> None:
    exercise_list = sample("hunt")
    lessons = [exercise.theme for exercise in exercise_list]
    assert lessons.count(frozenset({Phase.OBSERVE})) >= 3
    assert lessons.count(frozenset({0, 1})) >= 3  # to step is as right as to stay
    assert lessons.count(frozenset({0})) <= 5


@pytest.mark.parametrize("game", ["lights", "leap", "chain", "flip", "hunt"])
def test_consecutive_exercises_have_different_themes(game: str) -> None:
    assert all(one.theme != two.theme for one, two in pairwise(sample(game)))


def test_each_exercise_comes_from_a_different_match(monkeypatch: pytest.MonkeyPatch) -> None:
    matches: list[list[Exercise]] = []

    def noting(*args: Any) -> list[Exercise]:
        matches.append(_find_exercises(*args))
        return matches[-1]

    monkeypatch.setattr("duels.analysis.exercises._find_exercises", noting)
    for exercise in some("lights", 8):
        (place,) = (n for n, candidates in enumerate(matches) if any(one is exercise for one in candidates))
        matches[place] = []


def test_exercises_reveal_no_secrets() -> None:
    """It shows what the seat knows, and no event that the seat did not see."""
    for exercise in sample("hunt"):
        text = repr(exercise)
        hidden = f"seen_by={frozenset({exercise.sight.seat.other})!r}"
        assert f"seen_by={frozenset({exercise.sight.seat})!r}" in text
        assert hidden not in text
        assert "Match(" not in text


def test_lights_has_exactly_one_right_action() -> None:
    assert all(len(exercise.verdict.best) == 1 for exercise in sample("lights"))


def test_no_exercise_accepts_nearly_every_action() -> None:
    for game in ("lights", "leap", "chain", "flip"):
        for exercise in sample(game):
            count = len(exercise.answers)
            assert count <= MAX_EQUAL_ACTIONS or count <= MAX_EQUAL_SHARE * len(exercise.sight.actions)


def test_feedback_is_in_words() -> None:
    """It has no percentages and no bounds: numbers in it are cells, sums and games."""
    for game in ("lights", "leap", "chain", "flip"):
        for exercise in sample(game):
            for action in exercise.sight.actions:
                first = exercise.grade(action).text.partition(". ")[0]
                assert not re.search("%|±|point", first), first


def test_after_wrong_answers_puzzles_get_easier_and_shorter() -> None:
    """In leap, weak players get nearly all wrong as often: the way to the end makes the difference."""
    easy, hard = (
        [next(select_by_skill(iter(some("leap", 5, seed)), Skill(aim))) for seed in range(8)]
        for aim in (0.0, 1.0)
    )
    assert sum(one.turns_left for one in easy) < sum(other.turns_left for other in hard)


def test_flip_asks_for_more_than_unknown_tiles() -> None:
    kinds = [idea for exercise in sample("flip") for idea in exercise.right_classes]
    assert len({kind[0] for kind in kinds if isinstance(kind, tuple)}) >= 3


class _Plain:
    def action_class(self, sight: object, action: str) -> str:
        return action


@pytest.mark.parametrize(
    ("weights", "values", "right"),
    [
        ((1.0, 0.0), (0.6, 0.5), "a"),
        ((1.0, 0.0), (0.6, 0.58), None),  # the other is hardly worse
        ((0.7, 0.3), (0.6, 0.3), None),  # the strategy often takes the other
        ((0.95, 0.05), (0.6, 0.3), "a"),
        ((0.0, 1.0), (0.6, 0.5), None),  # estimates that contradict the strategy
    ],
)
def test_the_right_answer_is_clearly_better(
    weights: tuple[float, float], values: tuple[float, float], right: str | None
) -> None:
    judged = tuple(
        ActionValue(name, Value(value), weight > 0, weight)
        for name, value, weight in zip("ab", values, weights, strict=True)
    )
    answer = find_clear_answer(_Plain(), None, Verdict(Value(values[0]), judged))  # type: ignore[arg-type]
    assert answer == (frozenset() if right is None else {right})


def test_action_classes_may_be_any_values(monkeypatch: pytest.MonkeyPatch) -> None:
    oracle = make_oracle(QuantumChain())
    positions = []
    for first in (0, 1):
        monkeypatch.setattr(oracle, "action_class", lambda sight, a, n=first: n + sight.actions.index(a))
        exercise_list = [e for seed in range(10) for e in _find_exercises(oracle, Random(seed), 3)]
        positions.append([exercise.position for exercise in exercise_list])
        assert {first} in [exercise.right_classes for exercise in exercise_list]
    assert positions[0] == positions[1]


def test_grading_an_answer_gives_a_reason() -> None:
    (exercise,) = some("leap", 1, 5)
    rules = exercise.sight.rules
    right = exercise.verdict.best[0]
    wrong = next(judged.action for judged in exercise.verdict.actions if not judged.best)
    praised, corrected = exercise.grade(right), exercise.grade(wrong)
    assert praised.right
    assert praised.text.startswith(f"Right: {rules.format(right)} wins. You need ")
    assert not corrected.right
    assert corrected.text.startswith(
        f"Not the best (blunder): {rules.format(wrong)} loses; {rules.format(right)} wins. "
    )


def test_hunt_exercises_and_reviews_agree_on_mistakes() -> None:
    """It is compared with the mixture, without a mark: a review gives it no loss either."""
    for exercise in sample("hunt"):
        rules, verdict = exercise.sight.rules, exercise.verdict
        for judged, below in zip(verdict.actions, verdict.below_mixture, strict=True):
            graded = exercise.grade(judged.action)
            assert not re.search("costs|mistake|blunder|inaccuracy|best", graded.text.split(". ")[0])
            if not graded.right:
                assert graded.text.startswith(
                    f"Not what the strategy usually does: {rules.format(judged.action)} is "
                    f"{'a little' if below < 0.05 else 'clearly'} worse than its average, and the strategy "
                )
                assert ("never plays it" in graded.text) == (judged.weight == 0)


def test_the_same_seed_gives_the_same_exercises() -> None:
    one, same, other = ([e.position for e in some("chain", 4, seed)] for seed in (1, 1, 2))
    assert one == same != other


def test_exercises_accept_a_name_a_game_or_rules() -> None:
    twelve = find_game("lights").rules(lights=12)
    by_name = next(duels.exercises("lights", "1", lights=12))
    by_game = next(duels.exercises(find_game("lights"), "1", lights=12))
    by_rules = next(duels.exercises(twelve, "1"))
    assert by_name.position == by_game.position == by_rules.position
    assert by_name.sight.rules == twelve


def test_short_games_have_exercises() -> None:
    """The game is not registered, and a match has only two or three decisions."""
    exercise_list = list(duels.exercises(STEPS, "1"))
    assert {exercise.position for exercise in exercise_list} == {
        *("0 1 0", "2 1 0", "2 2 0", "3 1 0", "3 2 0")
    }
    for exercise in exercise_list:
        assert exercise.sight.rules == Steps()
        (best,) = exercise.verdict.best
        assert exercise.grade(best).right
        assert not exercise.grade(3 - best).right
