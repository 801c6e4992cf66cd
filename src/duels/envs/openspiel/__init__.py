"""OpenSpiel games (`duels_lights` and so on), with explicit chance and perfect recall.

Importing this module registers our games and those of installed packages. Call `register` for any other game.
Parameters are `max_moves` and the rules' options. 0 means no limit, and lists are written `3;5;7` or `3;`.

>>> import pyspiel
>>> import duels.envs.openspiel
>>> state = pyspiel.load_game("duels_lights(lights=3)").new_initial_state()
>>> [state.action_to_string(action) for action in state.legal_actions()]
['1', '2', '3', '1-2', '2-3']
"""

import logging

from duels.core.errors import DuelsError, require_extra
from duels.core.game import Game
from duels.core.options import OptionValue
from duels.core.rules import AnyRules
from duels.games import GAMES, all_games

with require_extra("openspiel"):
    import pyspiel

    from duels.envs.openspiel.game import (
        MAX_MOVES,
        REGISTERED,
        DuelGame,
        DuelObserver,
        DuelState,
        get_spiel_name,
        make_game_type,
        to_parameter,
    )
    from duels.envs.settings import resolve_env_rules

__all__ = ["DuelGame", "DuelObserver", "DuelState", "load_game", "register"]

log = logging.getLogger(__name__)


def register(game: Game) -> str:
    """Register a game and return its name for `pyspiel.load_game`, which takes the rules' options.

    Raises DuelsError if another game has the name.

    >>> import duels
    >>> register(duels.find_game("leap"))
    'duels_leap'
    """
    name = get_spiel_name(game)
    if REGISTERED.add(name, game):
        # OpenSpiel passes only the parameters to the class, and finds the class in this module by name.
        game_class = type(
            f"Duel{game.name.title()}Game",
            (DuelGame,),
            {"__init__": lambda self, params=None: DuelGame.__init__(self, game, params)},
        )
        globals()[game_class.__name__] = game_class
        pyspiel.register_game(make_game_type(game), game_class)
    return name


def load_game(game: str | Game | AnyRules, max_moves: int = MAX_MOVES, **options: OptionValue) -> DuelGame:
    """Load a game for OpenSpiel. `game` is a name or a `Game`, which take options, or rules.

    Raises DuelsError for rules that are not those of a registered game.

    >>> from open_spiel.python.algorithms.minimax import alpha_beta_search
    >>> value, action = alpha_beta_search(load_game("leap", goal=10))
    >>> value
    1.0
    """
    rules = resolve_env_rules(game, **options)
    if type(rules) is not rules.game.rules_class():
        raise DuelsError(
            f"OpenSpiel can load {rules!r} only if its class is the rules class of {rules.game.package}."
        )
    parameters = {name: to_parameter(value) for name, value in rules.options().items()}
    loaded: DuelGame = pyspiel.load_game(register(rules.game), {**parameters, "max_moves": max_moves})
    return loaded


for _game in all_games():
    try:
        register(_game)
    except Exception as error:  # a faulty package must not break our games
        if _game in GAMES.values():
            raise
        log.warning("The game '%s' cannot be registered with OpenSpiel: %s", _game.name, error)
