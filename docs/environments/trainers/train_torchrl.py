"""Train TorchRL's PPO with masks and print its exploitability."""

import gymnasium
import torch
from tensordict.nn import TensorDictModule
from torchrl.collectors import Collector
from torchrl.envs import GymWrapper
from torchrl.modules import MLP, MaskedCategorical, ProbabilisticActor, ValueOperator
from torchrl.objectives import ClipPPOLoss
from torchrl.objectives.value import GAE

import duels
import duels.envs.gymnasium

SHORT = {"cells": 5, "run": 3, "max_boards": 2}
NETWORK = {"num_cells": [64, 64], "activation_class": torch.nn.Tanh}


def learn(seed):
    torch.manual_seed(seed)
    envs = gymnasium.make_vec(
        "duels/Chain-v0",
        num_envs=16,
        seat="random",
        autoreset_mode="Disabled",  # TorchRL resets ended games itself
        dict_observations=True,
        bool_masks=True,
        **SHORT,
    )
    env = GymWrapper(envs, categorical_action_encoding=True)
    env.set_seed(seed)
    logits = MLP(out_features=envs.single_action_space.n, **NETWORK)
    actor = ProbabilisticActor(
        TensorDictModule(logits, ["observation"], ["logits"]),
        in_keys={"logits": "logits", "mask": "action_mask"},
        distribution_class=MaskedCategorical,
        spec=env.action_spec,
        return_log_prob=True,
    )
    critic = ValueOperator(MLP(out_features=1, **NETWORK), in_keys=["observation"])
    example = env.reset()
    actor(example), critic(example)
    advantage = GAE(gamma=1.0, lmbda=0.95, value_network=critic, average_gae=True)
    loss = ClipPPOLoss(actor, critic, entropy_coeff=0.01)
    optimizer = torch.optim.Adam(loss.parameters(), lr=3e-3)
    for steps in Collector(env, actor, frames_per_batch=512, total_frames=2_048):
        for _ in range(4):
            advantage(steps)
            for batch in steps.reshape(-1)[torch.randperm(steps.numel())].split(128):
                losses = loss(batch)
                optimizer.zero_grad()
                (losses["loss_objective"] + losses["loss_critic"] + losses["loss_entropy"]).backward()
                optimizer.step()
    return duels.mask_agent(lambda observations: logits(torch.as_tensor(observations)))


print(duels.exploitability_over_seeds(learn, "chain", seeds=range(3), **SHORT))
