"""Compare two rewards for a policy that reads and writes text: the result, and exact credit per turn.

python examples/credit.py --plot credit.svg

The policy is a table over one line of the question. It plays through the class that TRL uses. It learns by
REINFORCE, and its exploitability is exact.
"""

import argparse
import math
import re
from collections import defaultdict
from collections.abc import Iterator
from random import Random
from statistics import median
from typing import Any

import duels
from duels.integrations.conversation import CONVERSATION_CONDITIONS
from duels.integrations.tasks import make_rows
from duels.integrations.trl import MatchEnvironment

REWARDS = "result", "credit"
POSITION = re.compile(r"^In notation: (.*)$", re.MULTILINE)
ACTIONS = re.compile(r"^You may play: (.*)\.$", re.MULTILINE)
RATE = {"result": 0.5, "credit": 10.0}  # each the best of several, by seed 0


class TextPolicy:
    """Probabilities of actions by the position in the question."""

    def __init__(self) -> None:
        self.weights: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
        self.baseline: dict[str, float] = defaultdict(lambda: 0.5)

    def odds(self, position: str, actions: list[str]) -> list[float]:
        """Return the probability of each action."""
        powers = [math.exp(self.weights[position][action]) for action in actions]
        return [power / sum(powers) for power in powers]

    def learn(self, position: str, actions: list[str], chosen: str, advantage: float) -> None:
        """Make an action more probable if its advantage is positive, and less if it is negative."""
        for action, chance in zip(actions, self.odds(position, actions), strict=True):
            self.weights[position][action] += advantage * ((action == chosen) - chance)

    def exploitability(self, game: str) -> float:
        """Return the exact exploitability."""

        def play(sight: Any) -> dict[Any, float]:
            names = [sight.rules.format(action) for action in sight.actions]
            return dict(zip(sight.actions, self.odds(sight.rules.format_position(sight), names), strict=True))

        return duels.exploitability(play, game)


def play_match(
    environment: MatchEnvironment, policy: TextPolicy, row: dict[str, Any], rng: Random
) -> list[tuple[str, list[str], str]]:
    """Play a match, and return its decisions: position, legal actions and action."""
    text, decisions = environment.reset(**row), []
    while match := ACTIONS.search(text):
        actions, position = match[1].split(", "), POSITION.findall(text)[0]
        (action,) = rng.choices(actions, policy.odds(position, actions))
        decisions.append((position, actions, action))
        text = environment.play(action)
    return decisions


def train(game: str, reward: str, matches: int, seed: int) -> Iterator[tuple[int, float]]:
    """Yield the number of matches and the exploitability: at the start, then ten times."""
    rows = make_rows(game, "random", matches, seed=str(seed), show_actions=True, **CONVERSATION_CONDITIONS)
    policy, environment, rng = TextPolicy(), MatchEnvironment(), Random(seed)
    rng.shuffle(rows)
    yield 0, policy.exploitability(game)
    for number, row in enumerate(rows, 1):
        decisions = play_match(environment, policy, row, rng)
        won, losses = environment.scores["win"], [grade.loss for grade in environment.grades]
        for (position, actions, action), loss in zip(decisions, losses, strict=True):
            advantage = won - policy.baseline[position] if reward == "result" else -loss
            policy.baseline[position] += 0.05 * (won - policy.baseline[position])
            policy.learn(position, actions, action, RATE[reward] * advantage)
        if number % (matches // 10) == 0:
            yield number, policy.exploitability(game)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--game", choices=["lights", "leap"], default="lights")
    parser.add_argument("--matches", type=int, default=4000)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--plot", metavar="FILE")
    arguments = parser.parse_args()
    curves: dict[str, list[list[tuple[int, float]]]] = {}
    for reward in REWARDS:
        curves[reward] = []
        for seed in range(arguments.seeds):
            curve = list(train(arguments.game, reward, arguments.matches, seed))
            curves[reward].append(curve)
            print(f"{reward}, seed {seed}: exploitability {curve[-1][1]:.4f}", flush=True)
    if arguments.plot:
        draw(curves, f"{arguments.game}: a table over text", arguments.plot)


def draw(curves: dict[str, list[list[tuple[int, float]]]], title: str, path: str) -> None:
    """Draw every seed and the median of each reward."""
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "duels"  # makes the file reproducible
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(6, 3.5))
    for reward, color in zip(REWARDS, ("#E69F00", "#0072B2"), strict=True):
        for curve in curves[reward]:
            axes.plot(*zip(*curve, strict=True), color=color, alpha=0.3)
        points = [
            (seeds[0][0], median(grade for _, grade in seeds)) for seeds in zip(*curves[reward], strict=True)
        ]
        axes.plot(*zip(*points, strict=True), color=color, label=f"reward: {reward}")
    axes.set(xlabel="matches", ylabel="exploitability", title=title)
    axes.legend()
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})


if __name__ == "__main__":
    main()
