"""A hint on the terminal in two layers: the advice and what to enter for it; asked again, the reason too."""

from collections.abc import Sequence
from typing import Any

from duels.analysis.hints import Hint, hint
from duels.analysis.wording import Glossary, belief_strip
from duels.core.rules import AnySight
from duels.core.words import Ink, Words
from duels.solving.oracle import Oracle

_AGAIN = "Why: enter hint again."


class HintLayers:
    """Remembers which decision a hint was last asked for, and which terms were explained."""

    def __init__(self, glossary: Glossary | None = None) -> None:
        self._asked: AnySight | None = None
        self._glossary = glossary or Glossary()

    def layer(self, sight: AnySight, advice: str, reason: str) -> str:
        """`advice`; when it is asked again at the same decision, `reason`. Terms are explained once."""
        again, self._asked = self._asked == sight, sight
        return self._glossary.explain(reason if again else advice)

    def text(
        self, sight: AnySight, words: Words[Any, Any], entered: Sequence[str], oracle: Oracle[Any, Any]
    ) -> str:
        """The hint at a prompt for the seat to move, which has `entered` some of its answer."""
        found = hint(sight, oracle)
        advice = _advice(found, sight, words, entered)
        reason = f"{advice} {found.theory}\n{belief_strip(found.belief)}"
        return self.layer(sight, f"{advice} {_AGAIN}\n", reason)


def _advice(found: Hint[Any], sight: AnySight, words: Words[Any, Any], entered: Sequence[str]) -> str:
    enter = _enter(sight, words, found.actions[0], found.best, entered) if found.best else ""
    return f"Hint: {found.what(Ink.CHANGED)} ({found.chance}{enter})."


def _enter(sight: AnySight, words: Words[Any, Any], action: Any, advice: str, entered: Sequence[str]) -> str:
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
