"""Liar's dice with one hidden die each, as in OpenSpiel's `liars_dice`: the highest face is wild."""

import re
from dataclasses import dataclass, replace
from enum import Enum
from fractions import Fraction

from duels.core.errors import NotationError, quote
from duels.core.narration import say, wins
from duels.core.notation import parse_whole_number
from duels.core.options import option
from duels.core.rules import CHANCE, Actor, Event, Outcome, Seat, Step
from duels.core.secret_rules import SecretRules
from duels_liarsdice import GAME

HIDDEN = 0


@dataclass(frozen=True, slots=True)
class Roll:
    """A die shows `face`."""

    face: int


@dataclass(frozen=True, slots=True, order=True)
class Bid:
    """Claim that at least `quantity` of both dice show `face`."""

    quantity: int
    face: int


class Call(Enum):
    """Claim that the last bid is false."""

    LIAR = "liar"


Action = Roll | Bid | Call


@dataclass(frozen=True, slots=True)
class State:
    """The dice so far (Player 1's first), the last bid, the player to move, and whether the bid was called.

    In a seat's view, the opponent's die is HIDDEN until the call.
    """

    dice: tuple[int, ...] = ()
    bid: Bid | None = None
    mover: Seat = Seat.ONE
    called: bool = False


@dataclass(frozen=True, slots=True)
class FaceSeen(Event):
    """`seat`'s die shows `face`. Only that seat sees this event."""

    seat: Seat
    face: int


@dataclass(frozen=True, slots=True)
class DieRolled(Event):
    """`seat` has rolled its die. Both seats see this event, but not the face."""

    seat: Seat


@dataclass(frozen=True, slots=True)
class BidMade(Event):
    """`seat` made a bid."""

    seat: Seat
    bid: Bid


@dataclass(frozen=True, slots=True)
class Called(Event):
    """`seat` called the bid, the dice were shown, and `winner` was right."""

    seat: Seat
    bid: Bid
    dice: tuple[int, ...]
    winner: Seat


@dataclass(frozen=True)
class LiarsDice(SecretRules[State, Action, State]):
    """Both roll a die and keep it hidden. Player 1 bids first.

    A bid such as 2-3 says that at least two of both dice together show a 3.
    Dice of the highest face are wild: they count as whatever face was bid.
    Answer a bid with a higher one, which has a larger quantity, or the same
    quantity of a higher face; or with liar. Then the dice are shown: the
    bidder wins if the bid is true, the caller if it is not.
    """

    sides: int = option(6, "sides of a die")

    game = GAME

    def initial(self) -> State:
        return State()

    def actor(self, state: State) -> Actor | None:
        if state.called:
            return None
        return CHANCE if len(state.dice) < len(Seat) else state.mover

    def actions(self, state: State) -> tuple[Action, ...]:
        if state.called:
            return ()
        if len(state.dice) < len(Seat):
            return self.all_outcomes()
        if state.bid is None:
            return self._bids()
        return (*(bid for bid in self._bids() if bid > state.bid), Call.LIAR)

    def odds(self, state: State) -> tuple[Fraction, ...]:
        return (Fraction(1, self.sides),) * self.sides

    def apply(self, state: State, action: Action) -> Step[State]:
        if isinstance(action, Roll):
            roller = Seat(len(state.dice) + 1)
            secret = FaceSeen(roller, action.face, seen_by=frozenset({roller}))
            return Step(replace(state, dice=(*state.dice, action.face)), (secret, DieRolled(roller)))
        if isinstance(action, Bid):
            after = replace(state, bid=action, mover=state.mover.other)
            return Step(after, (BidMade(state.mover, action),))
        assert state.bid
        winner = state.mover.other if self.is_true(state.bid, state.dice) else state.mover
        return Step(replace(state, called=True), (Called(state.mover, state.bid, state.dice, winner),))

    def is_true(self, bid: Bid, dice: tuple[int, ...]) -> bool:
        return sum(face in (bid.face, self.sides) for face in dice) >= bid.quantity

    def outcome(self, state: State) -> Outcome | None:
        if not state.called:
            return None
        assert state.bid
        name = self.format(state.bid)
        is_true = self.is_true(state.bid, state.dice)
        winner = state.mover.other if is_true else state.mover
        why = f": the bid {name} is {'' if is_true else 'not '}true."
        return Outcome.win(winner, say(winner, wins(winner), why))

    def view(self, state: State, seat: Seat) -> State:
        if state.called:
            return state
        return replace(
            state, dice=tuple(face if i == seat else HIDDEN for i, face in enumerate(state.dice, start=1))
        )

    def all_actions(self) -> tuple[Action, ...]:
        return (*self._bids(), Call.LIAR)

    def all_outcomes(self) -> tuple[Action, ...]:
        return tuple(Roll(face) for face in range(1, self.sides + 1))

    def max_states(self) -> int:
        # Dice: none, one or both rolled. Bids: none, or any, by either player, called or not.
        return 1 + self.sides + self.sides**2 * (1 + 2 * self.sides * 2 * 2)

    def _bids(self) -> tuple[Bid, ...]:
        return tuple(Bid(quantity, face) for quantity in (1, 2) for face in range(1, self.sides + 1))

    def parse(self, text: str) -> Action:
        if text.strip().lower() == Call.LIAR.value:
            return Call.LIAR
        bid = re.fullmatch(r"\s*([0-9]{1,9})\s*-\s*([0-9]{1,9})\s*", text)
        if bid:
            return Bid(int(bid[1]), int(bid[2]))
        face = parse_whole_number(text)
        if face is None:
            raise NotationError(f"Cannot read {quote(text)}: enter a bid (2-3), liar, or a face (4).")
        return Roll(face)

    def format(self, action: Action) -> str:
        if isinstance(action, Roll):
            return str(action.face)
        return f"{action.quantity}-{action.face}" if isinstance(action, Bid) else action.value


RULES = LiarsDice
