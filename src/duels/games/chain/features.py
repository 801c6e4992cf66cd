"""The observation of Quantum Duel: four in a row, for programs."""

from duels.core.features import Feature, format_feature_value
from duels.core.rules import Seat
from duels.games.chain.rules import FREE, SYMBOL, Phase, QuantumChain, State

_PHASES = {Phase.OBSERVE: "observe", Phase.CHALLENGE: "challenge", Phase.COIN: "coin"}


def features(rules: QuantumChain) -> tuple[Feature, ...]:
    """Return the cells' owners from the seat's point of view, the doubtful cell, and who observed it."""
    return (
        Feature("cells", ("free", "mine", "theirs"), _list_owners, rules.cells),
        Feature("doubt", tuple(range(rules.cells + 1)), lambda view, seat: (view.doubtful_cell,)),
        Feature("phase", tuple(_PHASES.values()), lambda view, seat: (_PHASES[view.phase],)),
        Feature("my_observation", (False, True), lambda view, seat: (view.mover is seat,)),
    )


def _list_owners(view: State, seat: Seat) -> list[str]:
    owner = {FREE: "free", SYMBOL[seat]: "mine", SYMBOL[seat.other]: "theirs"}
    return [owner[symbol] for symbol in view.cells]


def describe(view: State) -> str:
    """Return OpenSpiel's observation string."""
    decision = f"phase={_PHASES[view.phase]} doubt={view.doubtful_cell}"
    return f"cells={view.cells} mover={format_feature_value(view.mover)} {decision} boards={view.boards}"
