"""Measures the levels against each other: what each gives away, and how it does against the next."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any

from duels.core.match import Match, draw
from duels.core.rules import CHANCE, Rules, Seat
from duels.games import Game
from duels.players.levels import GIVEAWAY, losses, mixture
from duels.solving.oracle import Oracle

# Endless play is cut off here and counts half, as it does in the values.
_MOST_ENTRIES = 1000


@dataclass
class LevelRow:
    """One level's line of the table."""

    name: str
    giveaway: float
    given_away: float
    """What it gave away per decision in matches against itself and its neighbour."""
    score: float | None
    """Its share of the points against the level below, both seats together; None for the lowest."""
    margin: float
    """Half the width of the score's 95% confidence interval."""


def measure_levels(game: Game, matches: int, seed: str, progress: Callable[[str], None]) -> list[LevelRow]:
    """Play `matches` matches for each pair of neighbours, half of them from either seat."""
    rules = game.rules()
    oracle = game.oracle(rules)
    rows: list[LevelRow] = []
    below = None
    for name, giveaway in GIVEAWAY.items():
        progress(f"{game.name}: {name}")
        rng = Random(f"{seed} {name}")
        tally = _Tally()
        points = 0.0
        for number in range(matches):
            seat = Seat(number % 2 + 1)
            other = giveaway if below is None else below
            points += _play(rules, oracle, seat, giveaway, other, rng, tally)
        share = points / matches
        score = None if below is None else share
        margin = 1.96 * math.sqrt(max(share * (1 - share), 1 / matches) / matches)
        rows.append(LevelRow(name, giveaway, tally.mean(), score, margin))
        below = giveaway
    return rows


class _Tally:
    """What one player gave away, over all its decisions."""

    def __init__(self) -> None:
        self.lost = 0.0
        self.decisions = 0

    def mean(self) -> float:
        return self.lost / max(1, self.decisions)


def _play(
    rules: Rules[Any, Any, Any],
    oracle: Oracle[Any, Any],
    seat: Seat,
    giveaway: float,
    other: float,
    rng: Random,
    tally: _Tally,
) -> float:
    """The points that the player at `seat` gets out of one match."""
    match = Match.start(rules)
    for _ in range(_MOST_ENTRIES):
        actor = match.actor
        if actor is None:
            break
        if actor is CHANCE:
            match = match.play(actor, draw(match, rng))
            continue
        verdict = oracle.judge(match.sight(Seat(actor)))
        weights = mixture(verdict, giveaway if actor is seat else other)
        index = rng.choices(range(len(weights)), weights=weights)[0]
        if actor is seat and len(weights) > 1:
            tally.decisions += 1
            tally.lost += losses(verdict)[index]
        match = match.play(actor, verdict.actions[index].action)
    outcome = match.outcome
    return 0.5 if not outcome or outcome.winner is None else float(outcome.winner is seat)


def levels_as_text(game: Game, rows: list[LevelRow], matches: int) -> str:
    lines = [
        f"{game.name}: what each level gives away per decision, in points of winning probability",
        f"{'level':<10}{'by definition':>14}{'measured':>10}   against the level below",
    ]
    for row in rows:
        score = "" if row.score is None else f"{100 * row.score:5.1f}% ± {100 * row.margin:.1f}"
        lines.append(
            f"{row.name:<10}{100 * row.giveaway:>14.1f}{100 * row.given_away:>10.1f}   {score}".rstrip()
        )
    lines.append(f"Measured over {matches} matches a row, half from either seat. Where random play gives")
    lines.append("away less than the definition, so does the level.")
    return "\n".join(lines) + "\n"
