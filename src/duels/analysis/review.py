"""Reviews a match: what every decision was worth, what it gave away, and what was luck.

For Player 1: score = value of the opening + luck - its own losses + the other's losses. The score of an
unfinished match is its value as it stands. Where the strategy mixes, part of the luck is what players chose
of its mixture.
"""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from itertools import pairwise
from typing import Any

from duels.analysis.wording import (
    ALREADY_LOST,
    MARKS,
    ONLY_MOVE,
    RARE,
    describe_equal_actions,
    get_mark_name,
    is_loss,
)
from duels.core.errors import DuelsError, TooLarge
from duels.core.game import Game
from duels.core.match import AnyMatch, Concession
from duels.core.narration import PlayerNames
from duels.core.record import Record, format_entry
from duels.core.rules import Actor, Seat
from duels.players import HUMAN, read_player_names
from duels.solving.oracle import Exactness, Oracle, Value, Verdict
from duels.solving.oracles import get_oracle
from duels.solving.progress import Progress, no_progress

AnyOracle = Oracle[Any, Any]

MAX_REVIEWED_ENTRIES = 2_000
"""Entries: what a seat has seen at each of them is as long as the match so far."""
_NOTHING = 1e-9  # smaller differences come from rounding
_CONCEDED = {Concession.RESIGN: "resigned", Concession.FORFEIT: "forfeited the match"}


@dataclass(frozen=True)
class Belief:
    """What a seat could know of the other's secret, and what it was."""

    places: Mapping[str, float]
    truth: str
    hidden: str
    """What the secret is: `token`."""


@dataclass(frozen=True)
class Stake:
    """What the other player could do wrong in reply."""

    replies: int
    mistakes: int
    """How many of the replies would have given something away."""
    most: float
    """What the worst of them would have given away."""


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
    """How far what was chosen of the strategy's mixture lies above it, as far as that is no loss."""
    draws: tuple[tuple[float, float], ...] = ()
    """The mixture that it was chosen of: how likely each action is, and how far above the mixture it lies."""
    below_mixture: float = 0.0
    """How far the action's value lies below the mixture's, to the actor; 0 where nothing is mixed."""
    loss: float = 0.0
    """What the decision gave away, to the one who made it; 0 for chance."""
    loss_error: float = 0.0
    """How far the loss may be off, where that is proven."""
    best: tuple[str, ...] = ()
    mark: str = ""
    """Empty for chance, and where all actions are alike; ONLY_MOVE where there was no choice, RARE where
    the strategy mixes this in now and then."""
    alike: str = ""
    """What to say where it did not matter what was played; else empty."""
    reason: str = ""
    """Why the best action was best, where another was taken; addressed, like `effect`, to whoever decided."""
    effect: str = ""
    """What the action taken did, where it gave something away."""
    outcome_text: str = ""
    """A clause on what chance brought (`the coin showed heads`); empty for a decision."""
    action_text: str = ""
    """A clause without its subject on what was decided (`went to 7`); empty for chance."""
    unforeseen_loss: str = ""
    """A clause without its subject on how it lost the match at once, though nobody knew yet; else empty.

    `{whose}` in it, and in `winning_discovery`, stands for the other player."""
    winning_discovery: str = ""
    """A clause without its subject on how it won the match at once, by finding a secret; else empty."""
    stake: Stake | None = None
    """What the reply could give away; None where the other player does not decide next, or in secret."""
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
    players: Mapping[Seat, str] = field(default_factory=lambda: dict.fromkeys(Seat, HUMAN))
    """Who played, by the names that a record has for them."""
    names: PlayerNames | None = None
    """What the sentences call the players, where that is not left to them."""

    @property
    def person(self) -> Seat | None:
        """The seat of the one person who played against a machine, who is told of the match as `you`."""
        people = [seat for seat in Seat if self.is_person(seat)]
        return people[0] if len(people) == 1 else None

    def is_person(self, seat: Seat) -> bool:
        """Whether a person played there, who may be spoken to."""
        return self.players[seat] == HUMAN

    @property
    def side(self) -> Seat:
        """The seat whose chances are shown: the one person's, else Player 1's."""
        return self.person or Seat.ONE

    def chance(self, value: float) -> float:
        """One of the values as `side` has it."""
        return value if self.side is Seat.ONE else 1 - value

    def mixing(self, seat: Seat) -> float:
        """How far all that a seat chose of the strategy's mixture lies above it."""
        luck = sum(moment.mixing for moment in self.moments if moment.actor is seat)
        return luck if seat is Seat.ONE else -luck

    def mixing_odds(self, seat: Seat) -> float:
        """How likely choices that lie so far below the mixture are, at most, for one that mixes like it.

        By Chernoff's bound.
        """
        luck = self.mixing(seat)
        draws = [moment.draws for moment in self.moments if moment.actor is seat and moment.draws]
        return min(math.exp(min(0.0, rate * luck + _log_moments(draws, rate))) for rate in _RATES)

    def loss(self, seat: Seat) -> float:
        """All that a seat gave away."""
        return sum(moment.loss for moment in self.moments if moment.actor is seat)

    def unforeseen(self, seat: Seat) -> float:
        """What luck gave a seat beyond what both chose of the strategy's mixture."""
        luck = self.luck if seat is Seat.ONE else -self.luck
        return luck - self.mixing(seat) + self.mixing(seat.other)

    @property
    def luck(self) -> float:
        """All that luck gave Player 1."""
        return sum(moment.luck for moment in self.moments)

    @property
    def game(self) -> Game:
        """The game that was played."""
        return self.match.rules.game


_RATES = [1.5**power for power in range(20)]  # of points from 100 down to a tenth


def _log_moments(draws: list[tuple[tuple[float, float], ...]], rate: float) -> float:
    """The logarithm of the mean of exp(-rate * luck), over all draws together."""
    total = 0.0
    for draw in draws:
        most = max(-rate * luck for _, luck in draw)
        total += most + math.log(sum(weight * math.exp(-rate * luck - most) for weight, luck in draw))
    return total


def review(
    match: AnyMatch,
    oracle: AnyOracle | None = None,
    players: Mapping[Seat, str] | None = None,
    progress: Progress = no_progress,
) -> Review:
    """Judge every decision of a match, and tell luck from skill.

    A match of a game with secrets can be reviewed once it is over. The oracle is that of `match.rules`; pass
    one to use it instead. `players` are names as a record has them; people by default.
    """
    _refuse_what_cannot_be(match)
    oracle = oracle or get_oracle(match.rules, progress)
    steps = match.steps()
    values = [_value_now(oracle, each) for each in (match.after(0), *steps)]
    verdicts = [_verdict(oracle, step) for step in steps]
    moments = tuple(
        _judge(oracle, number, step, verdict, reply, was.number, now.number)
        for number, (step, (verdict, reply), (was, now)) in enumerate(
            zip(steps, pairwise([*verdicts, None]), pairwise(values), strict=True), start=1
        )
    )
    return Review(
        match,
        values[0].number,
        values[-1].number,
        max((value.exactness for value in values), key=list(Exactness).index),
        max(value.error for value in values),
        moments,
        players or dict.fromkeys(Seat, HUMAN),
    )


def review_record(record: Record, progress: Progress = no_progress) -> Review:
    """Judge every decision of a recorded match; the record must hold both seats' moves."""
    match = record.match
    if record.seat and match.rules.has_secrets and match.over:
        raise DuelsError(
            "this record holds only what one seat could see of a match with hidden moves: "
            "a review needs the whole record."
        )
    return review(match, None, read_player_names(record.headers), progress)


def _refuse_what_cannot_be(match: AnyMatch) -> None:
    if len(match.turns) > MAX_REVIEWED_ENTRIES:
        many = f"this one has {len(match.turns):,}"
        raise TooLarge(f"a match of at most {MAX_REVIEWED_ENTRIES:,} entries can be reviewed; {many}.")
    if match.rules.has_secrets and not match.over:
        raise DuelsError("A match with hidden moves can be reviewed once it is over.")


def _value_now(oracle: AnyOracle, match: AnyMatch) -> Value:
    """Player 1's value."""
    if match.outcome:
        return Value.from_fraction(match.outcome.score(Seat.ONE))
    return oracle.full_information_value(match.sight(Seat.ONE), match.sight(Seat.TWO))


def _turning_point(oracle: AnyOracle, match: AnyMatch) -> tuple[str, str]:
    """How the last entry lost or won the match though nobody could know; empty if it did not."""
    turn, before = match.last, match.previous
    if not (turn and before and isinstance(turn.actor, Seat)) or isinstance(turn.action, Concession):
        return "", ""
    sight, others = before.sight(turn.actor), before.sight(turn.actor.other)
    return oracle.unforeseen_loss(sight, others, turn.action), oracle.winning_discovery(
        sight, others, turn.action
    )


def _verdict(oracle: AnyOracle, after: AnyMatch) -> Verdict[Any] | None:
    """The decision that led to this position; None for chance."""
    turn, before = after.last, after.previous
    assert turn
    assert before
    # Whoever resigns on the other's turn gives away what the position is worth, as on the own turn.
    return oracle.judge(before.sight(before.actor)) if isinstance(before.actor, Seat) else None


def _judge(
    oracle: AnyOracle,
    number: int,
    after: AnyMatch,
    verdict: Verdict[Any] | None,
    reply: Verdict[Any] | None,
    was: float,
    now: float,
) -> Moment:
    turn, before, rules = after.last, after.previous, after.rules
    assert turn
    assert before
    entry = format_entry(rules, turn)
    sight = before.sight(turn.actor if isinstance(turn.actor, Seat) else Seat.ONE)
    moment = Moment(
        match=after,
        number=number,
        actor=turn.actor,
        entry=entry,
        position=rules.format_position(sight),
        before=was,
        after=now,
        luck=now - was,
    )
    if not isinstance(turn.actor, Seat) or not verdict:
        return replace(moment, outcome_text=oracle.describe_outcome(turn.action) or f"chance brought {entry}")
    lost_before = bool(_turning_point(oracle, before)[0])
    unforeseen_loss, winning_discovery = _turning_point(oracle, after)
    worth = was if turn.actor is Seat.ONE else 1 - was
    judged = _Decision(verdict, turn.action, worth, lost_before, oracle.mixes)
    side = 1 if turn.actor is Seat.ONE else -1
    luck = 0.0 if judged.lost_before else (now - was) + side * judged.loss
    slipped = is_loss(judged.loss) and not turn.out_of_turn  # which is explained by itself
    return replace(
        moment,
        luck=luck if abs(luck) >= _NOTHING else 0.0,
        mixing=side * judged.mixing,
        draws=judged.draws,
        below_mixture=judged.below_mixture,
        loss=judged.loss,
        loss_error=judged.loss_error,
        best=() if turn.out_of_turn else tuple(rules.format(action) for action in verdict.best),
        mark=judged.mark,
        alike=judged.alike,
        reason=oracle.reason(sight) if slipped else "",
        effect=judged.conceded or (oracle.effect(sight, turn.action) if slipped else ""),
        action_text=_CONCEDED.get(turn.action) or oracle.describe_action(turn.action) or f"played {entry}",
        unforeseen_loss=unforeseen_loss,
        winning_discovery=winning_discovery,
        stake=_stake(after, reply),
        beliefs=_beliefs(oracle, before),
    )


def _stake(after: AnyMatch, reply: Verdict[Any] | None) -> Stake | None:
    decided = after.last and after.last.actor
    if not reply or after.rules.has_secrets or after.actor is decided or len(reply.actions) == 1:
        return None
    losses = [loss for loss in reply.losses if is_loss(loss)]
    return Stake(len(reply.actions), len(losses), max(losses, default=0.0))


class _Decision:
    """What an action, or a concession, was worth to the one who decided."""

    def __init__(
        self, verdict: Verdict[Any], action: Any, worth: float, lost_before: bool, mixes: bool
    ) -> None:
        """`state_value` is the position's to the one who decided, the secrets of both in sight."""
        self.lost_before = lost_before
        self.conceded = f"You {_CONCEDED[action]}." if isinstance(action, Concession) else ""
        self.loss = self.loss_error = self.mixing = self.below_mixture = 0.0
        self.draws: tuple[tuple[float, float], ...] = ()
        self.alike = ALREADY_LOST if lost_before else "" if self.conceded else describe_equal_actions(verdict)
        if lost_before:
            pass
        elif self.conceded:  # gives away all that the position was worth: there is no luck in it
            self.loss, self.loss_error = worth, verdict.value.error
        else:
            self.loss, self.loss_error = verdict.loss(action), verdict.loss_error(action)
            taken = verdict.get_action_value(action)
            mean = verdict.value.number
            if mixes:
                self.below_mixture = mean - taken.value.number
            if mixes and taken.weight:  # what the strategy never takes is no draw of its mixture
                self.mixing = self.loss - self.below_mixture
                self.draws = tuple((j.weight, j.value.number - mean) for j in verdict.actions if j.weight)
        self.mark = self._mark(verdict, action)

    def _mark(self, verdict: Verdict[Any], action: Any) -> str:
        if self.alike:
            return ""
        if len(verdict.actions) == 1 and not self.conceded:
            return ONLY_MOVE
        best, good, *_ = (mark.name for mark in MARKS)
        mark = get_mark_name(self.loss)
        if mark != best or action in verdict.best:
            return mark
        return RARE if verdict.is_mixed else good


def _beliefs(oracle: AnyOracle, match: AnyMatch) -> dict[Seat, Belief]:
    sights = {seat: match.sight(seat) for seat in Seat} if match.rules.has_secrets else {}
    found = {
        seat: Belief(oracle.belief(sight), oracle.own_secret(sights[seat.other]), oracle.hidden)
        for seat, sight in sights.items()
    }
    return found if any(belief.places for belief in found.values()) else {}


# -- as data -----------------------------------------------------------------------------------------

_VALUES = (
    "opening, score, before, after, luck and mixing are Player 1's; loss is the actor's; "
    "score = opening + luck - loss of 1 + loss of 2; luck includes mixing, which is how far what the actor "
    "chose of the strategy's mixture lies above it; mishap and strike are clauses whose subject "
    "is the actor; stake is what the reply could give away; you is the one person's seat"
)


def review_to_dict(review: Review) -> dict[str, Any]:
    """The whole review for programs: dictionaries, lists, texts and numbers, as JSON has them."""
    outcome = review.match.outcome
    return {
        "game": review.game.name,
        "players": {str(seat.value): name for seat, name in review.players.items()},
        "you": review.person.value if review.person else None,
        "finished": outcome is not None,
        "result": outcome.code if outcome else None,
        "ending": outcome.ending.value if outcome else None,
        "winner": outcome.winner.value if outcome and outcome.winner else None,
        "text": outcome.reason if outcome else None,
        "exactness": review.exactness.value,
        "error": None if review.exactness is Exactness.ESTIMATE else review.error,
        "values": _VALUES,
        "opening": review.opening,
        "score": review.score,
        "luck": review.luck,
        "loss": {str(seat.value): review.loss(seat) for seat in Seat},
        "thresholds": {mark.name: mark.most for mark in MARKS},
        "moments": [_moment(moment) for moment in review.moments],
    }


def _moment(moment: Moment) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "number": moment.number,
        "actor": moment.actor.value,
        "entry": moment.entry,
        "position": moment.position,
        "before": moment.before,
        "after": moment.after,
        "loss": moment.loss,
        "loss_error": moment.loss_error,
        "luck": moment.luck,
        "best": list(moment.best),
        "mark": moment.mark,
        "reason": moment.reason,
        "effect": moment.effect,
    }
    if stake := moment.stake:
        fields["stake"] = asdict(stake)
    if moment.match.rules.has_secrets:
        fields |= {
            "mixing": moment.mixing,
            "mishap": moment.unforeseen_loss.format(whose="the other's"),
            "strike": moment.winning_discovery.format(whose="the other's"),
        }
    if moment.beliefs:
        fields["beliefs"] = {
            str(seat.value): {"places": dict(belief.places), "truth": belief.truth}
            for seat, belief in moment.beliefs.items()
        }
    return fields
