"""Reviews of matches: the value of every position, the loss of every decision, and luck.

For Player 1: score = value of the opening + luck - own losses + the other player's losses. The score of an
unfinished match is the value of the current position. If the strategy mixes, the players' choices from its
mixture are part of the luck.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

from duels.analysis.wording import (
    ALREADY_LOST,
    ONLY_MOVE,
    RARE,
    describe_equal_actions,
    get_mark_name,
    is_loss,
    label_action,
)
from duels.core.errors import DuelsError, TooLarge
from duels.core.game import Game
from duels.core.match import AnyMatch, EarlyEnd, Turn
from duels.core.narration import PlayerNames
from duels.core.record import Record, format_entry
from duels.core.rules import Actor, AnySight, Seat
from duels.players import HUMAN, read_player_names
from duels.solving.oracle import Exactness, Oracle, Progress, Value, Verdict, no_progress
from duels.solving.oracles import get_oracle

AnyOracle = Oracle[Any, Any]

MAX_REVIEWED_ENTRIES = 2_000
"""Longer matches would take too long: the work grows with the square of the length."""
_ROUNDING = 1e-9
_NO_WINNER = 0.5  # the score if nobody won
_EARLY_END_NAMES = {  # a verb and a noun
    EarlyEnd.RESIGN: ("resigned", "resignation"),
    EarlyEnd.FORFEIT: ("forfeited the match", "forfeit"),
    EarlyEnd.STOP: ("agreed to stop", "agreement to stop"),
}


@dataclass(frozen=True)
class Belief:
    """A seat's probabilities for the other player's secret, and the truth."""

    probabilities: Mapping[str, float]
    truth: str
    hidden: str
    """The kind of secret: `token`."""


@dataclass(frozen=True)
class Stake:
    """The mistakes that the other player could make in reply."""

    replies: int
    mistakes: int
    """The number of replies that would have cost points."""
    max_loss: float
    """The loss of the worst reply."""


@dataclass(frozen=True, kw_only=True)
class ReviewedEntry:
    """A judged entry of a match. Values and luck are Player 1's."""

    match: AnyMatch
    """The match after the entry."""
    number: int
    actor: Actor
    notation: str
    """The entry in notation."""
    label: str
    """A noun for the entry: `light 1`, `resignation`."""
    position: str
    """The notation of the position before the entry, as the actor (or Player 1, if chance acts) knew it."""
    value_before: float
    value_after: float
    luck: float
    """Player 1's gain from chance or from hidden information; includes `mixing`."""
    mixing: float = 0.0
    """How much better the choice from the strategy's mixture was than the mixture's average."""
    draws: tuple[tuple[float, float], ...] = ()
    """The mixture: the probability of each action, and its value minus the average."""
    below_mixture: float = 0.0
    """How much worse the action is for the actor than the mixture's average; 0 if nothing is mixed."""
    loss: float = 0.0
    """The value that the actor gave away; 0 for chance."""
    loss_error: float = 0.0
    """The proven bound on the error of `loss`."""
    best: tuple[str, ...] = ()
    best_labels: tuple[str, ...] = ()
    """Nouns for the best actions."""
    mark: str = ""
    """The name of a mark, ONLY_MOVE or RARE; empty for chance, or if all actions are equally good."""
    indifference: str = ""
    """A sentence if the choice did not matter; otherwise empty."""
    reason: str = ""
    """Why the best action was best, as a sentence to the actor; empty if the action has no loss."""
    effect: str = ""
    """The effect of a loss or an early end, as a sentence to the actor; otherwise empty."""
    outcome_text: str = ""
    """A clause about a chance outcome (`the coin showed heads`); empty for a decision."""
    action_text: str = ""
    """A predicate for the decision (`went to 7`); empty for chance."""
    unforeseen_loss: str = ""
    """A predicate if the action lost the match at once and neither player could know it; otherwise empty.

    In this text and in `winning_discovery`, `{whose}` stands for the other player's name and `'s`."""
    winning_discovery: str = ""
    """A predicate if the action won the match at once by finding a secret; otherwise empty."""
    stake: Stake | None = None
    """None if the other player does not decide next, or decides in secret."""
    beliefs: Mapping[Seat, Belief] = field(default_factory=dict)
    """Each seat's belief before the entry; empty in games without hidden information."""

    @property
    def turn(self) -> Turn[Any]:
        """The action or chance outcome, and its events."""
        return self.match.turns[-1]

    @property
    def restarts(self) -> bool:
        """Whether the entry returned the board to its start."""
        return any(event.restarts for event in self.turn.events)

    @property
    def is_early_end(self) -> bool:
        """Whether a player resigned or forfeited, or both agreed to stop."""
        return isinstance(self.turn.action, EarlyEnd)


@dataclass(frozen=True)
class Review:
    """A judged match. Values are Player 1's.

    >>> import duels
    >>> review = duels.review(duels.start("lights").play_text("1", "3", "4", "6-7", "2", "5"))
    >>> [(entry.notation, entry.mark, entry.best) for entry in review.entries[:2]]
    [('1', 'blunder', ('4', '2-3', '5-6')), ('3', 'best', ('3', '6', '4-5'))]
    >>> review.loss(duels.Seat.ONE), review.luck, review.score
    (1.0, 0.0, 0.0)
    """

    match: AnyMatch
    opening: float
    """The value of the opening."""
    score: float
    """1 if Player 1 won, 0 if lost, one half if nobody won; the current value if unfinished."""
    exactness: Exactness
    error: float
    """The proven bound on the error of every value."""
    entries: tuple[ReviewedEntry, ...]
    players: Mapping[Seat, str] = field(default_factory=lambda: dict.fromkeys(Seat, HUMAN))
    """The players' names as in a record."""
    names: PlayerNames | None = None
    """What the sentences call the players; chosen automatically if None."""

    @property
    def person(self) -> Seat | None:
        """The seat of the only person, whom the sentences address as `you`."""
        people = [seat for seat in Seat if self.is_person(seat)]
        return people[0] if len(people) == 1 else None

    def is_person(self, seat: Seat) -> bool:
        """Whether a person played at this seat."""
        return self.players[seat] == HUMAN

    @property
    def side(self) -> Seat:
        """The seat whose chances are shown: the only person's, otherwise Player 1's."""
        return self.person or Seat.ONE

    def chance(self, value: float) -> float:
        """Convert one of Player 1's values to a value of `side`."""
        return value if self.side is Seat.ONE else 1 - value

    def mixing(self, seat: Seat) -> float:
        """Return how much better than average a seat's choices from the mixture were."""
        luck = sum(entry.mixing for entry in self.entries if entry.actor is seat)
        return luck if seat is Seat.ONE else -luck

    def mixing_odds(self, seat: Seat) -> float:
        """Bound the probability that a player who follows the mixture chooses as badly (Chernoff's bound)."""
        luck = self.mixing(seat)
        draws = [entry.draws for entry in self.entries if entry.actor is seat and entry.draws]
        return min(math.exp(min(0.0, rate * luck + _log_mean(draws, rate))) for rate in _RATES)

    def loss(self, seat: Seat) -> float:
        """Return the sum of a seat's losses."""
        return sum(entry.loss for entry in self.entries if entry.actor is seat)

    def luck_without_mixing(self, seat: Seat) -> float:
        """Return a seat's luck, not counting either player's choices from the mixture."""
        luck = self.luck if seat is Seat.ONE else -self.luck
        return luck - self.mixing(seat) + self.mixing(seat.other)

    @property
    def luck(self) -> float:
        """Player 1's total luck."""
        return sum(entry.luck for entry in self.entries)

    @property
    def game(self) -> Game:
        """The game that was played."""
        return self.match.rules.game


_RATES = [1.5**power for power in range(20)]  # of Chernoff's bound, for luck from 0.1 to 100 points


def _log_mean(draws: list[tuple[tuple[float, float], ...]], rate: float) -> float:
    """Return the logarithm of the mean of exp(-rate * luck) over all draws together."""
    total = 0.0
    for draw in draws:
        largest = max(-rate * luck for _, luck in draw)
        total += largest + math.log(sum(weight * math.exp(-rate * luck - largest) for weight, luck in draw))
    return total


def review(
    match: AnyMatch,
    oracle: AnyOracle | None = None,
    players: Mapping[Seat, str] | None = None,
    progress: Progress = no_progress,
) -> Review:
    """Judge every decision of a match, and separate luck from skill.

    `players` are names as in a record; by default both are people. `oracle` replaces that of
    `match.rules`. Raises DuelsError for an unfinished match with hidden information, and TooLarge if the
    match is too long or the game too large.

    >>> import duels
    >>> review = duels.review(duels.start("chain").play_text("4", "1", "resign"))
    >>> [(entry.actor.value, entry.notation, entry.mark) for entry in review.entries]
    [(1, '4', ''), (2, '1', ''), (1, 'resign', 'blunder')]
    """
    _check_reviewable(match)
    oracle = oracle or get_oracle(match.rules, progress)
    positions = [match.after(0), *match.steps()]
    values = [_get_value(oracle, position) for position in positions]
    verdicts = [_judge_position(oracle, position) for position in positions[:-1]]
    entries = tuple(
        _review_entry(oracle, position, verdict, reply, value_before.number, value_after.number)
        for position, (verdict, reply), (value_before, value_after) in zip(
            positions[1:], pairwise([*verdicts, None]), pairwise(values), strict=True
        )
    )
    return Review(
        match,
        values[0].number,
        values[-1].number,
        max((value.exactness for value in values), key=list(Exactness).index),
        max(value.error for value in values),
        entries,
        players or dict.fromkeys(Seat, HUMAN),
    )


def review_record(record: Record, progress: Progress = no_progress) -> Review:
    """Judge every decision of a recorded match.

    Raises DuelsError if the record holds only one seat's view.
    """
    match = record.match
    if record.seat and match.rules.has_hidden_information and match.over:
        raise DuelsError(
            "This record holds only one seat's view of a match with hidden moves. "
            "Review the whole record instead."
        )
    return review(match, None, read_player_names(record.headers), progress)


def _check_reviewable(match: AnyMatch) -> None:
    if len(match.turns) > MAX_REVIEWED_ENTRIES:
        raise TooLarge(
            f"This match has {len(match.turns):,} entries; at most {MAX_REVIEWED_ENTRIES:,} can be reviewed."
        )
    if match.rules.has_hidden_information and not match.over:
        raise DuelsError("A match with hidden moves can be reviewed once it is over.")


def _get_value(oracle: AnyOracle, match: AnyMatch) -> Value:
    if match.outcome:
        return Value.from_fraction(match.outcome.score(Seat.ONE))
    return oracle.full_information_value(match.sight(Seat.ONE), match.sight(Seat.TWO))


def _find_turning_point(oracle: AnyOracle, match: AnyMatch) -> tuple[str, str]:
    """Return the last entry's unforeseen loss and winning discovery, each empty if there is none."""
    turn, before = match.last, match.previous
    if not (turn and before and isinstance(turn.actor, Seat)) or isinstance(turn.action, EarlyEnd):
        return "", ""
    sight, other = before.sight(turn.actor), before.sight(turn.actor.other)
    loss, discovery = oracle.unforeseen_loss, oracle.winning_discovery
    return loss(sight, other, turn.action), discovery(sight, other, turn.action)


def _judge_position(oracle: AnyOracle, match: AnyMatch) -> Verdict[Any] | None:
    return oracle.judge(match.sight(match.actor)) if isinstance(match.actor, Seat) else None


def _review_entry(
    oracle: AnyOracle,
    match: AnyMatch,
    verdict: Verdict[Any] | None,
    reply: Verdict[Any] | None,
    value_before: float,
    value_after: float,
) -> ReviewedEntry:
    turn, before, rules = match.turns[-1], match.after(match.length - 1), match.rules
    notation = format_entry(rules, turn)
    verb, noun = _EARLY_END_NAMES.get(turn.action, ("", ""))
    actor = _find_decider(turn, value_before)
    sight = before.sight(actor if isinstance(actor, Seat) else Seat.ONE)
    entry = ReviewedEntry(
        match=match,
        number=match.length,
        actor=actor,
        notation=notation,
        label=noun or label_action(sight, turn.action),
        position=rules.format_position(sight),
        value_before=value_before,
        value_after=value_after,
        luck=value_after - value_before,
    )
    if not verdict:
        outcome_text = oracle.describe_outcome(turn.action) or f"chance brought {notation}"
        return replace(entry, outcome_text=outcome_text)
    best = () if turn.out_of_turn else verdict.best
    unforeseen_loss, winning_discovery = _find_turning_point(oracle, match)
    entry = replace(
        entry,
        best=tuple(map(rules.format, best)),
        best_labels=tuple(label_action(sight, action) for action in best),
        effect=f"You {verb}." if verb else "",
        action_text=verb or oracle.describe_action(turn.action) or f"played {notation}",
        unforeseen_loss=unforeseen_loss,
        winning_discovery=winning_discovery,
        stake=_make_stake(match, reply),
        beliefs=_make_beliefs(oracle, before),
    )
    was_lost = bool(_find_turning_point(oracle, before)[0])
    return _judge_decision(oracle, entry, verdict, sight, was_lost)


def _find_decider(turn: Turn[Any], value_before: float) -> Actor:
    """Return the actor. An agreement to stop is the decision of the player with the better position."""
    if turn.action is not EarlyEnd.STOP or value_before == _NO_WINNER:
        return turn.actor
    return Seat.ONE if value_before > _NO_WINNER else Seat.TWO


def _make_stake(match: AnyMatch, reply: Verdict[Any] | None) -> Stake | None:
    if not reply or len(reply.actions) == 1 or match.actor is match.turns[-1].actor:
        return None
    if match.rules.has_hidden_information:
        return None
    losses = [loss for loss in reply.losses if is_loss(loss)]
    return Stake(len(reply.actions), len(losses), max(losses, default=0.0))


def _judge_decision(
    oracle: AnyOracle, entry: ReviewedEntry, verdict: Verdict[Any], sight: AnySight, was_lost: bool
) -> ReviewedEntry:
    """Add the loss, luck and mark of an action or an early end by `sight.seat`."""
    action, sign, indifference = entry.turn.action, 1 if sight.seat is Seat.ONE else -1, ""
    loss = loss_error = mixing = below_mixture = 0.0
    draws: tuple[tuple[float, float], ...] = ()
    if was_lost:
        indifference = ALREADY_LOST
    elif entry.is_early_end:  # the player chose this result, so nothing is luck
        own_value = entry.value_before if sight.seat is Seat.ONE else 1 - entry.value_before
        loss = own_value - (_NO_WINNER if action is EarlyEnd.STOP else 0.0)
        loss_error = verdict.value.error
    else:
        indifference = describe_equal_actions(verdict)
        loss, loss_error = verdict.loss(action), verdict.loss_error(action)
        judged, mean = verdict.get_action_value(action), verdict.value.number
        if oracle.mixes:
            below_mixture = mean - judged.value.number
        if oracle.mixes and judged.weight:  # otherwise the action is not part of the mixture
            mixing = loss - below_mixture
            draws = tuple((j.weight, j.value.number - mean) for j in verdict.actions if j.weight)
    luck = 0.0 if was_lost else entry.luck + sign * loss
    is_slip = is_loss(loss) and not entry.turn.out_of_turn  # out of turn, the player had no action
    return replace(
        entry,
        luck=luck if abs(luck) >= _ROUNDING else 0.0,
        mixing=sign * mixing,
        draws=draws,
        below_mixture=below_mixture,
        loss=loss,
        loss_error=loss_error,
        mark="" if indifference else _choose_mark(verdict, action, loss),
        indifference=indifference,
        reason=oracle.reason(sight) if is_slip else "",
        effect=entry.effect or (oracle.effect(sight, action) if is_slip else ""),
    )


def _choose_mark(verdict: Verdict[Any], action: Any, loss: float) -> str:
    if len(verdict.actions) == 1 and not isinstance(action, EarlyEnd):
        return ONLY_MOVE
    if is_loss(loss) or action in verdict.best:
        return get_mark_name(loss)
    return RARE if verdict.is_mixed else "good"


def _make_beliefs(oracle: AnyOracle, match: AnyMatch) -> dict[Seat, Belief]:
    sights = {seat: match.sight(seat) for seat in Seat} if match.rules.has_hidden_information else {}
    beliefs = {
        seat: Belief(oracle.belief(sight), oracle.own_secret(sights[seat.other]), oracle.hidden)
        for seat, sight in sights.items()
    }
    return beliefs if any(belief.probabilities for belief in beliefs.values()) else {}
