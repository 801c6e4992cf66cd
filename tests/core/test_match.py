"""A match under any sequence of calls, legal or not: it accepts only legal actions and never changes."""

from dataclasses import replace
from fractions import Fraction
from random import Random
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from duels.core.errors import DuelsError, GameOver, IllegalMove, NotationError, NotYourTurn
from duels.core.match import AnyMatch, EarlyEnd, EndedEarly, Match, draw, play_through
from duels.core.rules import CHANCE, Ending, Outcome, Seat
from duels.games import find_game
from duels.games.flip.rules import Flip
from duels.games.flip.rules import QuantumTiles as FlipRules
from tests.support import all_rules

ALL_RULES = all_rules()
ANYTHING: list[Any] = [
    *(action for rules in ALL_RULES for action in (*rules.all_actions(), *rules.all_outcomes())),
    *(
        None,
        0,
        -1,
        "",
        "1",
        "resign",
        EarlyEnd.RESIGN,
        (),
        object(),
        Seat.ONE,
        CHANCE,
        Flip(10**9),
        Flip(-(10**9)),
    ),
]


class MatchMachine(RuleBasedStateMachine):
    """Holds every match that was ever current, with a copy of its state at that time."""

    @initialize(rules=st.sampled_from(ALL_RULES))
    def start(self, rules: Any) -> None:
        self.match: AnyMatch = Match.start(rules)
        self.snapshots = [(self.match, self._snapshot(self.match))]

    def _snapshot(self, match: AnyMatch) -> tuple[Any, ...]:
        sights = tuple(match.sight(seat) for seat in Seat)
        return match.state, match.actor, match.actions, match.outcome, match.turns, sights

    def _go_on(self, match: AnyMatch) -> None:
        assert match.previous
        assert match.previous.turns == self.match.turns
        assert len(match.turns) == len(self.match.turns) + 1
        self.match = match
        self.snapshots.append((match, self._snapshot(match)))

    @precondition(lambda self: self.match.actor is not None)
    @rule(data=st.data())
    def play(self, data: st.DataObject) -> None:
        actor = self.match.actor
        assert actor is not None
        action = data.draw(st.sampled_from(self.match.actions))
        after = self.match.play(actor, action)
        assert after.last
        assert (after.last.actor, after.last.action) == (actor, action)
        step = self.match.rules.apply(self.match.state, action)  # not from a cache
        assert (after.state, after.last.events) == (step.state, step.events)
        assert after.last.events
        self._go_on(after)

    @precondition(lambda self: self.match.actor is not None)
    @rule(data=st.data())
    def play_text(self, data: st.DataObject) -> None:
        action = data.draw(st.sampled_from(self.match.actions))
        text = self.match.rules.format(action)
        after = self.match.play_text(data.draw(st.sampled_from([text, text.upper(), f" {text} "])))
        assert after.last
        assert after.last.action == action
        assert after.previous
        assert after.previous.turns == self.match.turns
        self._go_on(after)

    @rule(data=st.data())
    def take_back(self, data: st.DataObject) -> None:
        """Return to an earlier entry; the next ones may differ."""
        self.match = self.match.after(data.draw(st.integers(0, self.match.length)))

    @precondition(lambda self: isinstance(self.match.actor, Seat) and len(self.match.turns) > 8)
    @rule(ending=st.sampled_from([Ending.RESIGNED, Ending.FORFEITED]), out_of_turn=st.booleans())
    def concede(self, ending: Ending, out_of_turn: bool) -> None:
        seat = self.match.actor
        assert isinstance(seat, Seat)
        if out_of_turn and ending is Ending.RESIGNED:
            seat = seat.other
            assert self.match.play_text(f"Resign {seat.value}").turns == self.match.resign(seat).turns
        after = (self.match.resign if ending is Ending.RESIGNED else self.match.forfeit)(seat)
        assert after.outcome == Outcome(ending, seat.other)
        assert after.outcome
        assert after.outcome.code == f"{seat.other.value} won, {seat.value} {ending.value}"
        assert after.events_seen_by(None)[-1] == EndedEarly(seat, ending)
        assert after.state == self.match.state
        self._go_on(after)

    @rule(actor=st.sampled_from([*Seat, CHANCE, 1, None, "1"]), action=st.sampled_from(ANYTHING))
    def play_anything(self, actor: Any, action: Any) -> None:
        seat = Seat.ONE if actor == 1 else actor
        legal = seat is self.match.actor and action in self.match.actions
        try:
            after = self.match.play(actor, action)
        except GameOver:
            assert self.match.over
        except NotYourTurn:
            assert seat is not self.match.actor
        except IllegalMove:
            assert not legal
        except DuelsError:
            assert actor in (None, "1"), "not a seat at all"
        else:
            assert legal
            self._go_on(after)

    @rule(actor=st.sampled_from([*Seat, CHANCE, None]))
    def concede_when_one_may_not(self, actor: Any) -> None:
        refusals = (NotYourTurn, GameOver) if actor is not None else DuelsError
        if actor is not self.match.actor or not isinstance(actor, Seat):
            with pytest.raises(refusals):
                self.match.forfeit(actor)
        if not isinstance(actor, Seat) or not isinstance(self.match.actor, Seat):
            with pytest.raises((NotYourTurn, GameOver) if isinstance(actor, Seat) else DuelsError):
                self.match.resign(actor)

    @rule(text=st.sampled_from(["", "nonsense", "99", "\x00", "move", "A9+A9", "heads tails", "-1", "٣"]))
    def unreadable_text(self, text: str) -> None:
        with pytest.raises((NotationError, IllegalMove)):
            self.match.play_text(text)

    @invariant()
    def a_match_is_over_exactly_when_nobody_acts(self) -> None:
        match = self.match
        assert match.over == (match.actor is None) == (match.actions == ()) == (match.outcome is not None)

    @invariant()
    def no_match_ever_changes(self) -> None:
        for match, snapshot in self.snapshots[-3:]:
            assert self._snapshot(match) == snapshot

    @invariant()
    def sights_follow_from_the_history(self) -> None:
        match = self.match
        assert [after.last for after in match.steps()] == list(match.turns)
        for seat in Seat:
            sight = match.sight(seat)
            assert sight.events == tuple(e for turn in match.turns for e in turn.events if seat in e.seen_by)
            assert sight.actions == (match.actions if match.actor is seat else ())
            assert sight.actor == match.actor
            anew = match.rules.sight(
                match.state, seat, match.events_seen_by(seat), match.redacted_history(seat)
            )
            assert sight == replace(anew, actor=match.actor, actions=sight.actions, outcome=match.outcome)
        assert set(match.events_seen_by(None)) <= set(match.events_seen_by(Seat.ONE)) & set(
            match.events_seen_by(Seat.TWO)
        )

    def teardown(self) -> None:
        for match, snapshot in getattr(self, "snapshots", []):
            assert self._snapshot(match) == snapshot


MatchMachine.TestCase.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)
TestMatch = MatchMachine.TestCase


def test_chance_follows_the_odds_of_the_rules() -> None:
    """Every ticket is tried once: the outcomes come in proportion to their odds."""
    match = Match.start(FlipRules()).play_text("A1", "4", "B1+B2")
    odds = match.rules.odds(match.state)
    tickets = 24 * 23

    class Fixed(Random):
        ticket = 0

        def randrange(self, *limits: Any) -> int:
            assert tickets % limits[0] == 0
            return int(self.ticket * limits[0] // tickets)

    counts: dict[Any, int] = {}
    for ticket in range(tickets):
        rng = Fixed()
        rng.ticket = ticket
        outcome = draw(match, rng)
        counts[outcome] = counts.get(outcome, 0) + 1
    assert [Fraction(counts[a], tickets) for a in match.actions] == list(odds)


def test_errors_are_duels_errors_and_quote_the_input() -> None:
    match: AnyMatch = Match.start(find_game("lights").rules())
    with pytest.raises(IllegalMove, match="'8' is not allowed now; allowed: 1, 2"):
        match.play_text("8")
    with pytest.raises(NotationError, match="'x'"):
        match.play_text("x")
    with pytest.raises(NotYourTurn, match="It is Player 1's turn"):
        match.play(Seat.TWO, match.actions[0])
    over = match.resign(Seat.ONE)
    with pytest.raises(GameOver):
        over.play_text("1")
    with pytest.raises(DuelsError):
        over.resign(Seat.TWO)


@pytest.mark.parametrize("line", ["resign", "resign 1", "forfeit"])
def test_rejects_a_resignation_during_a_chance_event(line: str) -> None:
    match = Match.start(find_game("chain").rules()).play_text("4", "5", "3", "challenge")
    with pytest.raises(NotYourTurn):
        match.play_text(line)


def test_a_resignation_is_not_an_action() -> None:
    match: AnyMatch = Match.start(find_game("lights").rules())
    match.resign(Seat.ONE)
    with pytest.raises(IllegalMove):
        match.play(Seat.ONE, EarlyEnd.RESIGN)


def test_long_matches_can_be_inspected() -> None:
    rules = find_game("hunt").rules()
    match: AnyMatch = Match.start(rules).play_text("move 1", "observe 6", "move 7", "observe 6")
    for _ in range(500):
        match = match.play_text("move 1", "observe 5", "move 7", "observe 5")
        match = match.play_text("move 1", "observe 6", "move 7", "observe 6")
    assert len(match.turns) > 4000
    assert len(repr(match)) < 2000
    assert not match.over


def test_play_yields_the_match_after_every_entry() -> None:
    rng = Random(1)
    seats: list[Seat] = []

    def decide(match: AnyMatch, seat: Seat) -> Any:
        seats.append(seat)
        return rng.choice(match.actions)

    steps = list(play_through(Match.start(find_game("chain").rules(max_boards=2)), rng, decide))
    assert [len(step.turns) for step in steps] == list(range(len(steps)))
    assert [step.over for step in steps] == [False] * (len(steps) - 1) + [True]
    assert seats == [turn.actor for turn in steps[-1].turns if turn.actor is not CHANCE]
    assert len(seats) < len(steps) - 1  # coins fell, and nobody was asked about them
