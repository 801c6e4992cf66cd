"""Explanations of moves in chain: whether a symbol completes, blocks or builds a chain.

The clauses address the player who decides. The oracle adds the chances to win.
"""

from collections.abc import Sequence

from duels.core.rules import Seat
from duels.core.words import join_or
from duels.games.chain.rules import FREE, SYMBOL, QuantumChain, State, replace_cell


def list_completing_cells(rules: QuantumChain, cells: str, seat: Seat) -> list[int]:
    """Return the free cells (numbered from 1) that complete a chain of `seat`."""
    free = (cell for cell in range(1, rules.cells + 1) if cells[cell - 1] == FREE)
    return [cell for cell in free if rules.chain_of(replace_cell(cells, cell, SYMBOL[seat]))]


def list_possible_chains(rules: QuantumChain, cells: str, seat: Seat) -> list[range]:
    """Return the windows of `run` cells in which `seat` can still make a chain."""
    starts = range(1, rules.cells - rules.run + 2)
    windows = (range(start, start + rules.run) for start in starts)
    return [window for window in windows if all(cells[cell - 1] != SYMBOL[seat.other] for cell in window)]


def describe_purpose(rules: QuantumChain, cells: str, cell: int, seat: Seat) -> str:
    """Return the purpose of a symbol of `seat` on `cell` as a clause (`blocks …`), or ''."""
    placed = replace_cell(cells, cell, SYMBOL[seat])
    if cell in list_completing_cells(rules, cells, seat):
        return f"completes your chain of {rules.run}"
    clauses = []
    if cell in list_completing_cells(rules, cells, seat.other):
        clauses.append(f"blocks the other player's chain of {rules.run}")
    if later_cells := list_completing_cells(rules, placed, seat):
        clauses.append(f"threatens to complete a chain of your own with {join_or(later_cells)}")
    if clauses:
        return " and ".join(clauses)
    if list_possible_chains(rules, cells, seat.other) and not list_possible_chains(rules, placed, seat.other):
        clauses.append("leaves the other player no chain on this board")
    windows = [window for window in list_possible_chains(rules, cells, seat) if cell in window]
    if windows:
        likeliest = max(windows, key=lambda window: sum(cells[cell - 1] == SYMBOL[seat] for cell in window))
        clauses.append(f"builds toward a chain on cells {likeliest[0]} to {likeliest[-1]}")
    return " and ".join(clauses)


def choose_clearest_cell(rules: QuantumChain, cells: str, best: Sequence[int], seat: Seat) -> int:
    """Return the cell of `best` whose purpose is easiest to explain."""
    urgent = {*list_completing_cells(rules, cells, seat), *list_completing_cells(rules, cells, seat.other)}
    return min(best, key=lambda cell: (cell not in urgent, not describe_purpose(rules, cells, cell, seat)))


def describe_ignored_threat(rules: QuantumChain, cells: str, cell: int, seat: Seat) -> str:
    """Return the threat that `seat` ignored by observing `cell`, as a clause, or ''."""
    threats = list_completing_cells(rules, replace_cell(cells, cell, SYMBOL[seat]), seat.other)
    if not threats or cell in list_completing_cells(rules, cells, seat):
        return ""
    return f"though the other player could complete a chain with {join_or(threats)}"


def describe_accepted_symbol(rules: QuantumChain, state: State) -> str:
    """Say what the doubtful symbol does to the challenger if it is accepted, or return ''."""
    observer, cells, cell = state.mover, state.cells, state.doubtful_cell
    placed = replace_cell(cells, cell, SYMBOL[observer])
    if cell in list_completing_cells(rules, cells, observer):
        return f"If the symbol stands, the other player has a chain of {rules.run} and wins. "
    clauses = []
    if cell in list_completing_cells(rules, cells, observer.other):
        clauses.append(f"blocks your chain of {rules.run}")
    if later_cells := list_completing_cells(rules, placed, observer):
        clauses.append(f"lets the other player complete a chain with {join_or(later_cells)}")
    return f"If the symbol stands, it {' and '.join(clauses)}. " if clauses else ""


def can_accepting_be_right(rules: QuantumChain, state: State) -> bool:
    """Return whether a free cell beside the doubtful symbol belongs to a possible chain of the challenger.

    This is the rule of thumb: if False, a challenge is never a mistake; if True, it seldom is. The oracle
    confirms the rule for every position on boards of up to 8 cells.
    """
    observer, cell = state.mover, state.doubtful_cell
    cells = replace_cell(state.cells, cell, SYMBOL[observer])
    windows = list_possible_chains(rules, cells, observer.other)
    return any(n in window and cells[n - 1] == FREE for n in (cell - 1, cell + 1) for window in windows)


def explain_even_chance(rules: QuantumChain, cells: str) -> str:
    """Return a sentence that explains why every observation gives both players an even chance."""
    if not any(list_possible_chains(rules, cells, seat) for seat in Seat):
        why = "nobody can make a chain on this board any more; once full, it is cleared"
    else:
        why = "whatever you observe, nobody can force a chain on this board, and a full one is cleared"
    return f"Against perfect play, nothing is at stake here: {why}."
