"""Measures the levels: what each gives away per decision, and how it scores against the level below.

Where the strategy mixes, nothing that it mixes in is given away, and what is measured instead is how far a
level's choices lie below the mixture: that is 0 on average for one that mixes like the strategy.
"""

import math
from collections.abc import Hashable
from dataclasses import dataclass
from random import Random
from typing import Any

from duels.core.match import Match
from duels.core.rules import Rules, Seat, Sight
from duels.play.dice import StreamDice
from duels.play.step import next_entry, play_out
from duels.players import BEST, strongest
from duels.players.levels import SHARE, LevelPlayer, mixture
from duels.solving.oracle import Oracle, Verdict
from duels.solving.oracles import oracle_for
from duels.solving.progress import Progress, quiet
from duels.solving.protocols import both_sides_of

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

    def as_data(self) -> dict[str, Any]:
        """For programs."""
        return {
            "name": self.name,
            "share": self.share,
            "measured_share": self.measured_share,
            "measure": self.measure,
            "per_decision": self.per_decision,
            "per_decision_margin": self.per_decision_margin,
            "score": self.score,
            "margin": self.margin,
            "matches": self.matches,
        }

    @property
    def clear(self) -> bool:
        """Whether it does better than the level below by more than the margin."""
        return self.score is not None and self.margin is not None and self.score - self.margin > 0.5


def measure_levels(
    rules: Rules[Any, Any, Any], matches: int, seed: str, progress: Progress = quiet
) -> list[LevelRow]:
    """Play `matches` matches for each pair of neighbours, half of them from either seat."""
    judge = _Judge(rules, oracle_for(rules, progress))
    rows: list[LevelRow] = []
    below: float | None = None
    for level, share in {"random": 1.0, **SHARE}.items():
        name = strongest(rules) if level == BEST else level
        rng = Random(f"{seed} {name}")
        played, scores = [], []
        for number in range(matches):
            progress(f"{name}, {number} of {matches} matches")
            other = share if below is None else below
            seat = Seat(number % 2 + 1)
            played.append(_play(judge, seat, share, other, rng))
            if judge.oracle.mixes and below is not None:
                levels = {seat: share, seat.other: other}
                scores += [_luckless_points(judge, seat, levels, rng) for _ in range(_QUICK_MATCHES)]
            else:
                scores.append(judge.score(played[-1], number))
        score, margin = (None, None) if below is None else _mean(scores)
        lost, lost_margin = _ratio([each.lost for each in played], [each.decisions for each in played])
        at_random = rows[0].per_decision if rows else lost
        measured = lost / at_random if at_random else 0.0
        rows.append(
            LevelRow(name, share, measured, judge.measure, lost, lost_margin, score, margin, len(scores))
        )
        below = share
    return rows


class _Judge:
    """The oracle and the levels' mixtures; where nothing is hidden, each position is judged once."""

    def __init__(self, rules: Rules[Any, Any, Any], oracle: Oracle[Any, Any]) -> None:
        self.rules = rules
        self.oracle = oracle
        self._verdicts: dict[Hashable, Verdict[Any]] = {}
        self._mixtures: dict[Hashable, list[float]] = {}
        self._opening = oracle.value(rules.sight(rules.initial(), Seat.ONE))
        self.measure = oracle.measure

    def __call__(self, sight: Sight[Any, Any], share: float) -> tuple[Verdict[Any], list[float]]:
        if self.rules.has_secrets:
            verdict = self.oracle.judge(sight)
            return verdict, mixture(verdict, share)
        state = sight.view
        if state not in self._verdicts:
            self._verdicts[state] = self.oracle.judge(sight)
        verdict = self._verdicts[state]
        if (state, share) not in self._mixtures:
            self._mixtures[state, share] = mixture(verdict, share)
        return verdict, self._mixtures[state, share]

    def expected(self, verdict: Verdict[Any], weights: list[float]) -> float:
        """What a level's mixture gives away on average, or how far it lies below the strategy's."""
        amounts = self.oracle.shortfalls(verdict)
        expected = sum(weight * amount for weight, amount in zip(weights, amounts, strict=True))
        return expected if abs(expected) >= _NOTHING else 0.0

    def score(self, played: "_Played", number: int) -> float:
        """What a match says about the expected score.

        Result = the opening's value + luck - own losses + the other's losses, and luck is 0 on average:
        without it far fewer matches are needed.
        """
        opening = self._opening if number % 2 == 0 else self._opening.for_other()
        return opening.number - played.lost + played.others_lost


@dataclass
class _Measured:
    """A level in one match: what it gives away on average, or how far it lies below the mixture."""

    judge: _Judge
    share: float
    lost: float = 0.0
    decisions: int = 0

    def choose(self, sight: Sight[Any, Any], rng: Random) -> Any:
        verdict, weights = self.judge(sight, self.share)
        if len(weights) > 1:
            # On average: which of its actions is drawn is luck as well.
            self.lost += self.judge.expected(verdict, weights)
            self.decisions += 1
        return rng.choices(sight.actions, weights=weights)[0]


@dataclass(frozen=True)
class _Played:
    """One match as the player under test had it."""

    lost: float
    others_lost: float
    decisions: int


def _play(judge: _Judge, seat: Seat, share: float, other: float, rng: Random) -> _Played:
    """One match, from the side of the player at `seat`."""
    own, others = _Measured(judge, share), _Measured(judge, other)
    play_out(Match.start(judge.rules), {seat: own, seat.other: others}, StreamDice(rng), _MOST_ENTRIES)
    return _Played(own.lost, others.lost, own.decisions)


def _luckless_points(judge: _Judge, seat: Seat, levels: dict[Seat, float], rng: Random) -> float:
    """What a match of hidden moves says about the expected score of `seat`, luck taken out.

    An action's worth less the average worth of the actions that might have been drawn is 0 on average,
    whatever stands behind the worths: subtracting it changes no mean, but removes most of the spread.
    """
    both_sides, dice = both_sides_of(judge.oracle), StreamDice(rng)
    players = {actor: LevelPlayer(judge.oracle, share) for actor, share in levels.items()}
    match: Match[Any, Any, Any] = Match.start(judge.rules)
    luck = 0.0
    while match.actor is not None and match.length < _MOST_ENTRIES:
        entry = next_entry(match, players, dice)
        if isinstance(actor := entry.actor, Seat):
            sight, others = match.sight(actor), match.sight(actor.other)
            worths = {a: both_sides.worth_seeing_all(sight, others, a) for a in sight.actions}
            odds = players[actor].odds(sight)
            surprise = worths[entry.action] - sum(odds[a] * worth for a, worth in worths.items())
            luck += surprise if actor is seat else -surprise
        match = entry.play(match)
    return (float(match.outcome.score(seat)) if match.outcome else 0.5) - luck


def usual_matches(rules: Rules[Any, Any, Any]) -> int:
    """How many matches a row to play by default: enough to tell the levels apart, if that is quick."""
    return _MATCHES if what_decides(rules) else _MATCHES_OF_SKILL


def what_decides(rules: Rules[Any, Any, Any]) -> str:
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
