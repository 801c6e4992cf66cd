"""What learning comes to over several seeds: one says little."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from statistics import median
from typing import Any

from duels.analysis.agents import Agent, policy_of, table_of
from duels.analysis.exploitability import Policy, exploitability, exploitability_bounds
from duels.core.errors import DuelsError
from duels.core.extras import extra
from duels.core.features import TRUNCATION, limit_draws
from duels.core.game import Game
from duels.core.options import OptionValue
from duels.core.rules import Rules
from duels.games import rules_of

with extra("vector"):
    import numpy as np
    from numpy.typing import DTypeLike


@dataclass(frozen=True)
class Spread:
    """The exploitabilities of what was learned, a number for each seed; as text, their median and range."""

    each: tuple[float, ...]

    @property
    def median(self) -> float:
        """The one in the middle."""
        return median(self.each)

    @property
    def best(self) -> float:
        """That of the seed which came closest to perfect play."""
        return min(self.each)

    @property
    def worst(self) -> float:
        """That of the seed which stayed farthest from it."""
        return max(self.each)

    def __str__(self) -> str:
        seeds = f"{len(self.each)} seed{'s' if len(self.each) > 1 else ''}"
        return f"{self.median:.4f} ({self.best:.4f} to {self.worst:.4f}, {seeds})"


def over_seeds(
    learn: Callable[[int], Agent],
    game: str | Game | Rules[Any, Any, Any],
    seeds: Iterable[int] = range(5),
    *,
    batch: bool = True,
    limit_ends: str = TRUNCATION,
    memory: int = 0,
    dtype: DTypeLike = np.float32,
    **options: OptionValue,
) -> Spread:
    """How far from perfect play is what `learn` learns, over several seeds, each exactly.

    `learn` is called with a seed and gives an agent: a function of observations and masks, a row each; with
    `batch=False`, of one observation and its mask. It is shown what it was in its environments: `limit_ends`,
    `memory` and `dtype` are those of `duels.table_of` and `duels.policy_of`.
    """
    rules = rules_of(game, **options)
    shown: dict[str, Any] = {"batch": batch, "limit_ends": limit_ends, "dtype": dtype}
    # The table of an agent knows nothing of the past nor, in games with secrets, of the clock.
    untabled = memory or (rules.has_secrets and limit_draws(limit_ends))

    def policy(agent: Agent) -> Policy:
        if untabled:
            return policy_of(agent, rules, memory=memory, **shown)
        return table_of(agent, rules, **shown)

    # What cannot be graded is refused before anything is learned.
    exploitability_bounds(policy(lambda seen, masks: masks / masks.sum(-1, keepdims=True)), rules)
    grades = tuple(exploitability(policy(learn(seed)), rules) for seed in seeds)
    if not grades:
        raise DuelsError("There is no spread over no seeds.")
    return Spread(grades)
