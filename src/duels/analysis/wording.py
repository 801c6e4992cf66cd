"""Formatting of values, losses, marks and beliefs, and definitions of terms."""

import math
import re
from collections.abc import Mapping
from typing import Any

from duels.core.rules import AnyRules, AnySight
from duels.solving.oracle import Exactness, Value, Verdict

MIN_SHOWN = 0.0005
"""Smaller losses are shown as 0.0 points."""
MAX_NAMED = 3
"""The maximum number of best actions listed after a mistake."""

EQUALLY_GOOD = "All actions are equally good."
ALREADY_LOST = "Already lost."
"""The comment on a decision after an unforeseen loss, of which neither player knew."""

ONLY_MOVE, RARE = "only move", "rare"
RARE_EXPLANATION = f"{RARE.capitalize()}: the strategy seldom plays this."
MISTAKE_NAMES = ("inaccuracy", "mistake", "blunder")
MAX_LOSSES = {"best": MIN_SHOWN, "good": 0.02, "inaccuracy": 0.05, "mistake": 0.15, "blunder": 1.0}
"""The marks of decisions, each with the largest loss that it covers: a mistake loses more than 0.05."""


_FREQUENCIES = {
    0.0: "hardly ever",
    0.1: "about 1 game in 10",
    0.25: "about 1 game in 4",
    1 / 3: "about 1 game in 3",
    0.5: "about every second game",
    2 / 3: "about 2 games in 3",
    0.75: "about 3 games in 4",
    0.9: "about 9 games in 10",
    1.0: "nearly always",
}
"""Words for the share of games that a position wins."""


def name_action(sight: AnySight, action: Any) -> str:
    """Name an action in the game's words, or in notation if the game has none."""
    words = sight.rules.game.find("words", "WORDS")
    name: str = words(sight.rules).name_action(sight, action) if words else sight.rules.format(action)
    return name


def label_action(sight: AnySight, action: Any) -> str:
    """Return a noun for an action, for sentences about it: `light 1`."""
    words = sight.rules.game.find("words", "WORDS")
    label: str = words(sight.rules).label_action(sight, action) if words else sight.rules.format(action)
    return label


def is_loss(loss: float) -> bool:
    """Whether a loss is more than a rounding error."""
    return loss > MIN_SHOWN


def get_mark_name(loss: float) -> str:
    """Return the name of the mark for a loss."""
    return next((mark for mark, max_loss in MAX_LOSSES.items() if loss <= max_loss), MISTAKE_NAMES[-1])


def format_percent(value: Value) -> str:
    """Format a value with its certainty: `50.0%`, `about 50.0%`, `50.0% ± 0.2 points`."""
    if value.exactness is Exactness.BOUND and value.error < 1:  # a larger error means that nothing is proven
        number, bound = format_bounded(value.number, value.error, 3 if value.error < 0.001 else 1)
        return f"{number}% ± {_add_unit(bound)}"
    return str(value)


def format_chance(value: Value, rules: AnyRules) -> str:
    """Format a value for a parenthesis: `50.0% to win`, or `worth 50.0%` if the game can be drawn.

    A proven bound is left out.
    """
    return f"worth {value}" if rules.can_be_drawn else f"{value} to win"


def describe_winning(value: Value, rules: AnyRules) -> str:
    """Describe a value by a predicate: `wins`, `loses`, `draws`, or `wins about 2 games in 3`."""
    if value.low > 1 - MIN_SHOWN or value.high < MIN_SHOWN:
        return "wins" if value.number > 0.5 else "loses"
    if rules.can_be_drawn:
        return "draws" if value.number == 0.5 else f"is worth about {round(100 * value.number)}%"
    nearest = min(_FREQUENCIES, key=lambda share: abs(share - value.number))
    return f"wins {_FREQUENCIES[nearest]}"


def describe_exactness(value: Value) -> str:
    """Return `exact`, `an estimate` or `proven to within 0.2 points`."""
    if value.exactness is Exactness.EXACT:
        return "exact"
    if value.exactness is Exactness.BOUND:
        # The bound is rounded up, so that it stays true.
        return f"proven to within {_add_unit(format_bounded(0.0, value.error, 3)[1])}"
    return "an estimate"


def format_points(loss: float, exactness: Exactness, error: float = 0.0) -> str:
    """Format a difference in winning probability; a point is 1%. The error is shown if it changes a digit."""
    if error >= MIN_SHOWN:
        return " ± ".join(format_bounded(loss, error, 1)) + " points"
    return f"{'about ' if exactness is Exactness.ESTIMATE else ''}{100 * loss:.1f} points"


def format_bounded(number: float, error: float, digits: int) -> tuple[str, str]:
    """Format a number and its bound in points; the bound also covers the rounding of the number."""
    rounded = round(100 * number, digits)
    bound = 100 * error + abs(rounded - 100 * number)
    return f"{rounded:.{digits}f}", f"{math.ceil(round(bound * 10**digits, 6)) / 10**digits:g}"


def _add_unit(bound: str) -> str:
    return f"{bound} point{'s' * (bound != '1')}"


def describe_equal_actions(verdict: Verdict[Any]) -> str:
    """Say that all actions are equally good; empty if they are not, or if there is only one."""
    if not verdict.is_indifferent or len(verdict.actions) == 1:
        return ""
    if verdict.value.high < MIN_SHOWN:
        return "Every move loses against perfect play."
    return "Every move wins with perfect play." if verdict.value.low > 1 - MIN_SHOWN else EQUALLY_GOOD


# -- beliefs -----------------------------------------------------------------------------------------

_NUMBERED = re.compile(r".+ [0-9]+")
_SHADES = " ░▒▓█"


def format_belief(belief: Mapping[str, float]) -> str:
    """Return a shade for each numbered place, then every probability; empty without a belief."""
    if not belief:
        return ""
    return f"{render_shades(belief)}  {format_probabilities(belief)}".lstrip() + "\n"


def format_probabilities(belief: Mapping[str, float]) -> str:
    """List every place with its probability: `1: 25%, 2: 75%`."""
    labels = {name: name.rsplit(" ", 1)[-1] if _NUMBERED.fullmatch(name) else name for name in belief}
    return ", ".join(f"{labels[name]}: {100 * p:.0f}%" for name, p in belief.items())


def render_shades(belief: Mapping[str, float], truth: str = "") -> str:
    """Return a box for each numbered place, darker if likelier. Round brackets mark the true place."""
    steps = len(_SHADES) - 1
    shades = {name: _SHADES[round(dark * steps)] for name, dark in compute_darkness(belief).items()}
    return "".join(f"({shade})" if name == truth else f"[{shade}]" for name, shade in shades.items())


def compute_darkness(belief: Mapping[str, float]) -> dict[str, float]:
    """Return the darkness of each numbered place, 1 for the likeliest."""
    cells = {name: p for name, p in belief.items() if _NUMBERED.fullmatch(name)}
    largest = max(cells.values(), default=0.0) or 1.0
    return {name: p / largest for name, p in cells.items()}


# -- terms -------------------------------------------------------------------------------------------

DEFINITIONS = {
    "nim-sum": "Nim-sum: every run is worth a number, and these are added in binary without carrying. "
    "The player who leaves 0 wins.",
    "strategy": "The strategy: the best play that was computed for this game.",
    "mixture": "The mixture: the actions that the strategy chooses from at random, with their probabilities, "
    "so that nobody can predict it.",
}


class Glossary:
    """Defines each term once, below the first text that uses it."""

    def __init__(self) -> None:
        self._defined: set[str] = set()

    def explain(self, text: str) -> str:
        """Append the definitions of the terms that `text` uses for the first time."""
        new = [term for term in DEFINITIONS if term in text and term not in self._defined]
        self._defined.update(new)
        return "\n".join([text, *(f"({DEFINITIONS[term]})" for term in new)])
