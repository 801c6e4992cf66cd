"""A hint on the terminal: the advice, and what to enter for it."""

from collections.abc import Sequence
from typing import Any

from duels.analysis.hints import hint
from duels.analysis.wording import belief_strip
from duels.core.rules import Sight
from duels.core.words import Ink, Words
from duels.solving.oracle import Oracle


def hint_as_text(
    sight: Sight[Any, Any], words: Words[Any, Any], entered: Sequence[str], oracle: Oracle[Any, Any]
) -> str:
    """The hint for the seat to move; `entered` is what it has entered so far of its answer."""
    found = hint(sight, oracle)
    parts = (found.alike, found.best and Ink.CHANGED(found.best))
    enter = _enter(sight, words, found.actions[0], found.best, entered) if found.best else ""
    advice = ", most quickly ".join(part for part in parts if part)
    told = f"Hint: {advice} ({found.chance}{enter}). {found.reason}\n"
    return told + belief_strip(found.belief)


def _enter(
    sight: Sight[Any, Any], words: Words[Any, Any], action: Any, advice: str, entered: Sequence[str]
) -> str:
    """How to enter the action, where that is not just its name."""
    name = sight.rules.format(action)
    entry = what_to_enter(words.entries(sight, action), entered)
    if entry.lower() == f"enter {name}".lower():
        return ""
    return f"; {entry}" if advice == name else f"; for {name} {entry}"


def what_to_enter(entries: Sequence[str], entered: Sequence[str]) -> str:
    """The entries that an action still takes, where some have been made, maybe others than these."""
    made = [entry.strip().lower() for entry in entered]
    on_the_way = [entry.lower() for entry in entries[: len(made)]] == made
    left = entries[len(made) :] if on_the_way else ("back", *entries)
    return f"enter {', then '.join(left)}"
