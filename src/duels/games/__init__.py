"""The five duels, each in a room of its own with the same doors; GAMES is the one list of them.

`duels.games()` gives them all: the package can be called, so that it and its rooms can be imported too.
"""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

from duels.core.errors import UnknownName, quote

if TYPE_CHECKING:  # every command passes here, and most need none of it
    from duels.core.features import Encoding
    from duels.core.record import Record
    from duels.core.rules import Rules, Seat, Sight
    from duels.core.words import Words
    from duels.solving.oracle import Oracle
    from duels.solving.pomdp import Bounds


@dataclass(frozen=True)
class Game:
    """One room: what the game is called, and its doors, opened only when they are needed."""

    name: str
    title: str
    summary: str

    def rules(self, **options: int | None) -> "Rules[Any, Any, Any]":
        """The rules; without options, the book's game."""
        kind = self._door("rules").RULES
        known = list(kind.__dataclass_fields__)
        for name in options:
            if name not in known:
                raise UnknownName(f"{self.name} has no option {quote(name)}; it has {', '.join(known)}.")
        rules: Rules[Any, Any, Any] = kind(**options)
        return rules

    def words(self, rules: "Rules[Any, Any, Any]") -> "Words[Any, Any]":
        """The voice of the book, for these rules."""
        words: Words[Any, Any] = self._door("words").WORDS(rules)
        return words

    def greedy(self, rules: "Rules[Any, Any, Any]") -> "Callable[[Sight[Any, Any], Any], float]":
        """The game's one-ply score of an action, from what the seat knows: the higher the better."""
        score: Callable[[Sight[Any, Any], Any], float] = self._door("greedy").GREEDY(rules)
        return score

    def oracle(self, rules: "Rules[Any, Any, Any]") -> "Oracle[Any, Any]":
        """Perfect play for these rules."""
        oracle: Oracle[Any, Any] = self._door("oracle").make_oracle(rules)
        return oracle

    def how_perfect(self) -> str:
        """What is proven about what perfect play may still give away; empty where that is nothing."""
        told: Callable[[], str] = getattr(self._door("oracle"), "how_perfect", str)
        return told()

    def learned(self, door: str) -> Any:
        """A door that a room has if its play was learned: `rebuild` trains it anew, `study` describes it."""
        if not self._has(door):
            raise UnknownName(
                f"Perfect play of {self.name} is computed, not learned: there is no {door} of it."
            )
        return self._door(door)

    def encoding(self, rules: "Rules[Any, Any, Any]") -> "Encoding":
        """What a program is shown of a view, as numbers."""
        from duels.core.features import Encoding

        return Encoding(self._door("features").features(rules))

    def response_bounds(self, rules: "Rules[Any, Any, Any]", policy: object) -> "dict[Seat, Bounds] | None":
        """What the best responder wins against a policy, by the policy's seat, where the game has a method
        of its own for policies of that kind; else None.
        """
        if not self._has("response"):
            return None
        found: dict[Seat, Bounds] | None = self._door("response").response_bounds(rules, policy)
        return found

    def agent_bounds(
        self, rules: "Rules[Any, Any, Any]", odds: "Callable[[Sight[Any, Any]], list[float]]"
    ) -> "dict[Seat, Bounds] | None":
        """The same for a function from what a seat knows to the probability of each of its actions."""
        method = getattr(self._door("response"), "agent_bounds", None) if self._has("response") else None
        found: dict[Seat, Bounds] | None = method(rules, odds) if method else None
        return found

    @property
    def response_kind(self) -> str | None:
        """In words, the kind of policy that `response_bounds` is for; None if the game has no such method."""
        return self._door("response").KIND if self._has("response") else None

    def card(self) -> str:
        """The rule card: how to play, in our own words."""
        from importlib.resources import files  # slow to import, and few commands show a card

        return files(f"{__name__}.{self.name}").joinpath("card.txt").read_text(encoding="utf-8")

    def _has(self, door: str) -> bool:
        from importlib.util import find_spec

        return find_spec(f"{__name__}.{self.name}.{door}") is not None

    def _door(self, name: str) -> Any:
        return import_module(f"{__name__}.{self.name}.{name}")


GAMES: dict[str, Game] = {
    game.name: game
    for game in (
        Game("lights", "Light Out Duel", "seven lights, turn off one or two neighbours; the last light wins"),
        Game("leap", "Quantum Leap", "race to cell 21, leaping by divisors of the cell you stand on"),
        Game("chain", "Quantum Duel", "four in a row on seven cells; bold placements risk a coin"),
        Game("hunt", "Quantum Duel", "hidden tokens on seven cells; name the other's cell, do not collide"),
        Game("flip", "Quantum Flip", "25 face-down tiles of 1 to 5; reach exactly 21"),
    )
}


def load_record(text: str) -> "Record":
    """Read and check a record of any of the games; RecordError names the first wrong line."""
    from duels.core.record import loads

    return loads(text, lambda name, options: find_game(name).rules(**options))


def find_game(name: str) -> Game:
    """The game that goes by `name`, in any letter case."""
    game = GAMES.get(str(name).strip().lower())
    if not game:
        raise UnknownName(f"There is no game {quote(str(name))}; there are {', '.join(GAMES)}.")
    return game


class _Called(ModuleType):
    """A module that gives all the games when it is called."""

    def __call__(self) -> tuple[Game, ...]:
        return tuple(GAMES.values())


sys.modules[__name__].__class__ = _Called
