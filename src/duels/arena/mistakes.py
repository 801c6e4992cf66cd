"""Decisions that fell far short of the best, as a report tells and shows them."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from html import escape
from itertools import islice
from math import isclose
from typing import Any

from duels.arena.tables import Items, heading
from duels.core.errors import BadOption
from duels.core.rules import AnyRules, AnySight
from duels.players.model import Mirror
from duels.solving.oracle import BELOW_THE_MIXTURE

_MOST_NAMED = 3  # best actions, where many are equally good
_ALIKE = 1e-9  # what the same mistake may differ by, by rounding


@dataclass(frozen=True)
class RunMistake:
    """An action that fell short, where, and what was best."""

    player: str
    played: str
    best: tuple[str, ...]
    position: str
    sight: AnySight
    shortfall: float
    measure: str
    """What `shortfall` is: `given away` or `below the mixture`."""
    often: float = 1.0
    """How often the player took the action there; if not always, `shortfall` is the mean of all it did."""
    times: int = 1
    """How often it is in the logs of a run, which keep the worst decisions of a match, or at how many
    positions of a probe it was made; mirrored or not."""

    def as_data(self) -> dict[str, Any]:
        """As JSON has it."""
        key = key_of(self.measure)
        told = {"player": self.player, "position": self.position, "played": self.played}
        return {**told, "best": list(self.best), key: self.shortfall, "times": self.times}

    def __str__(self) -> str:
        """In one line."""
        return f"{self._did()} at {self.position}: {self._told()}"

    def figure(self) -> str:
        """As a board with a caption, in HTML."""
        rules = self.sight.rules
        to_move = f"{rules.game.words(rules).seat_name(self.sight.seat)} to move."
        told = f"{to_move} {self._did()}: {self._told()}"
        drawn = rules.game.drawing(rules).draw(self.sight)
        label = escape(to_move)
        return f'<figure aria-label="{label}">{drawn}<figcaption>{escape(told)}</figcaption></figure>'

    def _did(self) -> str:
        return f"{self.player} played {self.played}{'' if self._always else f' ({self.often:.0%})'}"

    @property
    def _always(self) -> bool:
        return isclose(self.often, 1.0)

    def _told(self) -> str:
        best = " or ".join(self.best[:_MOST_NAMED])
        label = "Highest estimate" if self.measure == BELOW_THE_MIXTURE else "Best"
        points = f"{100 * self.shortfall:.1f} points {self.measure}{'' if self._always else ' on average'}"
        mirrored = ", mirrored or not" if _mirror_of(self.sight.rules) else ""
        again = f" Made {self.times} times{mirrored}." if self.times > 1 else ""
        return f"{points}. {label}: {best}.{again}"


class Boards(Items):
    """Mistakes under a title: a list at a terminal, boards on a page."""

    def html(self) -> str:
        """The mistakes as boards."""
        figures = "".join(each.figure() for each in self.items if isinstance(each, RunMistake))
        return f'{heading(self.title)}<div class="boards">{figures}</div>' if figures else ""


class Worst:
    """The worst mistakes that are met, so many at most; what is the same but for its mirror image is one.

    Whoever adds them begins with the largest.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._found: dict[tuple[str, str], RunMistake] = {}

    @property
    def mistakes(self) -> list[RunMistake]:
        """The worst of those that were found, in order."""
        return sorted(self._found.values(), key=rank)[: self._most]

    def is_done(self, shortfall: float) -> bool:
        """Whether no mistake that falls so short can change them any more."""
        last = next(islice(self._found.values(), self._most - 1, None), None)
        return last is not None and shortfall < last.shortfall - _ALIKE

    def add(self, mistake: RunMistake) -> None:
        """Keep a mistake, or count it if it is known."""
        key = min(_with_image(mistake))
        known = self._found.get(key)
        self._found[key] = replace(known, times=known.times + mistake.times) if known else mistake


def rank(mistake: RunMistake) -> tuple[float, int]:
    """What mistakes are ordered by: the worst first, and of those alike, the one that was made most often."""
    return -round(mistake.shortfall / _ALIKE), -mistake.times


def _with_image(mistake: RunMistake) -> Iterator[tuple[str, str]]:
    """Where a mistake was made and what was played, and the same on the mirrored board, if there is one."""
    sight, rules = mistake.sight, mistake.sight.rules
    yield mistake.position, mistake.played
    if mirror := _mirror_of(rules):
        action = rules.parse(mistake.played)
        yield rules.format_position(mirror.sight(sight)), rules.format(mirror.action(action))


def _mirror_of(rules: AnyRules) -> Mirror | None:
    try:
        return Mirror.of(rules)
    except BadOption:
        return None


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
