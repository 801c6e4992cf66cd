"""Train one Tianshou DQN for both seats and print its exploitability."""

import numpy as np
import torch
from tianshou.algorithm.modelfree.dqn import DQN, DiscreteQLearningPolicy
from tianshou.algorithm.multiagent.marl import MultiAgentOffPolicyAlgorithm
from tianshou.algorithm.optim import AdamOptimizerFactory
from tianshou.data import Batch, Collector, VectorReplayBuffer
from tianshou.env import DummyVectorEnv, PettingZooEnv
from tianshou.utils.net.common import Net
from tianshou.utils.torch_utils import policy_within_training_step, torch_train_mode

import duels
from duels.envs.pettingzoo import chain_v0

SHORT = {"cells": 5, "run": 3, "max_boards": 2}


def make():
    return PettingZooEnv(chain_v0.env(**SHORT))


def learn(seed):
    torch.manual_seed(seed)
    np.random.seed(seed)
    env, envs = make(), DummyVectorEnv([make for _ in range(4)])
    policy = DiscreteQLearningPolicy(
        model=Net(
            state_shape=env.observation_space["observation"].shape,
            action_shape=env.action_space.n,
            hidden_sizes=[64],
        ),
        action_space=env.action_space,
        eps_training=0.5,
    )
    learner = DQN(
        policy=policy,
        optim=AdamOptimizerFactory(lr=3e-3),
        target_update_freq=50,
        n_step_return_horizon=20,
    )
    algorithm = MultiAgentOffPolicyAlgorithm(algorithms=[learner, learner], env=env)
    envs.seed(seed)
    buffer = VectorReplayBuffer(2_000, 4)
    collector = Collector(algorithm, envs, buffer)
    collector.reset()
    for _ in range(15):
        with policy_within_training_step(algorithm.policy):
            collector.collect(n_step=80)
        with torch_train_mode(algorithm), policy_within_training_step(algorithm.policy):
            for _ in range(10):
                algorithm.update(buffer, sample_size=64)
    return lambda observations, masks: policy(Batch(obs=Batch(obs=observations, mask=masks), info={})).act


print(duels.exploitability_over_seeds(learn, "chain", seeds=range(3), **SHORT))
