"""What a symbol does on the board of chain, in words: completes a chain, blocks one, builds toward one.

Clauses are told to the player who decides; numbers come from the oracle.
"""

from collections.abc import Sequence

from duels.core.rules import Seat
from duels.core.words import join_or
from duels.games.chain.rules import FREE, SYMBOL, QuantumChain, State


def completing(rules: QuantumChain, cells: str, seat: Seat) -> list[int]:
    """The free cells that complete a chain of `seat`, counted from 1."""
    free = (cell for cell in range(1, rules.cells + 1) if cells[cell - 1] == FREE)
    return [cell for cell in free if rules.chain_of(_with(cells, cell, seat))]


def possible_chains(rules: QuantumChain, cells: str, seat: Seat) -> list[range]:
    """Where `seat` can still make a chain: so many cells in a row that hold none of the other's symbols."""
    starts = range(1, rules.cells - rules.run + 2)
    windows = (range(start, start + rules.run) for start in starts)
    return [window for window in windows if all(cells[cell - 1] != SYMBOL[seat.other] for cell in window)]


def purpose(rules: QuantumChain, cells: str, cell: int, seat: Seat) -> str:
    """What a symbol of `seat` on `cell` is good for, as a clause (`blocks …`); empty for nothing special."""
    placed = _with(cells, cell, seat)
    if cell in completing(rules, cells, seat):
        return f"completes your chain of {rules.run}"
    told = []
    if cell in completing(rules, cells, seat.other):
        told.append(f"blocks the other player's chain of {rules.run}")
    if next_time := completing(rules, placed, seat):
        told.append(f"threatens to complete a chain of your own with {join_or(next_time)}")
    if told:
        return " and ".join(told)
    if possible_chains(rules, cells, seat.other) and not possible_chains(rules, placed, seat.other):
        told.append("leaves the other player no chain on this board")
    towards = [window for window in possible_chains(rules, cells, seat) if cell in window]
    if towards:
        likeliest = max(towards, key=lambda window: _held(cells, window, seat))
        told.append(f"builds toward a chain on cells {likeliest[0]} to {likeliest[-1]}")
    return " and ".join(told)


def most_telling(rules: QuantumChain, cells: str, best: Sequence[int], seat: Seat) -> int:
    """Of equally good cells the one with the plainest purpose."""
    urgent = {*completing(rules, cells, seat), *completing(rules, cells, seat.other)}
    return min(best, key=lambda cell: (cell not in urgent, not purpose(rules, cells, cell, seat)))


def left_open(rules: QuantumChain, cells: str, cell: int, seat: Seat) -> str:
    """What `seat` did not prevent by observing `cell`, as a clause; empty where nothing was urgent."""
    theirs = completing(rules, _with(cells, cell, seat), seat.other)
    if not theirs or cell in completing(rules, cells, seat):
        return ""
    return f"though the other player could complete a chain with {join_or(theirs)}"


def if_it_stands(rules: QuantumChain, doubted: State) -> str:
    """What the symbol in doubt does to the player who answers, as a sentence; empty for nothing special."""
    observer, cells, cell = doubted.mover, doubted.cells, doubted.doubt
    placed = _with(cells, cell, observer)
    if cell in completing(rules, cells, observer):
        return f"If the symbol stands, the other player has a chain of {rules.run} and wins. "
    told = []
    if cell in completing(rules, cells, observer.other):
        told.append(f"blocks your chain of {rules.run}")
    if next_time := completing(rules, placed, observer):
        told.append(f"lets the other player complete a chain with {join_or(next_time)}")
    return f"If the symbol stands, it {' and '.join(told)}. " if told else ""


def accepting_may_be_right(rules: QuantumChain, doubted: State) -> bool:
    """Whether a free cell beside the symbol in doubt belongs to a chain that who answers can still make.

    The rule of thumb: where it is not so, a challenge is no mistake; where it is so, it seldom is one. Proven
    for boards of up to 8 cells by asking the oracle about every position.
    """
    observer, cell = doubted.mover, doubted.doubt
    cells = _with(doubted.cells, cell, observer)
    windows = possible_chains(rules, cells, observer.other)
    return any(n in window and cells[n - 1] == FREE for n in (cell - 1, cell + 1) for window in windows)


def nothing_at_stake(rules: QuantumChain, cells: str) -> str:
    """Why it does not matter what is observed where both have an even chance, as a sentence."""
    if not any(possible_chains(rules, cells, seat) for seat in Seat):
        why = "nobody can make a chain on this board any more; once full, it decoheres"
    else:
        why = "whatever you observe, nobody can force a chain on this board, and a full one decoheres"
    return f"Nothing is at stake here: {why}."


def _with(cells: str, cell: int, seat: Seat) -> str:
    return cells[: cell - 1] + SYMBOL[seat] + cells[cell:]


def _held(cells: str, window: range, seat: Seat) -> int:
    return sum(cells[cell - 1] == SYMBOL[seat] for cell in window)
