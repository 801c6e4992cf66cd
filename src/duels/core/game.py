"""A game as everything outside its own room knows it: a name, and doors to its rules, words and the rest.

Only `rules` and `words` must be there. A game without one of the others gets a default that is derived from
those two, so that rules handed in from anywhere work wherever our own do.
"""

import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

from duels.core.errors import DuelsError, UnknownName, quote

if TYPE_CHECKING:  # every command passes here, and most need none of it
    from duels.core.drawing import Drawing
    from duels.core.features import Encoding
    from duels.core.options import OptionValue
    from duels.core.rules import AnyRules, AnySight
    from duels.core.words import Words


NAME = re.compile("[a-z][a-z0-9_-]*")


@dataclass(frozen=True)
class Game:
    """One game. Doors are opened when they are needed, and not before."""

    name: str
    title: str
    summary: str
    package: str
    """Where the doors are: a package with modules `rules`, `words` …, or one module that holds them all."""

    def __post_init__(self) -> None:
        if not NAME.fullmatch(self.name):
            raise DuelsError(
                f"A game's name is lower-case letters, digits, - and _, and begins with a letter, "
                f"not {quote(self.name)}."
            )

    def rules(self, **options: "OptionValue") -> "AnyRules":
        """The rules; without options, the book's game."""
        from duels.core.options import list_options

        kind = self.rules_class()
        known = [option.name for option in list_options(kind)]
        for name in options:
            if name not in known:
                has = f"it has {', '.join(known)}" if known else "it has none"
                raise UnknownName(f"{self.name} has no option {quote(name)}; {has}.")
        return kind(**options)

    def rules_class(self) -> "type[AnyRules]":
        """The class of the rules: `RULES` in the door `rules`."""
        kind: type[AnyRules] = self._need("rules", "RULES")
        return kind

    def words(self, rules: "AnyRules") -> "Words[Any, Any]":
        """The voice of the game, for these rules: `WORDS` in the door `words`."""
        words: Words[Any, Any] = self._need("words", "WORDS")(rules)
        return words

    def greedy(self, rules: "AnyRules") -> "Callable[[AnySight, Any], float]":
        """A one-ply score of an action from what the seat knows, the higher the better: `GREEDY`."""
        score: Callable[[AnySight, Any], float] = (self.find("greedy", "GREEDY") or _one_ply)(rules)
        return score

    def encoding(self, rules: "AnyRules") -> "Encoding":
        """What a program is shown of a view, as numbers: `features(rules)` in the door `features`."""
        from duels.core.features import Encoding, discover_features

        return Encoding((self.find("features", "features") or discover_features)(rules))

    def drawing(self, rules: "AnyRules") -> "Drawing[Any, Any]":
        """What the board looks like: `DRAWING` in the door `drawing`."""
        make = self.find("drawing", "DRAWING")
        if make is None:
            from duels.core.drawing import TextDrawing

            return TextDrawing(self.words(rules))
        drawing: Drawing[Any, Any] = make(rules)
        return drawing

    def card(self) -> str:
        """The rule card: `card.txt` in the package, or what the rules say of themselves."""
        from importlib.resources import files  # slow to import, and few commands show a card
        from inspect import cleandoc

        if self._is_package():
            card = files(self.package).joinpath("card.txt")
            if card.is_file():
                return card.read_text(encoding="utf-8")
        told = cleandoc(self.rules_class().__doc__ or "")
        return f"{self.title}: {self.summary}\n\n{told}\n"

    def find(self, door: str, thing: str) -> Any:
        """`thing` behind a door; None where the game has no such door, or nothing of that name behind it."""
        opened = sys.modules.get(f"{self.package}.{door}")
        if opened:
            return getattr(opened, thing, None)
        module = import_module(self.package)
        if self._is_package():
            try:
                module = import_module(f"{self.package}.{door}")
            except ModuleNotFoundError as missing:
                if missing.name == f"{self.package}.{door}":
                    return None
                raise
        return getattr(module, thing, None)

    def _need(self, door: str, thing: str) -> Any:
        found = self.find(door, thing)
        if found is None:
            raise DuelsError(f"The game {self.name} has no {thing} in {self.package}.{door}.")
        return found

    def _is_package(self) -> bool:
        return hasattr(import_module(self.package), "__path__")


def _one_ply(rules: "AnyRules") -> "Callable[[AnySight, Any], float]":
    """Score an action of a game without GREEDY: 1 if it wins at once, 0 if it loses, else one half."""

    def score(sight: "AnySight", action: Any) -> float:
        if rules.has_secrets:  # what an action brings may depend on what the seat cannot know
            return 0.5
        outcome = rules.outcome(rules.apply(sight.view, action).state)
        return float(outcome.score(sight.seat)) if outcome else 0.5

    return score
