"""duels practice: positions with a clear answer, each about something else, graded at once."""

import io
from itertools import islice, pairwise
from random import Random

import pytest

from duels.analysis.exercises import (
    CLEAR_GAP,
    MIXED_GAP,
    MOST_RIGHT,
    NEARLY_ALWAYS,
    Exercise,
    exercises,
    one_answer,
)
from duels.core.words import plain
from duels.games import find_game
from duels.games.hunt.rules import Phase
from duels.solving.oracle import OFTEN, Judged, Value, Verdict
from duels.terminal import practice
from duels.terminal.commands import run


@pytest.fixture(autouse=True)
def home(tmp_path: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DUELS_HOME", str(tmp_path))


def some(game: str, count: int, seed: object = 1) -> list[Exercise]:
    room = find_game(game)
    return list(islice(exercises(room, room.oracle(room.rules()), Random(str(seed))), count))


@pytest.mark.parametrize("game", ["lights", "leap", "chain", "flip"])
def test_exercises_have_one_right_answer(game: str) -> None:
    room = find_game(game)
    oracle = room.oracle(room.rules())
    found = some(game, 8)
    assert len(found) == 8
    assert len({room.rules().format_position(exercise.sight) for exercise in found}) == 8
    for exercise in found:
        ideas = {j.action: oracle.idea(exercise.sight, j.action) for j in exercise.verdict.actions}
        right = [j for j in exercise.verdict.actions if ideas[j.action] in exercise.right]
        wrong = [j.value.number for j in exercise.verdict.actions if ideas[j.action] not in exercise.right]
        assert len(exercise.right) == 1
        assert sum(judged.weight for judged in right) >= NEARLY_ALWAYS
        assert max(judged.value.number for judged in right) - max(wrong) >= CLEAR_GAP


def test_in_hunt_whatever_the_strategy_mixes_at_no_cost_is_right() -> None:
    oracle = find_game("hunt").oracle(find_game("hunt").rules())
    asked = some("hunt", 12)
    assert len(asked) == 12
    for exercise in asked:
        judged = zip(exercise.verdict.actions, exercise.verdict.losses, strict=True)
        graded = [(j, loss, oracle.idea(exercise.sight, j.action) in exercise.right) for j, loss in judged]
        assert all(right for j, loss, right in graded if j.weight and not loss)
        assert all(loss >= MIXED_GAP and j.weight < OFTEN for j, loss, right in graded if not right)
        assert sum(right for j, _, right in graded) < len(graded)
        assert len(exercise.right) <= MOST_RIGHT * len({j.action.cell for j, _, _ in graded})


def test_hunt_asks_for_names_and_steps_as_well_as_staying() -> None:
    asked = some("hunt", 12)
    lessons = [exercise.lesson for exercise in asked]
    assert lessons.count(frozenset({Phase.OBSERVE})) >= 3
    assert lessons.count(frozenset({0, 1})) >= 3  # to step is as right as to stay
    assert lessons.count(frozenset({0})) <= 5


def test_a_rare_step_of_the_mix_is_right_in_practice(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (exercise,) = (e for e in some("hunt", 1, 2))
    rules = find_game("hunt").rules()
    least = min((j for j in exercise.verdict.actions if j.best), key=lambda judged: judged.weight)
    assert least.weight < 0.5
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{rules.format(least.action)}\n"))
    assert run(["practice", "hunt", "--count", "1", "--seed", "2"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("What would the strategy do?")
    assert f"Right: {rules.format(least.action)} wins" in out


@pytest.mark.parametrize("game", ["lights", "leap", "chain", "flip", "hunt"])
def test_consecutive_exercises_teach_different_things(game: str) -> None:
    found = some(game, 8)
    assert all(one.lesson != two.lesson for one, two in pairwise(found))
    starts = {exercise.match.steps()[0] for exercise in found}
    assert len(starts) == len(found)  # each from a match of its own


def test_lights_has_exactly_one_right_action() -> None:
    assert all(len(exercise.verdict.best) == 1 for exercise in some("lights", 8))


def test_flip_says_which_answers_count_as_one(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("quit\n"))
    assert run(["practice", "flip", "--seed", "3"]) == 0
    assert capsys.readouterr().out.startswith("Tiles that nobody has seen count as one answer")


def test_what_may_be_challenged_is_told_first(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("quit\n"))
    assert run(["practice", "chain", "--seed", "3"]) == 0
    told, question = capsys.readouterr().out.split("\n\n")
    assert told.startswith("--- 1 of 5: ?OO_XX_ 1 ---")
    assert told.endswith("Player 2 (O): Cell 1 is adjacent to your symbol at cell 2.")
    assert "do you want to challenge?" in question


def test_an_interrupt_leaves_the_score_on_a_line_of_its_own(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = iter([find_game("leap").rules().format(some("leap", 1, 5)[0].verdict.best[0])])

    def answer(*_: object) -> str:
        try:
            return next(answers)
        except StopIteration:
            raise KeyboardInterrupt from None

    monkeypatch.setattr("duels.terminal.screen.Screen.ask", answer)
    assert run(["practice", "leap", "--seed", "5"]) == 130
    assert capsys.readouterr().out.endswith("\n\n1 of 1 right.\n")


def test_flip_asks_for_more_than_unknown_tiles() -> None:
    kinds = [idea for exercise in some("flip", 8) for idea in exercise.right]
    assert len({kind[0] for kind in kinds if isinstance(kind, tuple)}) >= 3


class _Plain:
    def idea(self, sight: object, action: str) -> str:
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
def test_one_right_answer_is_clearly_right(
    weights: tuple[float, float], values: tuple[float, float], right: str | None
) -> None:
    judged = tuple(
        Judged(name, Value(value), weight > 0, weight)
        for name, value, weight in zip("ab", values, weights, strict=True)
    )
    assert one_answer(_Plain(), None, Verdict(Value(values[0]), judged)) == right  # type: ignore[arg-type]


def test_right_and_wrong_are_graded(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    rules = find_game("leap").rules()
    first, second = some("leap", 2, 5)
    right = rules.format(first.verdict.best[0])
    wrong = next(rules.format(j.action) for j in second.verdict.actions if not j.best)
    monkeypatch.setattr("sys.stdin", io.StringIO(f"hint\n{right}\nx\n{wrong}\n"))
    assert run(["practice", "leap", "--count", "2", "--seed", "5"]) == 0
    out = capsys.readouterr().out
    assert f"Right: {right} wins" in out
    assert f"{wrong} gives away 100.0 points" in out
    assert "1 of 2 right." in out
    assert "Hint:" in out


def test_the_words_of_the_table_work_here_too(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("help\n?\nrules\nboard\nmoves\nhint\nback\nquit\n"))
    assert run(["practice", "chain", "--seed", "5"]) == 0
    out = capsys.readouterr().out
    (exercise,) = some("chain", 1, 5)
    room = find_game("chain")
    words = room.words(room.rules())
    assert out.count(practice.HELP) == 2
    assert room.card() in out
    assert out.count(plain(words.board(exercise.sight))) == 2  # at the start, and when asked for
    assert plain(words.moves(exercise.sight)) in out
    assert "Hint:" in out
    assert "right." not in out  # nothing was answered


def test_the_score_is_told_even_if_the_input_ends(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (exercise,) = some("leap", 1, 5)
    right = find_game("leap").rules().format(exercise.verdict.best[0])
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{right}\n"))
    assert run(["practice", "leap", "--seed", "5"]) == 130
    assert capsys.readouterr().out.endswith("1 of 1 right.\n")


def test_a_game_without_such_positions_says_so(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(practice, "CLEAR_GAP", 1.1)
    assert run(["practice", "leap"]) == 0
    assert capsys.readouterr().out == "No positions with a clear answer were found in leap.\n"


def test_in_flip_it_is_told_what_a_player_would_remember(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    rules = find_game("flip").rules()
    words = find_game("flip").words(rules)
    sight = rules.parse_position("...../.4.../..5../...2e/..... 6,5 01 2")
    assert words.remembered(sight) == "Shown and face down: D5 is a 5.\nQuantum Flips left: Player 2.\n"
    monkeypatch.setattr("sys.stdin", io.StringIO("quit\n"))
    assert run(["practice", "flip", "--seed", "3"]) == 0
    (exercise,) = some("flip", 1, 3)
    assert words.remembered(exercise.sight) in capsys.readouterr().out


def test_an_idea_may_be_called_anything(monkeypatch: pytest.MonkeyPatch) -> None:
    room = find_game("chain")
    oracle = room.oracle(room.rules())
    positions = []
    for first in (0, 1):
        monkeypatch.setattr(oracle, "idea", lambda sight, action, n=first: n + sight.actions.index(action))
        found = [e for seed in range(10) for e in practice._in_one_match(room, oracle, Random(seed))]
        positions.append([room.rules().format_position(exercise.sight) for exercise in found])
        assert {first} in [exercise.right for exercise in found]
    assert positions[0] == positions[1]
