"""Pauses, background work, failing players, notices and errors on the board."""

import threading
from pathlib import Path
from random import Random
from typing import Any, NoReturn

import pytest

from duels.core.narration import TextBoard
from duels.core.rules import AnyRules, Seat
from duels.players.failures import BadAnswer, Failure, NoMove
from duels.solving.oracle import Oracle, Progress
from duels.solving.oracles import get_oracle
from duels.terminal.board import app
from duels.terminal.board.app import BoardApp
from duels.terminal.board.scene import Scene, SceneTexts
from tests.support import lines_of
from tests.terminal.board.pilot import Player, at_board, live_match


def test_only_machines_are_said_to_be_thinking(monkeypatch: pytest.MonkeyPatch) -> None:
    turns: list[str] = []
    show = Scene.show

    def record(
        scene: Scene, board: TextBoard, choice: Any, changed: frozenset[int], texts: SceneTexts
    ) -> None:
        turns.append(texts.turn.plain)
        show(scene, board, choice, changed, texts)

    async def act(player: Player) -> None:
        await player.see("Your turn.")

    monkeypatch.setattr(Scene, "show", record)
    at_board(live_match("leap", two="novice"), act)  # leap's first move is made for the person
    assert any("novice is thinking" in turn for turn in turns)
    assert not any("human is thinking" in turn for turn in turns)


def test_a_key_skips_the_pause_before_a_machines_move() -> None:
    live = live_match("lights", two="novice")

    async def act(player: Player) -> None:
        await player.pilot.press("4")
        await player.see("novice is thinking")
        await player.press("space")

    at_board(live, act, pause_seconds=3600.0)
    assert len(live.match.turns) == 2


def test_a_key_too_late_to_skip_the_pause_plays_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(app, "KEY_GAP_SECONDS", 3600.0)
    live = live_match("lights", two="novice")

    async def act(player: Player) -> None:
        await player.pilot.press("enter")
        assert len(live.match.turns) == 1, "there is no pause before the first decision"
        await player.see("novice is thinking")
        await player.press("space")
        assert len(live.match.turns) == 2
        await player.press("enter", "space")
        assert len(live.match.turns) == 2
        player.app._ignore_enter_until = 0.0
        await player.pilot.press("enter")
        assert len(live.match.turns) == 3

    at_board(live, act, pause_seconds=3600.0)


def test_the_reason_for_a_forfeit_stays_on_the_screen() -> None:
    live = live_match("lights")
    live.players = {Seat.ONE: None, Seat.TWO: Silent()}

    async def act(player: Player) -> None:
        await player.press("4")
        await player.see("r rematch s swap seats")
        assert "silent gave no move in 1 attempt" in player.screen_words

    at_board(live, act)


class Silent:
    """A player that never moves."""

    name = "silent"

    def choose(self, sight: object, rng: Random) -> NoReturn:
        raise NoMove("silent", (BadAnswer(Failure.CRASHED, "it said nothing"),))


class Slow:
    """Work that blocks until it is released, and reports progress."""

    def __init__(self) -> None:
        self.starts = 0
        self.progress: list[Progress] = []
        self.go_on = threading.Event()

    def __call__(self, rules: AnyRules, progress: Progress) -> Oracle[Any, Any]:
        self.starts += 1
        self.progress.append(progress)
        self.go_on.wait(60)
        return get_oracle(rules)


def test_repeated_requests_start_one_computation(monkeypatch: pytest.MonkeyPatch) -> None:
    slow = Slow()
    monkeypatch.setattr(app, "get_oracle", slow)

    async def act(player: Player) -> None:
        await player.pilot.press("h", "h", "h")
        await player.see("thinking …")
        assert slow.starts == 1
        slow.progress[0]("halfway")
        await player.see("thinking: halfway")
        slow.go_on.set()
        await player.see("Press h again for advice.")

    at_board(live_match("lights", entries="4 1"), act)


@pytest.mark.parametrize("keys", ["3", "rn"])
def test_cancelled_work_shows_nothing(keys: str, monkeypatch: pytest.MonkeyPatch) -> None:
    slow = Slow()
    monkeypatch.setattr(app, "get_oracle", slow)

    async def act(player: Player) -> None:
        await player.pilot.press("h")
        await player.see("thinking …")
        await player.press(*keys)
        assert "thinking" not in player.screen_words
        slow.progress[0]("halfway")
        slow.go_on.set()
        await player.pilot.pause(0.05)
        assert "halfway" not in player.screen_words
        assert "Hint" not in player.screen_words

    at_board(live_match("lights", entries="4 1"), act)


def test_the_main_thread_draws_notices_of_other_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn_by: list[int] = []
    draw = BoardApp._draw

    def record_thread(board: BoardApp) -> None:
        drawn_by.append(threading.get_ident())
        draw(board)

    monkeypatch.setattr(BoardApp, "_draw", record_thread)
    boards: list[BoardApp] = []
    live = live_match("flip", chance="5,5", notice=lambda text: boards[0].notice(text))

    async def act(player: Player) -> None:
        boards.append(player.app)
        await player.press("a", "1")
        await player.see("'5,5' is impossible here")

    at_board(live, act)
    assert set(drawn_by) == {threading.get_ident()}


def test_notices_and_errors_reach_the_person(tmp_path: Path) -> None:
    live = live_match("lights", two="novice", path=tmp_path / "match.duel")

    async def act(player: Player) -> None:
        player.app.notice("Something about the file.")
        await player.see("Something about the file.")
        assert live.journal
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(live.journal, "_append", _fail)
            await player.pilot.press("4")
            assert isinstance(await player.wait_for_exit(), OSError)

    at_board(live, act)
    assert lines_of(live.match) == [], "an entry that was not saved was not played"


def _fail(text: str) -> None:
    raise OSError(28, "No space left on device")
