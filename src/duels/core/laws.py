"""Checks of the laws that every game must obey, over a whole state space or along single matches.

`check_everywhere(MyGame())` checks every reachable state and raises LawBroken with a counterexample.
`check_along(MyGame(), my_choice)` checks one match, for games with too many states.
"""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from typing import Generic, NoReturn, TypeVar

from duels.core.errors import DuelsError, GameOver, IllegalMove, NotYourTurn
from duels.core.match import AnyMatch, Match
from duels.core.record import find_entry_problem
from duels.core.rules import CHANCE, A, Actor, AnyRules, Ending, Event, Outcome, Rules, S, Seat, V

ACTORS: tuple[Actor, ...] = (*Seat, CHANCE)
_BY_RULES = (Ending.WON, Ending.DRAWN, Ending.CUT_OFF)
T = TypeVar("T")


class Law(Enum):
    """The laws of `Rules`. The value states the law in one line."""

    CATALOGUE = "all_actions lists each action once, and all_outcomes each chance outcome"
    LEGALITY = (
        "actions lists exactly what Match.play accepts, and only from the actor; it is empty only at the end"
    )
    ODDS = "odds are exact, positive fractions, one for each outcome, and their sum is 1"
    EVENTS = "every step has at least one event"
    PURITY = "equal calls return equal results and change nothing"
    ENDING = "a match ends won, drawn (with can_be_drawn) or cut off (with a limit), for a stated reason"
    NOTATION = (
        "actions, outcomes and positions are one line of text that is read back in any letter case, "
        "and no action is written like another line of a record"
    )
    OPENNESS = "has_hidden_information is True exactly if some event is hidden from a seat"
    SECRECY = "a seat's view, turn, actions and outcome depend only on the events it has seen"
    REDACTION = "a seat's redacted history reveals no more than the events it has seen"


class LawBroken(DuelsError):
    """A game breaks `law`. `match` is a counterexample, or None if the initial state is one."""

    def __init__(self, law: Law, rules: AnyRules, fault: str, match: AnyMatch | None = None) -> None:
        super().__init__(f"{rules.name}: {fault}{_format_location(match)} (law: {law.value})")
        self.law = law
        self.match = match


@dataclass(frozen=True, slots=True)
class LawReport:
    """The numbers of distinct states and of steps that were checked."""

    states: int
    steps: int


def check_everywhere(rules: Rules[S, A, V]) -> LawReport:
    """Check every law at every reachable state. Raises LawBroken with a shortest counterexample.

    This proves the laws for these rules, secrecy by induction over the steps (see `Rules.view`).
    """
    inspector = Inspector(rules)
    start = Match.start(rules)
    states = {start.state}
    waiting = deque([start])
    steps = 0
    while waiting:
        for successor in inspector.inspect(waiting.popleft()):
            steps += 1
            if successor.state not in states:
                states.add(successor.state)
                waiting.append(successor)
    if rules.has_hidden_information and not inspector.has_seen_secret:
        raise LawBroken(Law.OPENNESS, rules, "has_hidden_information is True, but both seats see every event")
    return LawReport(len(states), steps)


def check_along(
    rules: Rules[S, A, V], choose: Callable[[Match[S, A, V]], A], max_entries: int = 1000
) -> Match[S, A, V]:
    """Check every law at each position of one match and in each step out of it. `choose` picks the entries.

    Returns the match when it is over, or after `max_entries` entries.
    """
    inspector = Inspector(rules)
    match = Match.start(rules)
    for _ in range(max_entries):
        successors = inspector.inspect(match)
        if not successors:
            break
        match = successors[match.actions.index(choose(match))]
    else:
        inspector.inspect(match)
    return match


class Inspector(Generic[S, A, V]):
    """Checks the laws at each match that it inspects.

    The laws of secrecy compare matches, so an inspector remembers the views of all inspected matches.
    """

    def __init__(self, rules: Rules[S, A, V]) -> None:
        self.rules = rules
        self._check_frozen(rules.initial(), *rules.all_actions(), *rules.all_outcomes())
        self.has_seen_secret = False
        self._all_actions = frozenset(rules.all_actions())
        self._all_outcomes = frozenset(rules.all_outcomes())
        self._catalogue = tuple(dict.fromkeys((*rules.all_actions(), *rules.all_outcomes())))
        # Views are compared often and are slow to hash, so each gets a number.
        self._numbers: dict[tuple[Seat, V], int] = {}
        self._views: dict[S, tuple[int, ...]] = {}
        # By view: the sight, and an example.
        self._sights: dict[int, tuple[tuple[object, ...], Match[S, A, V]]] = {}
        # By view and the events seen next: the next view, the entry, and an example.
        self._next_views: dict[tuple[int, tuple[Event, ...]], tuple[int, A | None, Match[S, A, V]]] = {}
        self._check_catalogue()
        if rules.initial() != rules.initial():
            self._fail(Law.PURITY, "two matches do not start from equal states")

    def inspect(self, match: Match[S, A, V]) -> tuple[Match[S, A, V], ...]:
        """Check every law at `match` and in each step out of it.

        Returns the matches one step further, in the order of `match.actions`.
        """
        before = _fingerprint(match.state)
        actor, actions = match.actor, match.actions
        self._check_ending(match, actor)
        self._check_actions(match, actor, actions)
        if actor is CHANCE:
            self._check_odds(match, actions)
        successors = self._check_gate(match, actor, actions)
        for action, successor in zip(actions, successors, strict=True):
            self._check_step(match, action, successor)
        if (actor, actions) != (match.actor, match.actions):
            self._fail(Law.PURITY, "actor or actions change when asked for again", match)
        if before != _fingerprint(match.state):
            self._fail(Law.PURITY, "the rules have modified a state", match)
        self._check_sights(match, actor, actions)
        for action, successor in zip(actions, successors, strict=True):
            self._check_secrecy(match, action, successor)
        return successors

    # -- actions -------------------------------------------------------------------------------

    def _check_frozen(self, *values: object) -> None:
        for value in values:
            try:
                hash(value)
            except TypeError as error:
                self._fail(Law.PURITY, f"{value} is not frozen: {error}")

    def _check_catalogue(self) -> None:
        for listed in (self.rules.all_actions(), self.rules.all_outcomes()):
            for action in listed:
                if listed.count(action) > 1:
                    self._fail(Law.CATALOGUE, f"{action} is listed twice")
        for action in self._catalogue:
            text = self.rules.format(action)
            if problem := find_entry_problem(text):
                self._fail(Law.NOTATION, f"'{text}', the notation of {action}, {problem} in a record")
            if self.rules.has_hidden_information and set(text) & set(",;#"):
                self._fail(Law.NOTATION, f"'{text}' contains a separator of positions (, ; #)")
            for spelled in _vary_case(text):
                if self._try_parse(self.rules.parse, spelled) != action:
                    self._fail(Law.NOTATION, f"'{spelled}' is not read back as {action}")

    def _check_actions(self, match: Match[S, A, V], actor: Actor | None, actions: tuple[A, ...]) -> None:
        if not actions and actor is not None:
            self._fail(Law.LEGALITY, "there is no action, but the match is not over", match)
        if actions and actor is None:
            self._fail(Law.LEGALITY, "there is an action, but the match is over", match)
        if len(set(actions)) != len(actions):
            self._fail(Law.LEGALITY, "an action is enumerated twice", match)
        for action in actions:
            if action not in (self._all_outcomes if actor is CHANCE else self._all_actions):
                self._fail(Law.CATALOGUE, f"{action} is possible but not listed", match)

    def _check_gate(
        self, match: Match[S, A, V], actor: Actor | None, actions: tuple[A, ...]
    ) -> tuple[Match[S, A, V], ...]:
        """Check that `Match.play` accepts the legal actions and refuses all others."""
        legal = set(actions)
        for other in ACTORS:
            if other is not actor:
                error = NotYourTurn if actor else GameOver
                for action in actions or self._catalogue:
                    self._expect_refusal(match, other, action, error)
        if actor is None:
            return ()
        for action in self._catalogue:
            if action not in legal:
                self._expect_refusal(match, actor, action, IllegalMove)
        try:
            return tuple(match.play(actor, action) for action in actions)
        except IllegalMove as error:
            self._fail(Law.LEGALITY, f"an enumerated action is refused: {error}", match)

    def _expect_refusal(
        self, match: Match[S, A, V], actor: Actor, action: A, error: type[IllegalMove]
    ) -> None:
        try:
            match.play(actor, action)
        except error:
            return
        self._fail(Law.LEGALITY, f"{action} is accepted from {actor!r}", match)

    # -- outcomes --------------------------------------------------------------------------------

    def _check_ending(self, match: Match[S, A, V], actor: Actor | None) -> None:
        outcome = match.outcome
        if outcome is None and actor is None:
            self._fail(Law.ENDING, "there is neither an actor nor an outcome", match)
        if outcome is not None and actor is not None:
            self._fail(Law.ENDING, "there are both an outcome and an actor", match)
        if outcome is None:
            return
        if not isinstance(outcome, Outcome) or not outcome.reason.strip() or not outcome.reason.isprintable():
            self._fail(Law.ENDING, f"{outcome!r} is not an Outcome with a reason of one line", match)
        if outcome.ending not in _BY_RULES:
            self._fail(Law.ENDING, f"only a match, not the rules, can end '{outcome.ending.value}'", match)
        if outcome.ending is Ending.DRAWN and not self.rules.can_be_drawn:
            self._fail(Law.ENDING, "the match is drawn, but can_be_drawn is False", match)
        if outcome.ending is Ending.CUT_OFF and self.rules.limit_value is None:
            self._fail(Law.ENDING, "the match is cut off, but no limit is set (see Rules.limit)", match)

    def _check_odds(self, match: Match[S, A, V], actions: tuple[A, ...]) -> None:
        odds = self.rules.odds(match.state)
        if len(odds) != len(actions):
            self._fail(Law.ODDS, f"{len(odds)} odds for {len(actions)} outcomes", match)
        if not all(isinstance(chance, Fraction) and chance > 0 for chance in odds) or sum(odds) != 1:
            self._fail(Law.ODDS, f"the odds are {', '.join(map(str, odds))}", match)

    def _check_step(self, match: Match[S, A, V], action: A, successor: Match[S, A, V]) -> None:
        events = _last_events(successor)
        second_step = self.rules.apply(match.state, action)
        if (second_step.state, second_step.events) != (successor.state, events):
            self._fail(Law.PURITY, "the same action has a different effect when applied again", successor)
        if not events:
            self._fail(Law.EVENTS, "the last step has no events", successor)

    # -- information -----------------------------------------------------------------------------

    def _check_sights(self, match: Match[S, A, V], actor: Actor | None, actions: tuple[A, ...]) -> None:
        """Check that equal views of a seat have equal actors, actions and outcomes."""
        for seat, view in zip(Seat, self._number_views(match.state), strict=True):
            sight = self.rules.sight(match.state, seat)
            if self._numbers.get((seat, sight.view)) != view:
                self._fail(Law.PURITY, f"{seat.label}'s view changes when asked for again", match)
            if sight.actions != (actions if actor is seat else ()):
                self._fail(
                    Law.LEGALITY, f"the actions of {seat.label}'s sight are not its legal actions", match
                )
            actual = (sight.actor, sight.actions, match.outcome, match.outcome and match.outcome.reason)
            if view not in self._sights:
                self._sights[view] = (actual, match)
                self._check_position(match, seat)
            expected, reference = self._sights[view]
            if expected != actual:
                fault = f"{seat.label} has the same view{_format_location(reference)}, but a different sight"
                self._fail(Law.SECRECY, fault, match)

    def _check_secrecy(self, match: Match[S, A, V], action: A, successor: Match[S, A, V]) -> None:
        """Check that a seat's view and the events it sees determine its next view and history."""
        old_views, new_views = self._number_views(match.state), self._number_views(successor.state)
        events = _last_events(successor)
        for seat, old_view, new_view in zip(Seat, old_views, new_views, strict=True):
            seen = tuple(event for event in events if seat in event.seen_by)
            hidden = successor.last is not None and successor.last.hidden_from(seat)
            if hidden or len(seen) < len(events):
                self._note_secret(successor)
            if not seen:
                if old_view != new_view:
                    self._fail(Law.SECRECY, f"{seat.label} sees nothing, but its view changes", successor)
                continue
            entry = None if hidden else action
            expected_view, expected_entry, example = self._next_views.setdefault(
                (old_view, seen), (new_view, entry, successor)
            )
            if expected_view != new_view:
                fault = f"{seat.label} saw the same{_format_location(example)}, but has a different view"
                self._fail(Law.SECRECY, fault, successor)
            if expected_entry != entry:
                fault = f"{seat.label} saw the same{_format_location(example)}, but has a different history"
                self._fail(Law.REDACTION, fault, successor)

    def _note_secret(self, match: Match[S, A, V]) -> None:
        self.has_seen_secret = True
        if not self.rules.has_hidden_information:
            self._fail(Law.OPENNESS, "has_hidden_information is False, but an event is hidden", match)

    def _number_views(self, state: S) -> tuple[int, ...]:
        if state not in self._views:
            views = ((seat, self.rules.view(state, seat)) for seat in Seat)
            self._views[state] = tuple(self._numbers.setdefault(view, len(self._numbers)) for view in views)
        return self._views[state]

    def _check_position(self, match: Match[S, A, V], seat: Seat) -> None:
        sight = match.sight(seat)
        text = self.rules.format_position(sight)
        for spelled in _vary_case(text):
            read = self._try_parse(self.rules.parse_position, spelled)
            is_equal = read is not None and read.view == sight.view
            if is_equal and read is not None and sight.actor is seat:
                is_equal = (read.seat, read.actor, read.actions) == (seat, seat, sight.actions)
            if not is_equal:
                self._fail(Law.NOTATION, f"'{spelled}' is not read back as {seat.label}'s position", match)

    # -- helpers ---------------------------------------------------------------------------------

    def _try_parse(self, parse: Callable[[str], T], text: str) -> T | None:
        try:
            return None if "\n" in text else parse(text)
        except DuelsError:
            return None

    def _fail(self, law: Law, fault: str, match: Match[S, A, V] | None = None) -> NoReturn:
        raise LawBroken(law, self.rules, fault, match)


def _last_events(match: Match[S, A, V]) -> tuple[Event, ...]:
    return match.last.events if match.last else ()


def _fingerprint(state: S) -> tuple[int, str]:
    """Return values that differ if a state was modified in place."""
    return hash(state), repr(state)


def _vary_case(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys((text, text.swapcase())))


def _format_location(match: AnyMatch | None) -> str:
    if match is None:
        return ""
    entries = (_spell(match.rules, turn.action) for turn in match.turns)
    return f" after '{', '.join(entries)}'" if match.last else " at the start"


def _spell(rules: AnyRules, action: object) -> str:
    try:
        return rules.format(action)
    except Exception:  # the notation may be what is broken
        return repr(action)
