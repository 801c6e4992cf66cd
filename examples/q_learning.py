"""Tabular Q-learning in self-play on arrays of games, graded exactly.

python examples/q_learning.py --game lights
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from self_play import main

from duels.vector import TableBatch, make

ENVS = 256
EXPLORE = 0.7

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


def learn(game: str, checkpoints: list[int], seed: int = 0, **options: Any) -> Iterator[tuple[int, Ints]]:
    """Yield the steps taken and the greedy policy at every checkpoint."""
    envs = make(game, ENVS, seed, **options)
    assert isinstance(envs, TableBatch)
    rng = np.random.default_rng(seed)
    values = np.where(envs.tables.legal, 0.0, -np.inf)  # indexed [state, action], for the seat to move
    visits = np.zeros(values.shape, np.int64)
    taken = 0
    for checkpoint in checkpoints:
        while taken < checkpoint:
            update(values, visits, envs, rng)
            taken += ENVS
        yield taken, values.argmax(axis=1)


def update(values: Floats, visits: Ints, envs: TableBatch, rng: np.random.Generator) -> None:
    """Take a step in every game and learn from it."""
    states, movers = envs.states, envs.actor
    actions = np.where(rng.random(ENVS) < EXPLORE, envs.sample(), values[states].argmax(axis=1))
    result = envs.step(actions)
    ended = result.terminated | result.truncated
    sides = np.where(envs.actor == movers, 1.0, -1.0)  # the opponent's value counts as negative
    target = np.where(ended, result.rewards[np.arange(ENVS), movers], sides * values[envs.states].max(axis=1))
    np.add.at(visits, (states, actions), 1)
    rate = visits[states, actions] ** -0.5  # large at first; later it averages over chance
    change = rate * (target - values[states, actions]) / count_duplicates(states, actions)
    np.add.at(values, (states, actions), change)


def count_duplicates(states: Ints, actions: Ints) -> Any:
    """Return, for each environment, how many environments take its action in its state."""
    _, indices, counts = np.unique(states * 1000 + actions, return_inverse=True, return_counts=True)
    return counts[indices]


if __name__ == "__main__":
    main(learn, __doc__)
