"""What `make baselines` measured, summed up over seeds."""

import json
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

HERE = Path(__file__).parent
FORMS = ("lights", "leap", "short-chain", "chain")
LEARNERS = {"q_learning": "tabular Q-learning", "masked_ppo": "masked PPO", "masked_dqn": "masked DQN"}
NEAR = 0.01  # below this exploitability play is called perfect

Range = tuple[float, float, float]
"""Median, lowest and highest over the seeds."""


@dataclass(frozen=True)
class Baseline:
    """A learner on a form of a game: its runs, one a seed."""

    learner: str
    runs: list[dict[str, Any]]

    @property
    def steps(self) -> list[int]:
        """When it was looked at, alike in all runs."""
        (steps,) = {tuple(run["steps"]) for run in self.runs}
        return list(steps)

    @property
    def grades(self) -> list[Range]:
        """Exploitability at every look."""
        return [ranged(found) for found in zip(*(run["exploitability"] for run in self.runs), strict=True)]

    @property
    def final(self) -> Range:
        """Exploitability in the end."""
        return self.grades[-1]

    @property
    def seconds(self) -> float:
        """Processor time of a run, its grading included."""
        return median(run["seconds"] for run in self.runs)

    @property
    def near(self) -> list[int | None]:
        """By seed, the steps after which exploitability stayed below NEAR; None if it did not."""
        return [_near(run["steps"], run["exploitability"]) for run in self.runs]

    @property
    def slowest(self) -> int:
        """The steps after which the last of the seeds was there, or all that were taken."""
        return max(self.steps[-1] if at is None else at for at in self.near)


def _near(steps: list[int], grades: list[float]) -> int | None:
    last_far = max((place for place, grade in enumerate(grades) if grade >= NEAR), default=-1)
    return steps[last_far + 1] if last_far + 1 < len(steps) else None


def ranged(found: Any) -> Range:
    """Their median, lowest and highest."""
    return median(found), min(found), max(found)


@dataclass(frozen=True)
class Form:
    """A game with options, and what was measured there."""

    game: str
    options: dict[str, Any]
    random: float
    """The exploitability of random play."""
    baselines: list[Baseline]

    @property
    def best(self) -> Baseline:
        """The baseline that ends nearest to perfect play; of equals, the one that is there first."""
        return min(self.baselines, key=lambda each: (each.final, each.slowest))


def measured(form: str) -> Form:
    """What was measured on a form, learners in the order of LEARNERS."""
    kept = json.loads((HERE / f"{form}.json").read_text(encoding="utf-8"))
    ran = {name: [run for run in kept["runs"] if run["learner"] == name] for name in LEARNERS}
    found = [Baseline(name, runs) for name, runs in ran.items() if runs]
    return Form(kept["game"], kept["options"], kept["random"], found)


def number(grade: float) -> str:
    """An exploitability as a person reads it."""
    return "0" if grade == 0 else "below 0.001" if grade < 0.001 else f"{grade:.3f}"


def spread(grades: Range) -> str:
    """Median and range of an exploitability."""
    middle, low, high = grades
    return number(middle) if low == high else f"{number(middle)} ({number(low)} to {number(high)})"


def near_in_words(each: Baseline) -> str:
    """After how many steps it was near perfect play: median and range."""
    reached = [at for at in each.near if at is not None]
    if len(reached) < len(each.near):
        return f"{len(reached)} of {len(each.near)} seeds" if reached else "no seed"
    middle, low, high = ranged(reached)
    return f"{middle:,.0f}" if low == high else f"{middle:,.0f} ({low:,} to {high:,})"
