"""The answer format for players that reply in text."""

from duels.core.rules import Sight
from duels.games.chain.rules import Action, Answer, Phase, QuantumChain, State


def forms(rules: QuantumChain, sight: Sight[Action, State]) -> tuple[str, tuple[str, ...]]:
    """Return the instruction for a decision, and example answers, which need not be legal."""
    if sight.view.phase is Phase.OBSERVE:
        return "Write the name of the cell that you observe, as in 1.", ("1",)
    return (
        f"Your opponent has observed cell {sight.view.doubt}, beside a symbol of its own. "
        "Write challenge to have the coin flipped, or accept to let the observation stand.",
        tuple(answer.value for answer in Answer),
    )
