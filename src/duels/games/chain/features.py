"""What a program is shown of Quantum Duel (four in a row)."""

from duels.core.features import Feature
from duels.core.rules import Seat
from duels.games.chain.rules import FREE, SYMBOL, Phase, QuantumChain, State


def features(rules: QuantumChain) -> tuple[Feature, ...]:
    return (
        Feature("cells", ("free", "mine", "theirs"), _owners, rules.cells),
        Feature("doubt", tuple(range(rules.cells + 1)), lambda view, seat: (view.doubt,)),
        Feature("phase", tuple(Phase), lambda view, seat: (view.phase,)),
        Feature("my_observation", (False, True), lambda view, seat: (view.mover is seat,)),
    )


def _owners(view: State, seat: Seat) -> list[str]:
    owner = {FREE: "free", SYMBOL[seat]: "mine", SYMBOL[seat.other]: "theirs"}
    return [owner[symbol] for symbol in view.cells]
