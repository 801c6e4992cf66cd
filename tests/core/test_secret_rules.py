"""Positions and copies of games with secrets, in which an entry can have several results."""

from dataclasses import dataclass, replace

import pytest

from duels.core.errors import IllegalMove, NotationError
from duels.core.explore import iter_reachable
from duels.core.game import Game
from duels.core.laws import check_everywhere
from duels.core.match import Match
from duels.core.record import dump_record, parse_record_text
from duels.core.rules import Event, Outcome, Seat, Step
from duels.core.secret_rules import SecretRules
from tests.core.toys import Ready
from tests.outside.words import StringRules

NUMBERS = ("1", "2", "3", "4")


@dataclass(frozen=True)
class State:
    """In Player 2's view, the number is 0 until it is guessed."""

    number: int = 0
    hidden: bool = False
    above_two: bool | None = None
    guess: int = 0


@dataclass(frozen=True)
class Hid(Event):
    number: int


@dataclass(frozen=True)
class Answered(Event):
    above_two: bool


@dataclass(frozen=True)
class Guessed(Event):
    guess: int
    number: int


@dataclass(frozen=True)
class Guess(StringRules[State, State], SecretRules[State, str, State]):
    """Player 1 hides a number, Player 2 asks whether it is above two, and guesses."""

    game = Game("guess", "Guess", "a toy", __name__)

    def initial(self) -> State:
        return State()

    def actor(self, state: State) -> Seat | None:
        if not state.hidden:
            return Seat.ONE
        return None if state.guess else Seat.TWO

    def actions(self, state: State) -> tuple[str, ...]:
        if state.guess:
            return ()
        return ("ask",) if state.hidden and state.above_two is None else NUMBERS

    def apply(self, state: State, action: str) -> Step[State]:
        if not state.hidden:
            number = int(action)
            events = (Hid(number, seen_by=frozenset({Seat.ONE})), Ready())
            return Step(State(number, True), events)
        if action == "ask":
            answer = state.number > 2
            return Step(replace(state, above_two=answer), (Answered(answer),))
        return Step(replace(state, guess=int(action)), (Guessed(int(action), state.number),))

    def outcome(self, state: State) -> Outcome | None:
        if not state.guess:
            return None
        return Outcome.win(Seat.TWO if state.guess == state.number else Seat.ONE, "It was guessed.")

    def view(self, state: State, seat: Seat) -> State:
        return state if seat is Seat.ONE or state.guess else replace(state, number=0)

    def all_actions(self) -> tuple[str, ...]:
        return (*NUMBERS, "ask")


RULES = Guess()


def test_every_law_holds() -> None:
    check_everywhere(RULES)


@pytest.mark.parametrize(
    ("entries", "seat", "position"),
    [
        ((), 2, "2:"),
        (("3",), 1, "1: 3"),
        (("3",), 2, "2: ?"),
        (("1", "ask"), 2, "2: ?, ask"),
        (("3", "ask"), 2, "2: ?, ask #2"),
        (("4", "ask"), 2, "2: ?, ask #2"),
        (("3", "ask"), 1, "1: 3, ask"),
        (("3", "ask", "3"), 2, "2: ?, ask #2, 3; 2 won"),
        (("3", "ask", "1"), 2, "2: ?, ask #2, 1; 1 won"),
        (("4", "ask", "1"), 2, "2: ?, ask #2, 1 #2; 1 won"),
    ],
)
def test_a_number_gives_the_result_of_an_entry(entries: tuple[str, ...], seat: int, position: str) -> None:
    match = Match.start(RULES).play_text(*entries)
    sight = match.sight(Seat(seat))
    assert RULES.format_position(sight) == position
    assert RULES.parse_position(position) == sight


@pytest.mark.parametrize("seat", Seat)
def test_a_seats_copy_restores_its_observations(seat: Seat) -> None:
    for match in iter_reachable(RULES):
        copy = dump_record(match, seat=seat)
        record = parse_record_text(copy, lambda name: Guess)
        assert record.match.sight(seat) == match.sight(seat)
        assert dump_record(record.match, seat=seat) == copy


@pytest.mark.parametrize("entry", ["resign", "resign 1"])
def test_a_copy_of_a_conceded_match_keeps_results_of_entries(entry: str) -> None:
    match = Match.start(RULES).play_text("3", "ask", entry)
    copy = dump_record(match, seat=Seat.TWO)
    assert f"?\nask #2\n{entry}\n" in copy
    sight = match.sight(Seat.TWO)
    assert parse_record_text(copy, lambda name: Guess).match.sight(Seat.TWO) == sight
    assert RULES.parse_position(RULES.format_position(sight)) == sight


@pytest.mark.parametrize("position", ["3: ask", "2", "2: ?, ask; 1 won", "2: ?, ask #2, 1"])
def test_rejects_invalid_positions(position: str) -> None:
    with pytest.raises(NotationError, match="Cannot read"):
        RULES.parse_position(position)


def test_rejects_result_numbers_out_of_range() -> None:
    with pytest.raises(IllegalMove, match="'ask #3' has only 2 possible results"):
        RULES.parse_position("2: ?, ask #3")
