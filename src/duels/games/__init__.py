"""The five games, and the registry that finds games by name.

Other packages register games through the entry-point group `duels.games`.
"""

from functools import cache
from typing import TYPE_CHECKING, Any

from duels.core.errors import DuelsError, UnknownName, format_unknown_name, quote
from duels.core.game import Game
from duels.games.chain import GAME as CHAIN
from duels.games.flip import GAME as FLIP
from duels.games.hunt import GAME as HUNT
from duels.games.leap import GAME as LEAP
from duels.games.lights import GAME as LIGHTS

if TYPE_CHECKING:  # every command imports this module, and most commands need none of these
    from duels.core.match import AnyMatch
    from duels.core.options import OptionValue
    from duels.core.record import Record
    from duels.core.rules import AnyRules

ENTRY_POINTS = "duels.games"
GAMES: dict[str, Game] = {game.name: game for game in (LIGHTS, LEAP, CHAIN, HUNT, FLIP)}
"""The games of this package, by name."""


@cache
def list_installed_games() -> tuple[tuple[Game, str], ...]:
    """Return the games from other packages, each with the name and version of its distribution.

    A game that cannot be loaded is skipped with a warning.
    """
    import logging  # slow to import, like importlib.metadata, and our own games need neither
    from importlib.metadata import entry_points

    log = logging.getLogger("duels")
    games: dict[str, tuple[Game, str]] = {}
    for point in entry_points(group=ENTRY_POINTS):
        source = f"{point.dist.name} {point.dist.version}" if point.dist else "unknown"
        try:
            game = point.load()
        except Exception as problem:  # a broken package must not affect other games
            log.warning("The game '%s' of %s cannot be loaded: %s", point.name, source, problem)
            continue
        if not isinstance(game, Game):
            log.warning("The game '%s' of %s is not a duels.Game.", point.name, source)
        elif game.name in GAMES or game.name in games:
            log.warning("The game '%s' of %s is skipped: the name is taken.", game.name, source)
        else:
            games[game.name] = game, source
    return tuple(games.values())


def all_games() -> tuple[Game, ...]:
    """Return the games of this package, then those of other packages.

    >>> [game.name for game in all_games()][:5]
    ['lights', 'leap', 'chain', 'hunt', 'flip']
    """
    return (*GAMES.values(), *(game for game, _ in list_installed_games()))


def find_game(name: str) -> Game:
    """Return the game with this name, in any letter case. Raises UnknownName.

    >>> find_game("Leap").name
    'leap'
    """
    word = str(name).strip().lower()
    if word in GAMES:
        return GAMES[word]
    for game in all_games():
        if game.name == word:
            return game
    raise UnknownName(format_unknown_name("game", str(name), [game.name for game in all_games()]))


def resolve_rules(game: "str | Game | AnyRules", **options: "OptionValue") -> "AnyRules":
    """Return the rules of a game with these options. Return rules unchanged.

    Raises UnknownName for an unknown game or option, and BadOption for a value that is not allowed.
    """
    from duels.core.rules import Rules

    if isinstance(game, Rules):
        if options:
            raise DuelsError("Pass options with a game or its name: rules already have their options.")
        return game
    if isinstance(game, Game):
        return game.rules(**options)
    if not isinstance(game, str):
        raise DuelsError(f"A game must be a name, a Game or rules, not {game!r}.")
    return find_game(game).rules(**options)


def start(game: "str | Game | AnyRules", **options: "OptionValue") -> "AnyMatch":
    """Start a match of a game with these options, or a match with the given rules.

    Raises UnknownName for an unknown game or option, and BadOption for a value that is not allowed.

    >>> match = start("lights", lights=9)
    >>> match.actor.label, len(match.actions)
    ('Player 1', 17)
    """
    from duels.core.match import Match

    return Match.start(resolve_rules(game, **options))


def load_record(text: str, game: Game | None = None) -> "Record":
    """Parse and check a record of any game, or of `game`.

    Raises RecordError with the number of the first wrong line.

    >>> load_record("duels record 2\\ngame: leap\\n\\nenter\\n").match.length
    1
    """
    from duels.core.record import parse_record_text

    def find(name: str) -> Any:
        if game is None:
            return find_game(name).rules_class()
        if name.strip().lower() != game.name:
            raise UnknownName(f"This is a record of {quote(name)}, not of {game.name}.")
        return game.rules_class()

    return parse_record_text(text, find)
