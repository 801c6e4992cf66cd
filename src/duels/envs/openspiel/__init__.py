"""The duels for OpenSpiel: `duels_lights` and so on, with explicit chance and perfect recall.

Importing this registers our games and those of other packages; `register` does so for any other game.
Parameters are the rules' options (0 for no limit, a list as `3;5;7`, of one as `3;`) and `max_moves`.
"""

import logging

from duels.core.errors import DuelsError
from duels.core.extras import require_extra
from duels.core.game import Game
from duels.core.options import OptionValue
from duels.core.rules import AnyRules
from duels.games import GAMES, all_games, resolve_rules

with require_extra("openspiel"):
    import pyspiel

    from duels.envs.openspiel.game import (
        MAX_MOVES,
        REGISTERED,
        DuelGame,
        DuelObserver,
        DuelState,
        game_type,
        name_of,
        parameter_of,
    )

__all__ = ["DuelGame", "DuelObserver", "DuelState", "load_game", "register"]

log = logging.getLogger(__name__)


def register(game: Game) -> str:
    """Register a game; `pyspiel.load_game` takes the name returned, and the rules' options as parameters."""
    name = name_of(game)
    if REGISTERED.add(name, game):
        # OpenSpiel calls the class with nothing but the parameters, and finds it here by its name.
        kind = type(
            f"Duel{game.name.title()}Game",
            (DuelGame,),
            {"__init__": lambda self, params=None: DuelGame.__init__(self, game, params)},
        )
        globals()[kind.__name__] = kind
        pyspiel.register_game(game_type(game), kind)
    return name


def load_game(game: str | Game | AnyRules, max_moves: int = MAX_MOVES, **options: OptionValue) -> DuelGame:
    """A game for OpenSpiel, of a game or the one of that name with options, or by rules."""
    rules = resolve_rules(game, **options)
    if type(rules) is not rules.game.rules_class():
        raise DuelsError(
            f"OpenSpiel knows games, not rules: {rules!r} are not those of {rules.game.package}."
        )
    parameters = {name: parameter_of(value) for name, value in rules.options().items()}
    loaded: DuelGame = pyspiel.load_game(register(rules.game), {**parameters, "max_moves": max_moves})
    return loaded


for _game in all_games():
    try:
        register(_game)
    except Exception as problem:  # whatever another package does, ours go on
        if _game in GAMES.values():
            raise
        log.warning("The game '%s' cannot be registered with OpenSpiel: %s", _game.name, problem)
