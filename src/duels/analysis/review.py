"""Goes through a match: what every decision was worth, what it gave away, what was luck.

For Player 1: the result = the opening's value + luck - its own losses + the other's losses. Of an
unfinished match the result is the value as it stands.
"""

from dataclasses import dataclass
from typing import Any

from duels.analysis.advice import MARKS, ONLY_MOVE, all_alike, mark_of
from duels.core.errors import DuelsError
from duels.core.game import Game
from duels.core.match import Concession, Match
from duels.core.record import Record, format_entry
from duels.core.rules import Actor, Seat
from duels.solving.oracle import Exactness, Oracle, Value
from duels.solving.oracles import oracle_for
from duels.solving.progress import Progress, quiet

AnyMatch = Match[Any, Any, Any]


@dataclass(frozen=True)
class Belief:
    """Where a seat could expect the other's hidden token, and where it was."""

    places: dict[str, float]
    truth: str


@dataclass(frozen=True)
class Moment:
    """One entry of the match, judged. Probabilities of winning are Player 1's in `before` and `after`."""

    number: int
    actor: Actor
    entry: str
    before: float
    after: float
    loss: float
    """What the decision gave away, to the one who made it; 0 for chance."""
    loss_error: float
    """How far that may be off, where it is proven."""
    luck: float
    """What chance (or, in a game of secrets, what nobody could know) gave Player 1, `mixing` included."""
    mixing: float
    """What it gave Player 1 that of actions which perfect play mixes one came up that looks worth more or
    less than their average, as far as that costs nothing; 0 in games without secrets."""
    best: tuple[str, ...]
    mark: str
    """Empty for chance, and where all actions are alike; ONLY_MOVE where there was nothing to decide."""
    alike: str
    """What to say where it did not matter what was played; else empty."""
    reason: str
    """Why the best action was best, where another was taken; like `effect` told to who decided."""
    effect: str
    """What the action taken did, where it gave something away."""
    position: str
    """What the actor knew before it (Player 1 where chance acts), in notation."""
    beliefs: dict[Seat, Belief]
    """What each seat could know before it; empty in games without secrets."""
    match: AnyMatch
    mishap: str = ""
    """What it did that lost the match there and then, though nobody who decided it could know."""

    @property
    def restarts(self) -> bool:
        """Whether it brought the board back to its beginning."""
        return any(event.restarts for event in self.match.last.events) if self.match.last else False


@dataclass(frozen=True)
class Review:
    """A match, judged."""

    match: AnyMatch
    opening: float
    result: float
    """Player 1's: 1 won, 0 lost, a half if nobody won; the value as it stands if unfinished."""
    exactness: Exactness
    error: float
    """How far any of the values may be off, where that is proven."""
    moments: tuple[Moment, ...]

    def loss(self, seat: Seat) -> float:
        """All that a seat gave away."""
        return sum(moment.loss for moment in self.moments if moment.actor is seat)

    @property
    def game(self) -> Game:
        return self.match.rules.game

    @property
    def luck(self) -> float:
        """All that luck gave Player 1."""
        return sum(moment.luck for moment in self.moments)


def review_record(record: Record, progress: Progress = quiet) -> Review:
    """Judge every decision of a recorded match."""
    match = record.match
    if match.rules.has_secrets and not (match.over and record.seat is None):
        if match.over:
            raise DuelsError(
                "this record holds only what one seat could see of a match with hidden moves: "
                "a review needs the whole record."
            )
        raise DuelsError("a match with hidden moves can be reviewed once it is over, from the whole record.")
    return review_match(match, oracle_for(match.rules, progress))


def review_match(match: AnyMatch, oracle: Oracle[Any, Any]) -> Review:
    values = [_value_now(oracle, step) for step in (_beginning(match), *match.steps())]
    numbers = [value.number for value in values]
    moments = tuple(
        _judge(oracle, number, after, numbers[number - 1], numbers[number])
        for number, after in enumerate(match.steps(), start=1)
    )
    sureness = [value.exactness for value in values]
    exactness = next(
        (kind for kind in (Exactness.ESTIMATE, Exactness.BOUND) if kind in sureness), Exactness.EXACT
    )
    error = max(value.error for value in values)
    return Review(match, numbers[0], numbers[-1], exactness, error, moments)


def _beginning(match: AnyMatch) -> AnyMatch:
    while match.previous:
        match = match.previous
    return match


def _value_now(oracle: Oracle[Any, Any], match: AnyMatch) -> Value:
    """Player 1's winning probability, as the seat to decide can know it; certain after a mishap."""
    if match.outcome:
        return Value.of(match.outcome.score(Seat.ONE))
    if match.last and _mishap(oracle, match):
        return Value(float(match.last.actor is Seat.TWO))
    actor = match.actor if isinstance(match.actor, Seat) else Seat.ONE
    value = oracle.value(match.sight(actor))
    return value if actor is Seat.ONE else value.for_other()


def _mishap(oracle: Oracle[Any, Any], match: AnyMatch) -> str:
    """What the last entry did that nobody could know, and that lost the match."""
    turn, before = match.last, match.previous
    if not (turn and before and isinstance(turn.actor, Seat)) or isinstance(turn.action, Concession):
        return ""
    return oracle.mishap(before.sight(turn.actor), before.sight(turn.actor.other), turn.action)


def _judge(oracle: Oracle[Any, Any], number: int, after: AnyMatch, was: float, now: float) -> Moment:
    turn, before = after.last, after.previous
    assert turn
    assert before
    entry = format_entry(after.rules, turn)
    if not isinstance(turn.actor, Seat):
        position = after.rules.format_position(before.sight(Seat.ONE))
        none = ("", "", "", "")
        return Moment(
            number, turn.actor, entry, was, now, 0.0, 0.0, now - was, 0.0, (), *none, position, {}, after
        )
    sight = before.sight(turn.actor)
    verdict = oracle.judge(sight)
    side = 1 if turn.actor is Seat.ONE else -1
    resigned = isinstance(turn.action, Concession)
    loss = verdict.value.number if resigned else verdict.loss(turn.action)
    loss_error = verdict.value.error if resigned else verdict.loss_error(turn.action)
    luck = (now - was) + side * loss
    if abs(luck) < 1e-9:
        luck = 0.0
    mixing = 0.0
    if verdict.mixed and not resigned:
        (taken,) = (judged for judged in verdict.actions if judged.action == turn.action)
        mixing = side * (taken.value.number - verdict.value.number + loss)
    lost_before = bool(_mishap(oracle, before))
    if lost_before:
        loss = loss_error = luck = mixing = 0.0
    slipped = loss > MARKS[0].most
    alike = "Lost already." if lost_before else "" if resigned else all_alike(verdict)
    if (resigned and not alike) or not (alike or len(verdict.actions) == 1):
        mark = mark_of(loss)
        if mark == MARKS[0].name and turn.action not in verdict.best:
            mark = MARKS[1].name
    else:
        mark = "" if alike else ONLY_MOVE
    return Moment(
        number,
        turn.actor,
        entry,
        was,
        now,
        loss,
        loss_error,
        luck,
        mixing,
        best=tuple(after.rules.format(action) for action in verdict.best),
        mark=mark,
        alike=alike,
        reason=oracle.reason(sight) if slipped else "",
        effect="You resigned." if resigned else oracle.effect(sight, turn.action) if slipped else "",
        position=after.rules.format_position(sight),
        beliefs=_beliefs(oracle, before) if after.rules.has_secrets else {},
        match=after,
        mishap=_mishap(oracle, after),
    )


def _beliefs(oracle: Oracle[Any, Any], match: AnyMatch) -> dict[Seat, Belief]:
    sights = {seat: match.sight(seat) for seat in Seat}
    return {
        seat: Belief(oracle.belief(sights[seat]), oracle.whereabouts(sights[seat.other])) for seat in Seat
    }
