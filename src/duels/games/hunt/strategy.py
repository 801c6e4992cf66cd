"""The shipped strategy for hunt: its memory, its tables and their file format.

In the opening, a decision depends on all observations and on the whole path of the token. Later it depends on
memories of the observations and on the token's cell.

All weights are integers, so the players use exactly the certified strategy.
"""

import hashlib
import json
import zlib
from array import array
from dataclasses import dataclass
from functools import cache
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

from duels.core.errors import DuelsError
from duels.core.rules import Seat
from duels.games.hunt.memory import Round, Window
from duels.solving.oracle import Bounds
from duels.solving.store import unpack_shorts

CELLS = 7
OWN_MEMORY = Round(CELLS, 5)
OTHER_MEMORY = Window(CELLS, 1)
_SHORTENED_STATES = OTHER_MEMORY.shorten(OWN_MEMORY)
ROWS = len(OWN_MEMORY.states) * len(OTHER_MEMORY.states)
OFF = CELLS
"""The position of a token off the grid. Other positions are cells, counted from 0."""
POSITIONS = CELLS + 1
OPENING_TURNS = 3
"""The number of turns of each seat in the opening."""
FOLDED_CELLS = CELLS // 2 + 1
"""The number of first observations in the opening's tables. The others are mirror images."""
SCALE = 60_000
"""The approximate sum of the weights of one decision."""
STRATEGY_FILE = Path(__file__).parent / "data" / "strategy.bin"
CERTIFICATE_FILE = STRATEGY_FILE.with_name("certificate.json")
CERTIFICATE_DIGEST = "80bd13489e2d91e9014a70ab169f74eaa85aa5764dd1057200ad928a3274be79"
"""The checksum of the shipped certificate. Update it whenever the strategy or the certificate changes."""
CHECKSUM = "checksum"

Cells = tuple[int, ...]
"""Cells, oldest first: observations, or a token's path. After the opening, a path is only its last cell."""


def _list_paths() -> list[list[Cells]]:
    """Return the paths of tokens in the opening, by their length."""
    paths: list[list[Cells]] = [[()]]
    for _ in range(OPENING_TURNS):
        paths.append(
            [
                (*path, cell)
                for path in paths[-1]
                for cell in range(CELLS)
                if not path or abs(cell - path[-1]) <= 1
            ]
        )
    return paths


PATHS = _list_paths()
PATH_INDICES = {path: index for paths in PATHS for index, path in enumerate(paths)}
"""The index of each path among those of its length."""


@dataclass(frozen=True)
class PublicState:
    """The information that both players have during a turn: the observations before it."""

    observations: Cells = ()
    """All observed cells. Player 1 observed the first, Player 2 the second, and so on."""
    memories: tuple[int, int] = (0, 0)
    """Each seat's memory of its own observations, as an index of OWN_MEMORY.states."""

    @property
    def mover(self) -> Seat:
        return Seat.TWO if len(self.observations) % 2 else Seat.ONE

    @property
    def turn(self) -> int:
        """The number of turns that the mover has finished."""
        return len(self.observations) // 2

    @property
    def own_memory(self) -> int:
        return self.memories[self.mover - 1]

    @property
    def other_memory(self) -> int:
        return self.memories[self.mover.other - 1]

    def extend_path(self, path: Cells, cell: int) -> Cells:
        """Return the path of the mover's token after it moves to `cell`.

        After a tunnel in the opening, the strategy plays as if the token had entered there.
        """
        if self.turn >= OPENING_TURNS:
            return (cell,)
        longer = (*path, cell)
        return longer if longer in PATH_INDICES else (cell,) * len(longer)

    def shorten_path(self, path: Cells) -> Cells:
        """Return the path of the mover's token after this turn."""
        return path if self.turn + 1 < OPENING_TURNS else path[-1:]

    def observe(self, cell: int) -> "PublicState":
        """Return the state after the mover observed `cell`."""
        memories = list(self.memories)
        memories[self.mover - 1] = OWN_MEMORY.successors[self.own_memory][cell]
        return PublicState((*self.observations, cell), (memories[0], memories[1]))


def get_position(path: Cells) -> int:
    """Return the position of a token: the end of its path, or OFF."""
    return path[-1] if path else OFF


def mirror_cells(cells: Cells) -> Cells:
    """Return the mirror image of cells."""
    return tuple(CELLS - 1 - cell for cell in cells)


def is_folded(observations: Cells) -> bool:
    """Return whether the tables of the opening have only the mirror image of these observations."""
    return observations[:1] >= (FOLDED_CELLS,)


def number_history(observations: Cells) -> int:
    """Return the index of a history in the opening's tables: its cells are digits."""
    return sum(cell * CELLS**place for place, cell in enumerate(reversed(observations)))


def count_histories(digits: int) -> int:
    """Return the number of histories of `digits` observations in the opening's tables."""
    return FOLDED_CELLS * CELLS ** (digits - 1) if digits else 1


@cache
def find_opening_row(digits: int, has_moved: bool) -> int:
    """Return the table row where the decisions after `digits` observations begin.

    A seat's opening follows its other rows, in the order of its turns. `has_moved` selects the table of
    observations.
    """
    return ROWS * (CELLS if has_moved else POSITIONS) + sum(
        count_histories(earlier) * len(PATHS[earlier // 2 + has_moved])
        for earlier in range(digits % 2, digits, 2)
    )


@dataclass(frozen=True)
class Tables:
    """One seat's strategy. `moves` and `observations` have rows of weights, one weight per cell.

    The first rows of both are indexed [memory row, position]. The rows of the opening follow: for each turn,
    they are indexed [history, path of the token].
    """

    moves: "array[int]"
    observations: "array[int]"

    def move_weights(self, public: PublicState, path: Cells) -> "array[int]":
        """Return the weights of moves. `path` is the path of the token before the move."""
        return _find_weights(self.moves, POSITIONS, public, path)

    def observation_weights(self, public: PublicState, path: Cells) -> "array[int]":
        """Return the weights of observations. `path` is the path of the token after the move."""
        return _find_weights(self.observations, CELLS, public, path)


def _find_weights(table: "array[int]", positions: int, public: PublicState, path: Cells) -> "array[int]":
    """Return a row of `table`, whose rows after the opening cover `positions` positions."""
    if public.turn >= OPENING_TURNS:
        row = find_row(public.own_memory, public.other_memory) * positions + path[-1]
        return table[row * CELLS : (row + 1) * CELLS]
    observations = public.observations
    if is_folded(observations):
        observations, path = mirror_cells(observations), mirror_cells(path)
    first_row = find_opening_row(len(observations), has_moved=len(path) > public.turn)
    row = first_row + number_history(observations) * len(PATHS[len(path)]) + PATH_INDICES[path]
    weights = table[row * CELLS : (row + 1) * CELLS]
    return weights[::-1] if observations != public.observations else weights


Strategy = dict[Seat, Tables]


def find_row(own_memory: int, other_memory: int) -> int:
    """Return the memory row for two memories, which are indices of OWN_MEMORY.states."""
    return own_memory * len(OTHER_MEMORY.states) + _SHORTENED_STATES[other_memory]


def decode_strategy(data: bytes) -> Strategy:
    """Decode the compressed weights of both seats."""
    values = unpack_shorts(zlib.decompress(data))
    sizes = [
        CELLS * find_opening_row(2 * OPENING_TURNS + seat - 1, has_moved)
        for seat in Seat
        for has_moved in (False, True)
    ]
    ends = list(accumulate(sizes, initial=0))
    one_moves, one_observations, two_moves, two_observations = (
        values[start:end] for start, end in pairwise(ends)
    )
    return {Seat.ONE: Tables(one_moves, one_observations), Seat.TWO: Tables(two_moves, two_observations)}


@cache
def load_strategy() -> Strategy:
    """Load the shipped strategy. Raises DuelsError if it is not the certified one."""
    certified = read_certificate_file()["strategy"]
    try:
        data = STRATEGY_FILE.read_bytes()
    except OSError as error:
        raise DuelsError("hunt's strategy is missing: reinstall duels.") from error
    if hashlib.sha256(data).hexdigest() != certified:
        raise DuelsError("hunt's strategy is not the certified one: reinstall duels.")
    return decode_strategy(data)


def read_certificate_file() -> dict[str, Any]:
    """Read the certificate file. Raises DuelsError if it is missing or damaged."""
    try:
        stored = json.loads(CERTIFICATE_FILE.read_text(encoding="utf-8"))
        if stored.pop(CHECKSUM) == digest_certificate(stored) == CERTIFICATE_DIGEST:
            return dict(stored)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        pass  # each of these errors means a damaged file
    raise DuelsError("hunt's certificate is missing or damaged: reinstall duels.")


@dataclass(frozen=True)
class Certificate:
    """Bounds on the best-response value against each seat's strategy. The responder remembers everything."""

    against: dict[Seat, Bounds]

    @property
    def nash_conv(self) -> Bounds:
        """The sum of both best responders' gains over the value of the game."""
        bounds = self.against.values()
        return Bounds(max(0.0, sum(b.low for b in bounds) - 1), sum(b.high for b in bounds) - 1)

    @property
    def value(self) -> Bounds:
        """Bounds on Player 1's chance to win under perfect play."""
        return Bounds(1 - self.against[Seat.ONE].high, self.against[Seat.TWO].high)


def load_certificate() -> Certificate:
    """Load the shipped certificate. `HuntOracle.verify` recomputes it."""
    stored = read_certificate_file()
    return Certificate({seat: Bounds(*stored[str(seat.value)]) for seat in Seat})


def digest_certificate(certificate: dict[str, Any]) -> str:
    """Return the SHA-256 digest of a certificate, without regard to the order of keys."""
    return hashlib.sha256(json.dumps(certificate, sort_keys=True).encode()).hexdigest()
