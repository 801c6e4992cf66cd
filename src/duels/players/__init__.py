"""The registry of players, people and machines, by name."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

from duels.core.errors import UnknownName, format_unknown_name, quote
from duels.core.rules import AnyRules, AnySight, Seat
from duels.games import resolve_rules
from duels.players.levels import (
    LEVEL_SHARES,
    LevelPlayer,
    MixedPlayer,
    get_level_share,
    get_level_shares,
)
from duels.solving.oracle import Progress, no_progress

if TYPE_CHECKING:
    from random import Random

    from duels.core.game import Game
    from duels.core.options import OptionValue


class Player(Protocol):
    """A player that decides for a seat, from that seat's information.

    >>> import duels
    >>> from random import Random
    >>> class FirstAction:
    ...     def choose(self, sight, rng):
    ...         return sight.actions[0]
    >>> player: duels.Player = FirstAction()
    >>> match = duels.start("lights")
    >>> match.rules.format(player.choose(match.sight(duels.Seat.ONE), Random(1)))
    '1'
    """

    def choose(self, sight: AnySight, rng: "Random") -> Any:
        """Return one of `sight.actions`. All randomness must come from `rng`."""


@dataclass(frozen=True)
class PlayerKind:
    """A kind of player: its name, a summary, and a function that makes one for given rules.

    A kind without `make` is a person, whom a user interface must ask.
    """

    name: str
    summary: str
    make: Callable[[AnyRules, Progress], Player] | None


PLAYER_KINDS: dict[str, PlayerKind] = {}
"""The players that can take any seat, by name."""
NO_EXTERNAL_PLAYERS: Mapping[str, PlayerKind] = {}
HUMAN = "human"
BEST, PERFECT = "best", "perfect"
STRONGEST_NAMES = frozenset({BEST, PERFECT})
SIMPLE_PROGRAMS = ("random", "greedy")
"""Players without a level. Their strength differs from game to game."""
PROGRAM, MODEL = "program ", "model "
"""Prefixes of the names of programs and models in records and reports."""


def find_player_kind(name: str) -> PlayerKind:
    """Return the kind with this name, in any letter case. Raises UnknownName if there is none."""
    kind = PLAYER_KINDS.get(name.strip().lower())
    if not kind:
        raise UnknownName(format_unknown_name("player", name, list(PLAYER_KINDS)))
    return kind


def get_strongest_name(rules: AnyRules) -> str:
    """Return the name of the strongest player: `perfect` if its play is proven optimal, otherwise `best`.

    In games with hidden information, the value of perfect play is known only within bounds.
    """
    return BEST if rules.has_hidden_information else PERFECT


def list_levels(rules: AnyRules) -> list[str]:
    """Return the names of the levels that differ, from the weakest to the strongest.

    >>> import duels
    >>> list_levels(duels.start("leap").rules)
    ['novice', 'casual', 'club', 'expert', 'perfect']
    """
    return [*(level for level in get_level_shares(rules.name) if level != BEST), get_strongest_name(rules)]


def describe_level(rules: AnyRules, level: str) -> str:
    """Return a summary of the level's play in a game.

    >>> import duels
    >>> describe_level(duels.start("leap").rules, "casual")
    'errs half as much as random'
    >>> describe_level(duels.start("hunt").rules, "casual")
    'errs often; a little better than random'
    """
    if level not in STRONGEST_NAMES:  # a game with fewer levels has other shares
        share = get_level_share(rules.name, level)
        level = min(LEVEL_SHARES, key=lambda name: abs(LEVEL_SHARES[name] - share))
    return PLAYER_KINDS[level].summary


def resolve_player_kind(
    name: str, rules: AnyRules, external: Mapping[str, PlayerKind] = NO_EXTERNAL_PLAYERS
) -> PlayerKind:
    """Return the kind with this name. `perfect` becomes `best` in games without proven perfect play.

    `external` maps names to external players (see `players.external`). Raises UnknownName if there is no
    such kind.
    """
    if name in external:
        return external[name]
    kind = find_player_kind(name)
    return PLAYER_KINDS[get_strongest_name(rules)] if kind.name == PERFECT else kind


def read_player_names(headers: Mapping[str, str]) -> dict[Seat, str]:
    """Return the player's name at each seat from a record's headers. The default is a person."""
    return {seat: headers.get(f"seat{seat.value}", HUMAN) for seat in Seat}


def make_player(
    name: str, game: "str | Game | AnyRules", progress: Progress = no_progress, **options: "OptionValue"
) -> Player:
    """Return a machine player for one seat of a game (with options) or of the given rules.

    Raises UnknownName if there is no such player or game, or the name is that of a person.

    >>> import duels
    >>> from random import Random
    >>> match = duels.start("chain")
    >>> player = duels.make_player("greedy", "chain")
    >>> player.choose(match.sight(duels.Seat.ONE), Random(1)) in match.actions
    True
    """
    rules = resolve_rules(game, **options)
    kind = resolve_player_kind(name, rules)
    if not kind.make:
        raise UnknownName(f"{quote(name)} is a person, not a machine player.")
    return kind.make(rules, progress)


# -- external players --------------------------------------------------------------------------------


def is_external(name: str) -> bool:
    """Return whether a recorded name belongs to an external player, which the record cannot restart."""
    return name.startswith((PROGRAM, MODEL))


def number_duplicates(kinds: Iterable[PlayerKind]) -> list[PlayerKind]:
    """Return the kinds. If a name occurs again, append a number to it."""
    counts: dict[str, int] = {}
    numbered = []
    for kind in kinds:
        counts[kind.name] = count = counts.get(kind.name, 0) + 1
        numbered.append(replace(kind, name=f"{kind.name} ({count})") if count > 1 else kind)
    return numbered


def matches_recorded_name(name: str, recorded: str) -> bool:
    """Return whether `recorded` is `name`, possibly with a number from `number_duplicates`."""
    return recorded == name or re.fullmatch(rf"{re.escape(name)} \([0-9]+\)", recorded) is not None


def format_seat_option(name: str, seat: int) -> str:
    """Return the command-line option, with placeholders, that restarts an external player."""
    return f"--seat{seat} " + ("model:NAME --base-url URL" if name.startswith(MODEL) else '"cmd:COMMAND"')


def check_can_reseat(name: str, seat: int) -> None:
    """Raise UnknownName if the player is external. The message says how to restart it."""
    if is_external(name):
        raise UnknownName(
            f"Seat {seat} was {quote(name)}, but the record does not say how to start it. "
            f"Add {format_seat_option(name, seat)}."
        )


# -- machine players ---------------------------------------------------------------------------------


class RandomPlayer:
    """Plays each legal action with the same probability."""

    def choose(self, sight: AnySight, rng: "Random") -> Any:
        """Return a random legal action."""
        return rng.choice(sight.actions)

    def odds(self, sight: AnySight) -> dict[Any, float]:
        """Return the probability of each legal action."""
        return dict.fromkeys(sight.actions, 1 / len(sight.actions))


class GreedyPlayer(MixedPlayer):
    """Plays the action with the game's highest one-ply score; breaks ties at random."""

    def __init__(self, rules: AnyRules) -> None:
        super().__init__(rules)
        self._rules = rules
        self._score = rules.game.greedy(rules)

    def __reduce__(self) -> tuple[Any, ...]:
        return GreedyPlayer, (self._rules,)  # the score may be a function that cannot be pickled

    def choose(self, sight: AnySight, rng: "Random") -> Any:
        return rng.choice(list(self._odds(sight)))  # the best actions are equally likely

    def _find_odds(self, sight: AnySight) -> dict[Any, float]:
        scores = [self._score(sight, action) for action in sight.actions]
        highest = max(scores)
        best = [action for action, score in zip(sight.actions, scores, strict=True) if score == highest]
        return dict.fromkeys(best, 1 / len(best))


def _seat_level(level: str, rules: AnyRules, progress: Progress) -> Player:
    from duels.solving.oracles import get_oracle  # slow, and not needed to list players

    return LevelPlayer(get_oracle(rules, progress), get_level_share(rules.name, level))


_BUILT_IN = (
    PlayerKind(HUMAN, "a person at this keyboard", None),
    PlayerKind("random", "chooses among the legal moves at random", lambda rules, progress: RandomPlayer()),
    PlayerKind("greedy", "looks one move ahead", lambda rules, progress: GreedyPlayer(rules)),
    PlayerKind("novice", "errs often; a little better than random", partial(_seat_level, "novice")),
    PlayerKind("casual", "errs half as much as random", partial(_seat_level, "casual")),
    PlayerKind("club", "errs now and then", partial(_seat_level, "club")),
    PlayerKind("expert", "errs rarely", partial(_seat_level, "expert")),
    PlayerKind(BEST, "the strongest player there is", partial(_seat_level, BEST)),
    PlayerKind(PERFECT, "never errs", partial(_seat_level, BEST)),
)
PLAYER_KINDS |= {kind.name: kind for kind in _BUILT_IN}
