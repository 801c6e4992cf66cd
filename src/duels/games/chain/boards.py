"""The worth of every board of chain, exact, filled in from full boards back to the empty one.

The recursion is a second form of the rules, made for speed; the oracle's `verify` proves it equal to them.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property


@dataclass(frozen=True)
class Boards:
    """All boards of `cells` cells on which `run` in a row win.

    A board is two bit masks: the cells of the player to move, and the other's. Worths are integers, from
    -unit (the player to move loses) to +unit (wins); 0 is an even chance.
    """

    cells: int
    run: int

    @property
    def grain(self) -> int:
        """What `unit` and the worth of a decohered board must be multiples of to keep every worth whole.

        Going back one cell halves a difference (a coin), or takes a third of it (coins that pass the turn
        to and fro on the same board: 1/4 + 1/16 + 1/64 + ...), so every cell costs a factor of 6. One 2
        more, for `settle` tries a worth out before it is known to be the right one.
        """
        grain: int = 2 * 6**self.cells
        return grain

    def index(self, mine: int, theirs: int) -> int:
        """Where a board stands in the list that `worths` gives."""
        return self._place[mine] + 2 * self._place[theirs]

    def play_board(self, decohered: Fraction, side: int) -> tuple[Fraction, Fraction]:
        """The worth of the empty board if a decohered one is worth so much; and how it moves with that.

        Numbers a + b e, e infinitely small, are carried as the whole number a * scale + b: `worths` only
        adds, compares and divides evenly.
        """
        unit = self.grain * decohered.denominator
        scale = 4 * unit
        found = self.worths(unit * scale, int(decohered * unit) * scale + side * unit)[0]
        a = (found + scale // 2) // scale
        return Fraction(a, unit), side * Fraction(found - a * scale, unit)

    def worths(self, unit: int, decohered: int) -> list[int]:
        """The worth of every board to the player to move, who finds a full one worth `decohered`."""
        everything = (1 << self.cells) - 1
        place, mirror, chain = self._place, self._mirror, self._chain
        worths = [0] * 3**self.cells
        for taken in range(everything, -1, -1):
            # A placement adds a bit, so what follows has been filled in already. Mirror images are worth
            # the same: the one with the larger mask is worked out and written to both.
            if mirror[taken] > taken:
                continue
            mine = taken
            while mine >= 0:
                theirs = taken ^ mine
                if mine <= theirs:
                    here, swapped = place[mine] + 2 * place[theirs], place[theirs] + 2 * place[mine]
                    if chain[mine] or chain[theirs]:
                        x = y = -unit  # whoever made the chain has just moved
                    elif taken == everything:
                        x = y = decohered
                    else:
                        # A failed observation hands the same board to the other player, so the two
                        # players' turns on it are worked out together.
                        x, y = settle(
                            *self._best(worths, swapped, everything ^ taken, mine, -9 * unit),
                            *self._best(worths, here, everything ^ taken, theirs, -9 * unit),
                        )
                    worths[here], worths[swapped] = x, y
                    m, t = place[mirror[mine]], place[mirror[theirs]]
                    worths[m + 2 * t], worths[t + 2 * m] = x, y
                mine = (mine - 1) & taken if mine else -1
        return worths

    def _best(self, worths: list[int], after: int, free: int, own: int, none: int) -> tuple[int, int]:
        """The best observation out of reach of a challenge, and the best one open to it, if it stands.

        The best one open to challenge is the best one if it stands: a challenge halves what it gains.
        """
        weights = self._weights
        doubtful = free & (own << 1 | own >> 1)
        safe = free ^ doubtful
        return (
            -min([worths[after + weight] for weight in weights[safe]]) if safe else none,
            -min([worths[after + weight] for weight in weights[doubtful]]) if doubtful else none,
        )

    @cached_property
    def _place(self) -> list[int]:
        return [sum(3**i for i in range(self.cells) if mask >> i & 1) for mask in range(1 << self.cells)]

    @cached_property
    def _weights(self) -> list[list[int]]:
        # Once placed, a symbol belongs to the player who does not move next: twice its place.
        return [[2 * 3**i for i in range(self.cells) if mask >> i & 1] for mask in range(1 << self.cells)]

    @cached_property
    def _mirror(self) -> list[int]:
        return [int(f"{mask:0{self.cells}b}"[::-1], 2) for mask in range(1 << self.cells)]

    @cached_property
    def _chain(self) -> list[bool]:
        return ["1" * self.run in f"{mask:b}" for mask in range(1 << self.cells)]


def settle(x_safe: int, x_doubtful: int, y_safe: int, y_doubtful: int) -> tuple[int, int]:
    """The worths x and y of one board to either player, each with the turn.

    x = answer(x_safe, x_doubtful, y) and y = answer(y_safe, y_doubtful, x). An answer changes at most half
    as much as what it answers to, so there is one solution. Either one of the two is a worth known from
    fuller boards, or both players observe under challenge and the coin passes the turn to and fro.
    """
    for x in (x_safe, x_doubtful):
        y = answer(y_safe, y_doubtful, x)
        if answer(x_safe, x_doubtful, y) == x:
            return x, y
    for y in (y_safe, y_doubtful):
        x = answer(x_safe, x_doubtful, y)
        if answer(y_safe, y_doubtful, x) == y:
            return x, y
    return (2 * x_doubtful - y_doubtful) // 3, (2 * y_doubtful - x_doubtful) // 3


def answer(safe: int, doubtful: int, other: int) -> int:
    """The worth of a turn on a board that is worth `other` to the other player, if an observation fails.

    The other player challenges if that costs the observer: if the symbol is worth more than its failure.
    """
    challenged = (doubtful - other) // 2
    return max(safe, min(doubtful, challenged))
