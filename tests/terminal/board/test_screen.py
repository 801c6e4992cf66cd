"""The board fits on the screen at every size and shows no secret."""

import pytest

from duels.core.rules import Seat
from duels.terminal.board.view import BoardView
from tests.support import GAME_NAMES
from tests.terminal.board.pilot import SIZES, Player, at_board, live_match


@pytest.mark.parametrize("size", [*SIZES, (60, 20)])
@pytest.mark.parametrize("game", GAME_NAMES)
def test_the_whole_board_and_the_keys_are_on_the_screen(game: str, size: tuple[int, int]) -> None:
    async def act(player: Player) -> None:
        for round_ in range(2):
            if player.live.match.over:
                break
            view = player.app.screen.query_one(BoardView)
            pane = player.app.screen.query_one("#left")
            assert pane.region.contains_region(view.region), "the board fits without scrolling"
            assert "h hint" in player.screen_text
            assert "quit" in player.screen_text
            assert player.live.match.rules.game.title[:12] in player.screen_text
            assert "You are Player 2" in player.screen_text
            await player.press("enter")
            assert len(player.screen_text.splitlines()) <= size[1], round_

    at_board(live_match(game, one="club"), act, size)


@pytest.mark.parametrize("game", GAME_NAMES)
def test_a_large_terminal_shows_large_boxes_and_the_end_of_the_story(game: str) -> None:
    async def act(player: Player) -> None:
        grid = player.app.screen.query_one(BoardView)._grid
        assert grid.width >= 9
        assert grid.height >= 4
        story = player.app.screen.query_one("#right")
        assert story.size.height >= 8

    at_board(live_match(game, two="novice"), act, (120, 40))


@pytest.mark.parametrize("size", SIZES)
def test_a_row_of_seven_cells_stays_whole(size: tuple[int, int]) -> None:
    async def act(player: Player) -> None:
        assert len(player.app.screen.query_one(BoardView)._grid.rows) == 1

    at_board(live_match("chain", two="novice"), act, size)
    at_board(live_match("chain", two="novice"), act, (60, 20))


def test_twelve_lights_are_one_row_above_the_story() -> None:
    async def act(player: Player) -> None:
        assert len(player.app.screen.query_one(BoardView)._grid.rows) == 1

    at_board(live_match("lights", two="novice", lights=12), act, (80, 24))


def test_a_low_terminal_shows_the_score_above_the_story() -> None:
    async def act(player: Player) -> None:
        await player.see("Scoreboard:")
        status, story = (player.app.screen.query_one(name) for name in ("#status", "#story"))
        assert status.region.y < story.region.y

    at_board(live_match("flip", two="novice"), act, (60, 20))


@pytest.mark.parametrize("size", [*SIZES, (60, 20)])
def test_no_message_pushes_a_cell_away(size: tuple[int, int]) -> None:
    async def act(player: Player) -> None:
        view, pane = player.app.screen.query_one(BoardView), player.app.screen.query_one("#left")
        await player.press("9")
        assert "9 is not a divisor of 2." in player.screen_words
        assert pane.region.contains_region(view.region)
        await player.press("escape")
        for words in (30, 300):
            player.app.notice("message " * words)
            await player.see("message message")
            await player.pilot.pause()
            assert pane.region.contains_region(view.region), words
            assert "21" in player.screen_text

    at_board(live_match("leap", two="novice", entries="enter enter 1 1"), act, size)


def test_the_first_move_of_a_machine_is_marked() -> None:
    async def act(player: Player) -> None:
        assert "•" in player.screen_text

    at_board(live_match("lights", one="novice"), act)


def test_hunts_board_never_shows_the_opponents_token() -> None:
    """The drawing does not depend on the cell of the other player's token."""

    def screen(cell: int) -> str:
        live = live_match("hunt", two="novice")
        for action in ("move 4", "observe 1", f"move {cell}", "observe 7"):
            match = live.match.play_text(action)
            assert match.last
            live.play(match.last.actor, match.last.action)
        screens: list[str] = []

        async def record_screen(player: Player) -> None:
            screens.append(player.screen_text)

        at_board(live, record_screen)
        return screens[0]

    assert len({screen(cell) for cell in (2, 3, 6)}) == 1
    assert "novice: (hidden)" in screen(2)


@pytest.mark.parametrize("size", [*SIZES, (60, 20)])
@pytest.mark.parametrize(("ending", "theirs"), [(("move 3", "observe 5"), "3"), (("resign",), "2")])
def test_a_finished_match_of_hunt_shows_both_tokens(
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
        lines = player.screen_text.splitlines()
        start = next(number for number, line in enumerate(lines) if "[1][2][3]" in line)
        numbers, one, two = lines[start : start + 3]
        assert [one.split()[0], two.split()[0]] == ["You", "novice"]
        assert numbers.index("5") == one.index("@" if ending == ("resign",) else "Q")
        assert numbers.index(theirs) == two.index("@")

    at_board(live, act, size)


def test_a_small_terminal_shows_a_message_until_it_is_larger() -> None:
    async def act(player: Player) -> None:
        await player.see("The board needs 60 columns and 20 rows. This terminal has 50 and 20.")
        await player.see("Make it larger, or press F10 to leave: the match is saved.")
        await player.pilot.resize_terminal(100, 30)
        await player.see("Your turn.")
        assert "The board needs" not in player.screen_text

    at_board(live_match("flip", two="novice"), act, (50, 20))


def test_hunt_asks_for_the_observation_after_the_movement() -> None:
    async def act(player: Player) -> None:
        assert "(•) move ( ) tunnel Tab changes" in player.screen_words
        await player.press("4")
        assert "Your turn. Which position do you observe? OBSERVE n:" in player.screen_words
        assert "Tab changes" not in player.screen_words

    at_board(live_match("hunt", two="novice"), act)


def test_the_board_does_not_move_when_a_challenge_is_offered() -> None:
    columns: list[int] = []

    async def act(player: Player) -> None:
        columns.append(player.app.screen.query_one(BoardView).region.x)
        await player.press("2")
        assert player.app.choice
        assert player.app.choice.listed_options
        columns.append(player.app.screen.query_one(BoardView).region.x)

    at_board(live_match("chain", entries="1 7"), act, SIZES[1])
    assert len(set(columns)) == 1


def test_signs_mark_the_cursor_and_the_picked_cells() -> None:
    async def act(player: Player) -> None:
        assert ">     <     │" in player.screen_text
        await player.press("q", "enter")
        assert "[     >     <" in player.screen_text

    at_board(live_match("flip", two="novice"), act)


def test_a_key_and_its_label_stay_in_one_row() -> None:
    async def act(player: Player) -> None:
        await player.see("Your turn.")
        for what in ("h hint", "u undo", "v review", "r resign", "? help", "q quit"):
            assert what in player.screen_text, "in one row"

    at_board(live_match("lights", two="novice"), act, (60, 20))


def test_a_long_hint_in_a_low_terminal_has_a_page_of_its_own() -> None:
    async def act(player: Player) -> None:
        await player.pilot.press("h")
        await player.see("Press h again for advice.")
        await player.see("Press Escape to go back to the board")
        await player.pilot.press("escape")
        await player.see("Scoreboard:")

    at_board(live_match("flip", two="novice"), act, (60, 20))
