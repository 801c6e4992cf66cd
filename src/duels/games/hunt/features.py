"""What a program is shown of Quantum Duel (hidden movement): its own token, and what was said aloud."""

from duels.core.features import Feature, format_feature_value
from duels.games.hunt.rules import NONE_NAMED, OFF_GRID, Known, QuantumHunt


def features(rules: QuantumHunt) -> tuple[Feature, ...]:
    cells = tuple(range(OFF_GRID, rules.cells + 1))
    named = tuple(range(NONE_NAMED, rules.cells + 1))
    return (
        Feature("my_cell", cells, lambda view, seat: (view.cell,)),
        Feature("my_tunnel", (False, True), lambda view, seat: (view.tunnel,)),
        Feature("my_last_named", named, lambda view, seat: (view.named[seat - 1],)),
        Feature("other_last_named", named, lambda view, seat: (view.named[seat.other - 1],)),
        Feature("my_phase", (None, "move", "observe"), lambda view, seat: (_phase(view),)),
    )


def _phase(view: Known) -> str | None:
    return view.phase.value if view.phase else None


def describe(view: Known) -> str:
    """The view as OpenSpiel's observation string."""
    mine = f"seat={format_feature_value(view.seat)} cell={view.cell} tunnel={view.tunnel}"
    told = (
        f"named={view.named[0]},{view.named[1]} mover={format_feature_value(view.mover)} phase={_phase(view)}"
    )
    return f"{mine} {told} turns={view.turns} end={view.end.value if view.end else None}"
