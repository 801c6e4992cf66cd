"""Train PPO of Stable-Baselines3 without masks and print its exploitability."""

import gymnasium
from stable_baselines3 import PPO

import duels
import duels.envs.gymnasium

SHORT = {"cells": 5, "run": 3, "max_boards": 2}


def learn(seed):
    env = gymnasium.make("duels/Chain-v0", seat="random", **SHORT)
    policy = PPO("MlpPolicy", env, n_steps=256, seed=seed).learn(1_000).policy
    return duels.mask_agent(
        lambda observations: policy.get_distribution(policy.obs_to_tensor(observations)[0]).distribution.probs
    )


print(duels.exploitability_over_seeds(learn, "chain", seeds=range(3), **SHORT))
