"""Perfect play as the environments use it: legal, and not to be exploited."""

from collections.abc import Callable, Sequence
from typing import Any

from duels.analysis.agents import player_odds
from duels.analysis.exploitability import Policy, exploitability_bounds
from duels.core.errors import DuelsError
from duels.core.rules import Rules, Seat
from duels.envs.conformance.games import AnyMatch
from duels.envs.conformance.laws import EnvironmentBroken, Law
from duels.players import Player
from duels.solving.bounds import Bounds
from duels.solving.oracle import Exactness
from duels.solving.oracles import oracle_for

ROUNDING = 1e-9
WORST = 0.5

Measure = Callable[[Policy, Rules[Any, Any, Any]], Bounds]


def check_perfect_play(
    rules: Rules[Any, Any, Any],
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
    start = oracle_for(rules).value(rules.sight(rules.initial(), Seat.ONE))
    if start.exactness is Exactness.EXACT:
        _check_exploitability(rules, measure, perfect, 0.0)
        _check_exploitability(rules, measure, "random", WORST)
    else:
        _check_exploitability(rules, measure, perfect, WORST)


def _check_odds(rules: Rules[Any, Any, Any], odds: dict[Any, float], match: AnyMatch) -> None:
    illegal = [action for action, chance in odds.items() if chance and action not in match.actions]
    if illegal or min(odds.values()) < 0 or abs(sum(odds.values()) - 1) > ROUNDING:
        raise EnvironmentBroken(Law.POLICY, "perfect play", rules, f"it takes {odds}", match)


def _check_exploitability(
    rules: Rules[Any, Any, Any], measure: Measure, player: str | Player, most: float
) -> None:
    try:
        found = measure(player, rules)
    except DuelsError:
        return  # too large to be measured
    if not -ROUNDING <= found.low <= found.high <= most + ROUNDING:
        what = f"{player} has one from {found.low} to {found.high}, not from 0 to {most}"
        raise EnvironmentBroken(Law.EXPLOITABILITY, "duels.exploitability", rules, what)
