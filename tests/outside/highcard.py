"""Each seat is dealt a hidden card; they take turns to pass or to show. The higher card wins, equals draw."""

from dataclasses import dataclass, replace
from enum import Enum
from fractions import Fraction

from duels.core.game import Game
from duels.core.rules import CHANCE, Actor, Event, Outcome, Seat, Step
from duels.core.secret_rules import SecretRules
from tests.outside.words import PlainWords, StringRules

GAME = Game("highcard", "High card", "pass or show", __name__)


class End(Enum):
    SHOWN = "shown"
    PASSES = "passes"


@dataclass(frozen=True)
class Dealt(Event):
    seat: Seat
    card: int


@dataclass(frozen=True)
class CardTaken(Event):
    """Everybody sees that a card was dealt."""

    seat: Seat


@dataclass(frozen=True)
class Passed(Event):
    seat: Seat


@dataclass(frozen=True)
class CardsCompared(Event):
    """The cards are compared without being revealed."""

    winner: Seat | None


@dataclass(frozen=True)
class State:
    cards: tuple[int, ...] = ()
    mover: Seat = Seat.ONE
    passes: int = 0
    end: End | None = None


@dataclass(frozen=True)
class CardView:
    seat: Seat
    dealt: int
    cards: tuple[int, ...]
    mover: Seat
    passes: int
    end: End | None
    winner: Seat | None


@dataclass(frozen=True)
class HighCard(StringRules[State, CardView], SecretRules[State, str, CardView]):
    cards: int = 2
    max_passes: int | None = None

    game = GAME
    can_be_drawn = True
    limit = "max_passes"
    clock = "passes"

    def initial(self) -> State:
        return State()

    def actor(self, state: State) -> Actor | None:
        if len(state.cards) < 2:
            return CHANCE
        return None if state.end else state.mover

    def actions(self, state: State) -> tuple[str, ...]:
        if len(state.cards) < 2:
            return self.all_outcomes()
        return () if state.end else self.all_actions()

    def odds(self, state: State) -> tuple[Fraction, ...]:
        return (Fraction(1, self.cards),) * self.cards if len(state.cards) < 2 else ()

    def apply(self, state: State, action: str) -> Step[State]:
        if len(state.cards) < 2:
            seat, card = Seat(len(state.cards) + 1), int(action)
            events = (Dealt(seat, card, seen_by=frozenset({seat})), CardTaken(seat))
            return Step(replace(state, cards=(*state.cards, card)), events)
        if action == "show":
            final_state = replace(state, end=End.SHOWN)
            return Step(final_state, (CardsCompared(_higher(state.cards)),))
        passes = state.passes + (self.max_passes is not None)
        end = End.PASSES if passes == self.max_passes else None
        return Step(State(state.cards, state.mover.other, passes, end), (Passed(state.mover),))

    def outcome(self, state: State) -> Outcome | None:
        if state.end is None:
            return None
        if state.end is End.PASSES:
            return Outcome.cut("Nobody shows.")
        winner = _higher(state.cards)
        return (
            Outcome.win(winner, "The higher card wins.") if winner else Outcome.draw("The cards are equal.")
        )

    def view(self, state: State, seat: Seat) -> CardView:
        winner = _higher(state.cards) if state.end is End.SHOWN else None
        own = state.cards[seat - 1 : seat]
        return CardView(seat, len(state.cards), own, state.mover, state.passes, state.end, winner)

    def all_actions(self) -> tuple[str, ...]:
        return ("pass", "show")

    def all_outcomes(self) -> tuple[str, ...]:
        return tuple(str(card) for card in range(1, self.cards + 1))


def _higher(cards: tuple[int, ...]) -> Seat | None:
    one, two = cards
    return None if one == two else Seat.ONE if one > two else Seat.TWO


RULES = HighCard
WORDS = PlainWords
