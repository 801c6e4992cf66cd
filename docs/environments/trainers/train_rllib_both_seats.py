"""Train one RLlib policy for both seats and print its exploitability."""

import torch
from gymnasium.spaces import Dict
from pettingzoo.utils import BaseWrapper
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core.rl_module.multi_rl_module import MultiRLModuleSpec
from ray.rllib.core.rl_module.rl_module import RLModuleSpec
from ray.rllib.env.wrappers.pettingzoo_env import PettingZooEnv
from ray.rllib.examples.rl_modules.classes.action_masking_rlm import ActionMaskingTorchRLModule
from ray.tune.registry import register_env

import duels
from duels.envs.pettingzoo import chain_v0

SHORT = {"cells": 5, "run": 3, "max_boards": 2}


class RenameObservation(BaseWrapper):
    def observation_space(self, agent):
        space = self.env.observation_space(agent)
        return Dict({"observations": space["observation"], "action_mask": space["action_mask"]})

    def observe(self, agent):
        pair = self.env.observe(agent)
        return {"observations": pair["observation"], "action_mask": pair["action_mask"]}


register_env(
    "chain", lambda options: PettingZooEnv(RenameObservation(chain_v0.env(dtype="float32", **options)))
)


def learn(seed):
    masking = RLModuleSpec(module_class=ActionMaskingTorchRLModule)
    config = (
        PPOConfig()
        .environment("chain", env_config=SHORT)
        .env_runners(num_env_runners=0)
        .multi_agent(policies={"both"}, policy_mapping_fn=lambda agent, *args, **kwargs: "both")
        .rl_module(rl_module_spec=MultiRLModuleSpec(rl_module_specs={"both": masking}))
        .training(lr=3e-3, train_batch_size=512, minibatch_size=128, num_epochs=10)
        .debugging(seed=seed)
    )
    algorithm = config.build_algo()
    for _ in range(3):
        algorithm.train()
    module = algorithm.get_module("both")

    def agent(observations, masks):
        batch = {"observations": torch.as_tensor(observations), "action_mask": torch.as_tensor(masks)}
        return module.forward_inference({"obs": batch})["action_dist_inputs"].argmax(-1)

    return agent


print(duels.exploitability_over_seeds(learn, "chain", seeds=range(2), **SHORT))
