"""Who decides at a seat: people and machine players, in one registry by name."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

from duels.core.errors import UnknownName, no_such, quote
from duels.core.rules import AnyRules, AnySight, Seat
from duels.games import rules_of
from duels.players.levels import SHARE, LevelPlayer, MixedPlayer
from duels.solving.progress import Progress, quiet

if TYPE_CHECKING:
    from random import Random

    from duels.core.game import Game
    from duels.core.options import OptionValue


class Player(Protocol):
    """Decides for a seat, from what that seat may know and nothing else."""

    def choose(self, sight: AnySight, rng: "Random") -> Any:
        """One of `sight.actions`. All randomness comes from `rng`."""


@dataclass(frozen=True)
class Kind:
    """A kind of player: its name, a summary, and how to seat one at a game.

    A kind without `seat` is a person: a screen has to ask them, in the book's words.
    """

    name: str
    summary: str
    seat: Callable[[AnyRules, Progress], Player] | None


KINDS: dict[str, Kind] = {}
NOBODY: Mapping[str, Kind] = {}
"""No players from outside."""
HUMAN = "human"
BEST, PERFECT = "best", "perfect"
STRONGEST = frozenset({BEST, PERFECT})


def register(kind: Kind) -> None:
    """Add a kind of player, which can then be named wherever a seat is filled."""
    KINDS[kind.name] = kind


def find_kind(name: str) -> Kind:
    """The kind that goes by `name`, in any letter case."""
    kind = KINDS.get(name.strip().lower())
    if not kind:
        raise UnknownName(no_such("player", name, list(KINDS)))
    return kind


def strongest(rules: AnyRules) -> str:
    """The name of the strongest player: `perfect` where that is proven, else `best`.

    In a game with secrets perfect play is a mixture that is bounded, but not known.
    """
    return BEST if rules.has_secrets else PERFECT


def kind_for(name: str, rules: AnyRules, outside: Mapping[str, Kind] = NOBODY) -> Kind:
    """The kind that goes by `name` in this game: `best` where `perfect` is asked for and not known.

    `outside` are players that are no part of the package, by their names (see `players.outside`).
    """
    if name in outside:
        return outside[name]
    kind = find_kind(name)
    return KINDS[strongest(rules)] if kind.name == PERFECT else kind


def seated_in(headers: Mapping[str, str]) -> dict[Seat, str]:
    """The name of the player at each seat, as a record's header has it; people by default."""
    return {seat: headers.get(f"seat{seat.value}", HUMAN) for seat in Seat}


def make_player(
    name: str,
    game: "str | Game | AnyRules",
    progress: Progress = quiet,
    **options: "OptionValue",
) -> Player:
    """A player of the kind `name`, for one seat: of a game (with options), or under the given rules."""
    rules = rules_of(game, **options)
    kind = kind_for(name, rules)
    if not kind.seat:
        raise UnknownName(f"{quote(name)} is a person: only a screen can ask it.")
    return kind.seat(rules, progress)


class RandomPlayer:
    """Plays any legal action, all equally likely."""

    def choose(self, sight: AnySight, rng: "Random") -> Any:
        """Any of `sight.actions`."""
        return rng.choice(sight.actions)

    def odds(self, sight: AnySight) -> dict[Any, float]:
        """How likely it is to take each of the legal actions."""
        return dict.fromkeys(sight.actions, 1 / len(sight.actions))


class GreedyPlayer(MixedPlayer):
    """Plays the action with the highest one-ply score of the game; breaks ties at random."""

    def __init__(self, rules: AnyRules) -> None:
        super().__init__(rules)
        self._rules = rules
        self._score = rules.game.greedy(rules)

    def __reduce__(self) -> tuple[Any, ...]:
        return GreedyPlayer, (self._rules,)  # the score may be any function, which cannot be pickled

    def choose(self, sight: AnySight, rng: "Random") -> Any:
        return rng.choice(list(self._odds(sight)))  # all as likely

    def _find_odds(self, sight: AnySight) -> dict[Any, float]:
        scores = [self._score(sight, action) for action in sight.actions]
        most = max(scores)
        best = [action for action, score in zip(sight.actions, scores, strict=True) if score == most]
        return dict.fromkeys(best, 1 / len(best))


register(Kind(HUMAN, "a person at this keyboard", None))
register(Kind("random", "any legal move, each as likely", lambda rules, progress: RandomPlayer()))
register(Kind("greedy", "looks one move ahead", lambda rules, progress: GreedyPlayer(rules)))


SUMMARY = {
    "novice": "errs often, a little better than random",
    "casual": "errs half as much as random",
    "club": "errs now and then",
    "expert": "errs rarely",
    "best": "the strongest player there is",
    "perfect": "never errs",
}


def _seat_level(share: float, rules: AnyRules, progress: Progress) -> Player:
    from duels.solving.oracles import oracle_for  # a list of players needs no oracle

    return LevelPlayer(oracle_for(rules, progress), share)


for _name, _share in {**SHARE, PERFECT: SHARE[BEST]}.items():
    register(Kind(_name, SUMMARY[_name], partial(_seat_level, _share)))
