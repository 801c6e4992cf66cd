"""Who decides at a seat: people and machine players, in one registry by name."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

from duels.core.errors import UnknownName, format_unknown_name, quote
from duels.core.rules import AnyRules, AnySight, Seat
from duels.games import resolve_rules
from duels.players.levels import LEVEL_SHARES, LevelPlayer, MixedPlayer
from duels.solving.progress import Progress, no_progress

if TYPE_CHECKING:
    from random import Random

    from duels.core.game import Game
    from duels.core.options import OptionValue


class Player(Protocol):
    """Decides for a seat, from what that seat may know and nothing else."""

    def choose(self, sight: AnySight, rng: "Random") -> Any:
        """One of `sight.actions`. All randomness comes from `rng`."""


@dataclass(frozen=True)
class PlayerKind:
    """A kind of player: its name, a summary, and how to seat one at a game.

    A kind without `seat` is a person: a screen has to ask them, in the book's words.
    """

    name: str
    summary: str
    seat: Callable[[AnyRules, Progress], Player] | None


PLAYER_KINDS: dict[str, PlayerKind] = {}
NO_EXTERNAL_PLAYERS: Mapping[str, PlayerKind] = {}
"""No players from outside."""
HUMAN = "human"
BEST, PERFECT = "best", "perfect"
STRONGEST = frozenset({BEST, PERFECT})
PROGRAM, MODEL = "program ", "model "
"""How the names begin that programs and models have in records and reports."""


def register_player_kind(kind: PlayerKind) -> None:
    """Add a kind of player, which can then be named wherever a seat is filled."""
    PLAYER_KINDS[kind.name] = kind


def find_player_kind(name: str) -> PlayerKind:
    """The kind that goes by `name`, in any letter case."""
    kind = PLAYER_KINDS.get(name.strip().lower())
    if not kind:
        raise UnknownName(format_unknown_name("player", name, list(PLAYER_KINDS)))
    return kind


def get_strongest_name(rules: AnyRules) -> str:
    """The name of the strongest player: `perfect` where that is proven, else `best`.

    In a game with secrets perfect play is a mixture that is bounded, but not known.
    """
    return BEST if rules.has_secrets else PERFECT


def resolve_player_kind(
    name: str, rules: AnyRules, external: Mapping[str, PlayerKind] = NO_EXTERNAL_PLAYERS
) -> PlayerKind:
    """The kind that goes by `name` in this game: `best` where `perfect` is asked for and not known.

    `external` are players that are no part of the package, by their names (see `players.external`).
    """
    if name in external:
        return external[name]
    kind = find_player_kind(name)
    return PLAYER_KINDS[get_strongest_name(rules)] if kind.name == PERFECT else kind


def read_player_names(headers: Mapping[str, str]) -> dict[Seat, str]:
    """The name of the player at each seat, as a record's header has it; people by default."""
    return {seat: headers.get(f"seat{seat.value}", HUMAN) for seat in Seat}


def make_player(
    name: str,
    game: "str | Game | AnyRules",
    progress: Progress = no_progress,
    **options: "OptionValue",
) -> Player:
    """A player of the kind `name`, for one seat: of a game (with options), or under the given rules."""
    rules = resolve_rules(game, **options)
    kind = resolve_player_kind(name, rules)
    if not kind.seat:
        raise UnknownName(f"{quote(name)} is a person: only a screen can ask it.")
    return kind.seat(rules, progress)


# -- players from outside the package, as records name them -------------------------------------------


def is_external(name: str) -> bool:
    """Whether a record's name for a player is that of one from outside, who has to be seated again."""
    return name.startswith((PROGRAM, MODEL))


def number_duplicates(kinds: Iterable[PlayerKind]) -> list[PlayerKind]:
    """The same kinds; of several that have the same name, later ones get a number."""
    seen: dict[str, int] = {}
    apart = []
    for kind in kinds:
        seen[kind.name] = count = seen.get(kind.name, 0) + 1
        apart.append(replace(kind, name=f"{kind.name} ({count})") if count > 1 else kind)
    return apart


def matches_recorded_name(name: str, recorded: str) -> bool:
    """Whether a player of this name may be the one that a record names, perhaps with a number."""
    return recorded == name or re.fullmatch(rf"{re.escape(name)} \([0-9]+\)", recorded) is not None


def format_seat_option(name: str, seat: int) -> str:
    """The option that fills a seat of somebody from outside again, to be completed."""
    return f"--seat{seat} " + ("model:NAME --base-url URL" if name.startswith(MODEL) else '"cmd:COMMAND"')


def check_can_reseat(name: str, seat: int) -> None:
    """Say how a seat of somebody from outside is filled again."""
    if is_external(name):
        raise UnknownName(
            f"seat {seat} was {quote(name)}, and a record does not say how to call it: "
            f"add {format_seat_option(name, seat)}."
        )


# -- machine players ---------------------------------------------------------------------------------


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


register_player_kind(PlayerKind(HUMAN, "a person at this keyboard", None))
register_player_kind(
    PlayerKind("random", "any legal move, each as likely", lambda rules, progress: RandomPlayer())
)
register_player_kind(
    PlayerKind("greedy", "looks one move ahead", lambda rules, progress: GreedyPlayer(rules))
)


SUMMARY = {
    "novice": "errs often, a little better than random",
    "casual": "errs half as much as random",
    "club": "errs now and then",
    "expert": "errs rarely",
    "best": "the strongest player there is",
    "perfect": "never errs",
}


def _seat_level(share: float, rules: AnyRules, progress: Progress) -> Player:
    from duels.solving.oracles import get_oracle  # a list of players needs no oracle

    return LevelPlayer(get_oracle(rules, progress), share)


for _name, _share in {**LEVEL_SHARES, PERFECT: LEVEL_SHARES[BEST]}.items():
    register_player_kind(PlayerKind(_name, SUMMARY[_name], partial(_seat_level, _share)))
