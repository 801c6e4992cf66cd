"""The features of Quantum Duel: the hunt for programs: the own token and public information."""

from math import inf

from duels.core.features import Feature, format_feature_value
from duels.games.hunt.rules import NONE_OBSERVED, OFF_GRID, QuantumHunt, View


def features(rules: QuantumHunt) -> tuple[Feature, ...]:
    """Return the seat's own cell and tunnel, and both players' last observations."""
    cells = tuple(range(OFF_GRID, rules.cells + 1))
    observed_cells = tuple(range(NONE_OBSERVED, rules.cells + 1))
    return (
        Feature("my_cell", cells, lambda view, seat: (view.cell,)),
        Feature("my_tunnel", (False, True), lambda view, seat: (view.tunnel,)),
        Feature("my_last_named", observed_cells, lambda view, seat: (view.last_observed[seat - 1],)),
        Feature("other_last_named", observed_cells, lambda view, seat: (view.last_observed[seat.other - 1],)),
        Feature("my_phase", (None, "move", "observe"), lambda view, seat: (_format_phase(view),)),
    )


def longest_match(rules: QuantumHunt) -> tuple[float, float]:
    """Return the most moves and chance nodes of a match: a turn is a move and an observation."""
    return (2 * rules.max_turns, 0) if rules.max_turns else (inf, 0)


def _format_phase(view: View) -> str | None:
    return view.phase.value if view.phase else None


def describe(view: View) -> str:
    """Return OpenSpiel's observation string."""
    own = f"seat={format_feature_value(view.seat)} cell={view.cell} tunnel={view.tunnel}"
    turn = f"mover={format_feature_value(view.mover)} phase={_format_phase(view)} turns={view.turns}"
    end = view.end.value if view.end else None
    return f"{own} named={view.last_observed[0]},{view.last_observed[1]} {turn} end={end}"
