"""The book's rules of flip, statement by statement (docs/books.md)."""

from dataclasses import replace

import pytest

from duels.core.errors import IllegalMove
from duels.core.match import AnyMatch, Match
from duels.core.rules import CHANCE, Ending, Seat
from duels.games.flip.rules import Keep, QuantumFlip, QuantumTiles, State, list_neighbours

RULES = QuantumTiles()
TILES = [f"{row}{column}" for row in "ABCDE" for column in "12345"]


def after(*entries: str) -> AnyMatch:
    return Match.start(RULES).play_text(*entries)


def allowed(*entries: str) -> list[str]:
    return [RULES.format(action) for action in after(*entries).actions]


def at(one: int, two: int, mover: Seat = Seat.ONE) -> State:
    """All tiles face down, with these scores."""
    return replace(RULES.initial(), scores=(one, two), mover=mover)


def test_25_tiles_lie_face_down_and_nobody_has_points() -> None:
    start = RULES.initial()
    assert start.tiles == "." * 25
    assert start.scores == (0, 0)
    assert start.quantum == (True, True)
    assert start.mover is Seat.ONE


def test_rows_are_a_to_e_and_columns_1_to_5() -> None:
    assert [RULES.name_of(tile) for tile in range(25)] == TILES
    assert RULES.tile_at("F1") is RULES.tile_at("A6") is RULES.tile_at("A0") is None


def test_tile_values_are_1_to_5_and_hidden_until_flipped() -> None:
    lifted = after("B2")
    assert lifted.actor is CHANCE
    assert allowed("B2") == ["1", "2", "3", "4", "5"]
    assert lifted.state.tiles == "." * 25


def test_any_tile_that_is_face_down_can_be_flipped() -> None:
    assert allowed()[:25] == TILES
    assert set(allowed("B2", "4")) == {entry for entry in allowed() if "B2" not in entry}


def test_a_flip_shows_the_value_scores_it_and_passes_the_turn() -> None:
    flipped = after("B2", "4")
    assert RULES.format_state(flipped.state) == "...../.4.../...../...../..... 4,0 11 2"
    both = flipped.play_text("C3", "5")
    assert RULES.format_state(both.state) == "...../.4.../..5../...../..... 4,5 11 1"


def test_a_flipped_tile_cannot_be_flipped_again() -> None:
    for entry in ("B2", "B2+B3", "A2+B2"):
        with pytest.raises(IllegalMove):
            after("B2", "4", entry)


@pytest.mark.parametrize(
    ("score", "value", "winner"), [(16, 5, 1), (20, 1, 1), (18, 5, 2), (17, 5, 2), (15, 5, None)]
)
def test_exactly_21_wins_more_loses_and_less_continues(score: int, value: int, winner: int | None) -> None:
    lifted = RULES.apply(at(score, 3), RULES.parse("A1")).state
    state = RULES.apply(lifted, RULES.parse(str(value))).state
    outcome = RULES.outcome(state)
    assert (outcome.winner if outcome else None) == winner
    assert outcome is None or outcome.ending is Ending.WON


def test_player_2_wins_and_loses_by_the_same_numbers() -> None:
    for value, winner in (("3", Seat.TWO), ("4", Seat.ONE)):
        lifted = RULES.apply(at(3, 18, mover=Seat.TWO), RULES.parse("A1")).state
        outcome = RULES.outcome(RULES.apply(lifted, RULES.parse(value)).state)
        assert outcome
        assert outcome.winner is winner


def test_a_quantum_flip_takes_two_tiles_that_share_an_edge() -> None:
    quantum_flips = [action for action in after().actions if isinstance(action, QuantumFlip)]
    assert len(quantum_flips) == len(list_neighbours(5)) == 40
    assert {RULES.format(flip) for flip in quantum_flips if 12 in (flip.first, flip.second)} == {
        "B3+C3",
        "C2+C3",
        "C3+C4",
        "C3+D3",
    }
    for entry in ("A1+B2", "A1+A3", "A5+B1"):
        with pytest.raises(IllegalMove):
            after(entry)


def test_one_of_two_values_is_kept_and_the_other_tile_is_turned_back() -> None:
    lifted = after("D4+D5", "2,5")
    assert lifted.actor is Seat.ONE
    assert lifted.actions == (Keep(18), Keep(19))
    chosen = lifted.play_text("keep D4")
    assert chosen.state.scores == (2, 0)
    assert chosen.actor is Seat.TWO
    assert chosen.state.tiles[18] == "2"
    assert not chosen.state.tiles[19].isdigit()
    assert "D5" in [RULES.format(action) for action in chosen.actions]
    again = chosen.play_text("D5")
    assert again.state.scores == (2, 5), "the value that was shown, without a draw"


def test_each_player_has_one_quantum_flip() -> None:
    used = ("A1+A2", "1,2", "keep A1")
    assert "C1+C2" in allowed(*used), "Player 2 still has one"
    with pytest.raises(IllegalMove):
        after(*used, "E5", "3", "C1+C2")


def test_a_player_whose_two_values_both_pass_21_must_take_one_and_loses() -> None:
    state = at(18, 3)
    for entry in ("C5+D5", "4,5"):
        state = RULES.apply(state, RULES.parse(entry)).state
    assert len(RULES.actions(state)) == 2
    for action in RULES.actions(state):
        outcome = RULES.outcome(RULES.apply(state, action).state)
        assert outcome
        assert outcome.winner is Seat.TWO
