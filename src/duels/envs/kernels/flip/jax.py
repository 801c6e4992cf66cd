"""Quantum Flip in JAX. A test compares it with the rules, move by move."""

from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np

from duels.core.rules import Seat
from duels.envs.jax import Env, StepStatus, pick
from duels.envs.settings import EnvSettings
from duels.games.flip.features import features
from duels.games.flip.rules import QuantumTiles, State, list_neighbours
from duels.solving.tables import FIRST_WON, ONGOING, SECOND_WON


class FlipPosition(NamedTuple):
    """A position of Quantum Flip."""

    faces: Any
    """0 if the tile was never seen, its value if it is flipped, or its value plus the highest value if it was
    seen and is face down again; indexed [tile]."""
    lifted: Any
    """Whether the tile is lifted by a Quantum Flip, indexed [tile]."""
    bag: Any
    """The number of unseen tiles of a value, indexed [value - 1]."""
    scores: Any
    """The score, indexed [seat]."""
    quantum: Any
    """Whether the seat still has its Quantum Flip, indexed [seat]."""
    mover: Any
    """The seat to move; after the end, the seat that did not move last."""


class FlipEnv(Env):
    """Quantum Flip as pure functions."""

    rules: QuantumTiles
    has_chance = True

    def __init__(self, rules: QuantumTiles, settings: EnvSettings) -> None:
        super().__init__(rules, settings)
        pairs, tiles = (
            np.array(list_neighbours(rules.side), np.int32).reshape(-1, 2),
            np.arange(rules.side**2),
        )
        self._tiles, self._first_keep = tiles, len(tiles) + len(pairs)
        self._pair_firsts, self._pair_seconds = pairs.T
        self._first_tiles = np.concatenate([tiles, self._pair_firsts, tiles]).astype(np.int32)
        """The tile that an action turns, or the first of two tiles; indexed [action]."""
        self._second_tiles = np.concatenate([tiles, self._pair_seconds, tiles]).astype(np.int32)
        self._faces, self._scores = (np.arange(len(features(rules)[k].values)) for k in (0, 1))

    def _begin(self, bits: Any) -> FlipPosition:
        faces = jnp.zeros(len(self._tiles), jnp.int32)
        bag = jnp.full(self.rules.values, self.rules.copies, jnp.int32)
        scores, quantum = jnp.zeros(2, jnp.int32), jnp.ones(2, jnp.bool_)
        return FlipPosition(faces, faces.astype(jnp.bool_), bag, scores, quantum, jnp.int32(0))

    def _play(self, position: FlipPosition, action: Any, bits: Any) -> tuple[FlipPosition, Any]:
        values, tiles = self.rules.values, self._tiles
        is_pair = (action >= len(tiles)) & (action < self._first_keep)
        tile_1, tile_2 = jnp.asarray(self._first_tiles)[action], jnp.asarray(self._second_tiles)[action]
        value_1, value_2, bag = self._turn_up(position, tile_1, tile_2, is_pair, bits)
        # The face of a tile that goes face down again is its value plus the highest value.
        offset = jnp.where(is_pair, values, 0)
        faces = jnp.where(tiles == tile_1, value_1 + offset, position.faces)
        faces = jnp.where(is_pair & (tiles == tile_2), value_2 + offset, faces)
        is_mover = np.arange(2) == position.mover
        ends_quantum = is_mover & position.lifted.any()
        next_position = FlipPosition(
            faces,
            is_pair & ((tiles == tile_1) | (tiles == tile_2)),
            bag,
            position.scores + jnp.where(is_mover & ~is_pair, value_1, 0),
            position.quantum & ~ends_quantum,
            position.mover ^ ~is_pair,
        )
        return next_position, 0

    def _turn_up(
        self, position: FlipPosition, tile_1: Any, tile_2: Any, is_pair: Any, bits: Any
    ) -> tuple[Any, Any, Any]:
        """Return the values of both tiles, drawn from 32 bits if unseen, and the bag after the draws."""
        bag, unseen = position.bag, position.bag.sum()
        face_1, face_2 = position.faces[tile_1], position.faces[tile_2]
        draws_both = is_pair & (face_1 == 0) & (face_2 == 0)
        draws_any = (face_1 == 0) | (is_pair & (face_2 == 0))
        ticket = pick(bits, jnp.where(draws_both, unseen * (unseen - 1), unseen))
        # One ticket draws both tiles: the tickets of a first value are divided among the remaining tiles.
        draw_1, lower, equal = self._draw(bag, ticket // jnp.where(draws_both, unseen - 1, 1))
        bag = bag - (draws_any & (np.arange(len(bag)) + 1 == draw_1))
        draw_2, _, _ = self._draw(bag, (ticket - lower * (unseen - 1)) // jnp.maximum(equal, 1))
        bag = bag - (draws_both & (np.arange(len(bag)) + 1 == draw_2))
        value_1 = jnp.where(face_1 == 0, draw_1, face_1 - self.rules.values)
        value_2 = jnp.where(face_2 == 0, jnp.where(draws_both, draw_2, draw_1), face_2 - self.rules.values)
        return value_1, value_2, bag

    def _draw(self, bag: Any, ticket: Any) -> tuple[Any, Any, Any]:
        """Return the value at an index of the sorted bag, and the number of lower and of equal tiles."""
        value, lower, reached = jnp.int32(1), jnp.int32(0), jnp.int32(0)
        for count in bag:
            reached = reached + count
            value, lower = value + (ticket >= reached), jnp.where(ticket >= reached, reached, lower)
        return value, lower, bag[value - 1]

    # -- observations ------------------------------------------------------------------------------

    def _status(self, position: FlipPosition) -> StepStatus:
        target, (score_1, score_2) = self.rules.target, position.scores
        first_won = (score_1 == target) | (score_2 > target)
        result = jnp.where(first_won, FIRST_WON, SECOND_WON)
        return StepStatus(position.mover, jnp.where(jnp.maximum(score_1, score_2) < target, ONGOING, result))

    def _legal(self, position: FlipPosition) -> Any:
        flips = (position.faces == 0) | (position.faces > self.rules.values)
        flips &= ~position.lifted.any()
        pairs = flips[self._pair_firsts] & flips[self._pair_seconds] & position.quantum[position.mover]
        return jnp.concatenate([flips, pairs, position.lifted])

    def _features(self, position: FlipPosition, seat: Any) -> Any:
        my_score, other_score = position.scores[seat], position.scores[1 - seat]
        quantum = position.quantum[seat], position.quantum[1 - seat]
        return jnp.concatenate(
            [
                (position.faces[:, None] == self._faces).reshape(-1),
                my_score == self._scores,
                other_score == self._scores,
                jnp.stack([*quantum, position.mover == seat]),
                position.lifted,
                position.lifted.any()[None],
            ]
        )

    def rules_state(self, position: FlipPosition) -> State:
        lifted = tuple(np.flatnonzero(position.lifted).tolist())
        score_1, score_2 = (int(score) for score in position.scores)
        return State(
            "".join(str(features(self.rules)[0].values[face]) for face in position.faces),
            (score_1, score_2),
            (bool(position.quantum[0]), bool(position.quantum[1])),
            Seat(int(position.mover) + 1),
            lifted,
            len(lifted) > 0,
        )
