"""Challenges: the positions, and the rule of thumb."""

import pytest

from duels.games.chain.oracle import iter_challenges, make_oracle
from duels.games.chain.reasons import can_accepting_be_right
from duels.games.chain.rules import QuantumChain

RULES = QuantumChain()


@pytest.mark.parametrize(
    ("position", "is_needed"),
    [
        ("_X?_O_O 2", True),
        ("_X?_XOO 2", False),  # no four is left to make
        ("__XX?O_ 2", False),  # the free cells beside it are none
        ("?X__OOO 2", False),  # nor is the one next to the symbol beside it
        ("_O_OO?X 2", False),
        ("O_O_?XO 2", True),
        ("O_O_?OX 1", False),
        ("OX?_OOO 2", True),
        ("XO?_XXX 1", True),  # the same with symbols exchanged
    ],
)
def test_accepting_needs_a_free_neighbour_in_a_possible_chain(position: str, is_needed: bool) -> None:
    assert can_accepting_be_right(RULES, RULES.parse_state(position)) is is_needed


@pytest.mark.parametrize(
    ("rules", "doubts", "excepted", "declines"),
    [
        (RULES, 1214, 47, 12),
        (QuantumChain(7, 4, max_boards=1), 1214, 47, 12),
        (QuantumChain(7, 3), 1038, 97, 1),
        (QuantumChain(6, 4), 343, 8, 3),
        (QuantumChain(5, 2), 52, 9, 0),
    ],
    ids=repr,
)
def test_the_rule_of_thumb_holds_in_every_position(
    rules: QuantumChain, doubts: int, excepted: int, declines: int
) -> None:
    positions = list(iter_challenges(rules))
    excepted_ones = {state for state in positions if can_accepting_be_right(rules, state)}
    mistakes = set(make_oracle(rules).list_accepts())
    assert (len(positions), len(excepted_ones), len(mistakes)) == (doubts, excepted, declines)
    assert mistakes <= excepted_ones


@pytest.mark.slow
@pytest.mark.parametrize("cells", range(2, 9))
def test_the_rule_of_thumb_holds_on_every_board_size(cells: int) -> None:
    for run in range(2, cells + 1):
        rules = QuantumChain(cells, run)
        assert all(can_accepting_be_right(rules, state) for state in make_oracle(rules).list_accepts())


def test_no_position_is_listed_twice() -> None:
    boards = [(state.cells, state.doubtful_cell) for state in iter_challenges(RULES)]
    mirrored = {(cells[::-1], RULES.cells + 1 - doubt) for cells, doubt in boards}
    own_mirror = sum((cells[::-1], RULES.cells + 1 - doubt) == (cells, doubt) for cells, doubt in boards)
    assert len(set(boards)) == len(boards)
    assert len(set(boards) & mirrored) == own_mirror
