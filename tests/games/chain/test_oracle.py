"""Perfect play in chain."""

from fractions import Fraction

import pytest

from duels.core.match import Match
from duels.core.rules import CHANCE, Seat
from duels.games.chain.boards import Boards, choose_turn, solve_pair
from duels.games.chain.oracle import iter_boards, make_mask, make_oracle, shrink_to_checkable
from duels.games.chain.rules import Answer, Observe, QuantumChain
from duels.solving.check import format_options
from duels.solving.graph import explore

RULES = QuantumChain()
ORACLE = make_oracle(RULES)
SMALL = [QuantumChain(cells, run) for cells in range(1, 6) for run in range(1, cells + 1)]
LIMITED = [QuantumChain(cells, 2, boards) for cells in (3, 4) for boards in (1, 2, 3)]


def test_independent_methods_agree() -> None:
    for check in ORACLE.verify():
        assert check.passed, check


@pytest.mark.parametrize("rules", [*SMALL, *LIMITED], ids=repr)
def test_every_state_is_proven_in_other_sizes(rules: QuantumChain) -> None:
    graph = explore(rules, [rules.initial(), *iter_boards(rules)])
    for check in make_oracle(rules).check_all_states(graph):
        assert check.passed, check


def test_large_boards_are_checked_by_sampling() -> None:
    name = "the values of states from random play follow exactly from those of the states after them"
    checks = {check.name: check for check in [next(make_oracle(QuantumChain(9, 3)).verify())]}
    assert checks[name].passed


@pytest.mark.parametrize(
    ("rules", "cells"),
    [(QuantumChain(9, 3), 8), (QuantumChain(7, 4, 50), 4), (QuantumChain(5, 3, 2), 5)],
    ids=repr,
)
def test_checks_prove_the_largest_possible_size(rules: QuantumChain, cells: int) -> None:
    smaller = shrink_to_checkable(rules)
    assert smaller == QuantumChain(cells, min(rules.run, cells), rules.max_boards)
    boards = rules.max_boards or 1
    assert 3**cells * boards <= 7000
    assert smaller == rules or 3 ** (cells + 1) * boards > 7000
    if cells <= 5:
        details = [check.detail for check in make_oracle(rules).verify() if check.passed]
        assert sum(detail.startswith(f"{format_options(smaller)}, ") for detail in details) == 3
        assert sum(detail.startswith(f"{format_options(rules)}, ") for detail in details) == 3 - 2 * (
            smaller != rules
        )


def test_detects_a_damaged_table_of_a_limited_game() -> None:
    oracle = make_oracle(QuantumChain(4, 2, 3))
    unit, values = oracle.solve_table(Fraction(0))  # that of the last board
    values[oracle.boards.index(1, 2)] += unit // 9
    assert not all(check.passed for check in oracle.verify())


def test_names_a_wrong_state_of_a_large_board() -> None:
    oracle = make_oracle(QuantumChain(9, 3))
    unit, values = oracle.solve_table(Fraction(0))
    values[0] += unit // 9
    check = next(oracle.verify())
    assert not check.passed
    wrong = oracle.rules.parse_state(check.detail.split("wrong at ")[1].split(";")[0])
    assert oracle.state_value(wrong) != oracle.back_up(wrong)


@pytest.mark.parametrize("position", ["_____ 1", "X____ 1", "_XO__ 1", "XO_OX 1"])
def test_independent_methods_detect_a_damaged_table(position: str) -> None:
    rules = QuantumChain(5, 3)
    oracle, cells = make_oracle(rules), rules.parse_state(position).cells
    unit, values = oracle.solve_table(Fraction(0))
    values[oracle.boards.index(make_mask(cells, Seat.ONE), make_mask(cells, Seat.TWO))] += unit // 9
    assert not all(check.passed for check in oracle.verify())


@pytest.mark.parametrize(
    ("cells", "run", "value"),
    [(7, 4, "1/2"), (7, 3, "1/2"), (3, 2, "1"), (4, 2, "2/3"), (5, 2, "2/3"), (7, 2, "2/3"), (1, 1, "1")],
)
def test_the_value_of_the_opening(cells: int, run: int, value: str) -> None:
    rules = QuantumChain(cells, run)
    assert make_oracle(rules).state_value(rules.initial()) == Fraction(value)


@pytest.mark.slow
def test_thirteen_cells_and_three_in_a_row_favour_the_first_player() -> None:
    rules = QuantumChain(13, 3)
    verdict = make_oracle(rules).judge(rules.sight(rules.initial(), Seat.ONE))
    assert verdict.value.fraction == Fraction(6, 11)
    assert [rules.format(action) for action in verdict.best] == ["7"]


def test_a_limit_of_boards_ends_in_an_even_chance() -> None:
    opening = {
        boards: make_oracle(QuantumChain(3, 2, boards)).state_value(QuantumChain(3, 2, boards).initial())
        for boards in (1, 2, 3, 40)
    }
    # The first player has one coin a board: all is lost only if every coin fails, and then it is even.
    assert opening == {boards: 1 - Fraction(1, 2) ** (boards + 1) for boards in opening}


@pytest.mark.parametrize(
    ("position", "seat", "value"),
    [
        ("_XX_OO_ 1", Seat.ONE, "5/9"),
        ("_X?_O_O 2", Seat.TWO, "5/9"),
        ("_XXX?O_ 2", Seat.TWO, "1/12"),
        ("_XXX!O_ 2", Seat.TWO, "1/12"),
        ("XXXX_O_ 2", Seat.TWO, "0"),
        ("XXXX_O_ 2", Seat.ONE, "1"),
    ],
)
def test_values_of_positions(position: str, seat: Seat, value: str) -> None:
    sight = RULES.sight(RULES.parse_state(position), seat)
    assert ORACLE.value(sight).fraction == Fraction(value)


def test_a_coin_is_worth_the_mean_of_its_sides() -> None:
    challenged = Match.start(RULES).play_text(
        "2", "6", "3", "challenge", "heads", "5", "accept", "4", "challenge"
    )
    assert challenged.actor is CHANCE
    for seat in Seat:
        before = ORACLE.value(challenged.sight(seat)).fraction
        sides = [ORACLE.value(challenged.play_text(face).sight(seat)).fraction for face in ("heads", "tails")]
        assert before == sum(filter(None, sides), Fraction(0)) / 2


def test_mirrored_boards_and_exchanged_symbols_are_worth_the_same() -> None:
    exchange = str.maketrans("XO", "OX")
    for state in iter_boards(RULES, (Seat.ONE,)):
        value = ORACLE.state_value(state)
        mirrored = RULES.parse_state(f"{state.cells[::-1]} 1")
        exchanged = RULES.parse_state(f"{state.cells.translate(exchange)} 2")
        assert ORACLE.state_value(mirrored) == value
        assert ORACLE.state_value(exchanged) == 1 - value


def test_declining_a_challenge_is_right_in_twelve_positions() -> None:
    positions = {RULES.format_state(state) for state in ORACLE.list_accepts()}
    assert len(positions) == 12
    assert {"_X?_O_O 2", "X?_O__X 2", "OX?_OOO 2"} <= positions
    for position in positions:
        verdict = ORACLE.judge(RULES.parse_position(position))
        assert verdict.best == (Answer.ACCEPT,)


def test_the_opening_lists_positions_to_decline_in() -> None:
    (finding,) = ORACLE.findings(RULES.parse_position("_______ 1"))
    assert [row["position"] for row in finding.data] == [RULES.format_state(s) for s in ORACLE.list_accepts()]
    for row in finding.data:
        accept, challenge = (Fraction(row[answer]["exact"]) for answer in ("accept", "challenge"))
        assert accept > challenge
        assert (row["accept"]["value"], row["challenge"]["value"]) == (float(accept), float(challenge))
        columns = [f"{float(value):.1%}  {value}" for value in (accept, challenge)]
        assert f"  {row['position']}   {columns[0]:13}   {columns[1]}\n" in finding.text
    assert "in 12 positions" in finding.text
    assert "excepts 47 of all 1,214 positions. Accepting is better in 12 of them, and nowhere" in finding.text
    assert not list(ORACLE.findings(RULES.parse_position("__XX_O_ 1")))


@pytest.mark.parametrize(
    ("rules", "count", "text"),
    [
        (QuantumChain(7, 3), 1, "in 1 position,"),
        (QuantumChain(5, 2), 0, "Challenging is never a mistake on this board"),
        (QuantumChain(13, 4), None, "are listed for up to 8 cells only"),
    ],
    ids=repr,
)
def test_other_boards_list_positions_to_accept_in(rules: QuantumChain, count: int | None, text: str) -> None:
    (finding,) = make_oracle(rules).findings(rules.sight(rules.initial(), Seat.ONE))
    assert (finding.data is None) if count is None else len(finding.data) == count
    assert text in finding.text


def test_the_list_of_positions_to_decline_in_is_complete() -> None:
    right = 0
    for state in iter_boards(RULES):
        for action in RULES.actions(state):
            doubted = RULES.apply(state, action).state
            if doubted.doubtful_cell:
                verdict = ORACLE.judge(RULES.sight(doubted, state.mover.other))
                right += verdict.best == (Answer.ACCEPT,)
    assert right == 4 * 12  # none of the twelve is its own mirror image


@pytest.mark.parametrize(
    ("position", "reason"),
    [
        (
            "_______ 1",
            "Against perfect play, nothing is at stake here: whatever you observe, nobody can force a "
            "chain on this board, and a full one is cleared.",
        ),
        (
            "XOXOXO_ 1",
            "Against perfect play, nothing is at stake here: nobody can make a chain on this board "
            "any more; once full, it is cleared.",
        ),
        (
            "XXOOO__ 1",
            "Cell 6 blocks the other player's chain of 4, and it cannot be challenged: it leaves you 50.0%.",
        ),
        (
            "_XXX__O 1",
            "Cell 1 completes your chain of 4: it leaves you 87.5%; if it is challenged, 100.0% on heads and "
            "75.0% on tails.",
        ),
        (
            "O_X_X__ 2",
            "Cell 4 leaves the other player no chain on this board, and it cannot be challenged: it leaves "
            "you 50.0%.",
        ),
        (
            "_XX_OO_ 1",
            "Cell 1 threatens to complete a chain of your own with 4: it leaves you 55.6%; if it is "
            "challenged, 66.7% on heads and 44.4% on tails.",
        ),
        (
            "_XXX?O_ 2",
            "If the symbol stands, the other player has a chain of 4 and wins. A challenge leaves you 16.7% "
            "on tails and 0.0% on heads, 8.3% on average; "
            "accepting leaves you 0.0%. Rule of thumb: challenge, unless a free cell beside the symbol in "
            "doubt belongs to a chain of 4 that you can still make; here none does.",
        ),
        (
            "X?OOXO_ 2",
            "Against perfect play, nothing is at stake here: with the symbol or without it, you have 50.0%.",
        ),
    ],
)
def test_reasons_of_moves(position: str, reason: str) -> None:
    assert ORACLE.reason(RULES.parse_position(position)) == reason


def test_settle_finds_the_unique_solution() -> None:
    choices = [-36, -12, 0, 24, 36]
    for x_safe in choices:
        for x_doubtful in choices:
            for y_safe in choices:
                for y_doubtful in choices:
                    scaled = [12 * n for n in (x_safe, x_doubtful, y_safe, y_doubtful)]
                    x, y = solve_pair(*scaled)
                    assert x == choose_turn(scaled[0], scaled[1], y)
                    assert y == choose_turn(scaled[2], scaled[3], x)


def test_the_slope_is_the_derivative_of_the_value() -> None:
    boards = Boards(3, 2)
    near, step = Fraction(1, 7), Fraction(1, 10**6)
    at, slope = boards.play_board(near, 1)
    beside, _ = boards.play_board(near + step, 1)
    assert beside == at + slope * step
    assert slope == Fraction(1, 2)


def test_the_effect_of_a_slip_is_the_remaining_value() -> None:
    sight = RULES.parse_position("?OO_XX_ 1")
    left = ORACLE.judge(sight).actions[1].value.number
    assert ORACLE.effect(sight, Answer.ACCEPT) == f"You answered accept, which left you {left:.1%}."
    sight = RULES.parse_position("__OOXX_ 1")
    effect = ORACLE.effect(sight, Observe(7))
    assert effect.startswith("You observed cell 7, which left you ")
    assert "if challenged" in effect
    assert ORACLE.effect(sight, Observe(1)).endswith("; it could not be challenged.")
    effect = ORACLE.effect(RULES.parse_position("XXOOO__ 1"), Observe(7))
    assert effect.startswith(
        "You observed cell 7, though the other player could complete a chain with 6, which"
    )


def test_reasons_agree_with_the_rules() -> None:
    for state in iter_boards(RULES, (Seat.ONE,)):
        sight = RULES.sight(state, Seat.ONE)
        reason = ORACLE.reason(sight)
        if not reason.startswith("Cell "):
            assert reason.startswith("Against perfect play, nothing is at stake here: ")
            assert ORACLE.judge(sight).is_indifferent
            continue
        cell = int(reason.split()[1])
        assert Observe(cell) in ORACLE.judge(sight).best
        own, others = (
            RULES.chain_of(state.cells[: cell - 1] + symbol + state.cells[cell:]) for symbol in "XO"
        )
        assert ("completes your chain" in reason) is bool(own)
        assert ("blocks the other player's chain" in reason) is (bool(others) and not own)
