"""Masked PPO (sb3-contrib) in self-play on arrays of games, graded exactly.

python examples/masked_ppo.py --game leap --steps 20000
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from sb3_contrib import MaskablePPO
from self_play import main

import duels
from duels.envs.stable_baselines3 import DuelVecEnv

ENVS, STEPS = 64, 32  # games at once, and steps per game and update
EXPLORE = 0.3  # share of random moves by the opponent, so that the learner meets all positions

Floats = NDArray[np.float64]


def learn(game: str, checkpoints: list[int], seed: int = 0, **options: Any) -> Iterator[tuple[int, Floats]]:
    """Yield the steps taken and a table of the most likely actions at every checkpoint."""
    torch.set_num_threads(1)  # small networks gain nothing from more threads
    envs = DuelVecEnv(game, ENVS, seat="random", **options)
    model = MaskablePPO(
        "MlpPolicy",
        envs,
        learning_rate=1e-3,
        n_steps=STEPS,
        batch_size=256,
        n_epochs=4,
        ent_coef=0.02,
        seed=seed,
        device="cpu",
    )

    def opponent(observations: Any, masks: Any) -> Floats:
        uniform: Floats = masks / masks.sum(axis=1, keepdims=True)
        return EXPLORE * uniform + (1 - EXPLORE) * odds(model, observations, masks)

    def likeliest(observations: Any, masks: Any) -> Any:
        return odds(model, observations, masks).argmax(axis=1)

    for checkpoint in checkpoints:
        while model.num_timesteps < checkpoint:
            # New games are against a copy of the current policy; a table is fastest.
            envs.env_method("set_opponent", duels.table_of(opponent, game, batch=True, **options))
            model.learn(ENVS * STEPS, reset_num_timesteps=False)
        yield model.num_timesteps, duels.table_of(likeliest, game, batch=True, **options)


def odds(model: Any, observations: Any, masks: Any) -> Floats:
    """Return the learner's probabilities, indexed [row, action]."""
    with torch.no_grad():
        inputs = torch.as_tensor(observations, dtype=torch.float32)
        distribution = model.policy.get_distribution(inputs, masks == 1)
    probabilities: Floats = distribution.distribution.probs.double().numpy()
    probabilities *= masks  # rounding can leave traces of illegal actions
    probabilities /= probabilities.sum(axis=1, keepdims=True)
    return probabilities


if __name__ == "__main__":
    main(learn, __doc__)
