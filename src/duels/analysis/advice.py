"""What an oracle says, in words: values, hints, marks for good and bad decisions."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from duels.core.rules import Rules, Sight
from duels.core.words import Ink, Words, either
from duels.solving.oracle import OFTEN, Exactness, Oracle, Value, Verdict

SHADES = " ░▒▓█"
LEAST_SHOWN = 0.0005
"""Less reads 0.0 points."""


@dataclass(frozen=True)
class Mark:
    """What a decision is called that gave away up to `most` of winning probability."""

    name: str
    most: float


# In order; the last takes whatever is worse.
ONLY_MOVE = "only move"
MARKS = (
    Mark("best", 0.0005),
    Mark("good", 0.02),
    Mark("inaccuracy", 0.05),
    Mark("mistake", 0.15),
    Mark("blunder", 1.0),
)


def mark_of(loss: float) -> str:
    """The name for a decision that gave away `loss`."""
    return next(mark.name for mark in MARKS if loss <= mark.most or mark is MARKS[-1])


def percent(value: Value) -> str:
    """A value as a person reads it, with how sure it is."""
    if value.exactness is Exactness.BOUND:
        number, bound = bounded(value.number, value.error, 3 if value.error < 0.001 else 1)
        return f"{number}% ± {_in_points(bound)}"
    text = f"{100 * value.number:.1f}%"
    return f"about {text}" if value.exactness is Exactness.ESTIMATE else text


def how_sure(value: Value) -> str:
    """One phrase on what stands behind a value."""
    if value.exactness is Exactness.EXACT:
        return "exact"
    if value.exactness is Exactness.BOUND:
        return f"proven to within {at_most(value.error)}"
    return "an estimate"


def points(loss: float, exactness: Exactness, error: float = 0.0) -> str:
    """A difference of winning probabilities as a person reads it: a point is 1% to win.

    How far it may be off is told where that changes a digit which is shown.
    """
    if error >= LEAST_SHOWN:
        return " ± ".join(bounded(loss, error, 1)) + " points"
    return f"{'about ' if exactness is Exactness.ESTIMATE else ''}{100 * loss:.1f} points"


def bounded(number: float, error: float, digits: int) -> tuple[str, str]:
    """A number and its bound in points; the bound is rounded up, and covers how the number was rounded."""
    shown = round(100 * number, digits)
    bound = 100 * error + abs(shown - 100 * number)
    return f"{shown:.{digits}f}", f"{math.ceil(round(bound * 10**digits, 6)) / 10**digits:g}"


def at_most(error: float) -> str:
    """A bound in points, rounded up: it stays true."""
    return _in_points(bounded(0.0, error, 3)[1])


def _in_points(bound: str) -> str:
    return f"{bound} point{'s' * (bound != '1')}"


def all_alike(verdict: Verdict[Any]) -> str:
    """What to say where it does not matter what is played; empty where it does, or nothing is to choose."""
    if not verdict.alike or len(verdict.actions) == 1:
        return ""
    if verdict.value.high < 0.0005:
        return "All actions lose alike."
    return "All actions win alike." if verdict.value.low > 0.9995 else "All actions are equally good."


def hint(
    oracle: Oracle[Any, Any],
    rules: Rules[Any, Any, Any],
    sight: Sight[Any, Any],
    words: Words[Any, Any],
    entered: Sequence[str] = (),
) -> str:
    """The best action or actions, their value, what to enter, and why; from what this seat may know.

    `entered` is what the question at hand has been answered with so far.
    """
    verdict = oracle.judge(sight)
    alike = all_alike(verdict).removesuffix(".")
    quicker = any(not judged.weight for judged in verdict.actions)
    advised, enter = alike, ""
    if not alike or quicker:
        advised = (f"{alike}, most quickly " if alike else "") + Ink.CHANGED(what_is_best(rules, verdict))
        taken = max(verdict.actions, key=lambda judged: judged.weight).action
        name = rules.format(taken)
        entry = what_to_enter(words.entries(sight, taken), entered)
        if entry.lower() != f"enter {name}".lower():
            several = verdict.mixed or sum(judged.weight > 0 for judged in verdict.actions) > 1
            enter = f"; for {name} {entry}" if several else f"; {entry}"
    text = f"Hint: {advised} ({percent(verdict.value)} to win{enter}). {oracle.reason(sight)}\n"
    return text + belief_strip(oracle.belief(sight))


def what_to_enter(entries: Sequence[str], entered: Sequence[str]) -> str:
    """The entries that an action still takes, where some have been made, maybe others than these."""
    made = [entry.strip().lower() for entry in entered]
    on_the_way = [entry.lower() for entry in entries[: len(made)]] == made
    left = entries[len(made) :] if on_the_way else ("back", *entries)
    return f"enter {', then '.join(left)}"


def what_is_best(rules: Rules[Any, Any, Any], verdict: Verdict[Any]) -> str:
    """The best actions by name; how often to take which, where it has to be unpredictable."""
    if not verdict.mixed:
        names = [rules.format(judged.action) for judged in verdict.actions if judged.weight]
        return either(names if len(names) <= 8 else [*names[:7], f"{len(names) - 7} more"])
    # What is rare and costs something is no part of the advice.
    parts = [
        judged
        for judged, loss in zip(verdict.actions, verdict.losses, strict=True)
        if judged.weight >= OFTEN or (judged.weight >= 0.005 and not loss)
    ]
    parts.sort(key=lambda judged: -judged.weight)
    rare = [rules.format(j.action) for j in verdict.actions if j.weight >= 0.005 and j not in parts]
    rarely = f", rarely {either(rare)}" if rare else ""
    mixed = ", ".join(f"{rules.format(j.action)} {j.weight:.0%}" for j in parts)
    return (f"mix {mixed}" if len(parts) > 1 else rules.format(parts[0].action)) + rarely


def belief_strip(belief: dict[str, float]) -> str:
    """Where hidden things may be: a shade and a percentage for each place."""
    if not belief:
        return ""
    numbers = (f"{name.removeprefix('cell ')}: {100 * p:.0f}%" for name, p in belief.items())
    return f"{shaded(belief)}  {', '.join(numbers)}\n"


def shaded(belief: dict[str, float], truth: str = "") -> str:
    """A cell for each place, the darker the likelier; the true one in round brackets."""
    shades = {name: SHADES[round(dark * (len(SHADES) - 1))] for name, dark in darkness(belief).items()}
    return "".join(f"({shade})" if name == truth else f"[{shade}]" for name, shade in shades.items())


def darkness(belief: dict[str, float]) -> dict[str, float]:
    """How dark to draw each cell: 1 where the hidden thing is likeliest to be."""
    cells = {name: p for name, p in belief.items() if name.startswith("cell")}
    most = max(cells.values()) or 1.0
    return {name: p / most for name, p in cells.items()}
