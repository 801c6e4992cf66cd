"""The results of `make baselines`, summarised over seeds."""

import json
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

HERE = Path(__file__).parent
FORMS = ("lights", "leap", "short-chain", "chain")
LEARNERS = {"q_learning": "tabular Q-learning", "masked_ppo": "masked PPO", "masked_dqn": "masked DQN"}
NEAR = 0.01  # the page calls play below this exploitability perfect

Range = tuple[float, float, float]
"""Median, lowest and highest over the seeds."""


@dataclass(frozen=True)
class Baseline:
    """The runs of one learner on one form of a game, one per seed."""

    learner: str
    runs: list[dict[str, Any]]

    @property
    def steps(self) -> list[int]:
        """The steps at which all runs were graded."""
        (steps,) = {tuple(run["steps"]) for run in self.runs}
        return list(steps)

    @property
    def grades(self) -> list[Range]:
        """The exploitability at each of `steps`."""
        return [ranged(values) for values in zip(*(run["exploitability"] for run in self.runs), strict=True)]

    @property
    def final(self) -> Range:
        """The final exploitability."""
        return self.grades[-1]

    @property
    def seconds(self) -> float:
        """The CPU time of a run, including grading."""
        return median(run["seconds"] for run in self.runs)

    @property
    def near(self) -> list[int | None]:
        """For each seed, the steps after which exploitability stayed below NEAR, or None."""
        return [_near(run["steps"], run["exploitability"]) for run in self.runs]

    @property
    def slowest(self) -> int:
        """The steps that the slowest seed needed, or all steps if it stayed above NEAR."""
        return max(self.steps[-1] if steps is None else steps for steps in self.near)


def _near(steps: list[int], grades: list[float]) -> int | None:
    last_far = max((index for index, grade in enumerate(grades) if grade >= NEAR), default=-1)
    return steps[last_far + 1] if last_far + 1 < len(steps) else None


def ranged(values: Any) -> Range:
    """Return median, minimum and maximum."""
    return median(values), min(values), max(values)


@dataclass(frozen=True)
class Form:
    """A game with options, and the baselines on it."""

    game: str
    options: dict[str, Any]
    random: float
    """The exploitability of random play."""
    baselines: list[Baseline]

    @property
    def best(self) -> Baseline:
        """The baseline with the lowest final exploitability; among equals, the fastest."""
        return min(self.baselines, key=lambda baseline: (baseline.final, baseline.slowest))


def read_form(form: str) -> Form:
    """Read the results of a form, learners in the order of LEARNERS."""
    data = json.loads((HERE / f"{form}.json").read_text(encoding="utf-8"))
    runs = {name: [run for run in data["runs"] if run["learner"] == name] for name in LEARNERS}
    baselines = [Baseline(name, learner_runs) for name, learner_runs in runs.items() if learner_runs]
    return Form(data["game"], data["options"], data["random"], baselines)


def number(grade: float) -> str:
    """Format an exploitability."""
    return "0" if grade == 0 else "below 0.001" if grade < 0.001 else f"{grade:.3f}"


def spread(grades: Range) -> str:
    """Format the median and range of an exploitability."""
    middle, low, high = grades
    return number(middle) if low == high else f"{number(middle)} ({number(low)} to {number(high)})"


def format_steps_to_near(baseline: Baseline) -> str:
    """Format the steps to near-perfect play as median and range."""
    reached = [steps for steps in baseline.near if steps is not None]
    if len(reached) < len(baseline.near):
        return f"{len(reached)} of {len(baseline.near)} seeds" if reached else "no seed"
    middle, low, high = ranged(reached)
    return f"{middle:,.0f}" if low == high else f"{middle:,.0f} ({low:,} to {high:,})"
