"""Quantum Flip for many games at once: a second form of its rules, for speed, as arrays of bits.

Its states are too many for tables. A test plays it beside the rules, move by move.
"""

from copy import copy
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from duels.core.errors import DuelsError
from duels.core.features import Encoding
from duels.envs.batch import NOBODY, Batch, Bytes, Flags, Tally, Whole
from duels.envs.kernels.flip import single
from duels.envs.kernels.flip.engine import action_of
from duels.envs.kernels.flip.single import FLIP, KEEP, PAIR
from duels.games.flip.features import features
from duels.games.flip.rules import QuantumTiles, neighbours

_FEW = 96  # games: up to there one after the other is quicker than arrays
_MOST_BITS = 16  # of a window of rows that is looked up at once


class FlipBatch(Batch):
    """Games of Quantum Flip; arrays have a column per environment."""

    def __init__(
        self,
        rules: QuantumTiles,
        num_envs: int,
        seed: int,
        first: int = 0,
        autoreset: bool = True,
        compiled: bool = False,
    ) -> None:
        self.rules = rules
        self.encoding = Encoding(features(rules))
        self.observation_size = self.encoding.size
        self.compiled = compiled
        self._tile_count = rules.side**2
        self._full = (1 << self._tile_count) - 1
        if self._tile_count * 2 > 62:
            raise DuelsError(f"A board of side {rules.side} is too large to be played as bits.")
        actions = rules.all_actions()
        self.num_actions = len(actions)
        self._moves = np.array([action_of(action) for action in actions], np.int64).T.copy()
        self._windows = _pair_windows(rules.side)
        self._tiles = np.empty((self._tile_count, num_envs), np.int64)
        self._left = np.empty((rules.values, num_envs), np.int64)
        self._unseen = np.empty(num_envs, np.int64)
        self._down = np.empty(num_envs, np.int64)
        self._scores = np.empty((2, num_envs), np.int64)
        self._quantum = np.empty((2, num_envs), np.int64)
        self._mover = np.empty(num_envs, np.int64)
        self._lifted = np.zeros((2, num_envs), np.int64)
        self._choosing = np.empty(num_envs, np.bool_)
        super().__init__(num_envs, seed, None, first, autoreset)

    def _restart(self, which: Flags | NDArray[np.intp] | None) -> None:
        at: Any = slice(None) if which is None else which
        self._tiles[:, at] = 0
        self._left[:, at] = self.rules.copies
        self._unseen[at] = self._tile_count
        self._down[at] = self._full
        self._scores[:, at] = 0
        self._quantum[:, at] = 1
        self._mover[at] = 0
        self._choosing[at] = False

    # -- playing -----------------------------------------------------------------------------------

    def _play(self, actions: Whole, chance: Whole, idle: Flags | None) -> tuple[Bytes, Bytes | None]:
        kind, one, two = self._moves.take(actions, axis=1)
        wrong = ~self._allowed(kind, one, two)
        live = np.ones(self.num_envs, np.bool_) if idle is None else ~idle
        if (wrong & live).any():
            self._refuse(wrong & live, actions)
        return self._carry_out(kind, one, two, chance, live), None

    def _carry_out(self, kind: Whole, one: Whole, two: Whole, chance: Whole, live: Flags | bool) -> Bytes:
        """Play legal actions where it is `live`; give the winners."""
        winner = np.full(self.num_envs, NOBODY, np.int8)
        pairs = np.flatnonzero(live & (kind == PAIR))
        if len(pairs):
            self._lift(pairs, one[pairs], two[pairs], chance[pairs])
        flips = np.flatnonzero(live & (kind == FLIP))
        if len(flips):
            self._turn_up(flips, one[flips], chance[flips])
            self._score(flips, one[flips], winner)
        keeps = np.flatnonzero(live & (kind == KEEP))
        if len(keeps):
            self._quantum[self._mover[keeps], keeps] = 0
            self._choosing[keeps] = False
            self._score(keeps, one[keeps], winner)
        return winner

    def _allowed(self, kind: Whole, one: Whole, two: Whole) -> Flags:
        needed = (np.int64(1) << one) | (np.int64(1) << two)
        turning = ~self._choosing & ((self._down & needed) == needed)
        turning &= (kind == FLIP) | ((kind == PAIR) & self._has_quantum())
        keeping = self._choosing & (kind == KEEP) & ((one == self._lifted[0]) | (one == self._lifted[1]))
        allowed: Flags = turning | keeping
        return allowed

    def _has_quantum(self) -> Flags:
        left: Flags = np.where(self._mover == 0, self._quantum[0], self._quantum[1]) == 1
        return left

    def _turn_up(self, at: NDArray[np.intp], tile: Whole, chance: Whole) -> None:
        """Draw the value of a tile, if nobody has seen it yet."""
        fresh = self._tiles[tile, at] == 0
        at, tile = at[fresh], tile[fresh]
        self._reveal(at, tile, self._value_at(at, chance[fresh] * self._unseen[at] >> 32))

    def _lift(self, at: NDArray[np.intp], one: Whole, two: Whole, chance: Whole) -> None:
        """Turn up two tiles; the unseen ones are drawn together, from one ticket."""
        self._lifted[0, at] = one
        self._lifted[1, at] = two
        self._choosing[at] = True
        fresh = (self._tiles[one, at] == 0) & (self._tiles[two, at] == 0)
        both = at[fresh]
        if len(both):
            unseen = self._unseen[both]
            ticket = chance[fresh] * (unseen * (unseen - 1)) >> 32
            value = self._value_at(both, ticket // (unseen - 1))
            before = self._before(both, value)
            # Of the tickets that begin with this value, as many go to each second value as tiles are left.
            ticket = (ticket - before * (unseen - 1)) // self._left[value - 1, both]
            self._reveal(both, one[fresh], value)
            self._reveal(both, two[fresh], self._value_at(both, ticket))
        rest = ~fresh
        if rest.any():
            self._turn_up(at[rest], one[rest], chance[rest])
            self._turn_up(at[rest], two[rest], chance[rest])

    def _value_at(self, at: NDArray[np.intp], ticket: Whole) -> Whole:
        """The value of the ticket-th tile of the bag, when the bag is laid out in order."""
        value = np.ones(len(at), np.int64)
        passed = np.zeros(len(at), np.int64)
        for left in self._left[:-1]:
            passed += left[at]
            value += ticket >= passed
        return value

    def _before(self, at: NDArray[np.intp], value: Whole) -> Whole:
        """How many tiles of smaller values are in the bag."""
        lower = np.arange(1, self.rules.values + 1)[:, None] < value
        before: Whole = (self._left[:, at] * lower).sum(axis=0)
        return before

    def _reveal(self, at: NDArray[np.intp], tile: Whole, value: Whole) -> None:
        self._tiles[tile, at] = value
        self._left[value - 1, at] -= 1
        self._unseen[at] -= 1

    def _score(self, at: NDArray[np.intp], tile: Whole, winner: Bytes) -> None:
        """The mover takes the tile; the turn passes, or the game ends."""
        mover = self._mover[at]
        score = self._scores[mover, at] + self._tiles[tile, at]
        self._scores[mover, at] = score
        self._down[at] &= ~(np.int64(1) << tile)
        self._mover[at] = 1 - mover
        target = self.rules.target
        winner[at] = np.where(score == target, mover, np.where(score > target, 1 - mover, NOBODY))

    # -- looking -----------------------------------------------------------------------------------

    def _actor(self) -> Bytes:
        return self._mover.astype(np.int8)

    def _pairs(self) -> Whole:
        """The neighbours that are both face down, a bit each, in the order of the actions."""
        pairs = np.zeros(self.num_envs, np.int64)
        for shift, size, place, table in self._windows:
            pairs |= table.take(self._down >> shift & size) << place
        return pairs

    def _masks(self) -> Bytes:
        tiles = np.arange(self._tile_count)
        pairs = np.arange(self.num_actions - 2 * self._tile_count)
        turning = ~self._choosing[:, None]
        flips = (self._down[:, None] >> tiles & 1) * turning
        doubles = (self._pairs()[:, None] >> pairs & 1) * (turning & self._has_quantum()[:, None])
        keeps = (self._lifted.T[:, :, None] == tiles).any(axis=1) * ~turning
        return np.concatenate([flips, doubles, keeps], axis=1).astype(np.int8)

    def _sample(self, bits: Whole, policy: Any = None) -> Whole:
        pairs = self._pairs() * self._has_quantum()
        singles = np.bitwise_count(self._down).astype(np.int64)
        ways = np.where(self._choosing, 2, singles + np.bitwise_count(pairs))
        k = bits * ways >> 32
        double = k >= singles
        place = _select(np.where(double, pairs, self._down), np.where(double, k - singles, k))
        place += double * self._tile_count
        keep = np.where(k == 0, self._lifted[0], self._lifted[1]) + (self.num_actions - self._tile_count)
        return np.where(self._choosing, keep, place)

    def _observe(self, seats: int | Bytes, which: NDArray[np.intp] | None = None) -> Bytes:
        at: Any = slice(None) if which is None else which
        down = (self._down[at][:, None] >> np.arange(self._tile_count) & 1).astype(np.bool_)
        tiles = self._tiles[:, at].T
        faces = tiles + self.rules.values * (down & (tiles > 0))
        rows = np.arange(len(faces))
        seat = np.full(len(faces), seats) if isinstance(seats, int) else seats[at].astype(np.int64)
        lifted = (self._lifted[:, at].T[:, :, None] == np.arange(self._tile_count)).any(axis=1)
        shown = {
            "tiles": np.eye(2 * self.rules.values + 1, dtype=np.int8).take(faces, axis=0),
            "my_score": self._score_shown(self._scores[:, at][seat, rows]),
            "other_score": self._score_shown(self._scores[:, at][1 - seat, rows]),
            "my_quantum": self._quantum[:, at][seat, rows],
            "other_quantum": self._quantum[:, at][1 - seat, rows],
            "my_turn": self._mover[at] == seat,
            "lifted": lifted & self._choosing[at][:, None],
            "choosing": self._choosing[at],
        }
        observation = np.empty((len(faces), self.observation_size), np.int8)
        for name, numbers in shown.items():
            place = self.encoding.place(name)
            observation[:, place] = numbers.reshape(len(faces), place.stop - place.start)
        return observation

    def _score_shown(self, scores: Whole) -> Bytes:
        return np.eye(self.rules.target + self.rules.values, dtype=np.int8).take(scores, axis=0)

    # -- whole playouts ----------------------------------------------------------------------------

    def _roll(self, part: slice, steps: int, policy: Any) -> Tally:
        view = self._view(part)
        wins = np.zeros((view.num_envs, 2), np.int64)
        if self.compiled:
            view._roll_compiled(self._streams[part], steps, wins)
        else:
            for count in self._blocks(steps, view.num_envs, steps):
                drawn = self._draw(part, count)
                roll = view._roll_games if view.num_envs <= _FEW else view._roll_arrays
                roll(*drawn, wins)
        return Tally(steps * view.num_envs, wins, np.zeros(view.num_envs, np.int64))

    def _roll_arrays(self, chance: Whole, bits: Whole, wins: Whole) -> None:
        for tick in range(len(bits)):
            kind, one, two = self._moves.take(self._sample(bits[tick]), axis=1)
            winner = self._carry_out(kind, one, two, chance[tick], True)
            ended = np.flatnonzero(winner != NOBODY)
            if len(ended):
                wins[ended, winner[ended]] += 1
                self._restart(ended)

    def _roll_games(self, chance: Whole, bits: Whole, wins: Whole) -> None:
        """One game after the other: a few are not worth arrays."""
        played, won = self._to_games().tolist(), wins.tolist()
        rules = self.rules
        single.roll(
            played,
            bits.T.tolist(),
            chance.T.tolist(),
            won,
            rules.side,
            rules.values,
            rules.copies,
            rules.target,
        )
        self._from_games(np.array(played))
        wins[:] = won

    def _roll_compiled(self, streams: NDArray[np.uint64], steps: int, wins: Whole) -> None:
        from duels.envs.kernels.flip import compiled

        rules, games = self.rules, self._to_games()
        inner = single.inner_tiles(rules.side)
        compiled.roll(
            games, streams, steps, wins, rules.side, inner, rules.values, rules.copies, rules.target
        )
        self._from_games(games)

    def _to_games(self) -> Whole:
        """[env] the list of integers of each game, as the functions for one game have it."""
        games = np.zeros((self.num_envs, single.size(self._tile_count, self.rules.values)), np.int64)
        for place, column in self._places():
            games[:, place] = column
        return games

    def _from_games(self, games: Whole) -> None:
        for place, column in self._places():
            column[:] = games[:, place]

    def _places(self) -> list[tuple[int, NDArray[Any]]]:
        """Where the list of a game holds what, with the array of it here."""
        tiles = single.BAG + self.rules.values
        return [
            (single.DOWN, self._down),
            (single.MOVER, self._mover),
            (single.CHOOSING, self._choosing),
            (single.UNSEEN, self._unseen),
            *((single.ONE + i, row) for i, row in enumerate(self._lifted)),
            *((single.SCORES + i, row) for i, row in enumerate(self._scores)),
            *((single.QUANTUM + i, row) for i, row in enumerate(self._quantum)),
            *((single.BAG + i, row) for i, row in enumerate(self._left)),
            *((tiles + i, row) for i, row in enumerate(self._tiles)),
        ]

    def _view(self, part: slice) -> "FlipBatch":
        """A batch that is a part of this one: it plays in the same arrays."""
        view = copy(self)
        for name in ("tiles", "left", "unseen", "down", "scores", "quantum", "mover", "lifted", "choosing"):
            setattr(view, f"_{name}", getattr(self, f"_{name}")[..., part])
        view.num_envs = len(view._mover)
        return view


@lru_cache
def _pair_windows(side: int) -> list[tuple[int, int, int, Whole]]:
    """The rows of the board in windows that are looked up at once.

    Each window: the bit it begins with, a mask of its size, the number of its first pair, and, for
    every set of face-down tiles in it, the pairs among them that begin in it. A window shows one row
    more than it speaks for, since a pair can reach down into it.
    """
    pairs = neighbours(side)
    windows = []
    rows = max(1, _MOST_BITS // side - 1)
    for top in range(0, side, rows):
        bottom = min(top + rows, side)
        size = side * (min(bottom + 1, side) - top)
        sets = np.arange(1 << size)
        mine = [
            (i, a - side * top, b - side * top) for i, (a, b) in enumerate(pairs) if top <= a // side < bottom
        ]
        place = mine[0][0] if mine else 0
        table = np.zeros(1 << size, np.int64)
        for i, a, b in mine:
            table |= (sets >> a & sets >> b & 1) << (i - place)
        windows.append((side * top, (1 << size) - 1, place, table))
    return windows


_BYTES = 0x0101010101010101
_SELECT = np.zeros(256 * 8, np.int64)  # [byte, k] the place of the k-th bit that is set
for _byte in range(256):
    _places = [place for place in range(8) if _byte >> place & 1]
    _SELECT[_byte * 8 : _byte * 8 + len(_places)] = _places


def _select(words: Whole, k: Whole) -> Whole:
    """The place of the k-th bit that is set in each word (below bit 56), counted from 0."""
    sums = words - (words >> 1 & 0x5555555555555555)
    sums = (sums & 0x3333333333333333) + (sums >> 2 & 0x3333333333333333)
    sums = ((sums + (sums >> 4)) & 0x0F0F0F0F0F0F0F0F) * _BYTES  # byte i: the bits set in bytes 0 to i
    high = -0x7F7F7F7F7F7F7F80  # the top bit of every byte
    passed = np.bitwise_count(((k * _BYTES) | high) - sums & high).astype(np.int64)
    place = np.minimum(passed, 7) * 8
    k = k - ((sums << 8) >> place & 0xFF)
    found: Whole = place + _SELECT.take((words >> place & 0xFF) * 8 + k, mode="clip")
    return found


BATCH = FlipBatch
