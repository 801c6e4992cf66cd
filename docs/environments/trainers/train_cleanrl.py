"""Train CleanRL's PPO with masks and print its exploitability."""

import gymnasium as gym
import numpy as np
import torch
from torch import nn, optim
from torch.distributions.categorical import Categorical

import duels
import duels.envs.gymnasium

SHORT = {"cells": 5, "run": 3, "max_boards": 2}


def make_env(env_id):
    return lambda: gym.wrappers.RecordEpisodeStatistics(gym.make(env_id, seat="random", **SHORT))


class Agent(nn.Module):
    def __init__(self, envs):
        super().__init__()
        size, actions = np.prod(envs.single_observation_space.shape), envs.single_action_space.n
        self.critic = nn.Sequential(nn.Linear(size, 64), nn.Tanh(), nn.Linear(64, 1))
        self.actor = nn.Sequential(nn.Linear(size, 64), nn.Tanh(), nn.Linear(64, actions))

    def get_action_and_value(self, x, mask, action=None):
        probs = Categorical(logits=self.actor(x).masked_fill(~mask, -1e8))
        action = probs.sample() if action is None else action
        return action, probs.log_prob(action), probs.entropy(), self.critic(x)


def learn(seed, env_id="duels/Chain-v0", num_envs=4, num_steps=64, iterations=4, gamma=0.99, gae_lambda=0.95):
    torch.manual_seed(seed)
    envs = gym.vector.SyncVectorEnv([make_env(env_id) for _ in range(num_envs)])
    agent = Agent(envs)
    optimizer = optim.Adam(agent.parameters(), lr=2.5e-4, eps=1e-5)
    obs = torch.zeros((num_steps, num_envs, *envs.single_observation_space.shape))
    masks = torch.zeros((num_steps, num_envs, envs.single_action_space.n), dtype=torch.bool)
    actions, logprobs, rewards, dones, values = torch.zeros((5, num_steps, num_envs))
    reset_obs, infos = envs.reset(seed=seed)
    next_obs, next_done = torch.Tensor(reset_obs), torch.zeros(num_envs)
    for _ in range(iterations):
        for step in range(num_steps):
            obs[step], dones[step] = next_obs, next_done
            masks[step] = torch.as_tensor(infos["action_mask"])
            with torch.no_grad():
                action, logprobs[step], _, value = agent.get_action_and_value(next_obs, masks[step])
            actions[step], values[step] = action, value.flatten()
            step_obs, reward, terminations, truncations, infos = envs.step(action.numpy())
            rewards[step] = torch.tensor(reward)
            next_obs = torch.Tensor(step_obs)
            next_done = torch.Tensor(np.logical_or(terminations, truncations))
        with torch.no_grad():
            next_value = agent.critic(next_obs).flatten()
            advantages, lastgaelam = torch.zeros_like(rewards), 0
            for t in reversed(range(num_steps)):
                alive = 1 - (next_done if t == num_steps - 1 else dones[t + 1])
                delta = rewards[t] + gamma * next_value * alive - values[t]
                advantages[t] = lastgaelam = delta + gamma * gae_lambda * alive * lastgaelam
                next_value = values[t]
        for _ in range(4):
            for batch in torch.randperm(num_steps * num_envs).split(64):
                _, newlogprob, entropy, newvalue = agent.get_action_and_value(
                    obs.flatten(0, 1)[batch], masks.flatten(0, 1)[batch], actions.flatten()[batch]
                )
                ratio = (newlogprob - logprobs.flatten()[batch]).exp()
                advantage = advantages.flatten()[batch]
                pg_loss = torch.max(-advantage * ratio, -advantage * ratio.clamp(0.8, 1.2)).mean()
                v_loss = 0.5 * (newvalue.flatten() - (advantages + values).flatten()[batch]).pow(2).mean()
                loss = pg_loss - 0.01 * entropy.mean() + 0.5 * v_loss
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
    return duels.mask_agent(lambda observations: agent.actor(torch.as_tensor(observations)))


print(duels.exploitability_over_seeds(learn, "chain", seeds=range(3), **SHORT))
