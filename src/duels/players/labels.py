"""Other names for the cells of a board, against what was learned by heart: `1-2` may be called `K-T`.

Cells that lie in a row and are numbered can go by any names, in notation and on the board alike: a game says
how many it has (`labels.cells`), and all else follows. Where numbers mean more than a place, they cannot.
"""

import re
from dataclasses import dataclass
from random import Random
from typing import Any

from duels.core.errors import BadOption, NotationError, quote
from duels.core.rules import Rules

_LETTERS = "BCDFGHJKLMNPRSTVWZ"  # not X and O, which boards show, nor vowels, of which words might come
_NUMBER = re.compile(r"(?<!Player )\b[0-9]+\b")


@dataclass(frozen=True)
class Labels:
    """The names of the cells under some rules, from left to right; the same in every run."""

    rules: Rules[Any, Any, Any]
    names: tuple[str, ...]

    @classmethod
    def of(cls, rules: Rules[Any, Any, Any]) -> "Labels":
        """Names for the cells of a game; BadOption where they cannot have others."""
        count = rules.game.find("labels", "cells")
        if count is None:
            raise BadOption(f"{rules.name} has no cells that are places in a row, so none can be renamed.")
        cells = count(rules)
        if cells > len(_LETTERS):
            raise BadOption(f"at most {len(_LETTERS)} cells can go by other names, not {cells}.")
        return cls(rules, tuple(Random(f"labels {rules.name} {cells}").sample(_LETTERS, cells)))

    def renamed(self, text: str) -> str:
        """A board or a line of notation in these names."""
        return _NUMBER.sub(lambda found: self.names[int(found[0]) - 1], text)

    def format(self, action: Any) -> str:
        """An action in these names."""
        return self.renamed(self.rules.format(action))

    def parse(self, text: str) -> Any:
        """Read an action in these names; NotationError if it is in others."""
        numbers = {name: str(place) for place, name in enumerate(self.names, start=1)}
        words = re.split(r"([^A-Za-z0-9]+)", text.strip())
        if any(word.isdecimal() for word in words):
            raise NotationError(f"{quote(text)} has a number in it; the places are {', '.join(self.names)}.")
        try:
            return self.rules.parse("".join(numbers.get(word.upper(), word) for word in words))
        except NotationError:
            raise NotationError(
                f"{quote(text)} is no action; the places are {', '.join(self.names)}."
            ) from None

    @property
    def legend(self) -> str:
        """What a player is told about the names."""
        return (
            f"The places go by other names here, from left to right: {', '.join(self.names)}. "
            f"What the rules call 1 is {self.names[0]}, and so on. Use these names, not numbers."
        )
