"""What the ledger decides for four in a row, at the rules themselves."""

import pytest

from duels.core.errors import IllegalMove, NotationError
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


def test_of_boards_that_are_not_counted_none_is_used() -> None:
    rules = QuantumChain(max_boards=2)
    assert rules.parse_state("__XX_O_ 1") == rules.parse_state("__XX_O_ 1 0")
    assert rules.format_state(rules.parse_state("__XX_O_ 1")) == "__XX_O_ 1 0"
    assert rules.parse_state("__XX_O_ 1 1").boards == 1
    with pytest.raises(NotationError):
        rules.parse_state("__XX_O_ 1 3")
    with pytest.raises(NotationError):
        QuantumChain().parse_state("__XX_O_ 1 0")
