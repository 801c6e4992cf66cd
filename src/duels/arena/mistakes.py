"""Mistakes in a report: the worst decisions, in words and as boards."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from html import escape
from itertools import islice
from math import isclose
from typing import Any

from duels.arena.tables import Items, render_heading
from duels.core.errors import BadOption
from duels.core.rules import AnyRules, AnySight
from duels.players.model import Mirror
from duels.solving.oracle import BELOW_THE_MIXTURE

_MAX_NAMED = 3  # best actions
_ROUNDING = 1e-9  # the difference between equal shortfalls


@dataclass(frozen=True)
class RunMistake:
    """A mistake: the position, the action, and the best actions."""

    player: str
    played: str
    best: tuple[str, ...]
    position: str
    sight: AnySight
    shortfall: float
    measure: str
    """The meaning of `shortfall`: `given away` or `below the mixture`."""
    often: float = 1.0
    """The probability of the action. Below 1, `shortfall` is the mean over all actions of the player."""
    times: int = 1
    """Occurrences in the logs of a run, or positions of a probe, including mirror images."""

    def as_data(self) -> dict[str, Any]:
        key = measure_key(self.measure)
        data = {"player": self.player, "position": self.position, "played": self.played}
        return {**data, "best": list(self.best), key: self.shortfall, "times": self.times}

    def __str__(self) -> str:
        return f"{self._describe_action()} at {self.position}: {self._describe_cost()}"

    def render_figure(self) -> str:
        rules = self.sight.rules
        to_move = f"{rules.game.words(rules).seat_name(self.sight.seat)} to move."
        caption = f"{to_move} {self._describe_action()}: {self._describe_cost()}"
        drawing = rules.game.drawing(rules).draw(self.sight)
        label = escape(to_move)
        return f'<figure aria-label="{label}">{drawing}<figcaption>{escape(caption)}</figcaption></figure>'

    def _describe_action(self) -> str:
        return f"{self.player} played {self.played}{'' if self._is_certain else f' ({self.often:.0%})'}"

    @property
    def _is_certain(self) -> bool:
        return isclose(self.often, 1.0)

    def _describe_cost(self) -> str:
        best = " or ".join(self.best[:_MAX_NAMED])
        label = "Highest estimate" if self.measure == BELOW_THE_MIXTURE else "Best"
        points = (
            f"{100 * self.shortfall:.1f} points {self.measure}{'' if self._is_certain else ' on average'}"
        )
        mirrored = ", including mirror images" if _find_mirror(self.sight.rules) else ""
        again = f" Made {self.times} times{mirrored}." if self.times > 1 else ""
        return f"{points}. {label}: {best}.{again}"


class MistakeBoards(Items):
    """Mistakes with a title: a list on a terminal, boards in HTML."""

    def render_html(self) -> str:
        figures = "".join(each.render_figure() for each in self.items if isinstance(each, RunMistake))
        return f'{render_heading(self.title)}<div class="boards">{figures}</div>' if figures else ""


class WorstMistakes:
    """The worst mistakes, up to `limit`. Mirror images count as one mistake.

    Mistakes must be added in order, the largest first.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._mistakes: dict[tuple[str, str], RunMistake] = {}

    @property
    def mistakes(self) -> list[RunMistake]:
        return sorted(self._mistakes.values(), key=rank_mistake)[: self._limit]

    def is_settled(self, shortfall: float) -> bool:
        """Whether a mistake with this shortfall cannot change the list any more."""
        last = next(islice(self._mistakes.values(), self._limit - 1, None), None)
        return last is not None and shortfall < last.shortfall - _ROUNDING

    def add(self, mistake: RunMistake) -> None:
        """Add a mistake, or count it again."""
        key = min(_iter_mirror_keys(mistake))
        first = self._mistakes.get(key)
        self._mistakes[key] = replace(first, times=first.times + mistake.times) if first else mistake


def rank_mistake(mistake: RunMistake) -> tuple[float, int]:
    """Return the sort key of a mistake: the worst first, then the most frequent."""
    return -round(mistake.shortfall / _ROUNDING), -mistake.times


def _iter_mirror_keys(mistake: RunMistake) -> Iterator[tuple[str, str]]:
    """Yield the position and action of a mistake, and those of its mirror image if there is one."""
    sight, rules = mistake.sight, mistake.sight.rules
    yield mistake.position, mistake.played
    if mirror := _find_mirror(rules):
        action = rules.parse(mistake.played)
        yield rules.format_position(mirror.sight(sight)), rules.format(mirror.action(action))


def _find_mirror(rules: AnyRules) -> Mirror | None:
    try:
        return Mirror.of(rules)
    except BadOption:
        return None


def measure_key(measure: str) -> str:
    return "below_mixture" if measure == BELOW_THE_MIXTURE else "loss"


def measure_label(measure: str) -> str:
    return BELOW_THE_MIXTURE if measure == BELOW_THE_MIXTURE else "loss"


def explain_measure(measure: str) -> str:
    """Explain a measure that readers may not know; empty for losses."""
    if measure != BELOW_THE_MIXTURE:
        return ""
    return (
        "Good play is a mixture here, so few choices are losses. The grade says how far a choice lies below "
        "the mixture, by estimated values. A player that mixes like the strategy has 0 on average."
    )
