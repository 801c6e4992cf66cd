"""Masked PPO (sb3-contrib) on chain against a player of the club, graded exactly while it learns.

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
# On boards without end a perfect opponent wins almost always, however small the weakness: it can wait.
# With a limit the distance from perfect play can be seen to shrink.
MAX_BOARDS = 2


def probabilities(model: Any) -> Any:
    """The agent's probabilities in every state of the game, from what it is shown there."""

    def agent(observations: Any, masks: Any) -> Any:
        with torch.no_grad():
            given = model.policy.get_distribution(torch.as_tensor(observations), action_masks=masks)
        return given.distribution.probs.numpy()

    return duels.table_of(agent, "chain", batch=True)


def learn(steps: int, looks: int, opponent: str) -> tuple[list[int], list[float], list[float]]:
    """Steps taken, exploitability of the agent, and its score against random play, at every look."""
    torch.manual_seed(0)
    torch.set_num_threads(1)
    seats = [1, 2] * 8
    envs = DummyVecEnv(
        [lambda seat=seat: DuelEnv("chain", opponent, seat, max_boards=MAX_BOARDS) for seat in seats]
    )
    model = MaskablePPO("MlpPolicy", envs, n_steps=128, batch_size=512, ent_coef=0.01, seed=0, device="cpu")
    taken, grades, scores = [], [], []
    for look in range(looks + 1):
        if look:
            model.learn(steps // looks, reset_num_timesteps=False)
        table = probabilities(model)
        taken.append(model.num_timesteps)
        grades.append(duels.exploitability(table, "chain", max_boards=MAX_BOARDS))
        scores.append(score_against_random(table))
    return taken, grades, scores


def score_against_random(table: Any) -> float:
    """What share of its games the agent, in the first seat, wins; a game that is cut off is half a win."""
    batch = make("chain", 4096, max_boards=MAX_BOARDS)
    assert isinstance(batch, TableBatch)
    uniform = batch.tables.legal / np.maximum(batch.tables.legal.sum(axis=1, keepdims=True), 1)
    policy = batch.policy(np.where(batch.tables.actor[:, None] == 0, table, uniform))
    tally = batch.rollout(300, policy)
    return float((tally.wins[:, 0].sum() + tally.truncated.sum() / 2) / tally.games)


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
        matplotlib.rcParams["svg.hashsalt"] = "duels"  # the same picture is the same file
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
