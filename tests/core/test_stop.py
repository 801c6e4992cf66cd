"""Agreements to stop: from the third board of chain on, a match can end without a winner."""

import pytest

from duels.core.errors import GameOver, IllegalMove
from duels.core.match import AnyMatch, EarlyEnd, Match
from duels.core.record import dump_record
from duels.core.rules import Ending, Outcome, Seat
from duels.games import find_game, load_record
from duels.games.chain.rules import QuantumChain
from tests.support import GAME_NAMES

FULL_BOARD = tuple("1234567")  # symbols in turn: no chain, and nothing to challenge


def play_boards(boards: int, rules: QuantumChain | None = None) -> AnyMatch:
    return Match.start(rules or QuantumChain()).play_text(*FULL_BOARD * boards)


@pytest.mark.parametrize(("boards", "number"), [(0, 1), (1, 2), (2, 3), (5, 6)])
def test_decoherence_increments_the_board_number(boards: int, number: int) -> None:
    match = play_boards(boards)
    assert match.board_number == number
    assert match.play_text("4").board_number == number
    assert match.can_stop is (number >= 3)


@pytest.mark.parametrize("boards", [0, 1])
def test_the_players_cannot_stop_before_the_third_board(boards: int) -> None:
    match = play_boards(boards)
    for line in ("stop by agreement", "STOP BY AGREEMENT"):
        with pytest.raises(IllegalMove, match=f"from board 3 on. This is board {boards + 1}"):
            match.play_text(line)


@pytest.mark.parametrize("entries", [[], ["4"], ["4", "1", "5"]])
def test_an_agreement_ends_the_match_without_a_winner(entries: list[str]) -> None:
    match = play_boards(2).play_text(*entries)
    stopped = match.stop()
    assert stopped.outcome == Outcome(Ending.CUT_OFF)
    assert (stopped.outcome.code, stopped.outcome.winner) == ("cut off", None)
    assert stopped.actor is None
    assert stopped.actions == ()
    assert not stopped.can_stop
    assert stopped.state == match.state
    for seat in Seat:
        sight = stopped.sight(seat)
        assert (sight.actor, sight.actions, sight.outcome) == (None, (), stopped.outcome)
        assert sight.history == match.sight(seat).history
    with pytest.raises(GameOver):
        stopped.stop()
    with pytest.raises(GameOver):
        stopped.play_text("4")


def test_the_players_cannot_stop_during_a_coin_toss() -> None:
    match = play_boards(2).play_text("4", "1", "5", "challenge")
    assert not match.can_stop
    with pytest.raises(IllegalMove, match="while chance decides"):
        match.stop()


@pytest.mark.parametrize("name", [name for name in GAME_NAMES if name != "chain"])
def test_other_games_have_no_agreement_to_stop(name: str) -> None:
    match: AnyMatch = Match.start(find_game(name).rules())
    assert not match.can_stop
    with pytest.raises(IllegalMove, match=f"cannot agree to stop a match of {name}"):
        match.play_text("stop by agreement")


def test_an_agreement_is_not_an_action() -> None:
    match = play_boards(2)
    match.stop()
    with pytest.raises(IllegalMove):
        match.play(Seat.ONE, EarlyEnd.STOP)


def test_a_limit_still_counts_boards() -> None:
    match = play_boards(2, QuantumChain(max_boards=3))
    assert match.stop().outcome == match.play_text(*FULL_BOARD).outcome == Outcome(Ending.CUT_OFF)


@pytest.mark.parametrize("seat", [None, *Seat])
def test_the_record_has_one_line_for_the_agreement(seat: Seat | None) -> None:
    match = play_boards(2).play_text("4").stop()
    text = dump_record(match, seat=seat)
    assert text.endswith("\n4\nstop by agreement\n# The players agreed to stop.\nresult: cut off\n")
    record = load_record(text)
    assert record.match.turns == match.turns
    assert dump_record(record.match, seat=seat) == text
