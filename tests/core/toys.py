"""A tiny lawful game, and a broken game for every way to break a law.

The game: a coin is tossed. Player 1 hides something left or right. Player 2 learns that it is hidden, and
guesses where. On heads a right guess wins, on tails a wrong one.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import count
from typing import Any, ClassVar

from duels.core.errors import NotationError
from duels.core.explore import iter_reachable
from duels.core.game import Game
from duels.core.laws import Law
from duels.core.match import Match, Turn
from duels.core.narration import say
from duels.core.rules import CHANCE, Actor, Ending, Event, Outcome, Seat, Sight, Step
from tests.outside.words import StringRules

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
class Hide(StringRules[State, View]):
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
    """A limit without a clock that counts towards it."""

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
    """A game that breaks a law."""

    breaks: ClassVar[Law]


def broken(name: str, law: Law, **changes: Any) -> type[Broken]:
    """Return the game with other attributes and methods, by which it breaks `law`."""
    return type(name, (Broken,), {"breaks": law, **changes})


def parse_exactly(rules: Hide, text: str) -> str:
    if text not in FACES + SIDES:
        raise NotationError(text)
    return text


def end_after_guess(outcome: Callable[[], Outcome]) -> Callable[[Hide, State], Outcome | None]:
    return lambda rules, state: outcome() if state.guess else None


calls = count()
RULES = Hide()
SIMPLY_BROKEN = (
    broken("Unlisted", Law.CATALOGUE, all_actions=lambda rules: SIDES[:1]),
    broken("UnlistedOutcome", Law.CATALOGUE, all_outcomes=lambda rules: ()),
    broken("ListedTwice", Law.CATALOGUE, all_actions=lambda rules: SIDES + SIDES),
    broken("Stuck", Law.LEGALITY, actions=lambda rules, s: () if s.side else RULES.actions(s)),
    broken("NeverDone", Law.LEGALITY, actions=lambda rules, s: RULES.actions(s) or SIDES),
    broken("Repeating", Law.LEGALITY, actions=lambda rules, s: RULES.actions(s) * 2),
    broken("FalseOffer", Law.LEGALITY, sight=lambda rules, *of: replace(RULES.sight(*of), actions=SIDES)),
    broken("Inexact", Law.ODDS, odds=lambda rules, s: (0.5, 0.5)),
    broken("Impossible", Law.ODDS, odds=lambda rules, s: (Fraction(1), Fraction(0))),
    broken("Overfull", Law.ODDS, odds=lambda rules, s: (Fraction(1, 2), Fraction(2, 3))),
    broken("OneShort", Law.ODDS, odds=lambda rules, s: (Fraction(1),)),
    broken("Silent", Law.EVENTS, apply=lambda rules, s, action: Step(RULES.apply(s, action).state, ())),
    broken("Shuffling", Law.PURITY, actions=lambda rules, s: RULES.actions(s)[:: 1 - 2 * (next(calls) % 2)]),
    broken("NewEveryTime", Law.PURITY, initial=lambda rules: IdentityState()),
    broken("Fluid", Law.PURITY, initial=lambda rules: FluidState()),
    broken("Endless", Law.ENDING, outcome=lambda rules, s: None),
    broken("Hasty", Law.ENDING, outcome=lambda rules, s: Outcome.win(Seat.ONE, "Won.") if s.side else None),
    broken("Unexplained", Law.ENDING, can_be_drawn=True, outcome=end_after_guess(lambda: Outcome.draw(" "))),
    broken("UnexpectedlyDrawn", Law.ENDING, outcome=end_after_guess(lambda: Outcome.draw("Whatever."))),
    broken("CutOffByNothing", Law.ENDING, outcome=end_after_guess(lambda: Outcome.cut("It took too long."))),
    broken(
        "SelfResigning",
        Law.ENDING,
        outcome=end_after_guess(lambda: Outcome(Ending.RESIGNED, Seat.ONE, say("Player 2 has had enough."))),
    ),
    broken("Rambling", Law.ENDING, outcome=end_after_guess(lambda: Outcome.draw("Over.\nresult: 1 won"))),
    broken("CaseMinding", Law.NOTATION, parse=parse_exactly),
    broken("Ambiguous", Law.NOTATION, format=lambda rules, action: "left" if action in SIDES else action),
    broken(
        "GivesUp",
        Law.NOTATION,
        parse=lambda rules, text: RULES.parse("left" if text.lower() == "resign" else text),
        format=lambda rules, action: "resign" if action == "left" else action,
    ),
    broken(
        "Commented",
        Law.NOTATION,
        parse=lambda rules, text: RULES.parse(text.removeprefix("#")),
        format=lambda rules, action: f"#{action}" if action == "left" else action,
    ),
    broken(
        "Forgetful",
        Law.NOTATION,
        format_position=lambda rules, sight: RULES.format_position(
            replace(sight, view=replace(sight.view, coin=""))
        ),
    ),
    broken(
        "CaseMindingPositions",
        Law.NOTATION,
        format_position=lambda rules, sight: RULES.format_position(sight).upper(),
    ),
    broken(
        "Misplaced",
        Law.NOTATION,
        parse_position=lambda rules, text: replace(RULES.parse_position(text), actions=()),
    ),
    broken("Pretender", Law.OPENNESS, has_hidden_information=False),
    broken(
        "Helpful",
        Law.SECRECY,
        actions=lambda rules, s: RULES.actions(s)[:: -1 if s.side == "right" else 1],
    ),
)


@dataclass(frozen=True, eq=False)
class IdentityState(State):
    """Compared by identity."""

    __hash__ = object.__hash__

    def __eq__(self, other: object) -> bool:
        return self is other


class FluidState(State):
    """Has no hash, like a mutable object."""

    __hash__ = None  # type: ignore[assignment]


class Fickle(Broken):
    """Gives a different result every time."""

    breaks = Law.PURITY

    def apply(self, state: State, action: str) -> Step[State]:
        step = super().apply(state, action)
        return Step(step.state, (*step.events, Fell(str(next(calls)))))


class Smudging(Broken):
    """Changes the state that it was given."""

    breaks = Law.PURITY

    def apply(self, state: State, action: str) -> Step[State]:
        step = super().apply(replace(state), action)
        object.__setattr__(state, "smudge", True)
        object.__setattr__(state, "coin", state.coin.upper())
        return step


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
