"""Bounds on the best response to a policy for hunt: a certificate, or bounds for an agent."""

from collections.abc import Callable, Sequence

from duels.core.errors import DuelsError
from duels.core.rules import Seat, Sight
from duels.games.hunt.rules import Action, QuantumHunt, View
from duels.games.hunt.strategy import CELLS, Tables, load_certificate, load_strategy
from duels.solving.bounds import Bounds

KIND = (
    "without max_turns (leave it out when you grade), `best` or a strategy of its kind "
    "(duels.games.hunt.strategy), or an agent on up to 7 positions"
)


def response_bounds(rules: QuantumHunt, policy: object) -> dict[Seat, Bounds] | None:
    """Return bounds on the best response to each seat of a strategy, or None for another kind of policy.

    The player `best` is the shipped strategy, which has a certificate. Any other strategy is certified
    now, which takes minutes. Raises DuelsError for other rules than the certified ones.
    """
    certified = (rules.cells, rules.max_turns) == (CELLS, None)
    if certified and isinstance(policy, str) and policy in ("best", "perfect"):
        policy = load_strategy()
    if not isinstance(policy, dict) or not all(isinstance(policy.get(seat), Tables) for seat in Seat):
        return None
    if not certified:
        raise DuelsError(
            f"A strategy for hunt can be certified only on {CELLS} positions, without a limit of turns."
        )
    if policy is load_strategy():
        return load_certificate().against
    from duels.games.hunt.certify.pomdp import make_certificate

    return make_certificate(policy).against


def agent_bounds(
    rules: QuantumHunt, odds: Callable[[Sight[Action, View]], Sequence[float]]
) -> dict[Seat, Bounds] | None:
    """Return bounds on the best response to an agent, by the agent's seat. This takes up to a minute.

    Returns None if no method exists: with a limit of turns, or on larger grids.
    """
    if rules.max_turns is not None or not 2 <= rules.cells <= CELLS:
        return None
    from duels.games.hunt.certify.agents import bound_responder, make_policy_from_agent

    return {seat: bound_responder(make_policy_from_agent(odds, seat, rules.cells), seat) for seat in Seat}
