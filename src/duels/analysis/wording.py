"""How values, losses, marks and beliefs are told to people, and what terms of the theory mean."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from duels.core.rules import AnyRules, AnySight
from duels.solving.oracle import Exactness, Value, Verdict

SHADES = " ░▒▓█"
MIN_SHOWN = 0.0005
"""Less is shown as 0.0 points."""
MAX_NAMED = 3
"""Right actions that are named after a wrong one."""

EQUALLY_GOOD = "All actions are equally good."
"""Said where it does not matter what is played, and the match is open."""

ALREADY_LOST = "Lost already."
"""The same, where a match was lost though nobody knew."""


@dataclass(frozen=True)
class Mark:
    """The name of a decision that gave away up to `most` of winning probability."""

    name: str
    most: float


ONLY_MOVE, RARE = "only move", "rare"
RARE_EXPLANATION = f"{RARE.capitalize()}: what the strategy seldom takes."
# In order; the last takes whatever is worse.
MARKS = (
    Mark("best", MIN_SHOWN),
    Mark("good", 0.02),
    Mark("inaccuracy", 0.05),
    Mark("mistake", 0.15),
    Mark("blunder", 1.0),
)
MISTAKES = MARKS[2:]
"""The marks of decisions that count as mistakes."""


def name_action(sight: AnySight, action: Any) -> str:
    """An action as the game's words have it, or where it has none in notation."""
    words = sight.rules.game.find("words", "WORDS")
    name: str = words(sight.rules).name_action(sight, action) if words else sight.rules.format(action)
    return name


def is_loss(loss: float) -> bool:
    """Whether a loss is one, and not what rounding leaves."""
    return loss > MARKS[0].most


def get_mark_name(loss: float) -> str:
    """The name of a decision that gave away `loss`."""
    return next(mark.name for mark in MARKS if loss <= mark.most or mark is MARKS[-1])


def format_percent(value: Value) -> str:
    """A value with how sure it is: `50.0%`, `about 50.0%`, `50.0% ± 0.2 points`."""
    if value.exactness is Exactness.BOUND:
        number, bound = format_bounded(value.number, value.error, 3 if value.error < 0.001 else 1)
        return f"{number}% ± {_in_points(bound)}"
    return str(value)


def chance(value: Value, rules: AnyRules) -> str:
    """A value in a bracket: `50.0% to win`; where a match can be drawn, it is `worth 50.0%`.

    Without a proven bound, unless that changes a digit.
    """
    return f"worth {value}" if rules.can_be_drawn else f"{value} to win"


def gets(value: Value, rules: AnyRules) -> str:
    """The same after an action or a player: `wins 50.0%`, `is worth 50.0%`."""
    return f"{'is worth' if rules.can_be_drawn else 'wins'} {format_percent(value)}"


def format_chance_label(whom: str, rules: AnyRules) -> str:
    """What the values of a match are, over a column or a curve; `whom`: `you`, `Player 1`."""
    if rules.can_be_drawn:
        return f"The match's worth to {whom}"
    whose = "Your" if whom == "you" else f"{whom}'s"
    return f"{whose} chance to win"


def describe_exactness(value: Value) -> str:
    """How sure a value is: `exact`, `an estimate`, `proven to within 0.2 points`."""
    if value.exactness is Exactness.EXACT:
        return "exact"
    if value.exactness is Exactness.BOUND:
        return f"proven to within {at_most(value.error)}"
    return "an estimate"


def format_points(loss: float, exactness: Exactness, error: float = 0.0) -> str:
    """A difference of winning probabilities; a point is 1% to win.

    The error is told where it changes a digit that is shown.
    """
    if error >= MIN_SHOWN:
        return " ± ".join(format_bounded(loss, error, 1)) + " points"
    return f"{'about ' if exactness is Exactness.ESTIMATE else ''}{100 * loss:.1f} points"


def format_bounded(number: float, error: float, digits: int) -> tuple[str, str]:
    """A number and its bound in points; the bound is rounded up and covers the rounding of the number."""
    shown = round(100 * number, digits)
    bound = 100 * error + abs(shown - 100 * number)
    return f"{shown:.{digits}f}", f"{math.ceil(round(bound * 10**digits, 6)) / 10**digits:g}"


def at_most(error: float) -> str:
    """A bound in points, rounded up so that it stays true."""
    return _in_points(format_bounded(0.0, error, 3)[1])


def _in_points(bound: str) -> str:
    return f"{bound} point{'s' * (bound != '1')}"


def describe_equal_actions(verdict: Verdict[Any]) -> str:
    """A sentence where it does not matter what is played; empty where it does, or there is no choice."""
    if not verdict.is_indifferent or len(verdict.actions) == 1:
        return ""
    if verdict.value.high < MIN_SHOWN:
        return "All actions lose alike."
    if verdict.value.low > 1 - MIN_SHOWN:
        return "All actions win alike."
    return EQUALLY_GOOD


# -- beliefs -----------------------------------------------------------------------------------------

_NUMBERED = re.compile(r"(.+) ([0-9]+)")


def format_belief(belief: Mapping[str, float]) -> str:
    """A shade for each numbered place, then every probability; empty without a belief."""
    if not belief:
        return ""
    return f"{render_shades(belief)}  {format_probabilities(belief)}".lstrip() + "\n"


def format_probabilities(belief: Mapping[str, float]) -> str:
    """Every place with its probability: `1: 25%, 2: 75%`."""
    return ", ".join(f"{_label(name)}: {100 * p:.0f}%" for name, p in belief.items())


def _label(name: str) -> str:
    numbered = _NUMBERED.fullmatch(name)
    return numbered[2] if numbered else name


def render_shades(belief: Mapping[str, float], truth: str = "") -> str:
    """A box for each numbered place, the darker the likelier; the true one in round brackets."""
    shades = {
        name: SHADES[round(dark * (len(SHADES) - 1))] for name, dark in compute_darkness(belief).items()
    }
    return "".join(f"({shade})" if name == truth else f"[{shade}]" for name, shade in shades.items())


def compute_darkness(belief: Mapping[str, float]) -> dict[str, float]:
    """How dark to draw each numbered place: 1 for the likeliest."""
    places = {name: p for name, p in belief.items() if _NUMBERED.fullmatch(name)}
    most = max(places.values(), default=0.0) or 1.0
    return {name: p / most for name, p in places.items()}


# -- terms -------------------------------------------------------------------------------------------

_MEANINGS = {
    "nim-sum": "Nim-sum: every run is worth a number, and these are added in binary without carrying. "
    "Whoever leaves 0 wins.",
    "strategy": "The strategy: the best play that was computed for this game.",
    "mixture": "The mixture: which actions it takes by chance, and how often, so that nobody can foresee it.",
}


def get_definition(term: str) -> str:
    """What a term means, in a sentence or two."""
    return _MEANINGS[term]


class Glossary:
    """Remembers which terms somebody has been told the meaning of."""

    def __init__(self) -> None:
        self._told: set[str] = set()

    def explain(self, text: str) -> str:
        """The text, and below it what the terms mean that it uses for the first time."""
        new = [term for term in _MEANINGS if term in text and term not in self._told]
        self._told.update(new)
        end = "\n" if text.endswith("\n") else ""
        return "\n".join([text.removesuffix("\n"), *(f"({_MEANINGS[term]})" for term in new)]) + end
