"""What learning comes to over several seeds: one says little."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from statistics import median
from typing import Any

from duels.analysis.agents import Agent, table_of
from duels.analysis.exploitability import exploitability
from duels.core.errors import DuelsError
from duels.core.game import Game
from duels.core.options import OptionValue
from duels.core.rules import Rules
from duels.games import rules_of


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
        return f"{self.median:.4f} ({self.best:.4f} to {self.worst:.4f}, {len(self.each)} seeds)"


def over_seeds(
    learn: Callable[[int], Agent],
    game: str | Game | Rules[Any, Any, Any],
    seeds: Iterable[int] = range(5),
    **options: OptionValue,
) -> Spread:
    """How far from perfect play is what `learn` learns, over several seeds, each exactly.

    `learn` is called with a seed and gives an agent: a function of observations and masks, a row each, as
    `duels.table_of(…, batch=True)` asks it.
    """
    rules = rules_of(game, **options)
    grades = tuple(exploitability(table_of(learn(seed), rules, batch=True), rules) for seed in seeds)
    if not grades:
        raise DuelsError("There is no spread over no seeds.")
    return Spread(grades)
