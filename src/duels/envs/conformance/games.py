"""Random games by the rules alone, drawn as the environments draw theirs."""

from collections.abc import Mapping
from dataclasses import dataclass
from random import Random
from typing import Any

from duels.core.features import action_numbers
from duels.core.match import AnyMatch, Match
from duels.core.rules import CHANCE, AnyRules, AnySight, Seat
from duels.envs import dice
from duels.envs.engine import BitDice, drawn
from duels.play.step import next_entry

LONGEST = 200  # moves: some games need not end


@dataclass(frozen=True)
class Move:
    """A move of a random game: its number, what chance brought then, and the match after both."""

    action: int
    outcomes: tuple[Any, ...]
    match: AnyMatch


@dataclass(frozen=True)
class Played:
    """A random game by the rules, drawn as the environments draw theirs from `seed`."""

    seed: int
    start: AnyMatch
    moves: tuple[Move, ...]

    @property
    def opening(self) -> tuple[Any, ...]:
        """What chance brought before the first move."""
        return _drawn_since(None, self.start)

    @property
    def end(self) -> AnyMatch:
        return self.moves[-1].match if self.moves else self.start


def random_game(rules: AnyRules, seed: int) -> Played:
    """A game in which both seats play at random, up to LONGEST moves."""
    player = RandomGame(rules, dice.stream(seed))
    start, moves = player.match, list[Move]()
    while player.match.actor is not None and len(moves) < LONGEST:
        moves.append(player.move())
    return Played(seed, start, tuple(moves))


class RandomGame:
    """Plays at random, by the rules alone and from an environment's stream."""

    def __init__(self, rules: AnyRules, stream: int) -> None:
        self._rules = rules
        self._number = action_numbers(rules)
        self._stream = stream
        self.begin()

    def begin(self) -> None:
        self.match = drawn(Match.start(self._rules), dice.begin(self._stream))

    def move(self) -> Move:
        before = self.match
        chance, bits = dice.roll(self._stream)
        self._stream = dice.advance(self._stream)
        player = _Picker(self._number, bits)
        entry = next_entry(before, dict.fromkeys(Seat, player), BitDice(chance, bits))
        self.match = drawn(entry.play(before), chance)
        return Move(self._number[entry.action], _drawn_since(before, self.match), self.match)


@dataclass(frozen=True)
class _Picker:
    """Picks any legal action by 32 random bits, as the environments' random player does."""

    number: Mapping[Any, int]
    bits: int

    def choose(self, sight: AnySight, rng: Random) -> Any:
        legal = sorted(sight.actions, key=self.number.__getitem__)
        return legal[dice.pick(self.bits, len(legal))]


def _drawn_since(before: AnyMatch | None, match: AnyMatch) -> tuple[Any, ...]:
    """The outcomes of chance that came after `before`."""
    turns = match.turns[len(before.turns) if before else 0 :]
    return tuple(turn.action for turn in turns if turn.actor is CHANCE)
