"""Masked PPO (sb3-contrib) in self-play on arrays of games, with its exact distance from perfect play.

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

ENVS, STEPS = 64, 32  # games at once, and steps in each of them before the network learns
EXPLORE = 0.3  # how often the opponent moves at random, so that the learner meets all kinds of positions

Floats = NDArray[np.float64]


def learn(game: str, looks: list[int], seed: int = 0, **options: Any) -> Iterator[tuple[int, Floats]]:
    """The steps taken and the policy's likeliest actions, once so many are taken as each look wants."""
    torch.set_num_threads(1)  # networks as small as these gain nothing from more
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

    def opponent(seen: Any, masks: Any) -> Floats:
        uniform: Floats = masks / masks.sum(axis=1, keepdims=True)
        return EXPLORE * uniform + (1 - EXPLORE) * odds(model, seen, masks)

    def likeliest(seen: Any, masks: Any) -> Any:
        return odds(model, seen, masks).argmax(axis=1)

    for look in looks:
        while model.num_timesteps < look:
            # Games that begin are against what has been learned until now; a table of it is quickest.
            envs.env_method("set_opponent", duels.table_of(opponent, game, batch=True, **options))
            model.learn(ENVS * STEPS, reset_num_timesteps=False)
        yield model.num_timesteps, duels.table_of(likeliest, game, batch=True, **options)


def odds(model: Any, seen: Any, masks: Any) -> Floats:
    """[row, action] the probabilities with which the learner acts."""
    with torch.no_grad():
        chosen = model.policy.get_distribution(torch.as_tensor(seen, dtype=torch.float32), masks == 1)
    found: Floats = chosen.distribution.probs.double().numpy()
    found *= masks  # rounding leaves traces of what is illegal
    found /= found.sum(axis=1, keepdims=True)
    return found


if __name__ == "__main__":
    main(learn, __doc__)
