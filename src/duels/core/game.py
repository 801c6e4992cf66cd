"""Games: a name, and access to the modules of the game's package.

A game must have the modules `rules` and `words`. The others have defaults that are derived from these two.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

from duels.core.errors import DuelsError, quote

if TYPE_CHECKING:  # every command imports this module, and most need none of these
    from duels.core.drawing import Drawing
    from duels.core.features import Encoding
    from duels.core.options import OptionValue
    from duels.core.rules import AnyRules, AnySight
    from duels.core.words import Words


NAME = re.compile("[a-z][a-z0-9_-]*")
TERMINAL_HEADING = "At the terminal"
"""The heading of a rule card's last section, on how to enter moves."""


@dataclass(frozen=True)
class Game:
    """A game. Its modules are imported when they are first needed.

    Raises DuelsError if the name is not allowed.

    >>> import duels
    >>> game = duels.find_game("leap")
    >>> game.name, game.rules(goal=9)
    ('leap', QuantumLeap(goal=9))
    """

    name: str
    title: str
    summary: str
    package: str
    """The import path of a package with the modules `rules`, `words` and so on, or of a single module."""

    def __post_init__(self) -> None:
        if not NAME.fullmatch(self.name):
            raise DuelsError(
                f"A game's name must begin with a letter and have only lower-case letters, digits, - and _, "
                f"not {quote(self.name)}."
            )

    @property
    def full_title(self) -> str:
        """The title with the name, `Quantum Leap (leap)`, unless the title contains the name."""
        return self.title if self.name in self.title.split() else f"{self.title} ({self.name})"

    def rules(self, **options: "OptionValue") -> "AnyRules":
        """Return the rules, by default those of the book's game.

        Raises UnknownName for an unknown option, and BadOption for a value that is not allowed.
        """
        from duels.core.options import find_option

        rules_class = self.rules_class()
        for name in options:
            find_option(rules_class, name)
        return rules_class(**options)

    def rules_class(self) -> "type[AnyRules]":
        """Return the class of the rules: `RULES` in the module `rules`."""
        rules_class: type[AnyRules] = self._require("rules", "RULES")
        return rules_class

    def words(self, rules: "AnyRules") -> "Words[Any, Any]":
        """Return the words of the game for these rules: `WORDS` in the module `words`."""
        words: Words[Any, Any] = self._require("words", "WORDS")(rules)
        return words

    def greedy(self, rules: "AnyRules") -> "Callable[[AnySight, Any], float]":
        """Return a function that scores an action of a sight: `score_action` in the module `greedy`."""
        return partial(self.find("greedy", "score_action") or _score_one_ply, rules)

    def encoding(self, rules: "AnyRules") -> "Encoding":
        """Return the encoding of observations: `features(rules)` in the module `features`."""
        from duels.core.features import Encoding, discover_features

        return Encoding((self.find("features", "features") or discover_features)(rules))

    def drawing(self, rules: "AnyRules") -> "Drawing[Any, Any]":
        """Return the drawing of the board: `DRAWING` in the module `drawing`."""
        make = self.find("drawing", "DRAWING")
        if make is None:
            from duels.core.drawing import TextDrawing

            return TextDrawing(self.words(rules))
        drawing: Drawing[Any, Any] = make(rules)
        return drawing

    def card(self) -> str:
        """Return the rule card: `card.txt` in the package, or the docstring of the rules."""
        from importlib.resources import files  # slow to import, and few commands show a card
        from inspect import cleandoc

        if self._is_package():
            card = files(self.package).joinpath("card.txt")
            if card.is_file():
                return card.read_text(encoding="utf-8")
        text = cleandoc(self.rules_class().__doc__ or "")
        return f"{self.title}: {self.summary}\n\n{text}\n"

    def rules_text(self) -> str:
        """Return the rule card without the section for people at a terminal."""
        return self.card().partition(f"\n{TERMINAL_HEADING}\n")[0]

    def find(self, module_name: str, name: str) -> Any:
        """Return an attribute of one of the game's modules, or None if there is none."""
        module = import_module(self.package)
        if self._is_package():
            try:
                module = import_module(f"{self.package}.{module_name}")
            except ModuleNotFoundError as missing:
                if missing.name == f"{self.package}.{module_name}":
                    return None
                raise
        return getattr(module, name, None)

    def _require(self, module_name: str, name: str) -> Any:
        attribute = self.find(module_name, name)
        if attribute is None:
            raise DuelsError(f"The game {self.name} has no {name} in {self.package}.{module_name}.")
        return attribute

    def _is_package(self) -> bool:
        return hasattr(import_module(self.package), "__path__")


def _score_one_ply(rules: "AnyRules", sight: "AnySight", action: Any) -> float:
    """Score an action of a game without `score_action`: 1 if it wins at once, 0 if it loses, else 1/2."""
    if rules.has_hidden_information:  # the result of an action may depend on secrets
        return 0.5
    outcome = rules.outcome(rules.apply(sight.view, action).state)
    return float(outcome.score(sight.seat)) if outcome else 0.5
