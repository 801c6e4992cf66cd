"""What a program is shown of Quantum Duel (hidden movement): its own token, and what was said aloud."""

from duels.core.features import Feature
from duels.games.hunt.rules import NONE_NAMED, OFF_GRID, Phase, QuantumHunt


def features(rules: QuantumHunt) -> tuple[Feature, ...]:
    cells = tuple(range(OFF_GRID, rules.cells + 1))
    named = tuple(range(NONE_NAMED, rules.cells + 1))
    return (
        Feature("my_cell", cells, lambda view, seat: (view.cell,)),
        Feature("my_tunnel", (False, True), lambda view, seat: (view.tunnel,)),
        Feature("my_last_named", named, lambda view, seat: (view.named[seat - 1],)),
        Feature("other_last_named", named, lambda view, seat: (view.named[seat.other - 1],)),
        Feature("my_phase", (None, *Phase), lambda view, seat: (view.phase,)),
    )
