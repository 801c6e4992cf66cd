"""What the best opponent wins against a policy for hunt: a certificate, or bounds for an agent."""

from collections.abc import Callable, Sequence

from duels.core.errors import DuelsError
from duels.core.rules import Seat, Sight
from duels.games.hunt.rules import Action, Known, QuantumHunt
from duels.games.hunt.strategy import CELLS, Tables, claimed, shipped
from duels.solving.bounds import Bounds

KIND = (
    "without max_turns (leave it out when you grade), `best` or a strategy of its kind "
    "(duels.games.hunt.strategy), or an agent on up to 7 positions"
)


def response_bounds(rules: QuantumHunt, policy: object) -> dict[Seat, Bounds] | None:
    """What the best responder wins, by the strategy's seat; None for a policy that is no such strategy.

    The player `best` is the shipped strategy. Its certificate is at hand; another strategy is certified
    now, which takes minutes.
    """
    certified = (rules.cells, rules.max_turns) == (CELLS, None)
    if certified and isinstance(policy, str) and policy in ("best", "perfect"):
        policy = shipped()
    if not isinstance(policy, dict) or not all(isinstance(policy.get(seat), Tables) for seat in Seat):
        return None
    if not certified:
        raise DuelsError(
            f"A strategy for hunt is certified on {CELLS} positions and without a limit of turns."
        )
    if policy is shipped():
        return claimed().against
    from duels.games.hunt.certify.pomdp import certificate

    return certificate(policy).against


def agent_bounds(
    rules: QuantumHunt, odds: Callable[[Sight[Action, Known]], Sequence[float]]
) -> dict[Seat, Bounds] | None:
    """What the best responder wins against an agent, by the agent's seat, within a minute.

    None where there is no method: under a limit of turns, and on larger grids.
    """
    if rules.max_turns is not None or not 2 <= rules.cells <= CELLS:
        return None
    from duels.games.hunt.certify.agents import policy_of_agent, responder_bounds

    return {seat: responder_bounds(policy_of_agent(odds, seat, rules.cells), seat) for seat in Seat}
