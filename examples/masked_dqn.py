"""Masked double DQN in self-play on arrays of games, graded exactly.

python examples/masked_dqn.py --game leap --steps 100000
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from self_play import main
from torch import nn

import duels
from duels.vector import make

ENVS = 64  # games at once; one update of the network per step of all games
EXPLORE = 0.3
MEMORY = 50_000  # steps in the replay buffer
BATCH = 256
RATE = 1e-3
TARGET_INTERVAL = 100  # updates between copies to the target network
WIDTH = 128


def learn(game: str, checkpoints: list[int], seed: int = 0, **options: Any) -> Iterator[tuple[int, Any]]:
    """Yield the steps taken and the greedy policy at every checkpoint."""
    torch.set_num_threads(1)  # small networks gain nothing from more threads
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    envs = make(game, ENVS, seed, **options)
    online, target = (network(envs.observation_size, envs.num_actions) for _ in range(2))
    optimizer = torch.optim.Adam(online.parameters(), RATE)
    memory = ReplayBuffer(envs.observation_size, envs.num_actions)
    taken = 0
    for checkpoint in checkpoints:
        while taken < checkpoint:
            observations, legal, movers = envs.observe(), envs.masks(), envs.actor
            actions = np.where(rng.random(ENVS) < EXPLORE, envs.sample(), greedy(online, observations, legal))
            result = envs.step(actions)
            # The opponent's value counts as negative, and the value after the end is 0.
            sides = np.where(envs.actor == movers, 1, -1) * ~(result.terminated | result.truncated)
            rewards = result.rewards[np.arange(ENVS), movers]
            memory.add(observations, actions, rewards, sides, envs.observe(), envs.masks())
            if taken % (TARGET_INTERVAL * ENVS) == 0:
                target.load_state_dict(online.state_dict())
            update(online, target, optimizer, memory.draw(rng))
            taken += ENVS
        yield (
            taken,
            duels.table_of(lambda rows, masks: greedy(online, rows, masks), game, batch=True, **options),
        )


def network(size: int, actions: int) -> Any:
    """Return a network from observations to action values for the seat to move."""
    return nn.Sequential(
        nn.Linear(size, WIDTH), nn.ReLU(), nn.Linear(WIDTH, WIDTH), nn.ReLU(), nn.Linear(WIDTH, actions)
    )


class ReplayBuffer:
    """The latest steps of all games."""

    def __init__(self, size: int, actions: int) -> None:
        self.count = 0
        self.columns: list[Any] = [
            np.zeros((MEMORY, size), np.float32),
            np.zeros(MEMORY, np.int64),  # actions
            np.zeros(MEMORY, np.float32),  # rewards
            np.zeros(MEMORY, np.float32),  # 1 if the same seat moves next, -1 if the other, 0 at the end
            np.zeros((MEMORY, size), np.float32),  # next observations
            np.zeros((MEMORY, actions), np.bool_),  # next masks
        ]

    def add(self, *steps: Any) -> None:
        """Add steps, overwriting the oldest."""
        indices = np.arange(self.count, self.count + len(steps[0])) % MEMORY
        for column, rows in zip(self.columns, steps, strict=True):
            column[indices] = rows
        self.count += len(indices)

    def draw(self, rng: np.random.Generator) -> list[Any]:
        """Sample a batch."""
        indices = rng.integers(min(self.count, MEMORY), size=BATCH)
        return [torch.from_numpy(column[indices]) for column in self.columns]


def greedy(net: Any, observations: Any, legal: Any) -> Any:
    """Return the best legal action of every row."""
    with torch.no_grad():
        values = net(torch.as_tensor(observations, dtype=torch.float32)).numpy()
    return np.where(legal == 1, values, -np.inf).argmax(axis=1)


def update(online: Any, target: Any, optimizer: Any, steps: list[Any]) -> None:
    """Take one step of double DQN: one network chooses the next action, the other values it."""
    observations, actions, rewards, sides, next_observations, next_legal = steps
    with torch.no_grad():
        best = online(next_observations).masked_fill(~next_legal, -torch.inf).argmax(dim=1, keepdim=True)
        after = target(next_observations).gather(1, best).squeeze(1)
    values = online(observations).gather(1, actions[:, None]).squeeze(1)
    loss = nn.functional.smooth_l1_loss(values, rewards + sides * after)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


if __name__ == "__main__":
    main(learn, __doc__)
