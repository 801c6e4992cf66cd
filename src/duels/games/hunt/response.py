"""Bounds on the value of a best response to a strategy or an agent for hunt."""

from collections.abc import Callable, Sequence

from duels.core.errors import DuelsError
from duels.core.rules import Seat, Sight
from duels.games.hunt.rules import Action, QuantumHunt, View
from duels.games.hunt.strategy import CELLS, Tables, load_certificate, load_strategy
from duels.solving.oracle import Bounds

KIND = (
    "without max_turns (leave it out when you grade), `best` or a strategy of its kind "
    "(duels.games.hunt.strategy), or an agent on up to 7 positions"
)


def response_bounds(rules: QuantumHunt, policy: object) -> dict[Seat, Bounds] | None:
    """Return bounds on the best-response value against each seat, or None if `policy` is not a strategy.

    The player `best` is the shipped strategy, which has a certificate. Certifying any other strategy takes
    minutes. Raises DuelsError for a strategy if the rules have other options than the certified ones.
    """
    is_certifiable = (rules.cells, rules.max_turns) == (CELLS, None)
    if is_certifiable and isinstance(policy, str) and policy in ("best", "perfect"):
        policy = load_strategy()
    if not isinstance(policy, dict) or not all(isinstance(policy.get(seat), Tables) for seat in Seat):
        return None
    if not is_certifiable:
        raise DuelsError(
            f"A strategy for hunt can be certified only on {CELLS} positions and without a turn limit."
        )
    if policy is load_strategy():
        return load_certificate().against
    from duels.games.hunt.certify.certificate import make_certificate

    return make_certificate(policy).against


def agent_bounds(
    rules: QuantumHunt, odds: Callable[[Sight[Action, View]], Sequence[float]]
) -> dict[Seat, Bounds] | None:
    """Return bounds on the best-response value against an agent in each seat, within about a minute.

    Returns None if there is no method: with a turn limit, or on more than CELLS positions.
    """
    if rules.max_turns is not None or not 2 <= rules.cells <= CELLS:
        return None
    from duels.games.hunt.certify.agents import bound_responder, make_policy_from_agent

    return {seat: bound_responder(make_policy_from_agent(odds, seat, rules.cells), seat) for seat in Seat}
