"""Measures the levels: what each gives away per decision, and how it scores against the level below.

Where the strategy mixes, nothing that it mixes in is given away, and what is measured instead is how far a
level's choices lie below the mixture: that is 0 on average for one that mixes like the strategy.
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
from duels.players.levels import LEVEL_SHARES, LevelPlayer
from duels.solving.oracle import Oracle
from duels.solving.oracles import get_oracle
from duels.solving.progress import Progress, no_progress

# Endless play is cut off here and counts half, as it does in the values.
_MOST_ENTRIES = 400
# Where skill alone decides, matches are quick and nothing but the result tells what a mistake was worth.
_MATCHES, _MATCHES_OF_SKILL = 100, 1000
_NOTHING = 1e-12  # less comes from rounding
_CONFIDENT = 1.96  # standard errors, for 95%
# Where the strategy mixes, levels are a point or two apart: many more matches are needed, and made quick.
_QUICK_MATCHES = 50


@dataclass
class LevelRow:
    """One level's line of the table. Margins are half the width of a 95% confidence interval."""

    name: str
    share: float
    """Of what a random choice gives away, or lies below the mixture: the level's definition."""
    measured_share: float
    """`per_decision` as a share of random play's, each over its own matches, in different positions."""
    measure: str
    """What `per_decision` is: `given away`, or `below the mixture` where the strategy mixes."""
    per_decision: float
    """Winning probability per decision, measured."""
    per_decision_margin: float
    score: float | None
    """Its share of the points against the level below, both seats together; None for the lowest."""
    margin: float | None
    matches: int
    """How many the score was measured over."""

    @property
    def clear(self) -> bool:
        """Whether it does better than the level below by more than the margin."""
        return self.score is not None and self.margin is not None and self.score - self.margin > 0.5


def measure_levels(
    rules: AnyRules, matches: int, seed: str, progress: Progress = no_progress
) -> list[LevelRow]:
    """Play `matches` matches for each pair of neighbours, half of them from either seat."""
    oracle = get_oracle(rules, progress)
    rows: list[LevelRow] = []
    below: MeasuredLevel | None = None
    for level, share in {"random": 1.0, **LEVEL_SHARES}.items():
        name = get_strongest_name(rules) if level == BEST else level
        rng, own = Random(f"{seed} {name}"), MeasuredLevel(oracle, share)
        other = below or MeasuredLevel(oracle, share)
        played, scores = [], []
        for number in range(matches):
            progress(f"{name}, {number} of {matches} matches")
            seat = Seat(number % 2 + 1)
            played.append(play_measured_match(own, other, seat, rng))
            if oracle.mixes and below is not None:
                levels = {seat: own.share, seat.other: other.share}
                scores += [_luckless_points(oracle, levels, seat, rng) for _ in range(_QUICK_MATCHES)]
            else:
                scores.append(played[-1].score)
        score, margin = (None, None) if below is None else _mean(scores)
        lost, lost_margin = _ratio([each.lost for each in played], [each.decisions for each in played])
        at_random = rows[0].per_decision if rows else lost
        measured = lost / at_random if at_random else 0.0
        rows.append(
            LevelRow(name, share, measured, oracle.measure, lost, lost_margin, score, margin, len(scores))
        )
        below = own
    return rows


class MeasuredLevel(LevelPlayer):
    """A level that adds up what it gives away on average, or how far it lies below the mixture."""

    def __init__(self, oracle: Oracle[Any, Any], share: float) -> None:
        super().__init__(oracle, share)
        self.oracle = oracle
        self._averages: dict[Hashable, float] = {}
        self.reset()

    def reset(self) -> None:
        """A match begins."""
        self.lost, self.decisions = 0.0, 0

    def choose(self, sight: AnySight, rng: Random) -> Any:
        if len(sight.actions) > 1:
            # On average: which of its actions is drawn is luck as well.
            self.lost += self.average(sight)
            self.decisions += 1
        return super().choose(sight, rng)

    def average(self, sight: AnySight) -> float:
        """What a decision gives away on average; in a game without secrets each is worked out once."""
        found = None if sight.rules.has_secrets else self._averages.get(sight.view)
        if found is None:
            amounts = self.oracle.shortfalls(self.oracle.judge(sight))
            weights = self.odds(sight).values()
            found = sum(weight * amount for weight, amount in zip(weights, amounts, strict=True))
            found = self._averages[sight.view] = found if abs(found) >= _NOTHING else 0.0
        return found


@dataclass(frozen=True)
class MeasuredMatch:
    """One match as the player under test had it."""

    lost: float
    decisions: int
    score: float
    """What it says about the expected score.

    Result = the opening's value + luck - own losses + the other's losses, and luck is 0 on average: without
    it far fewer matches are needed.
    """


def play_measured_match(own: MeasuredLevel, other: MeasuredLevel, seat: Seat, rng: Random) -> MeasuredMatch:
    """Play one match, from the side of the player at `seat`."""
    oracle, rules = own.oracle, own.oracle.rules
    for player in (own, other):
        player.reset()
    play_out(Match.start(rules), {seat: own, seat.other: other}, StreamDice(rng), _MOST_ENTRIES)
    opening = oracle.value(rules.sight(rules.initial(), Seat.ONE))
    worth = opening if seat is Seat.ONE else opening.for_other()
    return MeasuredMatch(own.lost, own.decisions, worth.number - own.lost + other.lost)


def _luckless_points(
    oracle: Oracle[Any, Any], levels: Mapping[Seat, float], seat: Seat, rng: Random
) -> float:
    """What a match of hidden moves says about the expected score of `seat`, luck taken out.

    An action's worth less the average worth of the actions that might have been drawn is 0 on average,
    whatever stands behind the worths: subtracting it changes no mean, but removes most of the spread.
    """
    dice, luck = StreamDice(rng), 0.0
    players = {actor: LevelPlayer(oracle, share) for actor, share in levels.items()}
    match: AnyMatch = Match.start(oracle.rules)
    while match.actor is not None and match.length < _MOST_ENTRIES:
        entry = decide_next_entry(match, players, dice)
        if isinstance(actor := entry.actor, Seat):
            sight, others = match.sight(actor), match.sight(actor.other)
            worths = {a: oracle.full_information_action_value(sight, others, a) for a in sight.actions}
            odds = players[actor].odds(sight)
            surprise = worths[entry.action] - sum(odds[a] * worth for a, worth in worths.items())
            luck += surprise if actor is seat else -surprise
        match = entry.play(match)
    return (float(match.outcome.score(seat)) if match.outcome else 0.5) - luck


def get_default_matches(rules: AnyRules) -> int:
    """How many matches a row to play by default: enough to tell the levels apart, if that is quick."""
    return _MATCHES if describe_other_factors(rules) else _MATCHES_OF_SKILL


def describe_other_factors(rules: AnyRules) -> str:
    """What decides matches beside skill; empty where nothing does."""
    luck, guessing = bool(rules.all_outcomes()), rules.has_secrets
    if luck and guessing:
        return "luck and guessing decide"
    return "luck decides" if luck else "guessing decides" if guessing else ""


def _mean(numbers: list[float]) -> tuple[float, float]:
    """The mean and its margin."""
    return _ratio(numbers, [1] * len(numbers))


def _ratio(parts: list[float], wholes: list[int]) -> tuple[float, float]:
    """All parts by all wholes, and the margin, from how far each match is off."""
    total = max(1, sum(wholes))
    ratio = sum(parts) / total
    off = sum((part - ratio * whole) ** 2 for part, whole in zip(parts, wholes, strict=True))
    return ratio, _CONFIDENT * math.sqrt(off * len(parts) / max(1, len(parts) - 1)) / total
