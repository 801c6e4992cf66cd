"""The board, played by Textual's pilot: every game to its end, by keys and mouse, and all beside it."""

import threading
from pathlib import Path
from random import Random
from typing import Any, NoReturn

import pytest
from duels_tictactoe import GAME as TICTACTOE
from textual import events

from duels.analysis.hints import hint
from duels.core.record import dumps
from duels.core.rules import Seat
from duels.core.words import plain
from duels.games import load_record
from duels.play.library import read_record
from duels.players.failures import Failed, Failure, NoMove
from duels.solving import oracles
from duels.solving.oracle import Oracle
from duels.solving.oracles import oracle_for
from duels.solving.progress import Progress
from duels.terminal.after import After
from duels.terminal.board import app
from duels.terminal.board.app import BoardApp
from duels.terminal.board.choice import Choice
from duels.terminal.board.story import Story
from duels.terminal.board.view import BoardView
from duels.terminal.keyboard import SILENCE
from duels.terminal.prompts import Quit
from tests.support import GAME_NAMES, AnyRules, lines_of
from tests.terminal.board.pilot import SIZES, Player, at_board, live_match

ROUNDS = 25  # of decisions: longer matches are given up


async def by_cursor(player: Player) -> None:
    """Choose whatever the cursor points at, after a few steps."""
    for _ in range(ROUNDS):
        if player.live.match.over:
            return
        await player.press("right", "enter")
        if player.app.choice and player.app.choice.chosen:
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
        assert await player.left() is After.SWAP

    at_board(live, act)
    assert live.match.over
    assert lines_of(read_record(path).match) == lines_of(live.match)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("game", GAME_NAMES)
def test_the_whole_board_and_the_keys_are_on_the_screen(game: str, size: tuple[int, int]) -> None:
    async def act(player: Player) -> None:
        for round_ in range(2):
            if player.live.match.over:
                break
            view = player.app.screen.query_one(BoardView)
            pane = player.app.screen.query_one("#left")
            assert pane.region.contains_region(view.region), "nothing need be scrolled"
            assert "h hint" in player.shown
            assert "quit" in player.shown
            assert f"{player.live.match.rules.game.title} ({game})" in player.shown
            assert "You are Player 2" in player.shown
            await player.press("enter")
            assert len(player.shown.splitlines()) <= size[1], round_

    at_board(live_match(game, one="club"), act, size)


@pytest.mark.parametrize("size", [*SIZES, (60, 20)])
def test_no_message_pushes_a_cell_away(size: tuple[int, int]) -> None:
    async def act(player: Player) -> None:
        view, pane = player.app.screen.query_one(BoardView), player.app.screen.query_one("#left")
        await player.press("9")
        assert "9 is not a divisor of 2." in player.story
        assert pane.region.contains_region(view.region)
        await player.press("escape")
        for words in (30, 300):
            player.app.notice("message " * words)
            await player.see("message message")
            await player.pilot.pause()
            assert pane.region.contains_region(view.region), words
            assert "21" in player.shown

    at_board(live_match("leap", two="novice", entries="enter enter 1 1"), act, size)


def test_two_people_play_lights() -> None:
    live = live_match("lights")

    async def act(player: Player) -> None:
        assert "Player 1 and Player 2" in player.shown
        assert "Player 1, your turn." in player.shown
        await player.press("4")
        assert "Player 2, your turn." in player.shown
        assert "Player 1: 4 Turning OFF light 4." in player.story
        await player.press("t", "2")  # the first of two, as the book asks for it
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
        assert "Enter the coordinates of the first tile:" in player.shown
        await player.click(25)
        assert "adjacent second tile:" in player.shown
        assert player.app.choice
        assert player.app.choice.cells <= {20, 24}

    at_board(live, act)
    assert lines_of(live.match)[0] == "B2"


def test_a_mouse_is_enough() -> None:
    live = live_match("chain", entries="1 7 2")

    async def act(player: Player) -> None:
        assert player.app.choice
        row = next(line for line in player.shown.splitlines() if "[ no: accept" in line)
        left = row.index("> yes")
        await player.pilot.click("#list", offset=(row.index("accept") - left, 0))
        await player.asked()
        keys = player.shown.splitlines()[-1]
        await player.pilot.click("#keys", offset=(keys.index("resign") - 1, 0))
        await player.see("Do you want to resign?")
        answers = next(line for line in player.shown.splitlines() if "y yes" in line)
        widget = player.app.screen.query("Static").last()
        await player.pilot.click(widget, offset=(answers.index("y yes") - widget.region.x, 0))
        await player.see("Player 2 resigns.")

    at_board(live, act)
    assert lines_of(live.match)[3:] == ["accept", "resign"]


def test_actions_without_a_place_are_chosen_from_a_list() -> None:
    """Chain's challenge has no cell; tic-tac-toe says of no action where it is made."""
    live = live_match("chain", entries="1 7 2")

    async def challenge(player: Player) -> None:
        assert "> yes: challenge < [ no: accept" in player.shown
        assert "Player 2, do you want to challenge? (yes/no):" in player.shown
        assert "X?" in player.shown, "the doubtful symbol is on the board"
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


def test_a_number_that_could_go_on_waits_for_enter() -> None:
    live = live_match("lights", lights=12)

    async def act(player: Player) -> None:
        await player.press("1")
        assert "turn OFF: 1_" in player.shown
        await player.press("2")
        await player.press("1", "enter")
        await player.press("1", "escape", "9")

    at_board(live, act)
    assert lines_of(live.match) == ["12", "1", "9"]


def test_leap_takes_the_numbers_of_the_book(tmp_path: Path) -> None:
    live = live_match("leap", two="novice", entries="enter enter 1 1 2 2")

    async def act(player: Player) -> None:
        assert "Possible moves: 1, 2, 4" in player.shown
        await player.press("4")

    at_board(live, act)
    assert lines_of(live.match)[6] == "4", "to cell 8, not to cell 4"


def test_undo_takes_back_to_ones_own_last_decision() -> None:
    live = live_match("lights", two="novice")

    async def act(player: Player) -> None:
        await player.press("u")
        await player.see("There is no decision of yours to take back.")
        await player.press("4")
        assert "Turning OFF light 4." in player.story
        await player.press("u")
        await player.see("Taken back: 2 entries.")
        assert "Turning OFF" not in player.shown

    at_board(live, act)
    assert lines_of(live.match) == []


def test_between_two_people_the_other_is_asked_first() -> None:
    live = live_match("lights", entries="4 1 7")

    async def act(player: Player) -> None:
        await player.pilot.press("u")
        await player.see("Player 1, do you agree to take it back?")
        await player.press("n")
        await player.see("It stands.")
        await player.pilot.press("u")
        await player.see("do you agree")
        await player.press("y")
        await player.see("Taken back: 2 entries.")

    at_board(live, act)
    assert lines_of(live.match) == ["4"]


def test_a_hint_points_at_the_best_action() -> None:
    live = live_match("lights", two="novice", entries="4 1")

    async def act(player: Player) -> None:
        await player.pilot.press("h")
        await player.see("Why: press h again.")
        assert "nim-sum" not in player.shown
        await player.pilot.press("h")
        await player.see("nim-sum")
        assert "(Nim-sum: every run is worth a number" in player.story
        await player.press("enter")

    at_board(live, act)
    best = hint(live.match.after(2).sight(Seat.ONE)).actions
    assert live.match.turns[2].action in best


def test_a_hint_names_the_key_that_tells_why(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the game takes h, another key gives hints."""
    monkeypatch.setattr(Choice, "takes", lambda choice, letter: letter == "h")
    live = live_match("lights")

    async def act(player: Player) -> None:
        assert "F2 hint" in player.shown
        await player.pilot.press("f2")
        await player.see("press F2 again.")

    at_board(live, act)


def test_the_first_move_of_a_machine_is_marked_as_a_later_one_is() -> None:
    async def act(player: Player) -> None:
        assert "•" in player.shown

    at_board(live_match("lights", one="novice"), act)


def test_a_review_and_the_rules_are_one_key_away() -> None:
    live = live_match("lights", two="novice", entries="4 1")

    async def act(player: Player) -> None:
        await player.pilot.press("v")
        await player.see("Escape goes back to the board")
        assert "4" in player.shown
        text = player.app.screen.query_one("#text")
        await player.pilot.press("end")
        assert text.scroll_y == text.max_scroll_y > 0
        await player.pilot.press("home")
        assert text.scroll_y == 0
        await player.pilot.press("down", "space", "up", "escape")
        await player.see("Your turn.")
        await player.pilot.press("?")
        await player.see("Keys arrows point at a cell or an action")
        await player.pilot.press("q")
        await player.see("Your turn.")

    at_board(live, act)


@pytest.mark.parametrize(("command", "question"), [("r", "Do you want to resign?"), ("u", "do you agree")])
@pytest.mark.parametrize("ahead", ["4", "enter"])
def test_a_key_right_after_a_command_is_not_a_move(command: str, question: str, ahead: str) -> None:
    """Keys that come at once, as a terminal sends them, where the pilot would wait after each."""
    live = live_match("lights", entries="1 7")

    async def act(player: Player) -> None:
        for key in (command, ahead):
            player.app.post_message(events.Key(key, key if len(key) == 1 else None))
        await player.see(question)
        assert lines_of(live.match) == ["1", "7"]
        await player.press("n")
        await player.press("3")

    at_board(live, act)
    assert lines_of(live.match) == ["1", "7", "3"]


def test_an_answer_to_a_question_about_a_choice_made_since_changes_nothing() -> None:
    live = live_match("lights", entries="1 7")

    async def act(player: Player) -> None:
        await player.pilot.press("r")
        await player.see("Do you want to resign?")
        player.app._enter(player.live.match.actions[0])
        await player.until(lambda: len(live.match.turns) == 3 and player.app.choice is not None)
        await player.pilot.press("y")
        await player.see("your turn")

    at_board(live, act)
    assert not live.match.over


def test_resigning_is_asked_for_once() -> None:
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
        await player.see("Escape goes back to the board")
        await player.pilot.press("escape", "n")
        assert await player.left() is After.NEW_GAME

    at_board(live, act)
    assert lines_of(live.match) == ["resign"]


@pytest.mark.parametrize("word", ["review", "1"])
def test_a_word_is_no_choice_after_a_match(word: str) -> None:
    async def act(player: Player) -> None:
        await player.see("r rematch s swap seats")
        await player.pilot.press(*word)
        await player.see("Press r, s, v, n or q.")
        assert player.app.screen is player.app.get_default_screen()
        await player.pilot.pause(3 * SILENCE)
        assert player.app.return_value is None
        await player.pilot.press("n", "enter")  # Enter is not needed, and does no harm
        assert await player.left() is After.NEW_GAME

    at_board(live_match("lights", two="novice", entries="1 2 3 4 5 6 7"), act)


def test_the_rules_are_one_key_away_after_a_match() -> None:
    async def act(player: Player) -> None:
        await player.see("r rematch s swap seats")
        await player.pilot.press("?")
        await player.see("Keys arrows point at a cell or an action")

    at_board(live_match("lights", two="novice", entries="1 2 3 4 5 6 7"), act)


def test_q_leaves_where_it_means_nothing_else() -> None:
    async def leave(player: Player) -> None:
        await player.pilot.press("q")
        assert isinstance(await player.left(), Quit)

    at_board(live_match("lights", two="novice"), leave)

    async def flip(player: Player) -> None:
        assert "F10 quit" in player.shown
        await player.press("q")
        assert "(•) Quantum Flip" in player.shown
        await player.pilot.press("ctrl+q")
        assert isinstance(await player.left(), Quit)

    at_board(live_match("flip", two="novice"), flip)


def test_the_machine_takes_a_moment_that_a_key_cuts_short() -> None:
    live = live_match("lights", two="novice")

    async def act(player: Player) -> None:
        await player.pilot.press("4")
        await player.see("novice is thinking")
        await player.press("space")

    at_board(live, act, moment=3600.0)
    assert len(live.match.turns) == 2


def test_a_key_that_comes_too_late_to_cut_the_pause_short_plays_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(app, "ALONE", 3600.0)
    live = live_match("lights", two="novice")

    async def act(player: Player) -> None:
        await player.pilot.press("enter")
        assert len(live.match.turns) == 1, "no pause came before the first decision"
        await player.see("novice is thinking")
        await player.press("space")
        assert len(live.match.turns) == 2
        await player.press("enter", "space")
        assert len(live.match.turns) == 2
        player.app._too_late = 0.0
        await player.pilot.press("enter")
        assert len(live.match.turns) == 3

    at_board(live, act, moment=3600.0)


def test_why_a_program_forfeited_stays_on_the_screen() -> None:
    live = live_match("lights")
    live.players = {Seat.ONE: None, Seat.TWO: Silent()}

    async def act(player: Player) -> None:
        await player.press("4")
        await player.see("r rematch s swap seats")
        assert "silent gave no move in 1 attempt" in player.story

    at_board(live, act)


class Silent:
    """A player from whom no move comes."""

    name = "silent"

    def choose(self, sight: object, rng: Random) -> NoReturn:
        raise NoMove("silent", (Failed(Failure.CRASHED, "it said nothing"),))


class Slow:
    """Something that takes until it is let go, and says how far it is."""

    def __init__(self) -> None:
        self.begun = 0
        self.told: list[Progress] = []
        self.go_on = threading.Event()

    def __call__(self, rules: AnyRules, told: Progress) -> Oracle[Any, Any]:
        self.begun += 1
        self.told.append(told)
        self.go_on.wait(60)
        return oracle_for(rules)


def test_what_is_asked_for_twice_is_worked_out_once(monkeypatch: pytest.MonkeyPatch) -> None:
    slow = Slow()
    monkeypatch.setattr(oracles, "oracle_for", slow)

    async def act(player: Player) -> None:
        await player.pilot.press("h", "h", "h")
        await player.see("thinking …")
        assert slow.begun == 1
        slow.told[0]("halfway")
        await player.see("thinking: halfway")
        slow.go_on.set()
        await player.see("Why: press h again.")

    at_board(live_match("lights", entries="4 1"), act)


@pytest.mark.parametrize("keys", ["3", "rn"])
def test_nothing_is_heard_of_work_that_nobody_waits_for(keys: str, monkeypatch: pytest.MonkeyPatch) -> None:
    slow = Slow()
    monkeypatch.setattr(oracles, "oracle_for", slow)

    async def act(player: Player) -> None:
        await player.pilot.press("h")
        await player.see("thinking …")
        await player.press(*keys)
        assert "thinking" not in player.story
        slow.told[0]("halfway")
        slow.go_on.set()
        await player.pilot.pause(0.05)
        assert "halfway" not in player.story
        assert "Hint" not in player.story

    at_board(live_match("lights", entries="4 1"), act)


def test_the_other_token_is_never_on_the_board_of_hunt() -> None:
    """All that is drawn is the same for every place where the other's token may be."""

    def screen(cell: int) -> str:
        live = live_match("hunt", two="novice")
        for action in ("move 4", "observe 1", f"move {cell}", "observe 7"):
            match = live.match.play_text(action)
            assert match.last
            live.play(match.last.actor, match.last.action)
        shown: list[str] = []

        async def look(player: Player) -> None:
            shown.append(player.shown)

        at_board(live, look)
        return shown[0]

    assert len({screen(cell) for cell in (2, 3, 6)}) == 1
    assert "novice: (hidden)" in screen(2)


@pytest.mark.parametrize("size", [*SIZES, (60, 20)])
@pytest.mark.parametrize(("ending", "theirs"), [(("move 3", "observe 5"), "3"), (("resign",), "2")])
def test_a_match_of_hunt_that_is_over_shows_both_tokens(
    ending: tuple[str, ...], theirs: str, size: tuple[int, int]
) -> None:
    live = live_match("hunt", two="novice")
    before = ("move 4", "observe 1", "move 2", "observe 7", "move 5", "observe 3")
    for action in (*before, *ending):
        match = live.match.play_text(action)
        assert match.last
        if action == "resign":
            live.resign(Seat.TWO)
        else:
            live.play(match.last.actor, match.last.action)

    async def act(player: Player) -> None:
        await player.see("rematch")
        pane = player.app.screen.query_one("#left")
        assert pane.region.contains_region(player.app.screen.query_one("#below").region)
        lines = player.shown.splitlines()
        numbers = next(line for line in lines if "[1][2][3]" in line)
        one, two = (next(line for line in lines if f"{seat.label}  " in line) for seat in Seat)
        assert numbers.index("5") == one.index("@")
        assert numbers.index(theirs) == two.index("@")

    at_board(live, act, size)


def test_a_terminal_that_is_too_small_says_so_until_it_is_larger() -> None:
    async def act(player: Player) -> None:
        await player.see("The board needs 60 columns and 24 rows; this terminal has 50 and 20.")
        await player.see("Make it larger, or press F10 to leave: the match is saved.")
        await player.pilot.resize_terminal(100, 30)
        await player.see("Your turn.")
        assert "The board needs" not in player.shown

    at_board(live_match("flip", two="novice"), act, (50, 20))


def test_a_chance_that_cannot_come_is_told_by_the_thread_that_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn_by: list[int] = []
    draw = BoardApp._draw

    def noted(board: BoardApp) -> None:
        drawn_by.append(threading.get_ident())
        draw(board)

    monkeypatch.setattr(BoardApp, "_draw", noted)
    live = live_match("flip", chance="5,5")

    async def act(player: Player) -> None:
        live._notice = player.app.notice
        await player.press("a", "1")
        await player.see("'5,5' cannot come now")

    at_board(live, act)
    assert set(drawn_by) == {threading.get_ident()}


def test_chance_notices_and_errors_reach_the_person(tmp_path: Path) -> None:
    live = live_match("lights", two="novice", path=tmp_path / "match.duel")

    async def act(player: Player) -> None:
        player.app.notice("Something about the file.")
        await player.see("Something about the file.")
        assert live.journal
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(live.journal, "_write", _fail)
            await player.pilot.press("4")
            assert isinstance(await player.left(), OSError)

    at_board(live, act)
    assert lines_of(live.match) == [], "what is not on disk was not played"


def _fail(text: str) -> None:
    raise OSError(28, "No space left on device")


def test_random_keys_do_no_harm() -> None:
    rng = Random(5)
    keys = ["enter", "tab", "left", "up", "escape", "space", "backspace", *"0123456789abcmtoqfyn+-", "x"]
    live = live_match("flip", two="greedy")

    async def act(player: Player) -> None:
        await player.pilot.press(*(rng.choice([key for key in keys if key != "q"]) for _ in range(40)))
        await player.asked()

    at_board(live, act)
    assert lines_of(load_record(dumps(live.match)).match) == lines_of(live.match)


def test_the_machines_answer_is_in_sight_when_the_log_begins_to_scroll() -> None:
    async def act(player: Player) -> None:
        for step in ("1", "2", "1"):
            await player.press(step)
            log = player.app.screen.query_one("#right")
            assert log.scroll_offset.y == log.max_scroll_y
            last = [line.rpartition("│")[2].strip() for line in player.shown.splitlines() if "│" in line]
            assert next(line for line in reversed(last) if line).startswith("expert moved to cell")
            assert "expert: " in player.shown

    at_board(live_match("leap", two="expert"), act)


@pytest.mark.parametrize(
    ("game", "entries", "mine", "theirs"),
    [
        ("lights", "4 1-2", "Turning OFF light 4.", "novice turned off lights 1 and 2."),
        ("leap", "enter enter 1 1", "You move to cell 2.", "novice moved to cell 2."),
        (
            "flip",
            "A1 3 B1 4",
            "You flipped tile A1 revealing a 3.",
            "novice flipped tile B1, a 4, and has 4.",
        ),
        ("chain", "1 7 4 6 accept", "You have observed cell 4.", "Cell 6 is novice's."),
        (
            "chain",
            "1 7 4 6 challenge tails",
            "You have observed cell 4.",
            "Cell 6 reverts, and is not novice's.",
        ),
    ],
)
def test_the_log_speaks_to_the_person_of_its_own_moves_alone(
    game: str, entries: str, mine: str, theirs: str
) -> None:
    live = live_match(game, two="novice", entries=entries)
    told = plain(Story(live).text)
    assert "You (Player 1): " in told, "as the book calls whoever plays"
    assert mine in told
    assert told.endswith(theirs)
    two = plain(Story(live_match(game, entries=entries)).text)
    assert theirs not in two, "the book speaks to either of two people"


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
def test_a_key_that_cannot_be_is_refused_in_the_games_words(
    game: str, entries: str, keys: str, answer: str
) -> None:
    live = live_match(game, two="human" if game != "hunt" else "novice", entries=entries)
    before = len(live.match.turns)

    async def act(player: Player) -> None:
        await player.press(keys)
        assert answer in player.story
        await player.press("escape")
        assert answer not in player.story

    at_board(live, act)
    assert len(live.match.turns) == before


def test_a_cell_that_cannot_be_chosen_is_refused_when_clicked() -> None:
    async def act(player: Player) -> None:
        await player.click(4)
        assert "Cell 4 is already observed." in player.story

    at_board(live_match("chain", entries="4 5"), act)

    async def leap(player: Player) -> None:
        await player.click(20)
        assert "20 is" not in player.story, "a cell is no number of steps"
        assert player.app.choice
        assert player.app.choice.refusal.startswith("Possible moves: ")

    at_board(live_match("leap", entries="enter enter"), leap)


def test_hunt_says_that_one_now_observes() -> None:
    async def act(player: Player) -> None:
        assert "(•) move ( ) tunnel Tab changes" in player.story
        await player.press("4")
        assert "(•) observe Enters:" in player.story
        assert "Tab changes" not in player.story

    at_board(live_match("hunt", two="novice"), act)


def test_the_board_stays_where_it_is_while_a_challenge_is_asked() -> None:
    columns: list[int] = []

    async def act(player: Player) -> None:
        columns.append(player.app.screen.query_one(BoardView).region.x)
        await player.press("2")
        assert player.app.choice
        assert player.app.choice.listed
        columns.append(player.app.screen.query_one(BoardView).region.x)

    at_board(live_match("chain", entries="1 7"), act, SIZES[1])
    assert len(set(columns)) == 1


def test_signs_say_where_the_cursor_is_and_what_is_chosen() -> None:
    async def act(player: Player) -> None:
        assert ">     <     │" in player.shown
        await player.press("q", "enter")
        assert "[     >     <" in player.shown

    at_board(live_match("flip", two="novice"), act)


def test_no_key_is_torn_from_what_it_does() -> None:
    async def act(player: Player) -> None:
        await player.see("Your turn.")
        for what in ("h hint", "u undo", "v review", "r resign", "? help", "q quit"):
            assert what in player.shown, "in one row"

    at_board(live_match("lights", two="novice"), act, (60, 20))
