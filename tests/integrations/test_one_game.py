"""One game everywhere: the same replies give the same questions, outcomes and grades at every door."""

from pathlib import Path
from typing import Any

import pytest

from duels.games import GAMES
from tests.integrations.one_game import dump, make_replies, make_task, play_at_seat, play_in_arena

CASES: list[tuple[str, dict[str, Any]]] = [
    *((game, {}) for game in GAMES),
    ("lights", {"memory": "conversation", "show_actions": True}),
    ("chain", {"relabel": True}),
    ("hunt", {"mirror": True, "memory": "conversation"}),
]


@pytest.mark.parametrize(("game", "conditions"), CASES)
def test_the_arena_plays_the_same_game(game: str, conditions: dict[str, Any], tmp_path: Path) -> None:
    """The arena plays both seats of a pair, so its endpoint gives the replies to seat 1, then to seat 2."""
    replies = make_replies(game, 1)
    tasks = [make_task(game, seat, **conditions) for seat in (1, 2)]
    used = 0
    for task, arena in zip(tasks, play_in_arena(tasks[0], replies, tmp_path / "run"), strict=True):
        played = play_at_seat(task, replies[used:])
        used += len(played.messages)
        assert arena.messages == played.messages
        assert arena.row == dump(played.row)
        losses = sum(grade.loss for grade in played.grades or () if grade.action)
        if game != "hunt":  # there the arena compares with the mixed strategy
            assert losses == pytest.approx(arena.row["shortfalls"][task.seat - 1])
