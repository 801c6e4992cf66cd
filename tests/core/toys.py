"""A tiny lawful game, and one broken game for every way to break a law.

The game: a coin is tossed; Player 1 hides something left or right; Player 2, who is told that it is
hidden, guesses where. On heads the finder wins, on tails the hider does.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar

from duels.core.errors import NotationError
from duels.core.explore import iter_reachable
from duels.core.game import Game
from duels.core.laws import Law
from duels.core.match import Match, Turn
from duels.core.narration import say
from duels.core.rules import CHANCE, Actor, Ending, Event, Outcome, Rules, Seat, Sight, Step

FACES = ("heads", "tails")
SIDES = ("left", "right")


@dataclass(frozen=True)
class State:
    coin: str = ""
    side: str = ""
    guess: str = ""


@dataclass(frozen=True)
class View:
    seat: Seat
    coin: str
    hidden: bool
    side: str
    guess: str


@dataclass(frozen=True)
class Fell(Event):
    face: str


@dataclass(frozen=True)
class Hid(Event):
    side: str


@dataclass(frozen=True)
class Ready(Event):
    """It is hidden."""


@dataclass(frozen=True)
class Guessed(Event):
    guess: str
    side: str


@dataclass(frozen=True)
class Hide(Rules[State, str, View]):
    """The lawful one."""

    game = Game("hide", "Hide", "a toy", __name__)
    has_hidden_information = True

    def initial(self) -> State:
        return State()

    def actor(self, state: State) -> Actor | None:
        if not state.coin:
            return CHANCE
        if not state.side:
            return Seat.ONE
        return None if state.guess else Seat.TWO

    def actions(self, state: State) -> tuple[str, ...]:
        if not state.coin:
            return FACES
        return () if state.guess else SIDES

    def odds(self, state: State) -> tuple[Fraction, ...]:
        return (Fraction(1, 2), Fraction(1, 2))

    def apply(self, state: State, action: str) -> Step[State]:
        if not state.coin:
            return Step(replace(state, coin=action), (Fell(action),))
        if not state.side:
            return Step(replace(state, side=action), (Hid(action, seen_by=frozenset({Seat.ONE})), Ready()))
        return Step(replace(state, guess=action), (Guessed(action, state.side),))

    def outcome(self, state: State) -> Outcome | None:
        if not state.guess:
            return None
        guessed_right = state.guess == state.side
        return Outcome.win(
            Seat.TWO if guessed_right is (state.coin == "heads") else Seat.ONE, "The coin decided."
        )

    def view(self, state: State, seat: Seat) -> View:
        knows = seat is Seat.ONE or state.guess
        return View(seat, state.coin, bool(state.side), state.side if knows else "", state.guess)

    def all_actions(self) -> tuple[str, ...]:
        return SIDES

    def all_outcomes(self) -> tuple[str, ...]:
        return FACES

    def parse(self, text: str) -> str:
        if text.lower() not in FACES + SIDES:
            raise NotationError(text)
        return text.lower()

    def format(self, action: str) -> str:
        return action

    def parse_position(self, text: str) -> Sight[str, View]:
        for match in iter_reachable(self):
            for seat in Seat:
                if self.format_position(match.sight(seat)) == text.lower():
                    return match.sight(seat)
        raise NotationError(text)

    def format_position(self, sight: Sight[str, View]) -> str:
        view = sight.view
        fields = (view.coin, "hidden" if view.hidden else "", view.side, view.guess)
        return " ".join((str(view.seat.value), *(field or "-" for field in fields)))


@dataclass(frozen=True)
class AlwaysLimited(Hide):
    """Its limit cannot be taken away."""

    max_guesses: int | None = 3
    limit = "max_guesses"
    clock = "guess"


@dataclass(frozen=True)
class LimitedByNothing(Hide):
    """Its limit is none of its options."""

    limit = "max_guesses"
    clock = "guess"


@dataclass(frozen=True)
class Unclocked(Hide):
    """Nothing counts towards its limit."""

    max_guesses: int | None = None
    limit = "max_guesses"


class LooseMatch(Match[State, str, View]):
    """Accepts illegal actions."""

    def play(self, actor: Actor, action: str) -> Match[State, str, View]:
        step = self.rules.apply(self.state, action)
        return self._append(Turn(actor, action, step.events), step.state)


class ClosedMatch(Match[State, str, View]):
    """Refuses legal actions."""

    def play(self, actor: Actor, action: str) -> Match[State, str, View]:
        wrong = self.rules.actions(self.state)[0] if action in SIDES else SIDES[0]
        return super().play(actor, wrong)


class Broken(Hide):
    """What the games below have in common: the law that each breaks."""

    breaks: ClassVar[Law]


class Unlisted(Broken):
    breaks = Law.CATALOGUE

    def all_actions(self) -> tuple[str, ...]:
        return SIDES[:1]


class UnlistedOutcome(Broken):
    breaks = Law.CATALOGUE

    def all_outcomes(self) -> tuple[str, ...]:
        return ()


class ListedTwice(Broken):
    breaks = Law.CATALOGUE

    def all_actions(self) -> tuple[str, ...]:
        return SIDES + SIDES


class Stuck(Broken):
    breaks = Law.LEGALITY

    def actions(self, state: State) -> tuple[str, ...]:
        return () if state.side else super().actions(state)


class NeverDone(Broken):
    breaks = Law.LEGALITY

    def actions(self, state: State) -> tuple[str, ...]:
        return super().actions(state) or SIDES


class Repeating(Broken):
    breaks = Law.LEGALITY

    def actions(self, state: State) -> tuple[str, ...]:
        return super().actions(state) * 2


class FalseOffer(Broken):
    breaks = Law.LEGALITY

    def sight(
        self,
        state: State,
        seat: Seat,
        events: Sequence[Event] = (),
        history: Sequence[str | None] = (),
    ) -> Sight[str, View]:
        return replace(super().sight(state, seat, events, history), actions=SIDES)


class Inexact(Broken):
    breaks = Law.ODDS

    def odds(self, state: State) -> tuple[Fraction, ...]:
        return (0.5, 0.5)  # type: ignore[return-value]


class Impossible(Broken):
    breaks = Law.ODDS

    def odds(self, state: State) -> tuple[Fraction, ...]:
        return (Fraction(1), Fraction(0))


class Overfull(Broken):
    breaks = Law.ODDS

    def odds(self, state: State) -> tuple[Fraction, ...]:
        return (Fraction(1, 2), Fraction(2, 3))


class OneShort(Broken):
    breaks = Law.ODDS

    def odds(self, state: State) -> tuple[Fraction, ...]:
        return (Fraction(1),)


class Silent(Broken):
    breaks = Law.EVENTS

    def apply(self, state: State, action: str) -> Step[State]:
        return Step(super().apply(state, action).state, ())


class Fickle(Broken):
    """Gives a different result every time."""

    breaks = Law.PURITY
    calls: ClassVar[Iterator[int]] = iter(range(10**9))

    def apply(self, state: State, action: str) -> Step[State]:
        step = super().apply(state, action)
        return Step(step.state, (*step.events, Fell(str(next(self.calls)))))


class Shuffling(Broken):
    """Lists actions in a different order at each step."""

    breaks = Law.PURITY
    calls: ClassVar[Iterator[int]] = iter(range(10**9))

    def actions(self, state: State) -> tuple[str, ...]:
        return super().actions(state)[:: 1 - 2 * (next(self.calls) % 2)]


class Smudging(Broken):
    """Changes the state that it was given."""

    breaks = Law.PURITY

    def apply(self, state: State, action: str) -> Step[State]:
        step = super().apply(replace(state), action)
        object.__setattr__(state, "smudge", True)
        object.__setattr__(state, "coin", state.coin.upper())
        return step


class NewEveryTime(Broken):
    """Starts from a state that equals no other."""

    breaks = Law.PURITY

    def initial(self) -> State:
        return IdentityState()


@dataclass(frozen=True, eq=False)
class IdentityState(State):
    """Compared by identity."""

    __hash__ = object.__hash__

    def __eq__(self, other: object) -> bool:
        return self is other


class FluidState(State):
    """Has no hash, like a mutable object."""

    __hash__ = None  # type: ignore[assignment]


class Fluid(Broken):
    breaks = Law.PURITY

    def initial(self) -> State:
        return FluidState()


class Endless(Broken):
    breaks = Law.ENDING

    def outcome(self, state: State) -> Outcome | None:
        return None


class Hasty(Broken):
    breaks = Law.ENDING

    def outcome(self, state: State) -> Outcome | None:
        return Outcome.win(Seat.ONE, "Player 1 wins.") if state.side else None


class Unexplained(Broken):
    breaks = Law.ENDING
    can_be_drawn = True

    def outcome(self, state: State) -> Outcome | None:
        return Outcome.draw(" ") if state.guess else None


class UnexpectedlyDrawn(Broken):
    """Does not say that it can be drawn."""

    breaks = Law.ENDING

    def outcome(self, state: State) -> Outcome | None:
        return Outcome.draw("It does not matter.") if state.guess else None


class CutOffByNothing(Broken):
    """Is cut off without a limit."""

    breaks = Law.ENDING

    def outcome(self, state: State) -> Outcome | None:
        return Outcome.cut("It took too long.") if state.guess else None


class SelfResigning(Broken):
    """Returns a resignation as its outcome."""

    breaks = Law.ENDING

    def outcome(self, state: State) -> Outcome | None:
        return Outcome(Ending.RESIGNED, Seat.ONE, say("Player 2 has had enough.")) if state.guess else None


class CaseMinding(Broken):
    breaks = Law.NOTATION

    def parse(self, text: str) -> str:
        if text not in FACES + SIDES:
            raise NotationError(text)
        return text


class Ambiguous(Broken):
    breaks = Law.NOTATION

    def format(self, action: str) -> str:
        return "left" if action in SIDES else action


class GivesUp(Broken):
    """One of its actions is written like a resignation."""

    breaks = Law.NOTATION

    def parse(self, text: str) -> str:
        return super().parse("left" if text.lower() == "resign" else text)

    def format(self, action: str) -> str:
        return "resign" if action == "left" else action


class Commented(Broken):
    """One of its actions is written like a comment in a record."""

    breaks = Law.NOTATION

    def parse(self, text: str) -> str:
        return super().parse(text.removeprefix("#"))

    def format(self, action: str) -> str:
        return f"#{action}" if action == "left" else action


class Rambling(Broken):
    """Its sentence about the end has more than one line."""

    breaks = Law.ENDING

    def outcome(self, state: State) -> Outcome | None:
        return Outcome.draw("It is over.\nresult: 1 won") if state.guess else None


class Forgetful(Broken):
    """Leaves the coin out of its positions."""

    breaks = Law.NOTATION

    def format_position(self, sight: Sight[str, View]) -> str:
        return super().format_position(replace(sight, view=replace(sight.view, coin="")))


class CaseMindingPositions(Broken):
    breaks = Law.NOTATION

    def format_position(self, sight: Sight[str, View]) -> str:
        return super().format_position(sight).upper()


class Misplaced(Broken):
    """Parses only the view correctly."""

    breaks = Law.NOTATION

    def parse_position(self, text: str) -> Sight[str, View]:
        return replace(super().parse_position(text), actions=())


class Pretender(Broken):
    """Claims to have no secrets."""

    breaks = Law.OPENNESS
    has_hidden_information = False


class Boaster(Broken):
    """Claims to have secrets and shows everything to everybody."""

    breaks = Law.OPENNESS

    def view(self, state: State, seat: Seat) -> View:
        return View(seat, state.coin, bool(state.side), state.side, state.guess)

    def apply(self, state: State, action: str) -> Step[State]:
        step = super().apply(state, action)
        return Step(step.state, tuple(replace(event, seen_by=frozenset(Seat)) for event in step.events))


class TellTale(Broken):
    """Player 2's view shows the side."""

    breaks = Law.SECRECY

    def view(self, state: State, seat: Seat) -> View:
        return View(seat, state.coin, bool(state.side), state.side, state.guess)


class Telepathic(Broken):
    """Player 2's view knows about an event that Player 2 did not see."""

    breaks = Law.SECRECY

    def apply(self, state: State, action: str) -> Step[State]:
        step = super().apply(state, action)
        return Step(step.state, tuple(event for event in step.events if not isinstance(event, Ready)))


class Helpful(Broken):
    """Offers Player 2 the right side first."""

    breaks = Law.SECRECY

    def actions(self, state: State) -> tuple[str, ...]:
        actions = super().actions(state)
        return actions[::-1] if state.side == "right" else actions


class Gossip(Broken):
    """The outcome reveals information that Player 2 never saw."""

    breaks = Law.SECRECY

    def view(self, state: State, seat: Seat) -> View:
        return replace(super().view(state, seat), side=state.side if seat is Seat.ONE else "")

    def apply(self, state: State, action: str) -> Step[State]:
        step = super().apply(state, action)
        events = (replace(e, side="") if isinstance(e, Guessed) else e for e in step.events)
        return Step(step.state, tuple(events))


class Unredacted(Broken):
    """Its hidden action would stay in the history: no event is hidden."""

    breaks = Law.REDACTION

    def apply(self, state: State, action: str) -> Step[State]:
        step = super().apply(state, action)
        return Step(step.state, (Ready(),)) if state.coin and not state.side else step

    def view(self, state: State, seat: Seat) -> View:
        return replace(super().view(state, Seat.TWO), seat=seat)
