"""Reviews a match: what every decision was worth, what it gave away, and what was luck.

For Player 1: score = value of the opening + luck - its own losses + the other's losses. The score of an
unfinished match is its value as it stands.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from duels.analysis.wording import MARKS, ONLY_MOVE, all_alike, mark_of
from duels.core.errors import DuelsError, TooLarge
from duels.core.game import Game
from duels.core.match import Concession, Match
from duels.core.record import Record, format_entry
from duels.core.rules import Actor, Seat
from duels.solving.oracle import Exactness, Oracle, Value, Verdict
from duels.solving.oracles import oracle_for
from duels.solving.progress import Progress, quiet
from duels.solving.protocols import beliefs_of, both_sides_of, explainer_of, value_seeing_all

AnyMatch = Match[Any, Any, Any]
AnyOracle = Oracle[Any, Any]

MOST_REVIEWED = 2_000
"""Entries: what a seat has seen at each of them is as long as the match so far."""
_NOTHING = 1e-9  # smaller differences come from rounding
_CONCEDED = {Concession.RESIGN: "You resigned.", Concession.FORFEIT: "You forfeited the match."}


@dataclass(frozen=True)
class Belief:
    """What a seat could know of the other's secret, and what it was."""

    places: Mapping[str, float]
    truth: str


@dataclass(frozen=True, kw_only=True)
class Moment:
    """One entry of a match, judged. `before`, `after` and `luck` are Player 1's."""

    match: AnyMatch
    """The match after the entry."""
    number: int
    actor: Actor
    entry: str
    """What was played, in notation."""
    position: str
    """What the actor knew before it (Player 1 where chance acts), in notation."""
    before: float
    after: float
    luck: float
    """What chance gave Player 1, or what nobody could know in a game with secrets; includes `mixing`."""
    mixing: float = 0.0
    """Luck of the draw where perfect play mixes: which action came up, as far as that is no loss."""
    loss: float = 0.0
    """What the decision gave away, to the one who made it; 0 for chance."""
    loss_error: float = 0.0
    """How far the loss may be off, where that is proven."""
    best: tuple[str, ...] = ()
    mark: str = ""
    """Empty for chance, and where all actions are alike; ONLY_MOVE where there was no choice."""
    alike: str = ""
    """What to say where it did not matter what was played; else empty."""
    reason: str = ""
    """Why the best action was best, where another was taken; told to who decided, as is `effect`."""
    effect: str = ""
    """What the action taken did, where it gave something away."""
    came_up: str = ""
    """A clause on what chance brought (`the coin showed heads`); empty for a decision."""
    mishap: str = ""
    """A clause on how it lost the match at once, though who decided could not know; else empty."""
    beliefs: Mapping[Seat, Belief] = field(default_factory=dict)
    """What each seat could know before it; empty in games without secrets."""

    @property
    def restarts(self) -> bool:
        """Whether it brought the board back to its beginning."""
        return any(event.restarts for event in self.match.last.events) if self.match.last else False


@dataclass(frozen=True)
class Review:
    """A match, judged. Values are Player 1's."""

    match: AnyMatch
    opening: float
    """The value of the opening."""
    score: float
    """1 won, 0 lost, a half if nobody won; the value as it stands if the match is unfinished."""
    exactness: Exactness
    error: float
    """How far any of the values may be off, where that is proven."""
    moments: tuple[Moment, ...]

    def loss(self, seat: Seat) -> float:
        """All that a seat gave away."""
        return sum(moment.loss for moment in self.moments if moment.actor is seat)

    @property
    def luck(self) -> float:
        """All that luck gave Player 1."""
        return sum(moment.luck for moment in self.moments)

    @property
    def game(self) -> Game:
        """The game that was played."""
        return self.match.rules.game


def review(match: AnyMatch, oracle: AnyOracle | None = None) -> Review:
    """Judge every decision of a match, and tell luck from skill.

    A match of a game with secrets can be reviewed once it is over. The oracle is that of `match.rules`; pass
    one to use it instead.
    """
    _refuse_what_cannot_be(match)
    oracle = oracle or oracle_for(match.rules)
    steps = match.steps()
    values = [_value_now(oracle, each) for each in (match.after(0), *steps)]
    moments = tuple(
        _judge(oracle, number, step, values[number - 1].number, values[number].number)
        for number, step in enumerate(steps, start=1)
    )
    return Review(
        match,
        values[0].number,
        values[-1].number,
        max((value.exactness for value in values), key=list(Exactness).index),
        max(value.error for value in values),
        moments,
    )


def review_record(record: Record, progress: Progress = quiet) -> Review:
    """Judge every decision of a recorded match; the record must hold both seats' moves."""
    match = record.match
    if record.seat and match.rules.has_secrets and match.over:
        raise DuelsError(
            "this record holds only what one seat could see of a match with hidden moves: "
            "a review needs the whole record."
        )
    _refuse_what_cannot_be(match)
    return review(match, oracle_for(match.rules, progress))


def _refuse_what_cannot_be(match: AnyMatch) -> None:
    if len(match.turns) > MOST_REVIEWED:
        many = f"this one has {len(match.turns):,}"
        raise TooLarge(f"a match of at most {MOST_REVIEWED:,} entries can be reviewed; {many}.")
    if match.rules.has_secrets and not match.over:
        raise DuelsError("a match with hidden moves can be reviewed once it is over.")


def _value_now(oracle: AnyOracle, match: AnyMatch) -> Value:
    """Player 1's value."""
    if match.outcome:
        return Value.of(match.outcome.score(Seat.ONE))
    if _mishap(oracle, match):
        assert match.last
        return Value(float(match.last.actor is Seat.TWO))
    return value_seeing_all(oracle, match.sight(Seat.ONE), match.sight(Seat.TWO))


def _mishap(oracle: AnyOracle, match: AnyMatch) -> str:
    """How the last entry lost the match though nobody could know; empty if it did not."""
    turn, before = match.last, match.previous
    if not (turn and before and isinstance(turn.actor, Seat)) or isinstance(turn.action, Concession):
        return ""
    sight, others = before.sight(turn.actor), before.sight(turn.actor.other)
    return both_sides_of(oracle).mishap(sight, others, turn.action)


def _judge(oracle: AnyOracle, number: int, after: AnyMatch, was: float, now: float) -> Moment:
    turn, before, rules = after.last, after.previous, after.rules
    assert turn
    assert before
    entry = format_entry(rules, turn)
    if not isinstance(turn.actor, Seat):
        return Moment(
            match=after,
            number=number,
            actor=turn.actor,
            entry=entry,
            position=rules.format_position(before.sight(Seat.ONE)),
            before=was,
            after=now,
            luck=now - was,
            came_up=explainer_of(oracle).came_up(turn.action) or f"chance brought {entry}",
        )
    sight = before.sight(turn.actor)
    verdict = oracle.judge(sight)
    judged = _Decision(verdict, turn.action, lost_before=bool(_mishap(oracle, before)))
    side = 1 if turn.actor is Seat.ONE else -1
    luck = 0.0 if judged.lost_before else (now - was) + side * judged.loss
    slipped = judged.loss > MARKS[0].most
    explainer = explainer_of(oracle)
    return Moment(
        match=after,
        number=number,
        actor=turn.actor,
        entry=entry,
        position=rules.format_position(sight),
        before=was,
        after=now,
        luck=luck if abs(luck) >= _NOTHING else 0.0,
        mixing=side * judged.mixing,
        loss=judged.loss,
        loss_error=judged.loss_error,
        best=tuple(rules.format(action) for action in verdict.best),
        mark=judged.mark,
        alike=judged.alike,
        reason=explainer.reason(sight) if slipped else "",
        effect=judged.conceded or (explainer.effect(sight, turn.action) if slipped else ""),
        mishap=_mishap(oracle, after),
        beliefs=_beliefs(oracle, before),
    )


class _Decision:
    """What an action, or a concession, was worth to the one who decided."""

    def __init__(self, verdict: Verdict[Any], action: Any, lost_before: bool) -> None:
        self.lost_before = lost_before
        self.conceded = _CONCEDED[action] if isinstance(action, Concession) else ""
        self.loss = self.loss_error = self.mixing = 0.0
        self.alike = "Lost already." if lost_before else "" if self.conceded else all_alike(verdict)
        if lost_before:
            pass
        elif self.conceded:  # gives away all that the position was worth
            self.loss, self.loss_error = verdict.value.number, verdict.value.error
        else:
            self.loss, self.loss_error = verdict.loss(action), verdict.loss_error(action)
            (taken,) = (judged for judged in verdict.actions if judged.action == action)
            if verdict.mixed:
                self.mixing = taken.value.number - verdict.value.number + self.loss
        self.mark = self._mark(verdict, action)

    def _mark(self, verdict: Verdict[Any], action: Any) -> str:
        if self.alike:
            return ""
        if len(verdict.actions) == 1 and not self.conceded:
            return ONLY_MOVE
        best, good, *_ = (mark.name for mark in MARKS)
        mark = mark_of(self.loss)
        return good if mark == best and action not in verdict.best else mark


def _beliefs(oracle: AnyOracle, match: AnyMatch) -> dict[Seat, Belief]:
    tracker = beliefs_of(oracle)
    sights = {seat: match.sight(seat) for seat in Seat} if match.rules.has_secrets else {}
    found = {
        seat: Belief(tracker.belief(sight), tracker.whereabouts(sights[seat.other]))
        for seat, sight in sights.items()
    }
    return found if any(belief.places for belief in found.values()) else {}
