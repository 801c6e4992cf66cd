"""The best responder's problem against a memory policy of hunt, as a POMDP; needs numpy."""

from duels.core.rules import Seat
from duels.games.hunt.certify.hidden_strategy import MOST_STATES, HiddenStrategy
from duels.games.hunt.certify.policies import MemoryPolicy, policy_of_tables
from duels.games.hunt.memory import Memory
from duels.games.hunt.strategy import CELLS, OTHERS, OWN, Tables

LEFT = 1
"""The responder's own type: its cell, plus `CELLS` while its tunnel is left; the last one is off the grid."""
TYPES = 2 * CELLS + 1


def type_after(own: int, cell: int, cells: int = CELLS) -> int | None:
    """The responder's type once it is on `cell`; None where it cannot go there.

    Tunnelling where a step would do is left out: whoever keeps the tunnel can do all that one without it can.
    """
    if own == 2 * cells:
        return cells + cell
    tunnel, here = divmod(own, cells)
    if abs(here - cell) <= 1:
        return own - here + cell
    return cell if tunnel == LEFT else None


def problem_against(
    tables: Tables, seat: Seat, own_memory: Memory = OWN, other_memory: Memory = OTHERS
) -> HiddenStrategy:
    """The responder's problem against `seat`'s strategy, which never tunnels: the token's cell is hidden."""
    return problem_of(policy_of_tables(tables, own_memory, other_memory), seat)


def problem_of(policy: MemoryPolicy, seat: Seat) -> HiddenStrategy:
    """The responder's problem against `seat`'s policy, of whose token the type is hidden."""
    import numpy as np

    cells = policy.own.cells
    types, off = 2 * cells + 1, len(policy.cell) - 1
    after_own, after_other = policy.own.following, policy.others.following
    last_own, last_other = policy.own.latest, policy.others.latest
    width = len(after_other)
    rows = len(after_own) * width
    met = _met(policy.own, policy.others, seat)

    hidden = max(off + 1, MOST_STATES)
    moves = np.zeros((rows, hidden, hidden))
    moves[:, : off + 1, : off + 1] = policy.moves
    signals = np.zeros((rows, cells, hidden))
    signals[:, :, : off + 1] = policy.names.transpose(0, 2, 1)

    first_option, wins, stays, goes = [0], [], [], []
    everywhere = (1 << hidden) - 1
    at = [sum(1 << kind for kind in range(off) if policy.cell[kind] == cell) for cell in range(cells)]
    support = np.zeros(rows * types, np.int64)
    caught = np.zeros(rows * types, np.int64)
    then = np.full((rows * types, cells), -1, np.int64)
    for row in range(rows):
        own, other = divmod(row, width)  # the strategy's naming, the responder's
        for kind in range(types):
            for cell in range(cells):
                new = type_after(kind, cell, cells)
                if new is None:
                    continue
                for named in range(cells):
                    if named == last_other[other]:
                        continue
                    wins.append(at[named] & ~at[cell])
                    stays.append(everywhere & ~(at[named] | at[cell]))
                    goes.append((own * width + after_other[other][named]) * types + new)
            first_option.append(len(wins))
            if kind == 2 * cells and row == 0 and seat is Seat.ONE:
                support[kind] = 1 << off  # where the strategy enters, before the responder's first turn
                then[kind] = [after_own[0][named] * width * types + 2 * cells for named in range(cells)]
            if kind == 2 * cells or row not in met:
                continue
            place, here = row * types + kind, kind % cells
            on_grid = (1 << off) - 1 & ~(at[here] | at[last_other[other]])
            # On two cells nobody may be left anywhere. The option that leads there wins outright and must be
            # one to choose: any states will do, since none of them ever has a chance.
            support[place] = (on_grid or (1 << off) - 1) if last_own[own] >= 0 else 1 << off
            caught[place] = at[here]
            for named in range(cells):
                if named not in (here, last_own[own]):
                    then[place, named] = (after_own[own][named] * width + other) * types + kind

    start: tuple[tuple[int, tuple[float, ...]], ...]
    if seat is Seat.ONE:
        entered = moves[0, off]
        start = tuple(
            (after_own[0][named] * width * types + 2 * cells, tuple(entered * signals[0, named]))
            for named in range(cells)
        )
    else:
        start = ((2 * cells, tuple(float(place == off) for place in range(hidden))),)
    return HiddenStrategy(
        np.array(first_option), np.array(wins), np.array(stays), np.array(goes),
        np.repeat(np.arange(rows), types), caught, support, then, moves, signals, start,
    )  # fmt: skip


def folded(
    problem: HiddenStrategy, own_memory: Memory = OWN, other_memory: Memory = OTHERS
) -> HiddenStrategy:
    """The problem with mirror images as one if the strategy plays alike in both, else as it is."""
    import numpy as np

    cells = own_memory.cells
    rows = mirrored_rows(own_memory, other_memory)
    kinds = [*range(cells - 1, -1, -1), *range(2 * cells - 1, cells - 1, -1), 2 * cells]
    states = [*range(cells - 1, -1, -1), *range(cells, MOST_STATES)]
    moves, signals = (
        problem.moves[rows][:, states][:, :, states],
        problem.signals[rows][:, ::-1][:, :, states],
    )
    if not (np.array_equal(moves, problem.moves) and np.array_equal(signals, problem.signals)):
        return problem
    places = (np.array(rows)[:, None] * len(kinds) + np.array(kinds)).ravel()
    return problem.folded(places, np.array(states))


def mirrored_rows(own_memory: Memory = OWN, other_memory: Memory = OTHERS) -> list[int]:
    """By memory row: the row of the same naming on the grid seen from the other end."""
    width = len(other_memory.states)
    return [own * width + other for own in own_memory.mirrored for other in other_memory.mirrored]


def _met(own_memory: Memory, other_memory: Memory, seat: Seat) -> set[int]:
    """The rows at which a strategy at `seat` can be to act once the responder has named a cell."""
    own_names, other_names = own_memory.following, other_memory.following
    last_own, last_other = own_memory.latest, other_memory.latest
    found: set[tuple[int, int]] = set()
    fresh = {(0, 0)} if seat is Seat.TWO else {(own, 0) for own in own_names[0]}
    while fresh:
        acting = {
            (own, other_names[other][c])
            for own, other in fresh
            for c in range(own_memory.cells)
            if c != last_other[other]
        } - found
        found |= acting
        fresh = {
            (own_names[own][c], other)
            for own, other in acting
            for c in range(own_memory.cells)
            if c != last_own[own]
        }
    return {own * len(other_names) + other for own, other in found}
