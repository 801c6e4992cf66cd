"""The observation of Quantum Flip for programs. It includes shown tiles that are face down again."""

from itertools import accumulate

from duels.core.features import Feature, format_feature_value
from duels.games.flip.rules import QuantumTiles, State


def features(rules: QuantumTiles) -> tuple[Feature, ...]:
    """Return the tiles seen so far, and scores and Quantum Flips from the seat's point of view."""
    tiles = rules.side**2
    # At least three values, because a feature with two values is not one-hot.
    scores = tuple(range(max(3, rules.target + rules.values)))
    return (
        Feature("tiles", rules.faces, lambda view, seat: view.tiles, tiles),
        Feature("my_score", scores, lambda view, seat: (view.scores[seat - 1],)),
        Feature("other_score", scores, lambda view, seat: (view.scores[seat.other - 1],)),
        Feature("my_quantum", (False, True), lambda view, seat: (view.quantum[seat - 1],)),
        Feature("other_quantum", (False, True), lambda view, seat: (view.quantum[seat.other - 1],)),
        Feature("my_turn", (False, True), lambda view, seat: (view.mover is seat,)),
        Feature(
            "lifted", (False, True), lambda view, seat: [tile in view.lifted for tile in range(tiles)], tiles
        ),
        Feature("choosing", (False, True), lambda view, seat: (view.choosing,)),
    )


def longest_match(rules: QuantumTiles) -> tuple[int, int]:
    """Return upper bounds on the moves and the chance nodes of a match."""
    # The smallest tiles leave both players below the target as long as possible.
    bag = [value for value in range(1, rules.values + 1) for _ in range(rules.copies)]
    turns = 1 + sum(points <= 2 * (rules.target - 1) for points in accumulate(bag))
    return turns + 2, turns  # each Quantum Flip adds a choice between its tiles


def describe(view: State) -> str:
    """Return OpenSpiel's observation string."""
    scores = f"scores={view.scores[0]},{view.scores[1]} quantum={view.quantum[0]},{view.quantum[1]}"
    lifted = ",".join(map(str, view.lifted)) or "-"
    mover = format_feature_value(view.mover)
    return f"tiles={view.tiles} {scores} mover={mover} lifted={lifted} choosing={view.choosing}"
