"""Decisions that fell far short of the best, as a report tells and shows them."""

from dataclasses import dataclass
from html import escape
from math import isclose
from typing import Any

from duels.analysis.shortfalls import BELOW_THE_MIXTURE
from duels.core.rules import Sight

_MOST_NAMED = 3  # best actions, where many are equally good


@dataclass(frozen=True)
class Mistake:
    """An action that fell short, where, and what was best."""

    player: str
    played: str
    best: tuple[str, ...]
    position: str
    sight: Sight[Any, Any]
    shortfall: float
    measure: str
    """What `shortfall` is: `given away` or `below the mixture`."""
    often: float = 1.0
    """How often the player took the action there; if not always, `shortfall` is the mean of all it did."""

    def as_data(self) -> dict[str, Any]:
        """As JSON has it."""
        key = key_of(self.measure)
        told = {"player": self.player, "position": self.position, "played": self.played}
        return {**told, "best": list(self.best), key: self.shortfall}

    def __str__(self) -> str:
        """In one line."""
        return f"{self._did()} at {self.position}: {self._told()}"

    def figure(self) -> str:
        """As a board with a caption, in HTML."""
        rules = self.sight.rules
        told = f"{self._did()}: {self._told()}"
        drawn = rules.game.drawing(rules).draw(self.sight)
        return f"<figure>{drawn}<figcaption>{escape(told)}</figcaption></figure>"

    def _did(self) -> str:
        return f"{self.player} played {self.played}{'' if self._always else f' ({self.often:.0%})'}"

    @property
    def _always(self) -> bool:
        return isclose(self.often, 1.0)

    def _told(self) -> str:
        best = " or ".join(self.best[:_MOST_NAMED])
        label = "Highest estimate" if self.measure == BELOW_THE_MIXTURE else "Best"
        points = f"{100 * self.shortfall:.1f} points {self.measure}{'' if self._always else ' on average'}"
        return f"{points}. {label}: {best}."


def key_of(measure: str) -> str:
    """What shortfalls by this measure are called in data."""
    return "below_mixture" if measure == BELOW_THE_MIXTURE else "loss"


def name_of(measure: str) -> str:
    """What they are called in tables."""
    return BELOW_THE_MIXTURE if measure == BELOW_THE_MIXTURE else "loss"


def said_of(measure: str) -> str:
    """What a report adds in a game that is graded by this measure; may be empty."""
    if measure != BELOW_THE_MIXTURE:
        return ""
    return (
        "The strategy mixes here, so hardly anything is a loss. Graded is how far choices lie below the "
        "mixture: 0 on average for whoever mixes like the strategy, by estimated values."
    )
