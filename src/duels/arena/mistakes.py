"""The worst decisions in a report, as sentences and as boards."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from html import escape
from itertools import islice
from math import isclose
from typing import Any

from duels.arena.tables import Items, render_heading
from duels.core.errors import BadOption
from duels.core.rules import AnyRules, AnySight
from duels.players.text_player import Mirror
from duels.solving.oracle import BELOW_THE_MIXTURE

_MAX_BEST = 3  # best actions in a sentence
_ROUNDING = 1e-9  # the difference between equal shortfalls


@dataclass(frozen=True)
class RunMistake:
    """A player's mistake at a position, with the best actions."""

    player: str
    played: str
    best: tuple[str, ...]
    position: str
    sight: AnySight
    shortfall: float
    measure: str
    """The oracle's measure of `shortfall`."""
    probability: float = 1.0
    """The probability of the action. If it is below 1, `shortfall` is the mean over the player's policy."""
    times: int = 1
    """How often it occurs in a run, or in how many positions of a probe, including mirror images."""

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
        return f"{self.player} played {self.played}{'' if self._is_certain else f' ({self.probability:.0%})'}"

    @property
    def _is_certain(self) -> bool:
        return isclose(self.probability, 1.0)

    def _describe_cost(self) -> str:
        best = " or ".join(self.best[:_MAX_BEST])
        is_mixed = self.measure == BELOW_THE_MIXTURE
        label = "Highest estimate" if is_mixed else "Best"
        cost = "points worse than the mixed strategy" if is_mixed else "points given away"
        average = "" if self._is_certain else " on average"
        mirrored = ", including mirror images" if _find_mirror(self.sight.rules) else ""
        repeated = f" Made {self.times} times{mirrored}." if self.times > 1 else ""
        return f"{100 * self.shortfall:.1f} {cost}{average}. {label}: {best}.{repeated}"


class MistakeBoards(Items):
    """Mistakes with a title: a list on a terminal, boards in HTML."""

    def render_html(self) -> str:
        figures = "".join(each.render_figure() for each in self.items if isinstance(each, RunMistake))
        return f'{render_heading(self.title)}<div class="boards">{figures}</div>' if figures else ""


class WorstMistakes:
    """Collects the worst mistakes, up to `limit`. Mirror images count as one mistake.

    Mistakes must be added from the largest to the smallest.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._mistakes: dict[tuple[str, str], RunMistake] = {}

    @property
    def mistakes(self) -> list[RunMistake]:
        return sorted(self._mistakes.values(), key=rank_mistake)[: self._limit]

    def is_settled(self, shortfall: float) -> bool:
        """Whether mistakes with this shortfall, or a smaller one, cannot change the list."""
        last = next(islice(self._mistakes.values(), self._limit - 1, None), None)
        return last is not None and shortfall < last.shortfall - _ROUNDING

    def add(self, mistake: RunMistake) -> None:
        """Add a mistake, or increase the count of an equal one."""
        key = min(_iter_mirror_keys(mistake))
        first = self._mistakes.get(key)
        self._mistakes[key] = replace(first, times=first.times + mistake.times) if first else mistake


def rank_mistake(mistake: RunMistake) -> tuple[float, int]:
    """Return a sort key: the worst mistakes come first, and among equals the most frequent."""
    return -round(mistake.shortfall / _ROUNDING), -mistake.times


def _iter_mirror_keys(mistake: RunMistake) -> Iterator[tuple[str, str]]:
    """Yield the position and action of a mistake, and the same for its mirror image if there is one."""
    sight, rules = mistake.sight, mistake.sight.rules
    yield mistake.position, mistake.played
    if mirror := _find_mirror(rules):
        action = rules.parse(mistake.played)
        yield rules.format_position(mirror.sight(sight)), rules.format(mirror.action(action))


def _find_mirror(rules: AnyRules) -> Mirror | None:
    try:
        return Mirror.from_rules(rules)
    except BadOption:
        return None


def measure_key(measure: str) -> str:
    """Return the name of a measure in JSON keys."""
    return "below_mixture" if measure == BELOW_THE_MIXTURE else "loss"


def measure_label(measure: str) -> str:
    """Return the name of a measure in tables."""
    return "shortfall" if measure == BELOW_THE_MIXTURE else "loss"


def explain_measure(measure: str) -> str:
    """Explain the shortfall to readers of a report; empty for losses, which need no explanation."""
    if measure != BELOW_THE_MIXTURE:
        return ""
    return (
        "Good play is mixed in this game. The shortfall says how much worse a choice is than the mixed "
        "strategy, by estimated values. It is 0 on average for a player that follows the strategy."
    )
