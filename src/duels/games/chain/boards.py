"""The worth of every board of chain, exact, filled in from full boards back to the empty one.

Boards are rounds that can start over for ever: `start_worth` is what the first of them is worth.

The recursion is a second form of the rules, made for speed; the oracle's `verify` proves it equal to them.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

Round = Callable[[Fraction, int], tuple[Fraction, Fraction]]
"""Given u and a side (+1, -1): g(u), and the slope of g on that side of u."""


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


def start_worth(play_round: Round) -> Fraction:
    """The worth of the start to the player who begins: 1 a sure win, -1 a sure loss, 0 for never-ending play.

    Both players have the same chances when they begin. A round ends almost surely, however it is played,
    in a win, in a loss, or in a new start with either player to begin. Let g(u) be the worth of a round
    to the player who begins it, if a new start is worth u to whoever begins then. g is made of finitely
    many straight pieces (one for a pair of pure strategies of a round) none steeper than 1, so
    g(u) - u never rises, and its zeros are an interval.

    The worth of the start is the zero `a` nearest to 0. Proof that player P can make sure of it: P plays
    every round as is best when new starts are worth `a` to whoever begins, so the expected worth to P
    never falls, from round to round.
    If a = 0: a new start is worth 0, as never-ending play is, so nothing is lost by waiting for ever.
    If a > 0 (a < 0 is the same with sides changed): in a never-ending match the worth, bounded and never
    falling in expectation, converges; at new starts it is a or -a, so from some time on the same player
    always begins. If it is the other one, P gets 0 instead of -a: more than was promised. That P always
    begins has probability 0 if P picks, among the best ways to play a round, one that is also best for
    all u slightly below a (there is one, as g has finitely many pieces). For against any reply, with r
    and s the chances that P or the other begins next and w those of winning less those of losing,
    w + (r - s) u >= g(u) > u; were r = 1, then w = s = 0, and u > u. So r < 1, for each of the finitely
    many pure replies.
    """
    from_zero = play_round(Fraction(0), 1)
    if from_zero[0] == 0:
        return Fraction(0)
    if from_zero[0] > 0:
        return _least_zero(play_round, from_zero)

    def turned(u: Fraction, side: int) -> tuple[Fraction, Fraction]:
        value, slope = play_round(-u, -side)
        return -value, slope

    return -_least_zero(turned, turned(Fraction(0), 1))


def _least_zero(play_round: Round, from_zero: tuple[Fraction, Fraction]) -> Fraction:
    """The least u with g(u) = u, where g(0) > 0.

    Newton's steps from either side of it, each of which passes a whole piece of g or lands on the zero;
    a halving wherever a step would leave the bracket.
    """
    low, high = Fraction(0), Fraction(2)  # g stays within 1, so the zero does, and lies between these
    at, (value, slope) = low, from_zero
    while True:
        step = at + (value - at) / (1 - slope) if slope < 1 else at
        at = step if low < step < high else (low + high) / 2
        value, slope = play_round(at, -1)
        if value == at and slope < 1:
            return at  # g(u) > u just below it, and so everywhere below it
        if value > at:
            low = at
            value, slope = play_round(at, 1)
        else:
            high = at
