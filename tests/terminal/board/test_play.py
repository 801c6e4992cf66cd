"""Matches on the board with keys and mouse, and their story."""

from pathlib import Path
from random import Random

import pytest
from duels_tictactoe import GAME as TICTACTOE

from duels.core.record import dump_record
from duels.core.rules import Seat
from duels.core.words import strip_ink
from duels.games import load_record
from duels.games.hunt.rules import Move, Observe
from duels.play.library import read_record
from duels.terminal.board.story import Story
from duels.terminal.next_step import NextStep
from tests.support import GAME_NAMES, lines_of
from tests.terminal.board.pilot import Player, at_board, live_match

ROUNDS = 25  # decisions until we resign


async def by_cursor(player: Player) -> None:
    """Choose the action at the cursor after a few steps."""
    for _ in range(ROUNDS):
        if player.live.match.over:
            return
        await player.press("right", "enter")
        if player.app.choice and player.app.choice.picked_cells:
            await player.press("enter")
    await player.press("r", "y")


@pytest.mark.parametrize("game", GAME_NAMES)
def test_every_game_is_played_to_its_end_with_arrows_alone(game: str, tmp_path: Path) -> None:
    path = tmp_path / "match.duel"
    live = live_match(game, two="novice", path=path)

    async def act(player: Player) -> None:
        await by_cursor(player)
        await player.see("You won." if live.match.outcome.winner is Seat.ONE else "You lost.")  # type: ignore[union-attr]
        await player.see("r rematch s swap seats")
        await player.pilot.press("s")
        assert await player.wait_for_exit() is NextStep.SWAP

    at_board(live, act)
    assert live.match.over
    assert lines_of(read_record(path).match) == lines_of(live.match)


def test_two_people_play_lights() -> None:
    live = live_match("lights")

    async def act(player: Player) -> None:
        assert "Player 1 and Player 2" in player.screen_text
        assert "Player 1, your turn." in player.screen_text
        await player.press("4")
        assert "Player 2, your turn." in player.screen_text
        assert "Player 1: 4 Turning OFF light 4." in player.screen_words
        await player.press("t", "2")  # the first of two lights, as the book asks
        await player.press("tab", "tab", "5")
        await player.press("1", "6")
        await player.press("7")
        await player.see("Player 2 wins by turning OFF the last light.")

    at_board(live, act)
    assert lines_of(live.match) == ["4", "2-3", "5", "1", "6", "7"]


def test_cells_are_clicked() -> None:
    live = live_match("flip", two="novice")

    async def act(player: Player) -> None:
        await player.click(7)
        await player.press("q")
        assert "Enter the coordinates of the first tile:" in player.screen_text
        await player.click(25)
        assert "adjacent second tile:" in player.screen_text
        assert player.app.choice
        assert player.app.choice.cells <= {20, 24}

    at_board(live, act)
    assert lines_of(live.match)[0] == "B2"


def test_a_mouse_is_enough() -> None:
    live = live_match("chain", entries="1 7 2")

    async def act(player: Player) -> None:
        assert player.app.choice
        row = next(line for line in player.screen_text.splitlines() if "[ no: accept" in line)
        left = row.index("> yes")
        await player.pilot.click("#list", offset=(row.index("accept") - left, 0))
        await player.wait_for_turn()
        keys = player.screen_text.splitlines()[-1]
        await player.pilot.click("#keys", offset=(keys.index("resign") - 1, 0))
        await player.see("Do you want to resign?")
        answers = next(line for line in player.screen_text.splitlines() if "y yes" in line)
        widget = player.app.screen.query("Static").last()
        await player.pilot.click(widget, offset=(answers.index("y yes") - widget.region.x, 0))
        await player.see("Player 2 resigns.")

    at_board(live, act)
    assert lines_of(live.match)[3:] == ["accept", "resign"]


def test_actions_without_cells_are_chosen_from_a_list() -> None:
    """Chain's challenge and all actions of tic-tac-toe have no cells."""
    live = live_match("chain", entries="1 7 2")

    async def challenge(player: Player) -> None:
        assert "> yes: challenge < [ no: accept" in player.screen_text
        assert "Player 2 (O), your turn." in player.screen_words
        assert "Do you want to challenge? (yes/no):" in player.screen_text
        assert "X?" in player.screen_text, "the doubtful symbol is on the board"
        await player.press("n")

    at_board(live, challenge)
    assert lines_of(live.match)[-1] == "accept"
    live = live_match(TICTACTOE, two="perfect")

    async def play(player: Player) -> None:
        await player.press("5")
        await player.press("right", "down", "left", "up", "right", "enter")
        first = lines_of(live.match)
        assert len(first) == 4
        await player.press("r", "y")

    at_board(live, play)
    assert live.match.over


def test_a_number_that_could_continue_waits_for_enter() -> None:
    live = live_match("lights", lights=12)

    async def act(player: Player) -> None:
        await player.press("1")
        assert "turn OFF: 1_" in player.screen_text
        await player.press("2")
        await player.press("1", "enter")
        await player.press("1", "escape", "9")

    at_board(live, act)
    assert lines_of(live.match) == ["12", "1", "9"]


def test_leap_accepts_the_numbers_of_the_book(tmp_path: Path) -> None:
    live = live_match("leap", two="novice", entries="enter enter 1 1 2 2")

    async def act(player: Player) -> None:
        assert "Possible moves: 1, 2 or 4 cells forward" in player.screen_text
        await player.press("4")

    at_board(live, act)
    assert lines_of(live.match)[6] == "4", "a leap by 4 to cell 8, not a leap to cell 4"


def test_random_keys_do_no_harm() -> None:
    rng = Random(5)
    keys = ["enter", "tab", "left", "up", "escape", "space", "backspace", *"0123456789abcmtoqfyn+-", "x"]
    live = live_match("flip", two="greedy")

    async def act(player: Player) -> None:
        await player.pilot.press(*(rng.choice([key for key in keys if key != "q"]) for _ in range(40)))
        await player.wait_for_turn()

    at_board(live, act)
    assert lines_of(load_record(dump_record(live.match)).match) == lines_of(live.match)


def test_the_log_scrolls_to_the_machines_move() -> None:
    async def act(player: Player) -> None:
        for step in ("1", "2", "1"):
            await player.press(step)
            log = player.app.screen.query_one("#right")
            assert log.scroll_offset.y == log.max_scroll_y
            last = [
                line.rpartition("│")[2].strip() for line in player.screen_text.splitlines() if "│" in line
            ]
            assert next(line for line in reversed(last) if line).startswith("expert moves to cell")

    at_board(live_match("leap", two="expert"), act)


@pytest.mark.parametrize("keys", [("s", "enter"), ("s", "t", "a", "y"), ("3",)])
def test_hunts_token_stays_by_word_or_by_number(keys: tuple[str, ...]) -> None:
    live = live_match("hunt", two="novice")
    for seat, cell, observed in ((Seat.ONE, 3, 6), (Seat.TWO, 1, 7)):
        live.play(seat, Move(cell))
        live.play(seat, Observe(observed))

    async def act(player: Player) -> None:
        await player.press(*keys)
        await player.see("Which position do you observe?")

    at_board(live, act)
    assert lines_of(live.match)[-1] == "move 3"


@pytest.mark.parametrize(
    ("game", "entries", "own", "opponents"),
    [
        ("lights", "4 1-2", "Turning OFF light 4.", "novice turns OFF lights 1 and 2."),
        ("leap", "enter enter 1 1", "You move to cell 2.", "novice moves to cell 2."),
        (
            "flip",
            "A1 3 B1 4",
            "You flipped tile A1 revealing a 3.",
            "novice flips tile B1 revealing a 4. New score: 4.",
        ),
        ("chain", "1 7 4 6 accept", "You have observed cell 4.", "Cell 6 is now novice's."),
    ],
)
def test_the_log_addresses_the_person_only_about_their_own_moves(
    game: str, entries: str, own: str, opponents: str
) -> None:
    live = live_match(game, two="novice", entries=entries)
    story = strip_ink(Story(live, live.people).text)
    assert own in story
    assert story.endswith(opponents)
    # Entries are shown only where no sentence about them follows at once.
    shown = [line for line in story.splitlines() if line.startswith(("You: ", "novice: "))]
    assert shown == {"chain": ["You: accept"]}.get(game, [])
    two_people = live_match(game, entries=entries)
    two = strip_ink(Story(two_people, two_people.people).text)
    assert opponents not in two, "the book addresses each of two people"


@pytest.mark.parametrize(
    ("game", "entries", "keys", "answer"),
    [
        ("chain", "4 5", "4", "Cell 4 is already observed. Choose an unobserved cell: 1, 2, 3, 6 or 7."),
        ("chain", "4 5", "9", "There is no cell 9."),
        ("leap", "enter enter 1 1", "9", "9 is not a divisor of 2. Choose 1 or 2."),
        ("lights", "", "0", "There is no light 0. Enter 1, 2, 3, 4, 5, 6 or 7."),
        ("hunt", "", "8", "There is no position 8."),
        ("flip", "A1+A2 4,4", "4", "Both tiles show 4. Please enter A1 or A2."),
    ],
)
def test_a_wrong_key_is_rejected_in_the_games_words(game: str, entries: str, keys: str, answer: str) -> None:
    live = live_match(game, two="human" if game != "hunt" else "novice", entries=entries)
    before = len(live.match.turns)

    async def act(player: Player) -> None:
        await player.press(keys)
        assert answer in player.screen_words
        await player.press("escape")
        assert answer not in player.screen_words

    at_board(live, act)
    assert len(live.match.turns) == before


def test_a_click_on_a_wrong_cell_is_rejected() -> None:
    async def act(player: Player) -> None:
        await player.click(4)
        assert "Cell 4 is already observed." in player.screen_words

    at_board(live_match("chain", entries="4 5"), act)

    async def leap(player: Player) -> None:
        await player.click(20)
        assert "20 is" not in player.screen_words, "the number of a cell is not a distance"
        assert player.app.choice
        assert player.app.choice.rejection.startswith("Possible moves: ")

    at_board(live_match("leap", entries="enter enter"), leap)
