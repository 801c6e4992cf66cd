"""The best answer to a fixed policy, found in the game's sequence form: the policy is asked once a decision.

Quicker than `best_response`, which searches the game from the rules alone and checks what is found here.
"""

from typing import Any

from duels.core.rules import AnyRules, Seat
from duels.solving.best_response import Policy
from duels.solving.cfr import Side, sides_of
from duels.solving.tree import Matches, Tree


def best_answers(rules: AnyRules, tree: Tree, policy: Policy[Any, Any]) -> dict[Seat, float]:
    """What each seat wins with the best answer to the policy in the other; `tree` is that of the rules."""
    return {seat: wins for seat, (wins, _) in best_plans(rules, tree, policy).items()}


def best_plans(
    rules: AnyRules, tree: Tree, policy: Policy[Any, Any]
) -> dict[Seat, tuple[float, dict[int, int]]]:
    """The same, and which of its actions, counted from 0, the seat takes by what it has seen."""
    sides = sides_of(tree)
    matches = Matches(rules, tree)
    plans = {seat: _plan(side, matches, policy) for seat, side in sides.items()}
    found = {}
    for seat, side in sides.items():
        wins, taken = side.best_plan(plans[seat.other])
        found[seat] = wins, dict(zip(side.memories, taken, strict=True))
    return found


def _plan(side: Side, matches: Matches, policy: Policy[Any, Any]) -> list[float]:
    """The probability of doing all of each sequence; the policy is not asked where it never comes to."""
    plan = [1.0] + [0.0] * (side.sequences - 1)
    for (before, first, end), node in zip(side.decisions, side.nodes, strict=True):
        if plan[before]:
            chances = policy(matches.at(node).sight(side.seat))
            plan[first:end] = [plan[before] * chance for chance in chances]
    return plan
