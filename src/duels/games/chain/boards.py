"""Exact values of every board of chain, by backward induction from full boards to the empty one.

A match may last for any number of boards: `solve_start` finds the value of the first one.

For speed, this module restates the rules. The oracle's `verify` proves that both agree.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

Round = Callable[[Fraction, int], tuple[Fraction, Fraction]]
"""A function of u and a side (+1, -1) that returns g(u) and the slope of g on that side of u."""


@dataclass(frozen=True)
class Boards:
    """All boards of `cells` cells on which `run` in a row win.

    A board is two bit masks: the cells of the player to move, and those of the opponent. Values are integers
    from -unit (the player to move loses) to +unit (the player to move wins); 0 is an even chance.
    """

    cells: int
    run: int

    @property
    def grain(self) -> int:
        """A number that must divide `unit` and a decohered board's value, so that all values are integers.

        A step back by one cell halves a difference (one coin) or takes a third of it (coins that pass the
        turn back and forth: 1/4 + 1/16 + 1/64 + ...), so every cell needs a factor of 6. One more factor
        of 2 is for `solve_pair`, which tries candidate values.
        """
        grain: int = 2 * 6**self.cells
        return grain

    def index(self, own: int, other: int) -> int:
        """Return the index of a board in the list from `solve`."""
        return self._index_by_mask[own] + 2 * self._index_by_mask[other]

    def play_board(self, decohered: Fraction, side: int) -> tuple[Fraction, Fraction]:
        """Return the empty board's value and its slope, given the value of a decohered board.

        `side` is 1 for the slope to the right of `decohered`, -1 for the slope to the left. A number a + b e
        with an infinitesimal e is stored as the integer a * scale + b. That works because `solve` only adds,
        compares and divides without remainder.
        """
        unit = self.grain * decohered.denominator
        scale = 4 * unit
        start = self.solve(unit * scale, int(decohered * unit) * scale + side * unit)[0]
        a = (start + scale // 2) // scale
        return Fraction(a, unit), side * Fraction(start - a * scale, unit)

    def solve(self, unit: int, decohered: int) -> list[int]:
        """Return the value of every board to the player to move, if a full board is worth `decohered`."""
        all_cells = (1 << self.cells) - 1
        index_of, mirror, chain = self._index_by_mask, self._mirror, self._chain
        values = [0] * 3**self.cells
        for taken in range(all_cells, -1, -1):
            # A placement adds a bit, so the boards after it are already solved. Mirror images have equal
            # values: the one with the larger mask is solved and written to both indices.
            if mirror[taken] > taken:
                continue
            own = taken
            while own >= 0:
                other = taken ^ own
                if own <= other:
                    own_index, other_index = index_of[own], index_of[other]
                    index, swapped = own_index + 2 * other_index, other_index + 2 * own_index
                    if chain[own] or chain[other]:
                        x = y = -unit  # the player who completed the chain has just moved
                    elif taken == all_cells:
                        x = y = decohered
                    else:
                        # A failed observation passes the same board to the opponent, so both
                        # players' turns on it are solved together.
                        x, y = solve_pair(
                            *self._find_best(values, swapped, all_cells ^ taken, own, -9 * unit),
                            *self._find_best(values, index, all_cells ^ taken, other, -9 * unit),
                        )
                    values[index], values[swapped] = x, y
                    own_index, other_index = index_of[mirror[own]], index_of[mirror[other]]
                    values[own_index + 2 * other_index], values[other_index + 2 * own_index] = x, y
                own = (own - 1) & taken if own else -1
        return values

    def _find_best(self, values: list[int], index: int, free: int, own: int, none: int) -> tuple[int, int]:
        """Return the values of the best safe observation, and of the best doubtful one if it succeeds.

        A challenge halves the gain of a doubtful observation, so it does not change which one is best.
        """
        steps = self._index_steps
        doubtful = free & (own << 1 | own >> 1)
        safe = free ^ doubtful
        return (
            -min([values[index + step] for step in steps[safe]]) if safe else none,
            -min([values[index + step] for step in steps[doubtful]]) if doubtful else none,
        )

    @cached_property
    def _index_by_mask(self) -> list[int]:
        return [sum(3**i for i in range(self.cells) if mask >> i & 1) for mask in range(1 << self.cells)]

    @cached_property
    def _index_steps(self) -> list[list[int]]:
        # A placed symbol belongs to the player who does not move next, whose cells count twice.
        return [[2 * 3**i for i in range(self.cells) if mask >> i & 1] for mask in range(1 << self.cells)]

    @cached_property
    def _mirror(self) -> list[int]:
        return [int(f"{mask:0{self.cells}b}"[::-1], 2) for mask in range(1 << self.cells)]

    @cached_property
    def _chain(self) -> list[bool]:
        return ["1" * self.run in f"{mask:b}" for mask in range(1 << self.cells)]


def solve_pair(x_safe: int, x_doubtful: int, y_safe: int, y_doubtful: int) -> tuple[int, int]:
    """Return the values x and y of one board to each player, if that player is to move.

    They solve x = choose_turn(x_safe, x_doubtful, y) and y = choose_turn(y_safe, y_doubtful, x). The result
    of `choose_turn` changes by at most half as much as its last argument, so the solution is unique. Either x
    or y is a value from a fuller board. Or both players observe under challenge, and the coin passes the turn
    back and forth.
    """
    for x in (x_safe, x_doubtful):
        y = choose_turn(y_safe, y_doubtful, x)
        if choose_turn(x_safe, x_doubtful, y) == x:
            return x, y
    for y in (y_safe, y_doubtful):
        x = choose_turn(x_safe, x_doubtful, y)
        if choose_turn(y_safe, y_doubtful, x) == y:
            return x, y
    return (2 * x_doubtful - y_doubtful) // 3, (2 * y_doubtful - x_doubtful) // 3


def choose_turn(safe: int, doubtful: int, other: int) -> int:
    """Return the value of a turn. If an observation fails, the board is worth `other` to the opponent.

    The opponent challenges if success is worth more to the observer than failure.
    """
    challenged = (doubtful - other) // 2
    return max(safe, min(doubtful, challenged))


def solve_start(play_round: Round) -> Fraction:
    """Return the value of the start to the first player: 1 a sure win, -1 a sure loss, 0 never-ending play.

    The rules are the same for both players. A round ends almost surely in a win, in a loss, or in a new
    start with either player to begin. Let g(u) be the value of a round to the player who begins it, if a
    new start is worth u to its beginner. g is piecewise linear, with finitely many pieces (one for each pair
    of pure strategies of a round) and slopes of at most 1. So g(u) - u never rises, and its zeros form an
    interval.

    The value of the start is the zero `a` nearest to 0. Proof that player P can guarantee it: P plays every
    round optimally for new starts of value `a`, so P's expected value never falls from round to round.
    If a = 0: a new start is worth 0, and so is never-ending play, so P loses nothing by playing on.
    If a > 0 (the case a < 0 is symmetric): in a never-ending match, P's value is bounded and never falls in
    expectation, so it converges. At new starts it is a or -a, so eventually the same player always begins.
    If that is the opponent, P gets 0 instead of -a, which is more than claimed. If that is P, the match has
    probability 0, provided that P's optimal strategy for a round is also optimal for all u slightly below a.
    Such a strategy exists, because g has finitely many pieces. Against any reply, let r and s be the
    probabilities that P or the opponent begins next, and w that of winning minus that of losing. Then
    w + (r - s) u >= g(u) > u. If r were 1, then w = s = 0 and u > u. So r < 1 for each of the finitely many
    pure replies.
    """
    from_zero = play_round(Fraction(0), 1)
    if from_zero[0] == 0:
        return Fraction(0)
    if from_zero[0] > 0:
        return _find_least_zero(play_round, from_zero)

    def swap_sides(u: Fraction, side: int) -> tuple[Fraction, Fraction]:
        value, slope = play_round(-u, -side)
        return -value, slope

    return -_find_least_zero(swap_sides, swap_sides(Fraction(0), 1))


def _find_least_zero(play_round: Round, from_zero: tuple[Fraction, Fraction]) -> Fraction:
    """Return the least u with g(u) = u, given that g(0) > 0.

    Newton steps from both sides: each skips a whole piece of g or lands on the zero. A step that would
    leave the bracket is replaced by bisection.
    """
    low, high = Fraction(0), Fraction(2)  # |g| <= 1, so the zero lies in between
    u, (value, slope) = low, from_zero
    while True:
        step = u + (value - u) / (1 - slope) if slope < 1 else u
        u = step if low < step < high else (low + high) / 2
        value, slope = play_round(u, -1)
        if value == u and slope < 1:
            return u  # g(u) > u just below this u, and so everywhere below it
        if value > u:
            low = u
            value, slope = play_round(u, 1)
        else:
            high = u
