"""Measures the levels against each other: what each gives away, and how it does against the next."""

import math
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from random import Random
from typing import Any

from duels.core.match import Match, draw
from duels.core.rules import CHANCE, Rules, Seat
from duels.games import Game
from duels.players.levels import SHARE, losses, mixture
from duels.solving.oracle import Oracle, Verdict

# Endless play is cut off here and counts half, as it does in the values.
_MOST_ENTRIES = 400


@dataclass
class LevelRow:
    """One level's line of the table."""

    name: str
    share: float
    """Of what a random choice gives away: the level's definition."""
    given_away: float
    """Winning probability given away per decision, measured."""
    score: float | None
    """Its share of the points against the level below, both seats together; None for the lowest."""
    margin: float
    """Half the width of the score's 95% confidence interval."""


def measure_levels(game: Game, matches: int, seed: str, progress: Callable[[str], None]) -> list[LevelRow]:
    """Play `matches` matches for each pair of neighbours, half of them from either seat."""
    rules = game.rules()
    judge = _Judge(rules, game.oracle(rules))
    rows: list[LevelRow] = []
    below: float | None = None
    for name, share in SHARE.items():
        progress(f"{game.name}: {name}")
        rng = Random(f"{seed} {name}")
        tally = _Tally()
        points = sum(
            _play(judge, Seat(number % 2 + 1), share, share if below is None else below, rng, tally)
            for number in range(matches)
        )
        mean = points / matches
        margin = 1.96 * math.sqrt(max(mean * (1 - mean), 1 / matches) / matches)
        rows.append(LevelRow(name, share, tally.mean(), None if below is None else mean, margin))
        below = share
    return rows


class _Judge:
    """The oracle and the levels' mixtures, each worked out once a position where nothing is hidden."""

    def __init__(self, rules: Rules[Any, Any, Any], oracle: Oracle[Any, Any]) -> None:
        self.rules = rules
        self._oracle = oracle
        self._verdicts: dict[Hashable, Verdict[Any]] = {}
        self._mixtures: dict[Hashable, list[float]] = {}

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


class _Tally:
    """What one player gave away, over all its decisions."""

    def __init__(self) -> None:
        self.lost = 0.0
        self.decisions = 0

    def mean(self) -> float:
        return self.lost / max(1, self.decisions)


def _play(judge: _Judge, seat: Seat, share: float, other: float, rng: Random, tally: _Tally) -> float:
    """The points that the player at `seat` gets out of one match."""
    match = Match.start(judge.rules)
    for _ in range(_MOST_ENTRIES):
        actor = match.actor
        if actor is None:
            break
        if actor is CHANCE:
            match = match.play(actor, draw(match, rng))
            continue
        verdict, weights = judge(match, Seat(actor), share if actor is seat else other)
        index = rng.choices(range(len(weights)), weights=weights)[0]
        if actor is seat and len(weights) > 1:
            tally.decisions += 1
            tally.lost += losses(verdict)[index]
        match = match.play(actor, verdict.actions[index].action)
    outcome = match.outcome
    return 0.5 if not outcome or outcome.winner is None else float(outcome.winner is seat)


def levels_as_text(game: Game, rows: list[LevelRow], matches: int) -> str:
    lines = [
        f"{game.name}: what each level gives away per decision, and its score against the level below",
        f"{'level':<10}{'of random play':>15}{'points a decision':>19}   score",
    ]
    for row in rows:
        score = "" if row.score is None else f"{100 * row.score:5.1f}% ± {100 * row.margin:.1f}"
        lines.append(f"{row.name:<10}{row.share:>15.0%}{100 * row.given_away:>19.2f}   {score}".rstrip())
    lines.append(f"Measured over {matches} matches a row, half from either seat; a point is 1% to win.")
    return "\n".join(lines) + "\n"
