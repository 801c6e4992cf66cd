"""Commands of the board: undo, hint, review, rules, resign and quit."""

import pytest
from textual import events

from duels.analysis.hints import hint
from duels.core.rules import Seat
from duels.terminal.board.choice import Choice
from duels.terminal.keyboard import SILENCE_SECONDS
from duels.terminal.next_step import NextStep
from duels.terminal.prompts import Quit
from tests.support import lines_of
from tests.terminal.board.pilot import Player, at_board, live_match


def test_undo_takes_back_the_persons_last_decision() -> None:
    live = live_match("lights", two="novice")

    async def act(player: Player) -> None:
        await player.press("u")
        await player.see("You have no decision to take back.")
        await player.press("4")
        assert "Turning OFF light 4." in player.screen_words
        await player.press("u")
        await player.see("Taken back: 2 entries.")
        assert "Turning OFF" not in player.screen_text

    at_board(live, act)
    assert lines_of(live.match) == []


def test_undo_asks_the_other_person() -> None:
    live = live_match("lights", entries="4 1 7")

    async def act(player: Player) -> None:
        await player.pilot.press("u")
        await player.see("Take back only the last decision of Player 1?")
        await player.pilot.press("n")
        await player.see("Player 1, do you agree to take it back?")
        await player.press("n")
        await player.see("Takeback refused.")
        await player.pilot.press("u", "n")
        await player.see("do you agree")
        await player.press("y")
        await player.see("Taken back: 2 entries.")

    at_board(live, act)
    assert lines_of(live.match) == ["4"]


def test_undo_takes_back_the_slip_of_the_person_who_just_moved() -> None:
    live = live_match("lights", entries="4 1 7")

    async def act(player: Player) -> None:
        await player.pilot.press("u")
        await player.see("Take back only the last decision of Player 1?")
        await player.pilot.press("y")
        await player.see("Player 2, do you agree to take it back?")
        await player.press("y")
        await player.see("Taken back: 1 entry.")

    at_board(live, act)
    assert lines_of(live.match) == ["4", "1"]


def test_a_hint_points_at_the_best_action() -> None:
    live = live_match("lights", two="novice", entries="4 1")

    async def act(player: Player) -> None:
        await player.pilot.press("h")
        await player.see("Press h again for advice.")
        await player.pilot.press("h")
        await player.see("Press h again to see why.")
        assert "nim-sum" not in player.screen_text
        await player.pilot.press("h")
        await player.see("nim-sum")
        assert "(Nim-sum: every run is worth a number" in player.screen_words
        await player.press("enter")

    at_board(live, act)
    best = hint(live.match.after(2).sight(Seat.ONE)).actions
    assert live.match.turns[2].action in best


def test_a_hint_names_the_key_of_the_next_stage(monkeypatch: pytest.MonkeyPatch) -> None:
    """If the game uses h, a function key gives hints."""
    monkeypatch.setattr(Choice, "accepts", lambda choice, letter: letter == "h")
    live = live_match("lights")

    async def act(player: Player) -> None:
        assert "F2 hint" in player.screen_text
        await player.pilot.press("f2")
        await player.see("Press F2 again for advice.")

    at_board(live, act)


def test_a_review_and_the_rules_are_one_key_away() -> None:
    live = live_match("lights", two="novice", entries="4 1")

    async def act(player: Player) -> None:
        await player.pilot.press("v")
        await player.see("Press Escape to go back to the board")
        assert "4" in player.screen_text
        text = player.app.screen
        await player.pilot.press("end")
        await player.wait_until(lambda: text.scroll_y == text.max_scroll_y > 0)
        await player.pilot.press("home")
        await player.wait_until(lambda: text.scroll_y == 0)
        await player.pilot.press("down", "space", "up", "escape")
        await player.see("Your turn.")
        await player.pilot.press("?")
        await player.see("Keys arrows move the cursor to a cell or a move")
        await player.pilot.press("q")
        await player.see("Your turn.")

    at_board(live, act)


def test_a_review_on_the_board_begins_with_the_reasons() -> None:
    live = live_match("lights", two="novice", entries="1 3-4 6 2 5 7")

    async def act(player: Player) -> None:
        await player.see("You lost.")
        await player.pilot.press("v")
        await player.see("Press Escape to go back to the board")
        heading, players, blank, title, *_ = player.screen_text.splitlines()
        assert heading.strip() == "lights: novice wins by turning OFF the last light."
        assert players.strip() == "You were Player 1, against novice (Player 2)."
        assert (blank.strip(), title.strip()) == ("", "Why you lost:")

    at_board(live, act)


@pytest.mark.parametrize(
    ("command", "question", "refusals"), [("r", "Do you want to resign?", "n"), ("u", "Take back only", "nn")]
)
@pytest.mark.parametrize("ahead", ["4", "enter"])
def test_a_key_right_after_a_command_is_not_a_move(
    command: str, question: str, refusals: str, ahead: str
) -> None:
    """Send keys at once, as a terminal does. The pilot would wait after each key."""
    live = live_match("lights", entries="1 7")

    async def act(player: Player) -> None:
        for key in (command, ahead):
            player.app.post_message(events.Key(key, key if len(key) == 1 else None))
        await player.see(question)
        assert lines_of(live.match) == ["1", "7"]
        await player.pilot.press(*refusals)
        await player.press("3")

    at_board(live, act)
    assert lines_of(live.match) == ["1", "7", "3"]


def test_a_late_answer_to_a_question_changes_nothing() -> None:
    live = live_match("lights", entries="1 7")

    async def act(player: Player) -> None:
        await player.pilot.press("r")
        await player.see("Do you want to resign?")
        player.app._play_or_redraw(player.live.match.actions[0])
        await player.wait_until(lambda: len(live.match.turns) == 3 and player.app.choice is not None)
        await player.pilot.press("y")
        await player.see("your turn")

    at_board(live, act)
    assert not live.match.over


def test_resigning_needs_a_confirmation() -> None:
    live = live_match("chain", two="novice")

    async def act(player: Player) -> None:
        await player.pilot.press("r")
        await player.see("Do you want to resign?")
        await player.press("n")
        assert not live.match.over
        await player.pilot.press("r")
        await player.see("Do you want to resign?")
        await player.pilot.press("y")
        await player.see("You lost.")
        await player.pilot.press("v")
        await player.see("Press Escape to go back to the board")
        await player.pilot.press("escape", "n")
        assert await player.wait_for_exit() is NextStep.NEW_GAME

    at_board(live, act)
    assert lines_of(live.match) == ["resign"]


@pytest.mark.parametrize("word", ["review", "1"])
def test_a_word_after_a_match_chooses_nothing(word: str) -> None:
    async def act(player: Player) -> None:
        await player.see("r rematch s swap seats")
        await player.pilot.press(*word)
        await player.see("Press r, s, v, n or q.")
        assert player.app.screen is player.app.get_default_screen()
        await player.pilot.pause(3 * SILENCE_SECONDS)
        assert player.app.return_value is None
        await player.pilot.press("n", "enter")  # Enter is optional
        assert await player.wait_for_exit() is NextStep.NEW_GAME

    at_board(live_match("lights", two="novice", entries="1 2 3 4 5 6 7"), act)


def test_the_rules_are_one_key_away_after_a_match() -> None:
    async def act(player: Player) -> None:
        await player.see("r rematch s swap seats")
        await player.pilot.press("?")
        await player.see("Keys arrows move the cursor to a cell or a move")

    at_board(live_match("lights", two="novice", entries="1 2 3 4 5 6 7"), act)


def test_q_leaves_unless_the_game_uses_it() -> None:
    async def leave(player: Player) -> None:
        await player.pilot.press("q")
        assert isinstance(await player.wait_for_exit(), Quit)

    at_board(live_match("lights", two="novice"), leave)

    async def flip(player: Player) -> None:
        assert "F10 quit" in player.screen_text
        await player.press("q")
        assert "(•) Quantum Flip" in player.screen_text
        await player.pilot.press("ctrl+q")
        assert isinstance(await player.wait_for_exit(), Quit)

    at_board(live_match("flip", two="novice"), flip)


def test_the_number_of_the_board_is_shown_and_both_may_agree_to_stop() -> None:
    live = live_match("chain", entries=" ".join("1234567" + "123456"))

    async def act(player: Player) -> None:
        await player.see("your turn. Board 2.")
        assert "s stop" not in player.screen_words
        await player.press("s")
        await player.see("You can agree to stop from board 3 on. This is board 2.")
        await player.press("7")
        await player.see("your turn. Board 3.")
        keys = "arrows choose  h hint  u undo  v review  r resign  s stop  ? help  q quit"
        assert player.screen_text.splitlines()[-1].strip() == keys, "they fit into a line of 80 columns"
        await player.pilot.press("s")
        await player.see("Player 2, do you agree to stop? Nobody wins.")
        await player.press("n")
        await player.see("Proposal declined.")
        await player.pilot.press("f6")
        await player.see("do you agree to stop?")
        await player.press("y")
        await player.see("The players agreed to stop.")
        assert "Board" not in player.screen_text.replace("Initial Board", "")

    at_board(live, act)
    assert lines_of(live.match)[-1] == "stop by agreement"


def test_a_machine_agrees_to_stop() -> None:
    live = live_match("chain", two="novice", entries=" ".join("1234567" * 2))

    async def act(player: Player) -> None:
        await player.pilot.press("s")
        await player.see("Do you want to stop? Nobody wins.")
        await player.press("y")
        await player.see("Nobody won.")

    at_board(live, act)
    assert live.match.outcome
    assert live.match.outcome.code == "cut off"


def test_other_games_have_no_key_to_stop() -> None:
    async def act(player: Player) -> None:
        await player.press("s")
        assert "stop" not in player.screen_words
        await player.pilot.press("?")
        await player.see("resign: give up")
        assert "stop:" not in player.screen_words

    at_board(live_match("lights", two="novice"), act)
