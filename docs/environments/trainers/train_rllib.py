"""Train RLlib's PPO and print its exploitability."""

import torch
from ray.rllib.algorithms.ppo import PPOConfig

import duels

SHORT = {"cells": 5, "run": 3, "max_boards": 2}


def learn(seed):
    config = (
        PPOConfig()
        .environment("duels.envs.gymnasium:duels/Chain-v0", env_config={"seat": "random", **SHORT})
        .env_runners(num_env_runners=0)
        .training(lr=3e-3, train_batch_size=512, minibatch_size=128, num_epochs=10)
        .debugging(seed=seed)
    )
    algorithm = config.build_algo()
    algorithm.train()
    module = algorithm.get_module()

    def logits(observations):
        return module.forward_inference({"obs": torch.as_tensor(observations)})["action_dist_inputs"]

    return duels.mask_agent(logits)


print(duels.exploitability_over_seeds(learn, "chain", seeds=range(2), **SHORT))
