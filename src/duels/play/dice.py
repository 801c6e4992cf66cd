"""Where the randomness of a match comes from: a seed, and outcomes that were given in advance."""

from dataclasses import dataclass
from random import Random
from typing import Any

from duels.core.errors import NotationError, quote
from duels.core.match import Match
from duels.core.rules import CHANCE, Rules

AnyMatch = Match[Any, Any, Any]


class Dice:
    """Randomness that depends on the seed and the place in the match alone.

    So a match that was left and resumed goes on as it would have without the break.
    """

    def __init__(self, seed: str) -> None:
        self._seed = seed

    def at(self, match: AnyMatch, purpose: str) -> Random:
        """The generator for one draw: `purpose` keeps coins and players' choices apart."""
        return Random(f"{self._seed} {purpose} {len(match.turns)}")


@dataclass(frozen=True)
class ChanceScript:
    """Chance outcomes given in advance, in order; when they run out the rest is drawn.

    What comes next depends on the place in the match alone, as with Dice.
    """

    outcomes: tuple[Any, ...]

    @classmethod
    def parse(cls, rules: Rules[Any, Any, Any], text: str) -> "ChanceScript":
        """Read outcomes in notation, separated by spaces; NotationError names one that cannot come."""
        by_name = {rules.format(outcome): outcome for outcome in rules.all_outcomes()}
        words = text.lower().split()
        if words and not by_name:
            raise NotationError(f"chance plays no part in {rules.name}.")
        for word in words:
            if word not in by_name:
                can = ", ".join([*list(by_name)[:7], "…"] if len(by_name) > 7 else by_name)
                raise NotationError(f"{quote(word)} cannot come by chance in {rules.name}; {can} can.")
        return cls(tuple(by_name[word] for word in words))

    def at(self, match: AnyMatch) -> Any | None:
        """What comes at this chance node; None once the script is used up, or the match has left it."""
        used = tuple(turn.action for turn in match.turns if turn.actor is CHANCE)
        on_script = self.outcomes[: len(used)] == used and len(used) < len(self.outcomes)
        return self.outcomes[len(used)] if on_script else None
