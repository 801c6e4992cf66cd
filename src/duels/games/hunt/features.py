"""The observation of Quantum Duel: the hunt, for programs: the own token and public information."""

from duels.core.features import Feature, format_feature_value
from duels.games.hunt.rules import NONE_NAMED, OFF_GRID, QuantumHunt, View


def features(rules: QuantumHunt) -> tuple[Feature, ...]:
    cells = tuple(range(OFF_GRID, rules.cells + 1))
    named = tuple(range(NONE_NAMED, rules.cells + 1))
    return (
        Feature("my_cell", cells, lambda view, seat: (view.cell,)),
        Feature("my_tunnel", (False, True), lambda view, seat: (view.tunnel,)),
        Feature("my_last_named", named, lambda view, seat: (view.named[seat - 1],)),
        Feature("other_last_named", named, lambda view, seat: (view.named[seat.other - 1],)),
        Feature("my_phase", (None, "move", "observe"), lambda view, seat: (_format_phase(view),)),
    )


def _format_phase(view: View) -> str | None:
    return view.phase.value if view.phase else None


def describe(view: View) -> str:
    """Return OpenSpiel's observation string."""
    mine = f"seat={format_feature_value(view.seat)} cell={view.cell} tunnel={view.tunnel}"
    turn = f"mover={format_feature_value(view.mover)} phase={_format_phase(view)} turns={view.turns}"
    end = view.end.value if view.end else None
    return f"{mine} named={view.named[0]},{view.named[1]} {turn} end={end}"
