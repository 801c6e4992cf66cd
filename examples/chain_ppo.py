"""Train masked PPO (sb3-contrib) on chain against the level `club`, and grade it exactly during training.

python examples/chain_ppo.py --plot chain_ppo.svg
"""

import argparse
from typing import Any

import numpy as np
import torch
from sb3_contrib import MaskablePPO
from stable_baselines3.common.vec_env import DummyVecEnv

import duels
from duels.envs.gymnasium import DuelEnv
from duels.vector import TableBatch, make

OPPONENT = "club"
# Without a limit, any weakness loses almost every game, because a best response can wait for it.
MAX_BOARDS = 2


def probabilities(model: Any) -> Any:
    """Return the agent's probabilities in every state of the game."""

    def agent(observations: Any, masks: Any) -> Any:
        with torch.no_grad():
            distribution = model.policy.get_distribution(torch.as_tensor(observations), action_masks=masks)
        return distribution.distribution.probs.numpy()

    return duels.table_of(agent, "chain", batch=True)


def learn(steps: int, checks: int, opponent: str) -> tuple[list[int], list[float], list[float]]:
    """Return the steps, the exploitability and the score against random play, at every check."""
    torch.manual_seed(0)
    torch.set_num_threads(1)
    seats = [1, 2] * 8
    envs = DummyVecEnv(
        [lambda seat=seat: DuelEnv("chain", opponent, seat, max_boards=MAX_BOARDS) for seat in seats]
    )
    model = MaskablePPO("MlpPolicy", envs, n_steps=128, batch_size=512, ent_coef=0.01, seed=0, device="cpu")
    taken, grades, scores = [], [], []
    for check in range(checks + 1):
        if check:
            model.learn(steps // checks, reset_num_timesteps=False)
        table = probabilities(model)
        taken.append(model.num_timesteps)
        grades.append(duels.exploitability(table, "chain", max_boards=MAX_BOARDS))
        scores.append(score_against_random(table))
    return taken, grades, scores


def score_against_random(table: Any) -> float:
    """Return the agent's score as Player 1; a truncated game counts as half a win."""
    batch = make("chain", 4096, max_boards=MAX_BOARDS)
    assert isinstance(batch, TableBatch)
    uniform = batch.tables.legal / np.maximum(batch.tables.legal.sum(axis=1, keepdims=True), 1)
    policy = batch.policy(np.where(batch.tables.actor[:, None] == 0, table, uniform))
    totals = batch.rollout(300, policy)
    return float((totals.wins[:, 0].sum() + totals.truncated.sum() / 2) / totals.games)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=60_000)
    parser.add_argument("--opponent", default=OPPONENT)
    parser.add_argument("--plot", metavar="FILE")
    arguments = parser.parse_args()
    taken, grades, scores = learn(arguments.steps, 10, arguments.opponent)
    print(
        f"against {arguments.opponent}, exploitability: {grades[0]:.3f} untrained, {grades[-1]:.3f} trained"
    )
    print(f"score against random play: {scores[0]:.0%} untrained, {scores[-1]:.0%} trained")
    if arguments.plot:
        import matplotlib

        matplotlib.use("Agg")
        matplotlib.rcParams["svg.hashsalt"] = "duels"  # makes the file reproducible
        import matplotlib.pyplot as plt

        figure, axes = plt.subplots(figsize=(6, 3.5))
        axes.plot(taken, grades, marker="o", label="exploitability")
        axes.plot(taken, scores, marker=".", label="score against random play")
        axes.set(xlabel="steps", title=f"Masked PPO on chain against {arguments.opponent}", ylim=(0, 1))
        axes.legend()
        figure.tight_layout()
        figure.savefig(arguments.plot, metadata={"Date": None})


if __name__ == "__main__":
    main()
