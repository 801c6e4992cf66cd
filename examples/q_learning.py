"""Tabular Q-learning in self-play on the vectorised core, with its exact distance from perfect play.

python examples/q_learning.py --game lights --plot q_learning.svg
"""

import argparse
from typing import Any

import numpy as np
from numpy.typing import NDArray

import duels
from duels.vector import TableBatch, make

ENVS = 2048
RATE = 0.2
EXPLORE = 0.3


def learn(game: str, steps: int, looks: int, seed: int = 0) -> tuple[list[int], list[float]]:
    """Games played in all, and the exploitability of the greedy policy, at every look."""
    envs = make(game, ENVS, seed)
    assert isinstance(envs, TableBatch)
    tables, rng = envs.tables, np.random.default_rng(seed)
    closed = np.where(tables.legal, 0.0, -np.inf)
    worth = np.zeros(tables.legal.shape)  # of every action to the seat that takes it
    played, grades, games = [], [], 0
    every = max(1, steps // looks)
    for step in range(steps + 1):
        if step % every == 0:
            played.append(games)
            grades.append(duels.exploitability((worth + closed).argmax(axis=1), game))
        states, movers = envs.states, envs.actor
        actions = np.where(rng.random(ENVS) < EXPLORE, envs.sample(), (worth + closed)[states].argmax(axis=1))
        result = envs.step(actions)
        ended = result.terminated | result.truncated
        after = np.where(ended, 0.0, (worth + closed)[envs.states].max(axis=1))
        sides = np.where(envs.actor == movers, 1.0, -1.0)  # what is good for the other is bad for the mover
        target = np.where(ended, result.rewards[np.arange(ENVS), movers], sides * after)
        np.add.at(worth, (states, actions), RATE * (target - worth[states, actions]) / crowd(states, actions))
        games += int(ended.sum())
    return played, grades


def crowd(states: NDArray[np.int64], actions: NDArray[np.int64]) -> Any:
    """How many environments of the batch take the same action in the same state."""
    _, where, count = np.unique(states * 1000 + actions, return_inverse=True, return_counts=True)
    return count[where]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--game", default="lights", choices=["lights", "leap"])
    parser.add_argument("--steps", type=int, default=400)
    parser.add_argument("--plot", metavar="FILE")
    arguments = parser.parse_args()
    games, grades = learn(arguments.game, arguments.steps, looks=20)
    print(f"exploitability: {grades[0]:.3f} at first, {grades[-1]:.3f} after {games[-1]:,} games")
    if arguments.plot:
        import matplotlib

        matplotlib.use("Agg")
        matplotlib.rcParams["svg.hashsalt"] = "duels"  # the same picture is the same file
        import matplotlib.pyplot as plt

        figure, axes = plt.subplots(figsize=(6, 3.5))
        axes.plot(games, grades, marker="o")
        axes.set(xlabel="games of self-play", ylabel="exploitability", ylim=(0, 0.55))
        axes.set_title(f"Q-learning on {arguments.game}")
        figure.tight_layout()
        figure.savefig(arguments.plot, metadata={"Date": None})


if __name__ == "__main__":
    main()
