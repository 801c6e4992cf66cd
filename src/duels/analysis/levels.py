"""Measurement of the levels: losses per decision, and scores against the next lower level.

If the strategy mixes, choices from its mixture lose nothing. A level is then measured by how much worse its
choices are than the mixture's average. This is 0 for a player who follows the strategy.
"""

import math
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from random import Random
from typing import Any

from duels.core.match import AnyMatch, Match
from duels.core.rules import AnyRules, AnySight, Seat
from duels.play.dice import StreamDice
from duels.play.step import decide_next_entry, play_out
from duels.players import BEST, get_strongest_name
from duels.players.levels import LevelPlayer, get_level_shares
from duels.solving.oracle import Oracle, Progress, no_progress
from duels.solving.oracles import get_oracle

# Endless play is cut off here and counts one half, as in the values.
_MAX_ENTRIES = 400
# Matches of pure skill are quick, and only their results show the cost of mistakes.
_MATCHES, _MATCHES_OF_SKILL = 100, 1000
_ROUNDING = 1e-12
_STANDARD_ERRORS = 1.96  # for 95% confidence
# Extra matches without judged decisions: if the strategy mixes, levels differ only by a point or two.
_QUICK_MATCHES = 50


@dataclass
class LevelRow:
    """A level's row of the table. Margins are half the width of a 95% confidence interval."""

    name: str
    share: float
    """The share of random play's losses that defines the level."""
    measured_share: float
    """`per_decision` as a share of random play's measured loss."""
    measure: str
    """The meaning of `per_decision`: `given away`, or `below the mixture` if the strategy mixes."""
    per_decision: float
    """The measured loss of winning probability per decision."""
    per_decision_margin: float
    score: float | None
    """The share of points against the next lower level, over both seats; None for the lowest."""
    margin: float | None
    matches: int
    """The number of matches behind the score."""

    @property
    def is_clear(self) -> bool:
        """Whether the level beats the next lower one by more than the margin."""
        return self.score is not None and self.margin is not None and self.score - self.margin > 0.5


def measure_levels(
    rules: AnyRules, matches: int, seed: str, progress: Progress = no_progress
) -> list[LevelRow]:
    """Play `matches` matches of each level against the next lower one and return the table's rows."""
    oracle = get_oracle(rules, progress)
    rows: list[LevelRow] = []
    lower_level: MeasuredLevel | None = None
    for level, share in {"random": 1.0, **get_level_shares(rules.name)}.items():
        name = get_strongest_name(rules) if level == BEST else level
        rng, own = Random(f"{seed} {name}"), MeasuredLevel(oracle, share)
        other = lower_level or MeasuredLevel(oracle, share)
        losses, decisions, scores = [], [], []
        for number in range(matches):
            progress(f"{name}, {number} of {matches} matches")
            seat = Seat(number % 2 + 1)
            score = play_measured_match(own, other, seat, rng)
            losses.append(own.loss)
            decisions.append(own.decisions)
            if oracle.mixes and lower_level is not None:
                levels = {seat: own.share, seat.other: other.share}
                scores += [
                    _estimate_luck_adjusted_score(oracle, levels, seat, rng) for _ in range(_QUICK_MATCHES)
                ]
            else:
                scores.append(score)
        mean, margin = (None, None) if lower_level is None else _compute_ratio(scores, [1] * len(scores))
        loss, loss_margin = _compute_ratio(losses, decisions)
        random_loss = rows[0].per_decision if rows else loss
        measured = loss / random_loss if random_loss else 0.0
        rows.append(
            LevelRow(name, share, measured, oracle.measure, loss, loss_margin, mean, margin, len(scores))
        )
        lower_level = own
    return rows


class MeasuredLevel(LevelPlayer):
    """A level player that sums its expected losses and counts its decisions in a match."""

    loss, decisions = 0.0, 0

    def __init__(self, oracle: Oracle[Any, Any], share: float) -> None:
        super().__init__(oracle, share)
        self.oracle = oracle
        self._expected_losses: dict[Hashable, float] = {}

    def choose(self, sight: AnySight, rng: Random) -> Any:
        if len(sight.actions) > 1:
            # The loss of the drawn action would add luck to the measurement.
            self.loss += self.expected_loss(sight)
            self.decisions += 1
        return super().choose(sight, rng)

    def expected_loss(self, sight: AnySight) -> float:
        """Return the expected loss of a decision; cached in games without hidden information."""
        loss = None if sight.rules.has_hidden_information else self._expected_losses.get(sight.view)
        if loss is None:
            amounts = self.oracle.shortfalls(self.oracle.judge(sight))
            weights = self.odds(sight).values()
            loss = sum(weight * amount for weight, amount in zip(weights, amounts, strict=True))
            loss = self._expected_losses[sight.view] = loss if abs(loss) >= _ROUNDING else 0.0
        return loss


def play_measured_match(own: MeasuredLevel, other: MeasuredLevel, seat: Seat, rng: Random) -> float:
    """Play one match and return an estimate of the expected score of `own`, which sits at `seat`.

    Result = value of the opening + luck - own losses + the other player's losses. Luck is 0 on average, so
    leaving it out reduces the variance.
    """
    oracle, rules = own.oracle, own.oracle.rules
    for player in (own, other):
        player.loss, player.decisions = 0.0, 0
    play_out(Match.start(rules), {seat: own, seat.other: other}, StreamDice(rng), _MAX_ENTRIES)
    opening = oracle.value(rules.sight(rules.initial(), Seat.ONE))
    value = opening if seat is Seat.ONE else opening.for_other()
    return value.number - own.loss + other.loss


def _estimate_luck_adjusted_score(
    oracle: Oracle[Any, Any], levels: Mapping[Seat, float], seat: Seat, rng: Random
) -> float:
    """Estimate the expected score of `seat` from one match with hidden moves, with luck left out.

    An action's value minus the mean value of the actions that could have been drawn is 0 on average.
    Subtracting it does not change the mean but removes most of the variance.
    """
    dice, luck = StreamDice(rng), 0.0
    players = {actor: LevelPlayer(oracle, share) for actor, share in levels.items()}
    match: AnyMatch = Match.start(oracle.rules)
    while match.actor is not None and match.length < _MAX_ENTRIES:
        entry = decide_next_entry(match, players, dice)
        if isinstance(actor := entry.actor, Seat):
            sight, other = match.sight(actor), match.sight(actor.other)
            values = {a: oracle.full_information_action_value(sight, other, a) for a in sight.actions}
            odds = players[actor].odds(sight)
            surprise = values[entry.action] - sum(odds[a] * value for a, value in values.items())
            luck += surprise if actor is seat else -surprise
        match = entry.play(match)
    return (float(match.outcome.score(seat)) if match.outcome else 0.5) - luck


def get_default_matches(rules: AnyRules) -> int:
    """Return the default number of matches per row."""
    return _MATCHES if describe_other_factors(rules) else _MATCHES_OF_SKILL


def describe_other_factors(rules: AnyRules) -> str:
    """Return a clause about factors other than skill, such as `luck decides`; empty if there are none."""
    luck, guessing = bool(rules.all_outcomes()), rules.has_hidden_information
    if luck and guessing:
        return "luck and guessing decide"
    return "luck decides" if luck else "guessing decides" if guessing else ""


def _compute_ratio(parts: list[float], wholes: list[int]) -> tuple[float, float]:
    """Return the ratio of the sums and the margin of a 95% confidence interval."""
    total = max(1, sum(wholes))
    ratio = sum(parts) / total
    deviation = sum((part - ratio * whole) ** 2 for part, whole in zip(parts, wholes, strict=True))
    return ratio, _STANDARD_ERRORS * math.sqrt(deviation * len(parts) / max(1, len(parts) - 1)) / total
