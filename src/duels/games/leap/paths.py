"""How many leaps a token still needs, and by which cells: shortest paths along the line to the goal.

A leap at most doubles the cell, so few paths can be short; searching from both ends finds them at once.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from math import isqrt

from duels.games.leap.rules import OFF_GRID

_FEW = 40  # up to so many cofactors are tried one by one, quicker than factoring
_BEAM = 64
_LARGEST_SIEVE = 21  # binary digits; all that is ever needed up to a goal of two million


@dataclass(frozen=True)
class Paths:
    """Shortest paths to `goal` from any cell, worked out when asked for and then remembered."""

    goal: int

    def needed(self, cell: int) -> int:
        """The least number of turns from `cell` (0: off the grid) to the goal."""
        if cell == OFF_GRID:
            return 1 + self.needed(1)
        if cell not in self._needed:
            most = self._dive(cell, _BEAM)
            searched = range(self.at_least(cell), most)
            self._needed[cell] = next((n for n in searched if self._meet(cell, n)), most)
        return self._needed[cell]

    def within(self, cell: int, turns: int) -> bool:
        """Whether `turns` turns are enough; often known without knowing how many are needed."""
        if cell == OFF_GRID:
            return self.within(1, turns - 1)
        if cell in self._needed:
            return self._needed[cell] <= turns
        if self.at_least(cell) > turns:
            return False
        return self._dive(cell, 1) <= turns or self.needed(cell) <= turns

    def in_time(self, cell: int, turns: int) -> set[int]:
        """The cells one leap on from `cell` (on the grid) from where `turns` more are enough.

        All in one search: a line of a million cells has cells with two hundred divisors.
        """
        open_cells = {t for d in divisors(cell) if (t := cell + d) <= self.goal}
        open_cells = {t for t in open_cells if self.at_least(t) <= turns}
        good = {t for t in open_cells if self._dive(t, 1) <= turns or self._dive(t, _BEAM) <= turns}
        length = self.needed(cell)
        while length <= turns + 1 and good != open_cells:
            good |= self._layers(cell, length)[0]
            length += 1
        return good

    def soonest(self, cell: int) -> set[int]:
        """The cells one leap on from `cell` (on the grid) that shortest paths visit."""
        return self._layers(cell, self.needed(cell))[0]

    def at_least(self, cell: int) -> int:
        """A lower bound on the leaps needed: how often `cell` must double to come to the goal."""
        return (-(-self.goal // cell) - 1).bit_length()

    def steps(self, cell: int) -> dict[int, tuple[int, ...]]:
        """From every cell on a shortest path from `cell`: where such paths go next."""
        after: dict[int, tuple[int, ...]] = {}
        if cell == OFF_GRID:
            after[OFF_GRID] = (1,)
            cell = 1
        front = {cell}
        for layer in self._layers(cell, self.needed(cell)):
            after |= {c: tuple(t for d in divisors(c) if (t := c + d) in layer) for c in front}
            front = layer
        return after

    def count(self, cell: int) -> int:
        """The number of shortest paths from `cell`."""
        after = self.steps(cell)
        ways = {self.goal: 1}
        for c in sorted(after, reverse=True):
            ways[c] = sum(ways[t] for t in after[c])
        return ways[cell]

    def all_shortest(self, cell: int) -> Iterator[tuple[int, ...]]:
        """Every shortest path from `cell`, as the cells that its turns lead to, the goal last."""
        after = self.steps(cell)
        paths: list[tuple[int, ...]] = [()]
        while paths:
            path = paths.pop()
            here = path[-1] if path else cell
            if here == self.goal:
                yield path
            else:
                paths += [(*path, target) for target in reversed(after[here])]

    @cached_property
    def _needed(self) -> dict[int, int]:
        return {self.goal: 0}

    def _dive(self, cell: int, width: int) -> int:
        """An upper bound on the leaps needed: a search that keeps only the `width` best cells."""
        front, turns = [cell], 0
        while self.goal not in front:
            ahead = {t for c in front for d in divisors(c) if (t := c + d) <= self.goal}
            front = sorted(ahead, reverse=True)[:width]
            turns += 1
        return turns

    def _meet(self, cell: int, turns: int) -> bool:
        """Whether a path of exactly `turns` leaps leads from `cell` to the goal."""
        *_, (forward, backward) = self._fronts(cell, turns)
        return not forward.isdisjoint(backward)

    def _fronts(self, cell: int, turns: int) -> Iterator[tuple[set[int], set[int]]]:
        """Cells that such a path may visit, from both ends, one leap at a time from the smaller side.

        From the start, only cells that doubling can still bring to the goal in the turns that are left;
        from the goal, only cells that doubling can have reached.
        """
        forward, backward, left = {cell}, {self.goal}, turns
        made = undone = 0
        yield forward, backward
        while left and forward and backward:
            left -= 1
            if len(forward) <= len(backward):
                made += 1
                least = -(-self.goal >> turns - made)
                forward = {
                    t for c in forward for d in divisors(c, least - c) if least <= (t := c + d) <= self.goal
                }
            else:
                undone += 1
                most = cell << turns - undone
                # c + d with d | c is what it is to be t with d | t: leaps are undone by divisors too.
                backward = {
                    c for t in backward for d in divisors(t, t - most) if d < t and cell <= (c := t - d)
                }
            yield forward, backward

    def _layers(self, cell: int, turns: int) -> list[set[int]]:
        """The cells that paths of exactly `turns` leaps from `cell` visit after 1, 2, ... of them."""
        forward: list[set[int]] = []
        backward: list[set[int]] = []
        for ahead, behind in self._fronts(cell, turns):
            if not forward or ahead is not forward[-1]:
                forward.append(ahead)
            if not backward or behind is not backward[-1]:
                backward.append(behind)
        layers = [*forward[:-1], forward[-1] & backward[-1], *backward[-2::-1]]
        middle = len(forward) - 1
        for i in range(middle, 0, -1):
            layers[i - 1] = {c for c in layers[i - 1] if any(c + d in layers[i] for d in divisors(c))}
        for i in range(middle, turns):
            layers[i + 1] = {
                t for t in layers[i + 1] if any(t - d in layers[i] for d in divisors(t) if d < t)
            }
        return layers[1:]


def divisors(n: int, least: int = 1) -> list[int]:
    """The divisors of n that are not below `least`, in no order."""
    if least * _FEW >= n:
        return [n // cofactor for cofactor in range(1, n // least + 1) if n % cofactor == 0]
    found, rest = [1], n
    is_prime = _sieve(min(n.bit_length(), _LARGEST_SIEVE))
    for prime in _primes((n.bit_length() + 1) // 2):
        if rest % prime == 0:
            powers, power = found, 1
            while rest % prime == 0:
                rest //= prime
                power *= prime
                found = found + [d * power for d in powers]
            if rest < len(is_prime) and is_prime[rest]:
                break
        if prime * prime > rest:
            break
    if rest > 1:
        found += [d * rest for d in found]
    return found if least <= 1 else [d for d in found if d >= least]


@cache
def _primes(bits: int) -> list[int]:
    return [n for n, prime in enumerate(_sieve(bits)) if prime]


@cache
def _sieve(bits: int) -> bytearray:
    """Which numbers of at most so many binary digits are prime."""
    is_prime = bytearray([0, 0]) + bytearray([1]) * ((1 << bits) - 2)
    for n in range(2, isqrt(len(is_prime)) + 1):
        if is_prime[n]:
            is_prime[n * n :: n] = bytes(len(range(n * n, len(is_prime), n)))
    return is_prime
