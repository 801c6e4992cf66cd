"""Masked double DQN in self-play on arrays of games, in one file, with its exact distance from perfect play.

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

ENVS = 64  # games at once; the network learns once for each step of them all
EXPLORE = 0.3
MEMORY = 50_000  # steps that can be learned from
BATCH = 256
RATE = 1e-3
RENEWED = 100  # updates after which the target network is renewed
WIDTH = 128


def learn(game: str, looks: list[int], seed: int = 0, **options: Any) -> Iterator[tuple[int, Any]]:
    """The steps taken and the greedy policy, once so many are taken as each look wants."""
    torch.set_num_threads(1)  # networks as small as these gain nothing from more
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    envs = make(game, ENVS, seed, **options)
    online, target = (network(envs.observation_size, envs.num_actions) for _ in range(2))
    optimizer = torch.optim.Adam(online.parameters(), RATE)
    memory = Memory(envs.observation_size, envs.num_actions)
    taken = 0
    for look in looks:
        while taken < look:
            seen, legal, movers = envs.observe(), envs.masks(), envs.actor
            actions = np.where(rng.random(ENVS) < EXPLORE, envs.sample(), greedy(online, seen, legal))
            result = envs.step(actions)
            # What is good for the other is bad for the mover; nothing comes after the end.
            sides = np.where(envs.actor == movers, 1, -1) * ~(result.terminated | result.truncated)
            rewards = result.rewards[np.arange(ENVS), movers]
            memory.keep(seen, actions, rewards, sides, envs.observe(), envs.masks())
            if taken % (RENEWED * ENVS) == 0:
                target.load_state_dict(online.state_dict())
            update(online, target, optimizer, memory.draw(rng))
            taken += ENVS
        yield (
            taken,
            duels.table_of(lambda seen, masks: greedy(online, seen, masks), game, batch=True, **options),
        )


def network(shown: int, actions: int) -> Any:
    """From an observation to the value of every action, to the seat that takes it."""
    return nn.Sequential(
        nn.Linear(shown, WIDTH), nn.ReLU(), nn.Linear(WIDTH, WIDTH), nn.ReLU(), nn.Linear(WIDTH, actions)
    )


class Memory:
    """The last steps of all games."""

    def __init__(self, shown: int, actions: int) -> None:
        self.kept = 0
        self.columns: list[Any] = [
            np.zeros((MEMORY, shown), np.float32),
            np.zeros(MEMORY, np.int64),  # actions
            np.zeros(MEMORY, np.float32),  # rewards
            np.zeros(MEMORY, np.float32),  # 1 if the same seat moves next, -1 if the other, 0 at the end
            np.zeros((MEMORY, shown), np.float32),  # what whoever moves next is shown
            np.zeros((MEMORY, actions), np.bool_),  # and may do
        ]

    def keep(self, *steps: Any) -> None:
        """Keep steps, in place of the oldest."""
        places = np.arange(self.kept, self.kept + len(steps[0])) % MEMORY
        for column, rows in zip(self.columns, steps, strict=True):
            column[places] = rows
        self.kept += len(places)

    def draw(self, rng: np.random.Generator) -> list[Any]:
        """Some of them, at random."""
        places = rng.integers(min(self.kept, MEMORY), size=BATCH)
        return [torch.from_numpy(column[places]) for column in self.columns]


def greedy(net: Any, seen: Any, legal: Any) -> Any:
    """[row] the best of the legal actions."""
    with torch.no_grad():
        values = net(torch.as_tensor(seen, dtype=torch.float32)).numpy()
    return np.where(legal == 1, values, -np.inf).argmax(axis=1)


def update(online: Any, target: Any, optimizer: Any, steps: list[Any]) -> None:
    """One step of double DQN: the one network says what is best next, the other what that is worth."""
    seen, actions, rewards, sides, next_seen, next_legal = steps
    with torch.no_grad():
        best = online(next_seen).masked_fill(~next_legal, -torch.inf).argmax(dim=1, keepdim=True)
        after = target(next_seen).gather(1, best).squeeze(1)
    values = online(seen).gather(1, actions[:, None]).squeeze(1)
    loss = nn.functional.smooth_l1_loss(values, rewards + sides * after)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


if __name__ == "__main__":
    main(learn, __doc__)
