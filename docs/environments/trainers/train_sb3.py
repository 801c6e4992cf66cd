"""Train MaskablePPO of sb3-contrib and print its exploitability."""

import gymnasium
from sb3_contrib import MaskablePPO

import duels
import duels.envs.gymnasium

SHORT = {"cells": 5, "run": 3, "max_boards": 2}


def learn(seed):
    env = gymnasium.make("duels/Chain-v0", seat="random", **SHORT)
    model = MaskablePPO("MlpPolicy", env, n_steps=256, seed=seed).learn(1_000)
    return lambda observations, masks: model.predict(observations, action_masks=masks, deterministic=True)[0]


print(duels.exploitability_over_seeds(learn, "chain", seeds=range(3), **SHORT))
