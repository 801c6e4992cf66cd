"""The five duels, each in a room of its own, and how a name becomes a game.

Games of other packages are found through the entry-point group `duels.games`.
"""

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from duels.core.errors import DuelsError, UnknownName, format_unknown_name, quote
from duels.core.game import Game
from duels.games.chain import GAME as CHAIN
from duels.games.flip import GAME as FLIP
from duels.games.hunt import GAME as HUNT
from duels.games.leap import GAME as LEAP
from duels.games.lights import GAME as LIGHTS

if TYPE_CHECKING:  # every command passes here, and most need none of it
    from duels.core.match import AnyMatch
    from duels.core.options import OptionValue
    from duels.core.record import Record
    from duels.core.rules import AnyRules

ENTRY_POINTS = "duels.games"
GAMES: dict[str, Game] = {game.name: game for game in (LIGHTS, LEAP, CHAIN, HUNT, FLIP)}
"""The games of this package."""


@dataclass(frozen=True)
class InstalledGame:
    """A game from another package, and the distribution it comes from."""

    game: Game
    source: str


@cache
def list_installed_games() -> tuple[InstalledGame, ...]:
    """Games from other packages; one that cannot be loaded is skipped with a warning."""
    import logging  # slow to import, both: a game of ours needs neither
    from importlib.metadata import entry_points

    log = logging.getLogger("duels")
    found: dict[str, InstalledGame] = {}
    for point in entry_points(group=ENTRY_POINTS):
        source = f"{point.dist.name} {point.dist.version}" if point.dist else "unknown"
        try:
            game = point.load()
        except Exception as problem:  # whatever another package does, ours go on
            log.warning("The game '%s' of %s cannot be loaded: %s", point.name, source, problem)
            continue
        if not isinstance(game, Game):
            log.warning("The game '%s' of %s is no duels.Game.", point.name, source)
        elif game.name in GAMES or game.name in found:
            log.warning("The game '%s' of %s is left out: there is one of that name.", game.name, source)
        else:
            found[game.name] = InstalledGame(game, source)
    return tuple(found.values())


def all_games() -> tuple[Game, ...]:
    """Our games, then those of other packages."""
    return (*GAMES.values(), *(installed.game for installed in list_installed_games()))


def find_game(name: str) -> Game:
    """The game called `name`, in upper or lower case; raises UnknownName."""
    word = str(name).strip().lower()
    if word in GAMES:
        return GAMES[word]
    for game in all_games():
        if game.name == word:
            return game
    raise UnknownName(format_unknown_name("game", str(name), [game.name for game in all_games()]))


def resolve_rules(game: "str | Game | AnyRules", **options: "OptionValue") -> "AnyRules":
    """Rules from a game's name or a Game, each with options, or the given rules themselves."""
    from duels.core.rules import Rules

    if isinstance(game, Rules):
        if options:
            raise DuelsError("Options go with a game or its name; rules have theirs already.")
        return game
    if isinstance(game, Game):
        return game.rules(**options)
    if not isinstance(game, str):
        raise DuelsError(f"A game is a name, a Game or its rules, not {game!r}.")
    return find_game(game).rules(**options)


def start(game: "str | Game | AnyRules", **options: "OptionValue") -> "AnyMatch":
    """Start a match of a game: a name or a Game, each with options, or rules."""
    from duels.core.match import Match

    return Match.start(resolve_rules(game, **options))


def load_record(text: str, game: Game | None = None) -> "Record":
    """Read and check a record of any game, or of `game`; RecordError names the first wrong line."""
    from duels.core.record import parse_record_text

    def find(name: str) -> Any:
        if game is None:
            return find_game(name).rules_class()
        if name.strip().lower() != game.name:
            raise UnknownName(f"This is a record of {quote(name)}, not of {game.name}.")
        return game.rules_class()

    return parse_record_text(text, find)
