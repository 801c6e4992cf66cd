"""Where the randomness of a match comes from: a seed, and outcomes that were given in advance."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from duels.core.errors import NotationError, quote
from duels.core.match import AnyMatch, Turn, draw
from duels.core.record import format_entry
from duels.core.rules import CHANCE, AnyRules

if TYPE_CHECKING:
    from random import Random


def new_seed() -> str:
    """A seed that nobody finds by trying: it tells the coins and tiles to come."""
    return os.urandom(16).hex()


class Dice:
    """Randomness that depends on the seed, the purpose and the entries so far, and on nothing else.

    So a match goes on in the same way whoever drives it and however often it was interrupted. Generators are
    seeded through a cryptographic hash: their state tells nothing about the seed, or about any other draw.
    """

    def __init__(
        self,
        seed: str,
        script: "ChanceScript | None" = None,
        notice: Callable[[str], None] = lambda text: None,
    ) -> None:
        """With `script`, its outcomes come first; `notice` is told if one cannot come."""
        self._seed = seed
        self._script = script or ChanceScript(())
        self._notice = notice
        self._chain: list[tuple[Turn[Any], bytes]] = []  # the entries of the match last asked about, hashed

    def at(self, match: AnyMatch, purpose: str) -> "Random":
        """The generator for one draw: `purpose` keeps players' choices and chance apart."""
        return self._generator(purpose, self._entries(match))

    def once(self, purpose: str) -> "Random":
        """The generator for something that is drawn once a match."""
        return self._generator(purpose, b"")

    def chance(self, match: AnyMatch) -> Any:
        """The outcome of the chance node that `match` stands at."""
        rules, scripted = match.rules, self._script.at(match)
        if scripted in match.actions:
            return scripted
        if scripted is not None:
            can = ", ".join(map(rules.format, match.actions))
            self._notice(f"'{rules.format(scripted)}' cannot come now (only {can}); the rest is drawn.")
        deal = rules.deal(self.once("deal"))
        if deal is None:
            return draw(match, self.at(match, CHANCE.value))
        drawn = [
            (match.after(number).state, turn.action)
            for number, turn in enumerate(match.turns)
            if turn.actor is CHANCE
        ]
        return rules.read_deal(deal, drawn, match.state)

    def _generator(self, purpose: str, entries: bytes) -> "Random":
        import json
        from random import Random

        key = _hash(json.dumps([self._seed, purpose, entries.hex()]).encode())
        return Random(int.from_bytes(key))

    def _entries(self, match: AnyMatch) -> bytes:
        """A hash of all entries, each time from where the last one stood."""
        chain, turns = self._chain, match.turns
        while chain and (len(chain) > len(turns) or turns[len(chain) - 1] is not chain[-1][0]):
            chain.pop()
        for turn in turns[len(chain) :]:
            before = chain[-1][1] if chain else b""
            chain.append((turn, _hash(before + format_entry(match.rules, turn).encode())))
        return chain[-1][1] if chain else b""


class StreamDice:
    """All draws from one generator, in order: for measurements, in which no match is resumed."""

    def __init__(self, rng: "Random") -> None:
        self._rng = rng

    def at(self, match: AnyMatch, purpose: str) -> "Random":
        """The one generator."""
        return self._rng

    def chance(self, match: AnyMatch) -> Any:
        """The outcome of the chance node that `match` stands at."""
        return draw(match, self._rng)


def _hash(text: bytes) -> bytes:
    from hashlib import sha256  # slow to load, and not needed before something is drawn

    return sha256(text).digest()


@dataclass(frozen=True)
class ChanceScript:
    """Chance outcomes given in advance, in order; when they run out the rest is drawn.

    What comes next depends on the place in the match alone, as with Dice.
    """

    outcomes: tuple[Any, ...]

    @classmethod
    def parse(cls, rules: AnyRules, text: str) -> "ChanceScript":
        """Read outcomes in notation, separated by spaces; NotationError names one that cannot come."""
        by_name = {rules.format(outcome).lower(): outcome for outcome in rules.all_outcomes()}
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
