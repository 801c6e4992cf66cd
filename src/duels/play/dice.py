"""The randomness of a match: a seed, and chance outcomes given in advance."""

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


def make_seed() -> str:
    """Return a seed that nobody can guess: it determines every coin flip and tile of a match."""
    return os.urandom(16).hex()


class Dice:
    """Random numbers that depend only on the seed, the purpose and the entries so far.

    An interrupted match therefore continues the same way in every program. Generators are seeded through a
    cryptographic hash: a generator's state reveals nothing about the seed or about other draws.
    """

    def __init__(
        self,
        seed: str,
        script: "ChanceScript | None" = None,
        notice: Callable[[str], None] = lambda text: None,
    ) -> None:
        """Use the outcomes of `script` first, and call `notice` if one of them is impossible."""
        self._seed = seed
        self._script = script or ChanceScript(())
        self._notice = notice
        self._taken_back: list[tuple[Any, Any]] = []  # states and outcomes of the draws that were taken back
        self._chain: list[tuple[Turn[Any], bytes]] = []  # each turn of the last match, with the hash up to it

    def get_generator(self, match: AnyMatch, purpose: str) -> "Random":
        """Return the generator for one draw. Different purposes give independent generators."""
        return self._make_generator(purpose, self._hash_entries(match))

    def get_match_generator(self, purpose: str) -> "Random":
        """Return the generator for a draw that happens once per match."""
        return self._make_generator(purpose, b"")

    def take_back(self, match: AnyMatch, remaining: AnyMatch) -> None:
        """Remember the draws that a takeback removes: a card or tile that was dealt keeps its value."""
        draws = _list_draws(match)
        if len(draws) > len(_list_draws(remaining)):
            self._taken_back += draws

    def draw_chance(self, match: AnyMatch) -> Any:
        """Return the outcome of the chance node that `match` has reached."""
        rules, scripted = match.rules, self._script.get_next_outcome(match)
        deal = rules.deal(self.get_match_generator("deal"))
        if deal is not None and self._taken_back:
            # The script does not say which tile an outcome is for, so it ends here.
            return rules.read_deal(deal, [*self._taken_back, *_list_draws(match)], match.state)
        if scripted in match.actions:
            return scripted
        if scripted is not None:
            outcomes = ", ".join(map(rules.format, match.actions))
            self._notice(
                f"'{rules.format(scripted)}' is impossible here (possible: {outcomes}). "
                "The remaining outcomes are drawn at random."
            )
        if deal is None:
            return draw(match, self.get_generator(match, CHANCE.value))
        return rules.read_deal(deal, _list_draws(match), match.state)

    def _make_generator(self, purpose: str, entries: bytes) -> "Random":
        import json
        from random import Random

        key = _hash(json.dumps([self._seed, purpose, entries.hex()]).encode())
        return Random(int.from_bytes(key))

    def _hash_entries(self, match: AnyMatch) -> bytes:
        # Entries that this match shares with the last one are not hashed again.
        chain, turns = self._chain, match.turns
        while chain and (len(chain) > len(turns) or turns[len(chain) - 1] is not chain[-1][0]):
            chain.pop()
        for turn in turns[len(chain) :]:
            before = chain[-1][1] if chain else b""
            chain.append((turn, _hash(before + format_entry(match.rules, turn).encode())))
        return chain[-1][1] if chain else b""


def _list_draws(match: AnyMatch) -> list[tuple[Any, Any]]:
    """Return the chance outcomes of a match, each with the state in which it was drawn."""
    return [
        (match.after(number).state, turn.action)
        for number, turn in enumerate(match.turns)
        if turn.actor is CHANCE
    ]


class StreamDice:
    """All draws from one generator, in order: for measurements, which never resume a match."""

    def __init__(self, rng: "Random") -> None:
        self._rng = rng

    def get_generator(self, match: AnyMatch, purpose: str) -> "Random":
        """Return the same generator for every purpose."""
        return self._rng

    def draw_chance(self, match: AnyMatch) -> Any:
        """Return an outcome of the chance node that `match` has reached."""
        return draw(match, self._rng)


def _hash(text: bytes) -> bytes:
    from hashlib import sha256  # slow to import

    return sha256(text).digest()


@dataclass(frozen=True)
class ChanceScript:
    """Chance outcomes given in advance. After the last one, outcomes are drawn at random."""

    outcomes: tuple[Any, ...]

    @classmethod
    def parse(cls, rules: AnyRules, text: str) -> "ChanceScript":
        """Parse outcomes separated by spaces. Raises NotationError if one does not exist in the game."""
        by_name = {rules.format(outcome).lower(): outcome for outcome in rules.all_outcomes()}
        words = text.lower().split()
        if words and not by_name:
            raise NotationError(f"{rules.name} has no chance outcomes.")
        for word in words:
            if word not in by_name:
                outcomes = ", ".join([*list(by_name)[:7], "…"] if len(by_name) > 7 else by_name)
                raise NotationError(
                    f"{quote(word)} is not a chance outcome of {rules.name}. Choose from {outcomes}."
                )
        return cls(tuple(by_name[word] for word in words))

    def get_next_outcome(self, match: AnyMatch) -> Any | None:
        """Return the outcome for this chance node, or None if the script has ended or the match left it."""
        used = tuple(turn.action for turn in match.turns if turn.actor is CHANCE)
        is_followed = self.outcomes[: len(used)] == used and len(used) < len(self.outcomes)
        return self.outcomes[len(used)] if is_followed else None
