"""A curtain hides the secrets of two people from each other."""

from collections.abc import Iterator
from random import Random
from typing import Any
from unittest import mock

import pytest

from duels.core.rules import Seat
from duels.terminal.board import scene
from duels.terminal.board.app import BoardApp
from duels.terminal.board.scene import Curtain
from duels.terminal.keyboard import SILENCE_SECONDS
from duels.terminal.prompts import Quit
from tests.support import lines_of
from tests.terminal.board.pilot import SIZES, Player, at_board, live_match

ALL_SIZES = [*SIZES, (60, 20)]
Frame = tuple[Seat | None, str]
"""The person at the keyboard, or None in front of the curtain, and the text on the screen."""


@pytest.fixture(autouse=True)
def quick_curtain(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let Enter open the curtain at once."""
    monkeypatch.setattr(scene, "SILENCE_SECONDS", 0.0)


@pytest.fixture
def frames() -> Iterator[list[Frame]]:
    """Everything that the terminal shows."""
    frames_shown: list[Frame] = []
    display = BoardApp._display

    def record(app: BoardApp, screen: Any, renderable: Any) -> None:
        display(app, screen, renderable)
        viewer = None if isinstance(screen, Curtain) else app._seat
        if screen is app.screen and app._seat_at_keyboard:
            frames_shown.append(
                (viewer, "\n".join(strip.text for strip in screen._compositor.render_strips()))
            )

    with mock.patch.object(BoardApp, "_display", record):
        yield frames_shown


async def open_curtain(player: Player, seat: Seat) -> None:
    await player.see(f"Pass the keyboard to {seat.label}, then press Enter.")
    assert isinstance(player.app.screen, Curtain)
    await player.pilot.press("enter")
    await player.see(f"{seat.label}, your turn.")


async def read_settled_screen(player: Player) -> str:
    """Return the text on the screen after the story has scrolled to its end."""
    texts = [""] * 5
    while len(set(texts)) > 1 or not texts[0]:
        await player.pilot.pause(0.01)
        texts = [*texts[1:], player.screen_text]
    return texts[0]


def make_secret_walk(rng: Random, turns: int) -> list[int]:
    """Return the cells of a token that enters hunt's grid and walks on it."""
    walk = [rng.randint(1, 7)]
    while len(walk) < turns:
        walk.append(rng.choice([cell for cell in range(1, 8) if abs(cell - walk[-1]) <= 1]))
    return walk


def make_observations(rng: Random, *walks: list[int]) -> list[int]:
    """Return positions to observe that miss every walk at every turn."""
    observed: list[int] = []
    for turn in range(len(walks[0])):
        misses = [
            cell
            for cell in range(1, 8)
            if all(cell not in walk[max(0, turn - 1) : turn + 1] for walk in walks)
            and cell not in observed[-1:]
        ]
        if not misses:
            return observed
        observed.append(rng.choice(misses))
    return observed


def play_and_record(
    walks: dict[Seat, list[int]], observed: dict[Seat, list[int]], turns: int, size: tuple[int, int]
) -> list[str]:
    """Play a match, and return the screens that Player 2 and both people have seen."""
    screens: list[str] = []

    async def act(player: Player) -> None:
        for turn in range(turns):
            for seat in Seat:
                await player.see(f"Pass the keyboard to {seat.label}")
                screens.append(await read_settled_screen(player))
                await open_curtain(player, seat)
                for cell in (walks[seat][turn], observed[seat][turn]):
                    if seat is Seat.TWO:
                        screens.append(await read_settled_screen(player))
                    player.app.get_default_screen().board.point_at(cell)
                    await player.pilot.press("enter")
                    await player.pilot.pause()
        await player.see("Pass the keyboard to Player 1")
        screens.append(await read_settled_screen(player))

    at_board(live_match("hunt"), act, size)
    return screens


@pytest.mark.parametrize("size", ALL_SIZES)
@pytest.mark.parametrize("seed", range(3))
def test_the_screens_of_one_person_do_not_depend_on_the_others_secrets(
    seed: int, size: tuple[int, int], frames: list[Frame]
) -> None:
    """Player 1 makes two different secret walks, and everything else is equal."""
    rng = Random(seed)
    turns = 0
    while not turns:
        first, second, other = (make_secret_walk(rng, 3) for _ in range(3))
        misses = make_observations(rng, first, second)
        misses_other = make_observations(rng, other)
        met = any(other[turn] in (*first, *second) for turn in range(3))
        turns = 0 if met or first == second else min(len(misses), len(misses_other))
    observed = {Seat.ONE: misses_other, Seat.TWO: misses}
    one, two = (
        play_and_record({Seat.ONE: walk, Seat.TWO: other}, observed, turns, size) for walk in (first, second)
    )
    assert one == two
    for viewer, frame in frames:
        hidden = [seat for seat in Seat if seat is not viewer]
        assert not [seat for seat in hidden if f"{seat.label}: move" in frame]
        assert viewer or "Your token" not in frame


@pytest.mark.parametrize("size", ALL_SIZES)
def test_no_frame_shows_the_last_persons_board(size: tuple[int, int], frames: list[Frame]) -> None:
    """Frames between two stable screens count, too: the old board must not flash when the curtain opens."""
    opened = 0

    async def act(player: Player) -> None:
        nonlocal opened
        await open_curtain(player, Seat.ONE)
        await player.press("4")
        await player.see("Your token is at position 4")
        await player.pilot.press("7")
        await player.see("Pass the keyboard to Player 2")
        opened = len(frames)
        await open_curtain(player, Seat.TWO)
        await player.press("2")
        await player.see("Your token is at position 2")

    at_board(live_match("hunt"), act, size)
    seen_by_one, seen_by_two = frames[:opened], frames[opened:]
    assert any("@" in frame for _, frame in seen_by_one)
    for _, frame in seen_by_two:
        assert "position 4" not in " ".join(frame.replace("│", " ").split())
        assert "move 4" not in frame


@pytest.mark.parametrize("answer", ["y", "n"])
def test_a_takeback_is_answered_in_front_of_the_curtain(answer: str, frames: list[Frame]) -> None:
    live = live_match("hunt")
    for entry in ("move 4", "observe 7", "move 2", "observe 6"):
        match = live.match.play_text(entry)
        assert match.last
        live.play(match.last.actor, match.last.action)

    async def act(player: Player) -> None:
        await open_curtain(player, Seat.ONE)
        assert "Your token is at position 4" in player.screen_words
        start = len(frames)
        await player.pilot.press("u")
        await player.see("Player 2, do you agree to take it back?")
        await player.pilot.press(answer)
        await player.see("Pass the keyboard to Player 1")
        for _, frame in frames[start:]:
            assert "Your token" not in frame
        await open_curtain(player, Seat.ONE)
        await player.see("Taken back: 3 entries." if answer == "y" else "Takeback refused.")

    at_board(live, act)
    assert len(live.match.turns) == (1 if answer == "y" else 4)


def test_enter_that_was_meant_for_the_last_move_does_not_open_the_curtain(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(scene, "SILENCE_SECONDS", SILENCE_SECONDS)

    async def act(player: Player) -> None:
        await player.pilot.press("enter", "x", "4", "tab")
        assert isinstance(player.app.screen, Curtain)
        await player.pilot.pause(2 * SILENCE_SECONDS)
        await open_curtain(player, Seat.ONE)

    at_board(live_match("hunt"), act)


def test_both_see_the_end_and_a_rematch_is_offered() -> None:
    live = live_match("hunt")

    async def act(player: Player) -> None:
        await open_curtain(player, Seat.ONE)
        await player.pilot.press("4", "7")
        await open_curtain(player, Seat.TWO)
        await player.pilot.press("2", "4")
        await player.see("Player 2 wins by capturing Player 1's token!")
        await player.see("r rematch s swap seats")
        assert not isinstance(player.app.screen, Curtain)
        assert "Player 1: move 4" in player.screen_words, "after the match, nothing is hidden"

    at_board(live, act)
    assert lines_of(live.match) == ["move 4", "observe 7", "move 2", "observe 4"]


def test_q_at_the_curtain_leaves_the_match() -> None:
    async def act(player: Player) -> None:
        await player.see("Pass the keyboard to Player 1")
        await player.pilot.press("q")
        assert isinstance(await player.wait_for_exit(), Quit)

    at_board(live_match("hunt"), act)
