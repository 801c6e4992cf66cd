"""A match in one conversation: as a TRL environment, and as a stored match."""

import inspect
import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any
from unittest import mock

import pytest

from duels.arena.text_seat import MatchTask, TextSeat
from duels.core.errors import BadOption, DuelsError, GameOver
from duels.games import GAMES
from duels.integrations.conversation import CONVERSATION_CONDITIONS
from duels.integrations.match_store import MatchStore
from duels.integrations.tasks import make_rows
from duels.integrations.trl import MatchEnvironment
from tests.integrations.one_game import (
    PlayedMatch,
    dump,
    make_actions,
    make_task,
    play_at_seat_by_tool,
)


def play_in_trl(task: MatchTask, actions: list[str]) -> PlayedMatch:
    """Play as GRPOTrainer does: call the public functions of the class, with all columns of the dataset."""
    environment: Any = MatchEnvironment()
    functions = {name for name, _ in inspect.getmembers(MatchEnvironment, inspect.isfunction)}
    assert {name for name in functions if not name.startswith("_")} == {"reset", "get_reward", "play"}
    text = environment.reset(prompt=[{"role": "user", "content": "Win."}], **task.as_row())
    assert text.startswith("\n\n")
    texts, rewards = [text.removeprefix("\n\n")], []
    for action in actions:
        rewards.append(environment.get_reward())
        texts.append(environment.play(action=action))
        if environment.get_reward() is not None:
            break
    assert set(rewards) == {None}
    return PlayedMatch([], {"reward": environment.get_reward()}, texts=texts)


def play_in_store(task: MatchTask, actions: list[str], folder: Path) -> PlayedMatch:
    """Play with a new store for each action, as if the server were restarted every time."""
    match = MatchStore(folder).start(task)
    handle, texts = match.handle, [match.questions[0].text]
    for number, action in enumerate(actions, 1):
        question = MatchStore(folder).play(handle, number, action)
        assert MatchStore(folder).play(handle, number, action) == question
        texts.append(question.text)
        if question.over:
            break
    seat = MatchStore(folder).get(handle).seat
    assert seat.row
    return PlayedMatch([], seat.row, seat.grades, texts)


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("seat", [1, 2])
def test_conversations_play_the_same_game(game: str, seat: int, tmp_path: Path) -> None:
    task, actions = make_task(game, seat, **CONVERSATION_CONDITIONS), make_actions(game, seat)
    expected = play_at_seat_by_tool(task, actions)
    stored = play_in_store(task, actions, tmp_path)
    assert (stored.row, stored.grades, stored.texts) == (expected.row, expected.grades, expected.texts)
    trained = play_in_trl(task, actions)
    assert trained.texts == expected.texts
    assert trained.row["reward"] == expected.reward


def test_a_forfeit_ends_the_match_with_the_lowest_reward() -> None:
    environment = MatchEnvironment()
    environment.reset(**make_rows("lights", matches=2, retries=1, **CONVERSATION_CONDITIONS)[0])
    assert "Please answer again. Call the tool `play`." in environment.play("9")
    assert environment.play("9").endswith("The match is over. You lost.")
    assert environment.get_reward() == -1.0
    with pytest.raises(GameOver):
        environment.play("1")
    assert environment.get_reward() == -1.0


def test_an_environment_needs_the_conditions_of_a_conversation() -> None:
    environment = MatchEnvironment()
    with pytest.raises(BadOption, match="memory='conversation'"):
        environment.reset(**make_rows("lights", matches=2)[0])
    with pytest.raises(DuelsError, match="reset"):
        environment.play("1")
    assert environment.get_reward() is None


def test_a_failing_environment_raises_although_trl_hides_errors_of_tools() -> None:
    environment = MatchEnvironment()
    environment.reset(**make_rows("lights", matches=2, **CONVERSATION_CONDITIONS)[0])
    with (
        mock.patch.object(TextSeat, "reply", side_effect=OSError("disk")),
        pytest.raises(OSError, match="disk"),
    ):
        environment.play("1")
    with pytest.raises(OSError, match="disk"):
        environment.get_reward()
    environment.reset(**make_rows("lights", matches=2, **CONVERSATION_CONDITIONS)[0])
    assert environment.get_reward() is None


def test_texts_contain_no_grades() -> None:
    """Answers to a good and to a bad action do not differ, except for the action itself."""
    task = make_task("lights", 1, **CONVERSATION_CONDITIONS)
    for words in ("loss", "reward", "regret", "mistake", "best"):
        for text in play_at_seat_by_tool(task, make_actions("lights", 1)).texts[1:]:
            assert words not in text.lower()


def start(folder: Path, **changes: Any) -> str:
    task = replace(make_task("lights", 1, **CONVERSATION_CONDITIONS), **changes)
    return MatchStore(folder).start(task).handle


def test_a_question_is_answered_once(tmp_path: Path) -> None:
    store, handle = MatchStore(tmp_path), start(tmp_path)
    with ThreadPoolExecutor(8) as pool:
        questions = list(pool.map(lambda _: store.play(handle, 1, "1"), range(8)))
    assert len(set(questions)) == 1
    with pytest.raises(DuelsError, match=r"Question 1 was answered with '1'\. The current question is 2\."):
        store.play(handle, 1, "2")
    with pytest.raises(DuelsError, match=r"Question 3 has not been asked\. The current question is 2\."):
        store.play(handle, 3, "2")


def test_failed_attempts_survive_a_restart(tmp_path: Path) -> None:
    handle = start(tmp_path, conditions=make_task("lights", 1, **CONVERSATION_CONDITIONS).conditions)
    retries = MatchStore(tmp_path).get(handle).seat.task.conditions.retries
    for number in range(1, retries + 2):
        question = MatchStore(tmp_path).play(handle, number, "9")
    assert question.over
    assert question.text.endswith("You lost.")
    with pytest.raises(GameOver):
        MatchStore(tmp_path).play(handle, number + 1, "1")


def test_a_torn_answer_can_be_given_again(tmp_path: Path) -> None:
    handle = start(tmp_path)
    question = MatchStore(tmp_path).play(handle, 1, "1")
    (path,) = tmp_path.glob("*.jsonl")
    for length in range(1, len(path.read_bytes().splitlines()[-1])):
        lines = path.read_bytes().splitlines(keepends=True)
        path.write_bytes(b"".join(lines[:-1]) + lines[-1][:length])
        assert MatchStore(tmp_path).play(handle, 1, "1") == question


@pytest.mark.parametrize("handle", ["", "lights-x", "../lights-x", "/etc/passwd", "\0", "a" * 300, "\ud800"])
def test_unknown_matches_are_reported(handle: str, tmp_path: Path) -> None:
    with pytest.raises(DuelsError, match="There is no match"):
        MatchStore(tmp_path).get(handle)


def test_damaged_files_and_other_versions_are_reported(tmp_path: Path) -> None:
    handle = start(tmp_path)
    (path,) = tmp_path.glob("*.jsonl")
    row = json.loads(path.read_text())
    for text in ("", "{}\n", "[]\n", "no JSON\n", json.dumps(row) + "\n[]\n"):
        path.write_text(text)
        with pytest.raises(DuelsError, match="is damaged"):
            MatchStore(tmp_path).get(handle)
    path.write_text(json.dumps(row | {"version": "0.0.1"}) + "\n")
    with pytest.raises(DuelsError, match=r"was started by duels 0\.0\.1"):
        MatchStore(tmp_path).get(handle)


def test_the_file_of_a_match_is_private(tmp_path: Path) -> None:
    """It contains the seed."""
    start(tmp_path)
    (path,) = tmp_path.glob("*.jsonl")
    assert path.stat().st_mode & 0o077 == 0


def test_random_play_is_the_same_in_every_process(tmp_path: Path) -> None:
    rng, handle = Random(3), start(tmp_path, seed="5")
    stores = MatchStore(tmp_path), MatchStore(tmp_path)
    number, over = 1, False
    while not over:
        store = rng.choice(stores)
        question = store.play(handle, number, rng.choice("1234567"))
        number, over = question.question, question.over
    first, second = (store.get(handle).seat.row for store in stores)
    assert dump(first or {}) == dump(second or {})
