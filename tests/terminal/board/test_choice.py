"""Every legal action can be chosen by cells and by typing, and no other."""

from itertools import permutations
from random import Random

import pytest
from duels_liarsdice import GAME as LIARSDICE
from duels_tictactoe import GAME as TICTACTOE

from duels.core.match import AnyMatch, Match
from duels.core.rules import AnyRules, Seat
from duels.core.words import strip_ink
from duels.games import find_game
from duels.terminal.board.choice import Choice
from duels.terminal.board.grid import BoardGrid, find_changed_cells, fit_grid
from tests.support import GAME_NAMES, all_rules, play_randomly

EVERY = [*all_rules(), TICTACTOE.rules(), LIARSDICE.rules()]


def decisions(rules: AnyRules, count: int) -> list[AnyMatch]:
    """Return some matches with a player to move."""
    rng = Random(4)
    matches: list[AnyMatch] = []
    while len(matches) < count:
        match = play_randomly(Match.start(rules), rng, rng.randrange(20))
        words = rules.game.words(rules)
        if isinstance(match.actor, Seat) and any(True for _ in words.ask(match.sight(match.actor))):
            matches.append(match)
    return matches


def choice_in(match: AnyMatch) -> Choice:
    assert isinstance(match.actor, Seat)
    sight = match.sight(match.actor)
    words = match.rules.game.words(match.rules)
    cells = words.board(sight).cells
    return Choice(sight, words, {cell.label: cell.number for row in cells for cell in row})


@pytest.mark.parametrize("rules", EVERY, ids=repr)
def test_every_legal_action_can_be_chosen(rules: AnyRules) -> None:
    """Choose it by its cells in any order, from the list, or by typing its name."""
    for match in decisions(rules, 8):
        for action in match.actions:
            choice = choice_in(match)
            cells = choice.select_kind_of(action)
            if not cells:
                assert action in [option.action for option in choice.listed_options]
            for order in permutations(cells) if cells else ():
                choice.clear()
                picked = None
                for cell in order:
                    picked = picked or choice.pick(cell)
                assert picked == action
            choice.clear()
            typed = None
            for letter in rules.format(action).lower().split()[-1]:
                if choice.accepts(letter) and typed is None:
                    typed = choice.type_letter(letter)
            assert (typed or choice.confirm()) == action, "the notation of records"


@pytest.mark.parametrize(
    ("lights", "typed", "name"),
    [
        (12, "12", "11-12"),
        (12, "1-2", "1-2"),
        (12, "1 ", "1-2"),
        (12, "10", "10-11"),
        (30, "23", "23-24"),
        (30, "2-3", "2-3"),
        (30, "2 ", "2-3"),
        (30, "30", "29-30"),
        (7, "2", "2-3"),
        (7, "7", "6-7"),
    ],
)
def test_a_number_selects_the_light_with_that_label(lights: int, typed: str, name: str) -> None:
    """A space in `typed` means Enter."""
    match = Match.start(find_game("lights").rules(lights=lights))
    choice = choice_in(match)
    choice.switch("two adjacent lights")
    for letter in typed[:-1]:
        assert choice.accepts(letter)
        assert choice.type_letter(letter) is None, "not unique yet"
    action = choice.confirm() if typed.endswith(" ") else choice.type_letter(typed[-1])
    assert match.rules.format(action) == name


@pytest.mark.parametrize("rules", EVERY, ids=repr)
def test_random_keys_and_picks_give_only_legal_actions(rules: AnyRules) -> None:
    rng = Random(9)
    for match in decisions(rules, 8):
        choice = choice_in(match)
        for _ in range(60):
            chosen = choice.type_letter(rng.choice("0123456789abcdemtqfo-+ ")) if rng.random() < 0.5 else None
            chosen = chosen or choice.pick(rng.randrange(-1, 30))
            assert chosen is None or chosen in match.actions
            assert choice.options, "an option is always left"
            if rng.random() < 0.1:
                choice.switch_to_next_kind()


@pytest.mark.parametrize("game", GAME_NAMES)
def test_each_kind_asks_a_question_of_the_game(game: str) -> None:
    rules = find_game(game).rules()
    questions = set()
    for match in decisions(rules, 20):
        choice = choice_in(match)
        for kind in choice.kinds:
            choice.switch(kind)
            questions.add(strip_ink(choice.question).split("\n")[-1])
        initials = [kind[0].lower() for kind in choice.kinds if kind]
        assert len(set(initials)) == len(initials), "the first letters are unique"
    expected = {
        "lights": {
            "Enter the number of the light to turn OFF:",
            "Enter the number of the first light to turn OFF:",
        },
        "leap": {"Choose your move:"},
        "chain": {"Enter the cell number you want to observe:"},
        "hunt": {"Where do you go? MOVE n, STAY or TUNNEL n:", "Which position do you observe? OBSERVE n:"},
        "flip": {"Enter the coordinates of the first tile:"},
    }
    assert expected[game] <= questions


@pytest.mark.parametrize("game", GAME_NAMES)
def test_the_board_of_a_game_has_cells(game: str) -> None:
    rules = find_game(game).rules()
    words = rules.game.words(rules)
    cells = [cell for row in words.board(Match.start(rules).sight(Seat.ONE)).cells for cell in row]
    assert len(cells) == {"lights": 7, "leap": 21, "chain": 7, "hunt": 7, "flip": 25}[game]
    assert [cell.number for cell in cells] == list(range(1, len(cells) + 1))
    assert cells[-1].label == {"flip": "E5"}.get(game, str(len(cells)))


def test_changed_cells_are_found() -> None:
    rules = find_game("chain").rules()
    words = rules.game.words(rules)
    board = words.board(Match.start(rules).play_text("4").sight(Seat.ONE))
    start = words.board(Match.start(rules).sight(Seat.ONE))
    assert find_changed_cells(start.cells, board.cells) == {4}


def cells_of(game: str, **options: int) -> BoardGrid:
    rules = find_game(game).rules(**options)
    words = rules.game.words(rules)
    return fit_grid(words.board(Match.start(rules).sight(Seat.ONE)).cells, 44, 15)


def test_boxes_are_as_large_as_possible_and_long_rows_are_split() -> None:
    assert (cells_of("lights").width, cells_of("lights").height) == (5, 3)
    assert [len(row) for row in cells_of("leap").rows] == [7, 7, 7]
    assert cells_of("flip").draw_borders()[:3] == [
        "┌─────┬─────┬─────┬─────┬─────┐",
        "│     │     │     │     │     │",
        "├─────┼─────┼─────┼─────┼─────┤",
    ]
    eleven = cells_of("lights", lights=11)
    assert [len(row) for row in eleven.rows] == [4, 4, 3]
    assert eleven.draw_borders()[-1].rstrip().endswith("┘")
    assert {len(line) for line in eleven.draw_borders()} == {eleven.size[0]}


def test_arrows_go_from_box_to_box() -> None:
    grid = cells_of("flip")
    every = frozenset(range(1, 26))
    assert grid.find_next_cell(1, (1, 0), every) == 2
    assert grid.find_next_cell(1, (0, 1), every) == 6
    assert grid.find_next_cell(1, (0, -1), every) is None
    assert grid.find_next_cell(5, (1, 0), every) == 6, "continues in the next row"
    assert grid.find_next_cell(1, (1, 0), frozenset({1, 4, 8})) == 4, "skips cells that cannot be chosen"
    for number in every:
        cell = grid.find_cell_at(grid.get_origin(number))
        assert cell
        assert cell.number == number
    assert grid.find_cell_at((-1, 0)) is None
    assert grid.find_cell_at((1000, 0)) is None
