"""The exploitability of agents that learn, over several seeds, because one seed says little."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from statistics import median
from typing import Any

from duels.analysis.exploitability import exploitability_bounds
from duels.core.errors import DuelsError, require_extra
from duels.core.features import TRUNCATION, ends_in_draw
from duels.core.game import Game
from duels.core.options import OptionValue
from duels.core.rules import AnyRules
from duels.core.validation import as_int
from duels.games import resolve_rules
from duels.solving.oracle import Bounds

with require_extra("vector"):
    import numpy as np
    from numpy.typing import DTypeLike

    from duels.analysis.agents import Agent, Policy, policy_of, table_of
    from duels.solving.tables import has_tables


@dataclass(frozen=True)
class Spread:
    """The exploitabilities of agents, one for each seed; as text, their median and range.

    `highs` are upper bounds, which `median`, `best` and `worst` use; `lows` are lower bounds. They are equal
    except on hunt's whole board.
    """

    highs: tuple[float, ...]
    lows: tuple[float, ...]

    @property
    def median(self) -> float:
        """The median exploitability."""
        return median(self.highs)

    @property
    def best(self) -> float:
        """The lowest exploitability."""
        return min(self.highs)

    @property
    def worst(self) -> float:
        """The highest exploitability."""
        return max(self.highs)

    def __str__(self) -> str:
        seeds = f"{len(self.highs)} seed{'s' if len(self.highs) > 1 else ''}"
        low, middle = f"{median(self.lows):.4f}", f"{self.median:.4f}"
        if low != middle:  # the median lies between those of the bounds
            middle = f"between {low} and {middle}"
        return f"{middle} ({min(self.lows):.4f} to {self.worst:.4f}, {seeds})"


def exploitability_over_seeds(
    learn: Callable[[int], Agent],
    game: str | Game | AnyRules,
    seeds: int | Iterable[int] = 5,
    *,
    batch: bool = True,
    limit_ends: str = TRUNCATION,
    memory: int = 0,
    dtype: DTypeLike = np.float32,
    **options: OptionValue,
) -> Spread:
    """Grade the agents that `learn` returns for several seeds, or for the first `seeds` seeds from 0.

    `learn` takes a seed and returns an agent: a function of arrays of observations and masks; with
    `batch=False`, of one observation and its mask. `limit_ends`, `memory` and `dtype` are those of its
    environments, as in `duels.table_of` and `duels.policy_of`. Every agent is graded by
    `duels.exploitability_bounds`: exactly, except on hunt's whole board, where it takes up to a minute.
    Raises DuelsError if the seeds are invalid or an agent cannot be graded.

    >>> import duels
    >>> def learn(seed):
    ...     return lambda observations, masks: masks.argmax(axis=1)
    >>> print(duels.exploitability_over_seeds(learn, "lights", seeds=2))
    0.5000 (0.5000 to 0.5000, 2 seeds)
    """
    rules = resolve_rules(game, **options)
    settings: dict[str, Any] = {"batch": batch, "limit_ends": limit_ends, "dtype": dtype}
    # A table cannot represent the past nor, in games with hidden information, the clock.
    hides_clock = rules.has_hidden_information and ends_in_draw(limit_ends)
    needs_policy = memory or not has_tables(rules) or hides_clock

    def grade(agent: Agent) -> Bounds:
        policy: Policy = (
            policy_of(agent, rules, memory=memory, **settings)
            if needs_policy
            else table_of(agent, rules, **settings)
        )
        return exploitability_bounds(policy, rules)

    numbers = _parse_seeds(seeds)
    # Fail before the training if agents cannot be graded.
    grade(lambda observations, masks: masks.argmax(axis=-1))
    grades = [grade(learn(seed)) for seed in numbers]
    return Spread(tuple(bounds.high for bounds in grades), tuple(bounds.low for bounds in grades))


def _parse_seeds(seeds: int | Iterable[int]) -> list[int]:
    count = as_int(seeds)
    if count is not None:
        seeds = range(count)
    if not isinstance(seeds, Iterable):
        raise DuelsError(f"'seeds' must be a number or whole numbers such as range(5), not {seeds!r}.")
    numbers = list(seeds)
    if not numbers:
        raise DuelsError("'seeds' must contain at least one seed.")
    if any(as_int(seed) is None for seed in numbers):
        raise DuelsError(f"'seeds' must be whole numbers, not {numbers!r}.")
    return numbers
