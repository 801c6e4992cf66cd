"""Policies for flip that do not look at where tiles lie: small enough to be graded, and players all the same.

Tiles nobody has seen are exchangeable, so such a policy says only what kind of move it makes. Which tile that
is, is settled here so that its Quantum Flip always finds a pair (see fact 3 in `bounds.py`).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from random import Random
from typing import Any, NamedTuple, cast

from duels.core.errors import DuelsError
from duels.core.rules import Sight
from duels.games.flip.grid import Grid, list_tiles, make_grid, most_pairs
from duels.games.flip.rules import UNKNOWN, Action, Flip, Keep, QuantumFlip, QuantumTiles, State

FLIP = "flip"
QUANTUM = "quantum"
CLOSE = 1e-9


class Summary(NamedTuple):
    """A position without its board, as its mover sees it.

    Scores and bag may be arrays: a policy is then asked about many positions that are alike in the rest.
    """

    mine: Any
    theirs: Any
    """The scores."""
    bag: tuple[Any, ...]
    """How many tiles of each value, from 1, nobody has seen."""
    seen: tuple[int, ...]
    """The values of the tiles that were shown and are face down again, ascending."""
    my_quantum: bool
    their_quantum: bool
    beside: bool = False
    """Whether a seen tile has an unseen neighbour; told only to a player with a Quantum Flip left."""
    shown: tuple[int, ...] = ()
    """Both values, ascending, while one of a Quantum Flip's tiles is to be kept."""

    @property
    def moves(self) -> tuple[str, ...]:
        """What the mover may do: `flip` an unseen tile, `take 3`, a `quantum` of two unseen tiles,
        `quantum 3` of an unseen one and a seen 3, or `keep 3`.
        """
        if self.shown:
            return tuple(f"keep {value}" for value in sorted(set(self.shown)))
        values = sorted(set(self.seen))
        moves = [FLIP, *(f"take {value}" for value in values)]
        if self.my_quantum:
            moves += [QUANTUM, *(f"{QUANTUM} {value}" for value in values if self.beside)]
        return tuple(moves)


Odds = Mapping[str, Any]
Decides = Callable[[Summary], str | Odds]
"""One of `summary.moves`, or the probabilities of some of them: arrays, where the summary holds arrays."""


def one_by_one(decides: Decides) -> Decides:
    """The same policy for arrays, asked position by position: for policies that cannot do with arrays."""

    def every(summary: Summary) -> Odds:
        import numpy as np

        columns = list(zip(summary.mine, summary.theirs, *summary.bag, strict=True))
        found = {move: np.zeros(len(columns)) for move in summary.moves}
        for column, (mine, theirs, *bag) in enumerate(columns):
            at = summary._replace(mine=int(mine), theirs=int(theirs), bag=tuple(map(int, bag)))
            for move, p in odds_of(decides, at).items():
                found[move][column] = p
        return found

    return lambda summary: every(summary) if hasattr(summary.mine, "shape") else decides(summary)


def odds_of(decides: Decides, summary: Summary) -> Odds:
    """What the policy does, as probabilities; DuelsError if it is not allowed."""
    chosen = decides(summary)
    odds = {chosen: 1.0} if isinstance(chosen, str) else chosen
    for move, p in odds.items():
        if move not in summary.moves and _some(p != 0):
            raise DuelsError(f"The policy takes {move!r} where {', '.join(summary.moves)} are allowed.")
    if _some(abs(sum(odds.values()) - 1) > CLOSE) or any(_some(p < 0) for p in odds.values()):
        raise DuelsError("A policy's probabilities of the moves must sum to 1 everywhere.")
    return odds


def _some(flags: Any) -> bool:
    return bool(flags.any()) if hasattr(flags, "any") else bool(flags)


@dataclass(frozen=True)
class BoardBlind:
    """A player for flip who decides by summaries; `duels.exploitability` grades it on the whole board."""

    decides: Decides

    def choose(self, sight: Sight[Action, State], rng: Random) -> Action:
        odds = self.odds(sight)
        return rng.choices(list(odds), weights=list(odds.values()))[0]

    def odds(self, sight: Sight[Action, State]) -> dict[Action, float]:
        """How likely it is to take each action."""
        rules, state = cast("QuantumTiles", sight.rules), sight.view
        odds = odds_of(self.decides, summary_of(rules, state))
        return {_action(move, rules, state): p for move, p in odds.items() if p}


def summary_of(rules: QuantumTiles, state: State) -> Summary:
    """The position as its mover may summarise it."""
    grid, me = make_grid(rules.side), state.mover - 1
    lifted = state.lifted if state.choosing else ()
    values = {tile: rules.value_of(face) or 0 for tile, face in enumerate(state.tiles) if face.isalpha()}
    return Summary(
        state.scores[me],
        state.scores[1 - me],
        rules.left_in_bag(state.tiles),
        tuple(sorted(value for tile, value in values.items() if tile not in lifted)),
        state.quantum[me],
        state.quantum[1 - me],
        state.quantum[me] and not lifted and any(grid.near[tile] & _unknown(state) for tile in values),
        tuple(sorted(values[tile] for tile in lifted)),
    )


def _action(move: str, rules: QuantumTiles, state: State) -> Action:
    """The move on the board."""
    kind, _, value = move.partition(" ")
    grid, unknown = make_grid(rules.side), _unknown(state)
    face_down = [tile for tile, face in enumerate(state.tiles) if face.isalpha()]
    known = [tile for tile in face_down if value and rules.value_of(state.tiles[tile]) == int(value)]
    if kind == "keep":
        return Keep(next(tile for tile in known if tile in state.lifted))
    if kind == "take":
        return Flip(known[0])
    if kind == QUANTUM and value:
        return next(
            QuantumFlip(min(tile, near), max(tile, near))
            for tile in known
            for near in list_tiles(grid.near[tile] & unknown)
        )
    if not unknown:
        return Flip(face_down[0])
    if kind == QUANTUM:
        for a, b in grid.pairs:
            if unknown >> a & unknown >> b & 1:
                return QuantumFlip(a, b)
        # Never in a game that it has played from the start.
    return Flip(_spare(grid, unknown))


def _spare(grid: Grid, unknown: int) -> int:
    """An unseen tile that is not needed for as many pairs as there can be, if there is one."""
    pairs, tiles = most_pairs(grid, unknown), list_tiles(unknown)
    kept = (tile for tile in tiles if most_pairs(grid, unknown & ~(1 << tile)) == pairs)
    return next(kept, tiles[0])


def _unknown(state: State) -> int:
    return sum(1 << tile for tile, face in enumerate(state.tiles) if face == UNKNOWN)
