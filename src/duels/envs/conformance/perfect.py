"""Perfect play as the environments use it: legal, and not to be exploited."""

from collections.abc import Callable, Sequence
from typing import Any

from duels.analysis.agents import player_odds
from duels.analysis.exploitability import Policy, exploitability_bounds
from duels.core.errors import TooLarge
from duels.core.match import AnyMatch
from duels.core.rules import AnyRules, Seat
from duels.envs.conformance.laws import EnvironmentBroken, Law
from duels.players import Player
from duels.solving.bounds import Bounds
from duels.solving.oracle import Exactness
from duels.solving.oracles import oracle_for
from duels.solving.protocols import Certified

ROUNDING = 1e-9

Measure = Callable[[Policy, AnyRules], Bounds]


def check_perfect_play(
    rules: AnyRules,
    matches: Sequence[AnyMatch],
    perfect: str | Player = "perfect",
    measure: Measure = exploitability_bounds,
) -> None:
    """Check the decisions of perfect play along `matches`, and its exploitability where that is known."""
    odds = player_odds(perfect, rules)
    for match in matches:
        for step in match.steps():
            before = step.previous
            if before and isinstance(before.actor, Seat):
                _check_odds(rules, odds(before.sight(before.actor)), before)
    most = _proven(rules)
    if most is not None:
        _check_exploitability(rules, measure, perfect, most)


def _proven(rules: AnyRules) -> float | None:
    """The most that perfect play can be exploited by, as its oracle has proven; None if it claims nothing."""
    oracle = oracle_for(rules)
    if oracle.value(rules.sight(rules.initial(), Seat.ONE)).exactness is Exactness.EXACT:
        return 0.0
    return oracle.exploitability_bound() if isinstance(oracle, Certified) else None


def _check_odds(rules: AnyRules, odds: dict[Any, float], match: AnyMatch) -> None:
    illegal = [action for action, chance in odds.items() if chance and action not in match.actions]
    if illegal or min(odds.values()) < 0 or abs(sum(odds.values()) - 1) > ROUNDING:
        raise EnvironmentBroken(Law.POLICY, "perfect play", rules, f"it takes {odds}", match)


def _check_exploitability(rules: AnyRules, measure: Measure, player: str | Player, most: float) -> None:
    try:
        found = measure(player, rules)
    except TooLarge:
        return  # there is nothing to measure it by
    if not -ROUNDING <= found.low <= found.high <= most + ROUNDING:
        what = f"{player} has one from {found.low} to {found.high}, not from 0 to {most}"
        raise EnvironmentBroken(Law.EXPLOITABILITY, "duels.exploitability", rules, what)
