"""How a match of flip ends once nothing is left to decide: no Quantum Flips, no tile that was shown."""

from functools import cache
from typing import NamedTuple

from duels.core.rules import Seat
from duels.games.flip.rules import QuantumTiles, State


class Ending(NamedTuple):
    """The chance that a player ends the match by reaching the target, and by passing it."""

    hits: float
    passes: float


def endings(rules: QuantumTiles, state: State) -> dict[Seat, Ending] | None:
    """The chances of every end; None while there is something to decide."""
    if any(state.quantum) or state.lifted or any(tile.isalpha() for tile in state.tiles):
        return None

    @cache
    def chances(bag: tuple[int, ...], mine: int, theirs: int) -> tuple[float, float, float, float]:
        """That the mover hits, that it passes, that the other hits, that it passes."""
        tiles = sum(bag)
        hits = passes = other_hits = other_passes = 0.0
        for value, count in enumerate(bag, 1):
            if not count:
                continue
            chance, score = count / tiles, mine + value
            if score >= rules.target:
                hits += chance * (score == rules.target)
                passes += chance * (score > rules.target)
                continue
            then = chances((*bag[: value - 1], count - 1, *bag[value:]), theirs, score)
            other_hits += chance * then[0]
            other_passes += chance * then[1]
            hits += chance * then[2]
            passes += chance * then[3]
        return hits, passes, other_hits, other_passes

    mover = state.mover
    mine, theirs = (state.scores[seat - 1] for seat in (mover, mover.other))
    found = chances(rules.left_in_bag(state.tiles), mine, theirs)
    return {mover: Ending(*found[:2]), mover.other: Ending(*found[2:])}
