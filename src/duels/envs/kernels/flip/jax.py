"""Quantum Flip in JAX. A test compares it with the rules, move by move."""

from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np

from duels.core.rules import Seat
from duels.envs.jax.chance import pick
from duels.envs.jax.env import Env, StepStatus
from duels.envs.settings import EnvSettings
from duels.games.flip.features import features
from duels.games.flip.rules import QuantumTiles, State, neighbours
from duels.solving.tables import FIRST_WON, ONGOING, SECOND_WON


class FlipPosition(NamedTuple):
    """A game."""

    faces: Any
    """[tile] 0 (never seen), its value (flipped), or its value plus the highest one (seen, face down)."""
    lifted: Any
    """[tile] whether it is one of two to choose from."""
    bag: Any
    """[value - 1] how many tiles of the value nobody has seen."""
    scores: Any
    """[seat]"""
    quantum: Any
    """[seat] whether it has its Quantum Flip."""
    mover: Any
    """The seat to move; after the end, the one that did not move last."""


class FlipEnv(Env):
    """Quantum Flip."""

    rules: QuantumTiles
    has_chance = True

    def __init__(self, rules: QuantumTiles, settings: EnvSettings) -> None:
        super().__init__(rules, settings)
        pairs, tiles = np.array(neighbours(rules.side), np.int32).reshape(-1, 2), np.arange(rules.side**2)
        self._tiles, self._first_keep = tiles, len(tiles) + len(pairs)
        self._firsts, self._seconds = pairs.T
        self._ones = np.concatenate([tiles, self._firsts, tiles]).astype(np.int32)
        """[action] its tile, or the first of two."""
        self._twos = np.concatenate([tiles, self._seconds, tiles]).astype(np.int32)
        self._faces, self._scores = (np.arange(len(features(rules)[k].values)) for k in (0, 1))

    def _begin(self, bits: Any) -> FlipPosition:
        none = jnp.zeros(len(self._tiles), jnp.int32)
        bag = jnp.full(self.rules.values, self.rules.copies, jnp.int32)
        zeros, both = jnp.zeros(2, jnp.int32), jnp.ones(2, jnp.bool_)
        return FlipPosition(none, none.astype(jnp.bool_), bag, zeros, both, jnp.int32(0))

    def _play(self, position: FlipPosition, action: Any, bits: Any) -> tuple[FlipPosition, Any]:
        values, tiles = self.rules.values, self._tiles
        pair = (action >= len(tiles)) & (action < self._first_keep)
        one, two = jnp.asarray(self._ones)[action], jnp.asarray(self._twos)[action]
        first, second, bag = self._turn_up(position, one, two, pair, bits)
        up = jnp.where(pair, values, 0)
        faces = jnp.where(tiles == one, first + up, position.faces)
        faces = jnp.where(pair & (tiles == two), second + up, faces)
        mine = np.arange(2) == position.mover
        kept = mine & position.lifted.any()
        after = FlipPosition(
            faces,
            pair & ((tiles == one) | (tiles == two)),
            bag,
            position.scores + jnp.where(mine & ~pair, first, 0),
            position.quantum & ~kept,
            position.mover ^ ~pair,
        )
        return after, 0

    def _turn_up(
        self, position: FlipPosition, one: Any, two: Any, pair: Any, bits: Any
    ) -> tuple[Any, Any, Any]:
        """Return the values of one or two tiles, drawn from 32 bits, and the bag afterwards."""
        bag, left = position.bag, position.bag.sum()
        first, second = position.faces[one], position.faces[two]
        both = pair & (first == 0) & (second == 0)
        any_drawn = (first == 0) | (pair & (second == 0))
        ticket = pick(bits, jnp.where(both, left * (left - 1), left))
        # One ticket draws both tiles: the tickets of a first value are divided among the remaining tiles.
        drawn, before, held = self._draw(bag, ticket // jnp.where(both, left - 1, 1))
        bag = bag - (any_drawn & (np.arange(len(bag)) + 1 == drawn))
        then, _, _ = self._draw(bag, (ticket - before * (left - 1)) // jnp.maximum(held, 1))
        bag = bag - (both & (np.arange(len(bag)) + 1 == then))
        first_value = jnp.where(first == 0, drawn, first - self.rules.values)
        second_value = jnp.where(second == 0, jnp.where(both, then, drawn), second - self.rules.values)
        return first_value, second_value, bag

    def _draw(self, bag: Any, ticket: Any) -> tuple[Any, Any, Any]:
        """Return the value at a place in the sorted bag, and the number of lower and of equal tiles."""
        value, lower, reached = jnp.int32(1), jnp.int32(0), jnp.int32(0)
        for held in bag:
            reached = reached + held
            value, lower = value + (ticket >= reached), jnp.where(ticket >= reached, reached, lower)
        return value, lower, bag[value - 1]

    # -- observations ------------------------------------------------------------------------------

    def _status(self, position: FlipPosition) -> StepStatus:
        target, (one, two) = self.rules.target, position.scores
        first_won = (one == target) | (two > target)
        result = jnp.where(first_won, FIRST_WON, SECOND_WON)
        return StepStatus(position.mover, jnp.where(jnp.maximum(one, two) < target, ONGOING, result))

    def _legal(self, position: FlipPosition) -> Any:
        down = (position.faces == 0) | (position.faces > self.rules.values)
        down &= ~position.lifted.any()
        pairs = down[self._firsts] & down[self._seconds] & position.quantum[position.mover]
        return jnp.concatenate([down, pairs, position.lifted])

    def _features(self, position: FlipPosition, seat: Any) -> Any:
        mine, other = position.scores[seat], position.scores[1 - seat]
        quantum = position.quantum[seat], position.quantum[1 - seat]
        return jnp.concatenate(
            [
                (position.faces[:, None] == self._faces).reshape(-1),
                mine == self._scores,
                other == self._scores,
                jnp.stack([*quantum, position.mover == seat]),
                position.lifted,
                position.lifted.any()[None],
            ]
        )

    def rules_state(self, position: FlipPosition) -> State:
        lifted = tuple(np.flatnonzero(position.lifted).tolist())
        one, two = (int(score) for score in position.scores)
        return State(
            "".join(str(features(self.rules)[0].values[face]) for face in position.faces),
            (one, two),
            (bool(position.quantum[0]), bool(position.quantum[1])),
            Seat(int(position.mover) + 1),
            lifted,
            len(lifted) > 0,
        )


ENV = FlipEnv
