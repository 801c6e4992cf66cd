"""Five two-player rule-book games: rules, matches, records and players, ready to use from Python."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from duels.core.errors import (
    BadOption,
    DuelsError,
    GameOver,
    IllegalMove,
    NotationError,
    NotYourTurn,
    RecordError,
    UnknownName,
)

if TYPE_CHECKING:
    # `as` exports what needs NumPy; `from duels import *` is for everybody, and leaves it out.
    from duels import vector as vector
    from duels.analysis.agents import masked as masked
    from duels.analysis.agents import policy_of as policy_of
    from duels.analysis.agents import table_of as table_of
    from duels.analysis.exercises import Exercise, exercises
    from duels.analysis.exploitability import best_responses as best_responses
    from duels.analysis.exploitability import exploitability as exploitability
    from duels.analysis.exploitability import exploitability_bounds as exploitability_bounds
    from duels.analysis.exploitability import over_seeds as over_seeds
    from duels.analysis.hints import Hint, hint
    from duels.analysis.review import Review, review
    from duels.core.game import Game
    from duels.core.match import Match, draw
    from duels.core.options import OptionValue
    from duels.core.record import Record
    from duels.core.record import dumps as dump_record
    from duels.core.rules import CHANCE, Ending, Event, Outcome, Rules, Seat, Sight
    from duels.games import all_games, find_game, load_record
    from duels.players import Player, make_player

    __version__: str

__all__ = [
    "CHANCE",
    "BadOption",
    "DuelsError",
    "Ending",
    "Event",
    "Exercise",
    "Game",
    "GameOver",
    "Hint",
    "IllegalMove",
    "Match",
    "NotYourTurn",
    "NotationError",
    "Outcome",
    "Player",
    "Record",
    "RecordError",
    "Review",
    "Rules",
    "Seat",
    "Sight",
    "UnknownName",
    "all_games",
    "draw",
    "dump_record",
    "exercises",
    "find_game",
    "hint",
    "load_record",
    "make_player",
    "review",
    "start",
]


# The command line passes here too: what it may not need, and what needs NumPy, is imported when it is used.
_LATER = {
    "CHANCE": "duels.core.rules.CHANCE",
    "Ending": "duels.core.rules.Ending",
    "Event": "duels.core.rules.Event",
    "Exercise": "duels.analysis.exercises.Exercise",
    "Game": "duels.core.game.Game",
    "Hint": "duels.analysis.hints.Hint",
    "Match": "duels.core.match.Match",
    "Outcome": "duels.core.rules.Outcome",
    "Player": "duels.players.Player",
    "Record": "duels.core.record.Record",
    "Review": "duels.analysis.review.Review",
    "Rules": "duels.core.rules.Rules",
    "Seat": "duels.core.rules.Seat",
    "Sight": "duels.core.rules.Sight",
    "all_games": "duels.games.all_games",
    "best_responses": "duels.analysis.exploitability.best_responses",
    "draw": "duels.core.match.draw",
    "dump_record": "duels.core.record.dumps",
    "exercises": "duels.analysis.exercises.exercises",
    "exploitability": "duels.analysis.exploitability.exploitability",
    "exploitability_bounds": "duels.analysis.exploitability.exploitability_bounds",
    "find_game": "duels.games.find_game",
    "hint": "duels.analysis.hints.hint",
    "load_record": "duels.games.load_record",
    "make_player": "duels.players.make_player",
    "masked": "duels.analysis.agents.masked",
    "over_seeds": "duels.analysis.exploitability.over_seeds",
    "policy_of": "duels.analysis.agents.policy_of",
    "review": "duels.analysis.review.review",
    "table_of": "duels.analysis.agents.table_of",
}


def start(game: "str | Game | Rules[Any, Any, Any]", **options: "OptionValue") -> "Match[Any, Any, Any]":
    """A new match, of a game or the one of that name with these options, or by rules."""
    from duels.core.match import Match
    from duels.games import rules_of

    return Match.start(rules_of(game, **options))


if not TYPE_CHECKING:  # a type checker would take any name for one that is found here

    def __getattr__(name: str) -> Any:
        if name == "vector":
            return import_module("duels.vector")
        if name == "__version__":
            from importlib.metadata import version

            found = version("duels")
        elif name in _LATER:
            module, _, thing = _LATER[name].rpartition(".")
            found = getattr(import_module(module), thing)
        else:
            raise AttributeError(f"module 'duels' has no attribute {name!r}")
        globals()[name] = found
        return found


def __dir__() -> list[str]:
    dunders = [name for name in globals() if name.startswith("__")]
    return sorted({*dunders, *__all__, *_LATER, "__version__", "vector"})
