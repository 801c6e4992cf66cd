"""Measures the levels against each other: what each gives away, and how it does against the next."""

import math
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from random import Random
from typing import Any

from duels.core.match import Match, draw
from duels.core.rules import CHANCE, Rules, Seat
from duels.games import Game
from duels.players.levels import SHARE, mixture
from duels.solving.oracle import Exactness, Oracle, Verdict

# Endless play is cut off here and counts half, as it does in the values.
_MOST_ENTRIES = 400
_CONFIDENT = 1.96  # standard errors, for 95%


@dataclass
class LevelRow:
    """One level's line of the table. Margins are half the width of a 95% confidence interval."""

    name: str
    share: float
    """Of what a random choice gives away: the level's definition."""
    given_away: float
    """Winning probability given away per decision, measured."""
    given_away_margin: float
    score: float | None
    """Its share of the points against the level below, both seats together; None for the lowest."""
    margin: float | None


@dataclass
class _Played:
    """One match as the player under test had it."""

    points: float
    lost: float = 0.0
    others_lost: float = 0.0
    decisions: int = 0


def measure_levels(
    game: Game, matches: int, seed: str, progress: Callable[[str, int], None]
) -> list[LevelRow]:
    """Play `matches` matches for each pair of neighbours, half of them from either seat."""
    rules = game.rules()
    judge = _Judge(rules, game.oracle(rules))
    rows: list[LevelRow] = []
    below: float | None = None
    for name, share in SHARE.items():
        rng = Random(f"{seed} {name}")
        played = []
        for number in range(matches):
            progress(name, number)
            other = share if below is None else below
            played.append(_play(judge, Seat(number % 2 + 1), share, other, rng))
        score, margin = _mean([judge.score(each, number) for number, each in enumerate(played)])
        lost, lost_margin = _ratio([each.lost for each in played], [each.decisions for each in played])
        lowest = below is None
        rows.append(
            LevelRow(name, share, lost, lost_margin, None if lowest else score, None if lowest else margin)
        )
        below = share
    return rows


class _Judge:
    """The oracle and the levels' mixtures, each worked out once a position where nothing is hidden."""

    def __init__(self, rules: Rules[Any, Any, Any], oracle: Oracle[Any, Any]) -> None:
        self.rules = rules
        self._oracle = oracle
        self._verdicts: dict[Hashable, Verdict[Any]] = {}
        self._mixtures: dict[Hashable, list[float]] = {}
        self._opening = oracle.value(rules.sight(rules.initial(), Seat.ONE))

    def __call__(
        self, match: Match[Any, Any, Any], seat: Seat, share: float
    ) -> tuple[Verdict[Any], list[float]]:
        if self.rules.has_secrets:
            verdict = self._oracle.judge(match.sight(seat))
            return verdict, mixture(verdict, share)
        state = match.state
        if state not in self._verdicts:
            self._verdicts[state] = self._oracle.judge(self.rules.sight(state, seat))
        verdict = self._verdicts[state]
        if (state, share) not in self._mixtures:
            self._mixtures[state, share] = mixture(verdict, share)
        return verdict, self._mixtures[state, share]

    def score(self, played: _Played, number: int) -> float:
        """What a match says about the expected score.

        Result = the opening's value + luck - own losses + the other's losses, and luck is 0 on average:
        without it far fewer matches are needed. Where values are estimates only the result counts.
        """
        if self._opening.exactness is Exactness.ESTIMATE:
            return played.points
        opening = self._opening if number % 2 == 0 else self._opening.for_other()
        return opening.number - played.lost + played.others_lost


def _play(judge: _Judge, seat: Seat, share: float, other: float, rng: Random) -> _Played:
    """One match, from the side of the player at `seat`."""
    match = Match.start(judge.rules)
    played = _Played(0.5)
    for _ in range(_MOST_ENTRIES):
        actor = match.actor
        if actor is None:
            break
        if actor is CHANCE:
            match = match.play(actor, draw(match, rng))
            continue
        verdict, weights = judge(match, Seat(actor), share if actor is seat else other)
        # What the mixture loses on average: which of its actions is drawn is luck as well.
        lost = sum(weight * loss for weight, loss in zip(weights, verdict.losses, strict=True))
        if actor is not seat:
            played.others_lost += lost
        elif len(weights) > 1:
            played.lost += lost
            played.decisions += 1
        match = match.play(actor, rng.choices(match.actions, weights=weights)[0])
    outcome = match.outcome
    if outcome and outcome.winner:
        played.points = float(outcome.winner is seat)
    return played


def _mean(numbers: list[float]) -> tuple[float, float]:
    """The mean and its margin."""
    return _ratio(numbers, [1] * len(numbers))


def _ratio(parts: list[float], wholes: list[int]) -> tuple[float, float]:
    """All parts by all wholes, and the margin, from how far each match is off."""
    total = max(1, sum(wholes))
    ratio = sum(parts) / total
    off = sum((part - ratio * whole) ** 2 for part, whole in zip(parts, wholes, strict=True))
    return ratio, _CONFIDENT * math.sqrt(off * len(parts) / max(1, len(parts) - 1)) / total


def levels_as_text(game: Game, rows: list[LevelRow], matches: int) -> str:
    lines = [
        f"{game.name}: what each level gives away per decision, and its score against the level below",
        f"{'level':<10}{'of random play':>14}   {'points a decision':<18}   score",
    ]
    for row in rows:
        lost = f"{100 * row.given_away:6.2f} ± {100 * row.given_away_margin:.2f}"
        score = (
            "" if row.score is None or row.margin is None else f"{row.score:6.1%} ± {100 * row.margin:.1f}"
        )
        lines.append(f"{row.name:<10}{row.share:>14.0%}   {lost:<18}   {score}".rstrip())
    luck = "matches won, and points by estimates" if game.rules().has_secrets else "luck taken out"
    lines.append(
        f"Measured over {matches} matches a row, half from either seat, {luck}; ± 95% confidence. "
        "A point is 1% to win."
    )
    return "\n".join(lines) + "\n"
