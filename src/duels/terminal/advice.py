"""What an oracle says, in words: values, hints, marks for good and bad decisions."""

from dataclasses import dataclass
from typing import Any

from duels.core.rules import Rules, Sight
from duels.core.words import Ink, either
from duels.solving.oracle import Exactness, Oracle, Value

SHADES = " ░▒▓█"


@dataclass(frozen=True)
class Mark:
    """What a decision is called that gave away up to `most` of winning probability."""

    name: str
    most: float


# In order; the last takes whatever is worse.
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
    text = f"{100 * value.number:.1f}%"
    if value.exactness is Exactness.BOUND:
        return f"{text} ± {100 * value.error:.2g}"
    return f"about {text}" if value.exactness is Exactness.ESTIMATE else text


def how_sure(value: Value) -> str:
    """One phrase on what stands behind a value."""
    if value.exactness is Exactness.EXACT:
        return "exact"
    if value.exactness is Exactness.BOUND:
        return f"proven to within {value.error:.2g}"
    return "an estimate"


def hint(oracle: Oracle[Any, Any], rules: Rules[Any, Any, Any], sight: Sight[Any, Any]) -> str:
    """The best action or actions, their value, and why; from what this seat may know."""
    verdict = oracle.judge(sight)
    names = [rules.format(action) for action in verdict.best]
    shown = names if len(names) <= 8 else [*names[:7], f"{len(names) - 7} more"]
    best = Ink.CHANGED(either(shown))
    value = max((judged.value for judged in verdict.actions if judged.best), key=lambda value: value.number)
    text = f"Hint: {best} ({percent(value)} to win). {oracle.reason(sight)}\n"
    mixed = [judged for judged in verdict.actions if judged.weight and not judged.best]
    if mixed:
        parts = sorted((j for j in verdict.actions if j.weight >= 0.005), key=lambda j: -j.weight)
        shares = ", ".join(f"{rules.format(j.action)} {j.weight:.0%}" for j in parts)
        text += f"Play unpredictably: {shares}.\n"
    return text + belief_strip(oracle.belief(sight))


def belief_strip(belief: dict[str, float]) -> str:
    """Where hidden things may be: a shade and a percentage for each place."""
    if not belief:
        return ""
    places = [p for name, p in belief.items() if name.startswith("cell")]
    most = max(places) or 1.0
    cells = (f"[{_shade(p / most)}]" for p in places)
    numbers = (f"{name.removeprefix('cell ')}: {100 * p:.0f}%" for name, p in belief.items())
    return f"{''.join(cells)}  {', '.join(numbers)}\n"


def _shade(part: float) -> str:
    return SHADES[min(len(SHADES) - 1, round(part * (len(SHADES) - 1)))]
