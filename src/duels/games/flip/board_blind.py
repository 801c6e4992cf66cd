"""Policies for flip that ignore where tiles lie. They can play, and can be graded on the whole board.

Such a policy chooses only the kind of a move. This module chooses the tile, so that two unseen neighbours are
always left for a Quantum Flip (fact 3 in `bounds.py`).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from random import Random
from typing import Any, NamedTuple, cast

from duels.core.errors import DuelsError
from duels.core.rules import Sight
from duels.games.flip.grid import Grid, count_max_pairs, list_tiles, make_grid
from duels.games.flip.rules import UNKNOWN, Action, Flip, Keep, QuantumFlip, QuantumTiles, State

FLIP = "flip"
QUANTUM = "quantum"
TOLERANCE = 1e-9


class Summary(NamedTuple):
    """A position without its board, from the mover's point of view.

    Scores and bag may be arrays, to query a policy about many positions that differ only in these.
    """

    my_score: Any
    their_score: Any
    """The scores of the mover and of the opponent."""
    bag: tuple[Any, ...]
    """The number of unseen tiles of each value, from 1."""
    seen: tuple[int, ...]
    """The values of the seen tiles that are face down again, in ascending order."""
    my_quantum: bool
    their_quantum: bool
    seen_has_neighbour: bool = False
    """Whether a seen tile has an unseen neighbour. Always False for a player without a Quantum Flip."""
    revealed: tuple[int, ...] = ()
    """Both values of a Quantum Flip, in ascending order, while the mover chooses one."""

    @property
    def moves(self) -> tuple[str, ...]:
        """The legal moves: `flip` an unseen tile, `take 3` (a seen 3), `quantum` (two unseen tiles),
        `quantum 3` (an unseen tile and a seen 3), or `keep 3`.
        """
        if self.revealed:
            return tuple(f"keep {value}" for value in sorted(set(self.revealed)))
        values = sorted(set(self.seen))
        moves = [FLIP, *(f"take {value}" for value in values)]
        if self.my_quantum:
            moves += [QUANTUM, *(f"{QUANTUM} {value}" for value in values if self.seen_has_neighbour)]
        return tuple(moves)


MoveProbabilities = Mapping[str, Any]
MovePolicy = Callable[[Summary], str | MoveProbabilities]
"""A function that returns a move, or probabilities of moves (arrays if the summary has arrays)."""


def vectorize(move_policy: MovePolicy) -> MovePolicy:
    """Return a version of a policy that accepts arrays, by querying it position by position."""

    def query_all(summary: Summary) -> MoveProbabilities:
        import numpy as np

        columns = list(zip(summary.my_score, summary.their_score, *summary.bag, strict=True))
        result = {move: np.zeros(len(columns)) for move in summary.moves}
        for column, (my_score, their_score, *bag) in enumerate(columns):
            single = summary._replace(
                my_score=int(my_score), their_score=int(their_score), bag=tuple(map(int, bag))
            )
            for move, p in get_odds(move_policy, single).items():
                result[move][column] = p
        return result

    return lambda summary: query_all(summary) if hasattr(summary.my_score, "shape") else move_policy(summary)


def get_odds(move_policy: MovePolicy, summary: Summary) -> MoveProbabilities:
    """Return the policy's probabilities. Raises DuelsError if they are invalid or a move is illegal."""
    answer = move_policy(summary)
    odds = {answer: 1.0} if isinstance(answer, str) else answer
    for move, p in odds.items():
        if move not in summary.moves and _any(p != 0):
            raise DuelsError(f"The policy chose {move!r}; legal moves are {', '.join(summary.moves)}.")
    if _any(abs(sum(odds.values()) - 1) > TOLERANCE) or any(_any(p < 0) for p in odds.values()):
        raise DuelsError("A policy's probabilities must not be negative and must sum to 1.")
    return odds


def _any(flags: Any) -> bool:
    return bool(flags.any()) if hasattr(flags, "any") else bool(flags)


@dataclass(frozen=True)
class BoardBlind:
    """A player for flip that decides by summaries. `duels.exploitability` grades it on the whole board."""

    move_policy: MovePolicy

    def choose(self, sight: Sight[Action, State], rng: Random) -> Action:
        odds = self.odds(sight)
        return rng.choices(list(odds), weights=list(odds.values()))[0]

    def odds(self, sight: Sight[Action, State]) -> dict[Action, float]:
        """Return the probability of each action."""
        rules, state = cast("QuantumTiles", sight.rules), sight.view
        odds = get_odds(self.move_policy, summarize(rules, state))
        return {_make_action(move, rules, state): p for move, p in odds.items() if p}


def summarize(rules: QuantumTiles, state: State) -> Summary:
    """Return the summary of a position."""
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
        state.quantum[me]
        and not lifted
        and any(grid.neighbours[tile] & _mask_unknown(state) for tile in values),
        tuple(sorted(values[tile] for tile in lifted)),
    )


def _make_action(move: str, rules: QuantumTiles, state: State) -> Action:
    kind, _, value = move.partition(" ")
    grid, unknown = make_grid(rules.side), _mask_unknown(state)
    face_down = [tile for tile, face in enumerate(state.tiles) if face.isalpha()]
    matching = [tile for tile in face_down if value and rules.value_of(state.tiles[tile]) == int(value)]
    if kind == "keep":
        return Keep(next(tile for tile in matching if tile in state.lifted))
    if kind == "take":
        return Flip(matching[0])
    if kind == QUANTUM and value:
        return next(
            QuantumFlip(min(tile, near), max(tile, near))
            for tile in matching
            for near in list_tiles(grid.neighbours[tile] & unknown)
        )
    if not unknown:
        return Flip(face_down[0])
    if kind == QUANTUM:
        for a, b in grid.pairs:
            if unknown >> a & unknown >> b & 1:
                return QuantumFlip(a, b)
        # Without a pair, flip a tile. This cannot happen in a match that the policy played from the start.
    return Flip(_find_spare(grid, unknown))


def _find_spare(grid: Grid, unknown: int) -> int:
    """Return an unseen tile whose removal keeps the maximum number of pairs, if there is one."""
    pairs, tiles = count_max_pairs(grid, unknown), list_tiles(unknown)
    spares = (tile for tile in tiles if count_max_pairs(grid, unknown & ~(1 << tile)) == pairs)
    return next(spares, tiles[0])


def _mask_unknown(state: State) -> int:
    return sum(1 << tile for tile, face in enumerate(state.tiles) if face == UNKNOWN)
