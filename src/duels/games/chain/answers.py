"""The answer format for players that reply in text."""

from duels.core.rules import Sight
from duels.games.chain.rules import Action, Answer, Phase, QuantumChain, State


def forms(rules: QuantumChain, sight: Sight[Action, State]) -> dict[str, list[Action]]:
    """Return the legal actions by the way they are written."""
    if sight.view.phase is Phase.OBSERVE:
        return {"the name of the free cell that you observe": list(sight.actions)}
    return {
        "challenge, to have the coin flipped": [Answer.CHALLENGE],
        "accept, to let the observation stand": [Answer.ACCEPT],
    }


def facts(rules: QuantumChain, sight: Sight[Action, State]) -> list[str]:
    """Return sentences on the position beside its board."""
    legend = "_ is an unobserved cell."
    if sight.view.phase is Phase.OBSERVE:
        return [legend]
    return [legend, f"Your opponent has observed cell {sight.view.doubt}, beside a symbol of its own."]
