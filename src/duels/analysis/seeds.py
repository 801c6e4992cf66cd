"""What learning comes to over several seeds: one says little."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from statistics import median
from typing import Any

from duels.analysis.agents import Agent, policy_of, table_of
from duels.analysis.exploitability import Policy, exploitability_bounds
from duels.core.errors import DuelsError
from duels.core.extras import extra
from duels.core.features import TRUNCATION, limit_draws
from duels.core.game import Game
from duels.core.options import OptionValue
from duels.core.rules import Rules
from duels.core.validation import as_int
from duels.games import rules_of
from duels.solving.bounds import Bounds

with extra("vector"):
    import numpy as np
    from numpy.typing import DTypeLike

    from duels.solving.game_tables import has_tables


@dataclass(frozen=True)
class Spread:
    """The exploitabilities of what was learned, a number for each seed; as text, their median and range.

    On the whole of hunt only bounds are known: there `each` holds upper bounds, from which `median`, `best`
    and `worst` are taken, and `lows` holds lower bounds. Elsewhere the two are equal.
    """

    each: tuple[float, ...]
    lows: tuple[float, ...]

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
        low, middle = f"{median(self.lows):.4f}", f"{self.median:.4f}"
        if low != middle:  # the median lies between those of the bounds
            middle = f"between {low} and {middle}"
        return f"{middle} ({min(self.lows):.4f} to {self.worst:.4f}, {seeds})"


def over_seeds(
    learn: Callable[[int], Agent],
    game: str | Game | Rules[Any, Any, Any],
    seeds: int | Iterable[int] = 5,
    *,
    batch: bool = True,
    limit_ends: str = TRUNCATION,
    memory: int = 0,
    dtype: DTypeLike = np.float32,
    **options: OptionValue,
) -> Spread:
    """How far from perfect play is what `learn` learns, over several seeds, or over so many from 0 on.

    `learn` is called with a seed and gives an agent: a function of observations and masks, a row each; with
    `batch=False`, of one observation and its mask. It is shown what it was in its environments: `limit_ends`,
    `memory` and `dtype` are those of `duels.table_of` and `duels.policy_of`. Every agent is graded by
    `duels.exploitability_bounds`: exactly, but for the whole of hunt, where it takes up to a minute.
    """
    rules = rules_of(game, **options)
    shown: dict[str, Any] = {"batch": batch, "limit_ends": limit_ends, "dtype": dtype}
    # The table of an agent knows nothing of the past nor, in games with secrets, of the clock.
    untabled = memory or not has_tables(rules) or (rules.has_secrets and limit_draws(limit_ends))

    def grade(agent: Agent) -> Bounds:
        policy: Policy = (
            policy_of(agent, rules, memory=memory, **shown) if untabled else table_of(agent, rules, **shown)
        )
        return exploitability_bounds(policy, rules)

    chosen = _listed(seeds)
    # What cannot be graded is refused before anything is learned.
    grade(lambda seen, masks: masks.argmax(axis=-1))
    grades = [grade(learn(seed)) for seed in chosen]
    return Spread(tuple(found.high for found in grades), tuple(found.low for found in grades))


def _listed(seeds: int | Iterable[int]) -> list[int]:
    count = as_int(seeds)
    if count is not None:
        seeds = range(count)
    if not isinstance(seeds, Iterable):
        raise DuelsError(f"The seeds are whole numbers, such as range(5), or how many, not {seeds!r}.")
    listed = list(seeds)
    if not listed:
        raise DuelsError("There is no spread over no seeds.")
    if any(as_int(seed) is None for seed in listed):
        raise DuelsError(f"The seeds are whole numbers, not {listed!r}.")
    return listed
