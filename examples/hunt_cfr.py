"""Solve a short hunt with OpenSpiel's CFR+: two hidden tokens, three cells, three turns.

python examples/hunt_cfr.py --plot hunt_cfr.svg
"""

import argparse

import pyspiel
from open_spiel.python.algorithms import cfr, expected_game_score, exploitability

import duels.envs.openspiel  # noqa: F401  (registers the games)

GAME = "duels_hunt(cells=3,max_turns=3)"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--iterations", type=int, default=100)
    parser.add_argument("--plot", metavar="FILE")
    arguments = parser.parse_args()
    game = pyspiel.load_game(GAME)
    solver = cfr.CFRPlusSolver(game)
    counts, grades = [], []
    for iteration in range(1, arguments.iterations + 1):
        solver.evaluate_and_update_policy()
        if iteration == 1 or iteration % 10 == 0:
            counts.append(iteration)
            # OpenSpiel's points range from -1 to 1; half of them are games won.
            grades.append(exploitability.exploitability(game, solver.average_policy()) / 2)
    policy = solver.average_policy()
    points = expected_game_score.policy_value(game.new_initial_state(), [policy, policy])[0]
    print(f"{GAME}: exploitability {grades[0]:.4f} after one iteration, {grades[-1]:.4f} after {counts[-1]}")
    print(f"player 1 scores {points:+.4f} per game")
    if arguments.plot:
        import matplotlib

        matplotlib.use("Agg")
        matplotlib.rcParams["svg.hashsalt"] = "duels"  # makes the file reproducible
        import matplotlib.pyplot as plt

        figure, axes = plt.subplots(figsize=(6, 3.5))
        axes.loglog(counts, grades, marker="o")
        axes.set(xlabel="iterations of CFR+", ylabel="exploitability", title="hunt on 3 cells, 3 turns")
        figure.tight_layout()
        figure.savefig(arguments.plot, metadata={"Date": None})


if __name__ == "__main__":
    main()
