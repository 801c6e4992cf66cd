"""The answer format for players that reply in text."""

from duels.core.rules import Sight
from duels.games.flip.rules import Action, Flip, Keep, QuantumFlip, QuantumTiles, State


def forms(rules: QuantumTiles, sight: Sight[Action, State]) -> dict[str, list[Action]]:
    """Return the legal actions by the way they are written."""
    kinds = {
        "the tile that you flip": Flip,
        "both tiles of a Quantum Flip with a plus sign": QuantumFlip,
        "keep and the tile whose value you keep": Keep,
    }
    return {form: [a for a in sight.actions if isinstance(a, kind)] for form, kind in kinds.items()}


def facts(rules: QuantumTiles, sight: Sight[Action, State]) -> list[str]:
    """Return sentences on the position beside its board."""
    view, seat = sight.view, sight.seat
    own, other = ("left" if view.has_quantum(player) else "spent" for player in (seat, seat.other))
    lifted = [f"{rules.name_of(tile)} (a {rules.value_of(view.tiles[tile])})" for tile in view.lifted]
    turned = [f"Your Quantum Flip has turned up {' and '.join(lifted)}. Keep one of them."] if lifted else []
    known_tiles = [
        f"{rules.name_of(tile)} is a {rules.value_of(face)}"
        for tile, face in enumerate(view.tiles)
        if face.isalpha() and tile not in view.lifted
    ]
    memory = (
        [f"Tiles that were shown and turned face down again: {', '.join(known_tiles)}."]
        if known_tiles
        else []
    )
    return [f"Your Quantum Flip is {own}, your opponent's is {other}.", *turned, *memory]
