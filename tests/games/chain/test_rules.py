"""The rules of four in a row, as the book states them (docs/books.md) and the ledger decides them."""

from fractions import Fraction

import pytest

from duels.core.errors import IllegalMove, NotationError
from duels.core.explore import iter_reachable
from duels.core.match import AnyMatch, Match
from duels.core.rules import CHANCE, Ending, Outcome, Seat
from duels.games.chain.rules import Answer, Coin, QuantumChain, State


def after(*entries: str, **options: int) -> AnyMatch:
    return Match.start(QuantumChain(**options)).play_text(*entries)


def board(match: AnyMatch) -> str:
    assert isinstance(match.state, State)
    return match.state.cells


def test_only_an_observation_beside_ones_own_symbol_can_be_challenged() -> None:
    assert after("3").actor is Seat.TWO
    assert board(after("3")) == "__X____"
    assert Answer.CHALLENGE not in after("3", "4").actions, "beside the other's symbol nothing is in doubt"
    doubtful = after("3", "6", "4")
    assert doubtful.actor is Seat.TWO
    assert doubtful.actions == tuple(Answer)
    assert board(doubtful) == "__X__O_", "nothing is placed yet"
    with pytest.raises(IllegalMove):
        doubtful.play(Seat.TWO, Coin.HEADS)


def test_a_challenge_is_settled_by_the_coin_and_uses_up_the_turn_either_way() -> None:
    tossed = after("3", "6", "4", "challenge")
    assert tossed.actor is CHANCE
    won, lost = (tossed.play(CHANCE, face) for face in Coin)
    assert board(won) == "__XX_O_"
    assert board(lost) == "__X__O_"
    assert won.actor is lost.actor is Seat.TWO


def test_a_fourth_symbol_can_be_challenged_away() -> None:
    three = ("2", "6", "3", "accept", "7", "accept", "4", "accept", "1")
    fourth = after(*three, "5")
    assert not fourth.over, "the win waits for the opponent's answer"
    assert fourth.actor is Seat.TWO
    assert not fourth.play_text("challenge", "tails").over
    outcome = fourth.play_text("accept").outcome
    assert outcome
    assert outcome.winner is Seat.ONE


def test_a_full_board_without_a_chain_decoheres_and_the_next_player_moves() -> None:
    full = ("1", "2", "3", "4", "5", "6", "7")
    assert board(after(*full[:6])) == "XOXOXO_"
    fresh = after(*full)
    assert board(fresh) == "_" * 7
    assert fresh.actor is Seat.TWO
    assert not fresh.over
    limited = after(*full, max_boards=1).outcome
    assert limited
    assert limited == Outcome(Ending.CUT_OFF)


def test_the_number_of_boards_defaults_to_zero() -> None:
    rules = QuantumChain(max_boards=2)
    assert rules.parse_state("__XX_O_ 1") == rules.parse_state("__XX_O_ 1 0")
    assert rules.format_state(rules.parse_state("__XX_O_ 1")) == "__XX_O_ 1 0"
    assert rules.parse_state("__XX_O_ 1 1").boards == 1
    with pytest.raises(NotationError):
        rules.parse_state("__XX_O_ 1 3")
    with pytest.raises(NotationError):
        QuantumChain().parse_state("__XX_O_ 1 0")


def test_seven_cells_are_unobserved_at_the_start() -> None:
    assert QuantumChain().format_state(QuantumChain().initial()) == "_______ 1"


def test_player_1_is_x_and_player_2_is_o_and_turns_alternate() -> None:
    assert board(after("1", "4")) == "X__O___"
    assert [step.actor for step in after("1", "4", "7").steps()] == [Seat.TWO, Seat.ONE, Seat.TWO]


def test_only_an_unobserved_cell_can_be_observed() -> None:
    taken = after("3")
    assert [taken.rules.format(action) for action in taken.actions] == ["1", "2", "4", "5", "6", "7"]
    for entry in ("3", "0", "8"):
        with pytest.raises(IllegalMove):
            after("3", entry)


def test_only_the_cells_next_to_a_cell_are_adjacent() -> None:
    rules = QuantumChain()
    beside = {cell for cell in range(1, 8) if rules.own_neighbours("__X____", cell, Seat.ONE)}
    assert beside == {2, 4}
    assert not rules.own_neighbours("__X____", 4, Seat.TWO), "the other's symbol"
    assert rules.own_neighbours("X_____X", 1, Seat.ONE) == (), "a line has two ends"


def test_the_coin_of_a_challenge_is_even() -> None:
    tossed = after("3", "6", "4", "challenge")
    assert tossed.actions == (Coin.HEADS, Coin.TAILS)
    assert set(tossed.rules.odds(tossed.state)) == {Fraction(1, 2)}


def test_an_observation_that_nobody_challenges_succeeds() -> None:
    settled = after("3", "6", "4", "accept")
    assert board(settled) == "__XX_O_"
    assert settled.actor is Seat.TWO


@pytest.mark.parametrize("first", [1, 2, 3, 4])
def test_any_four_cells_side_by_side_win(first: int) -> None:
    rules = QuantumChain()
    cells = "_" * (first - 1) + "XXXX" + "_" * (4 - first)
    assert rules.chain_of(cells) == (first, first + 3)
    outcome = rules.outcome(State(cells, Seat.TWO))
    assert outcome
    assert outcome.winner is Seat.ONE


@pytest.mark.parametrize("cells", ["XXX____", "XX_XX__", "XXXOX__", "XXX_XXX", "OXXXO__"])
def test_three_or_four_with_a_gap_do_not_win(cells: str) -> None:
    assert QuantumChain().chain_of(cells) is None


def test_without_a_limit_a_match_ends_by_a_chain_alone() -> None:
    rules = QuantumChain()
    endings = [match for match in iter_reachable(rules) if match.over]
    assert endings
    for match in endings:
        assert rules.chain_of(board(match))
        assert match.outcome
        assert match.outcome.ending is Ending.WON
        assert match.outcome.winner is match.state.mover.other
