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
from duels.games import Game, find_game, load_record

if TYPE_CHECKING:
    from duels.core.match import Match, draw
    from duels.core.record import Record
    from duels.core.record import dumps as dump_record
    from duels.core.rules import CHANCE, Event, Outcome, Rules, Seat, Sight
    from duels.players import Player, make_player

    def games() -> tuple[Game, ...]:
        """The five games: at run time the package of that name, which can be called."""


__all__ = [
    "CHANCE",
    "BadOption",
    "DuelsError",
    "Event",
    "Game",
    "GameOver",
    "IllegalMove",
    "Match",
    "NotYourTurn",
    "NotationError",
    "Outcome",
    "Player",
    "Record",
    "RecordError",
    "Rules",
    "Seat",
    "Sight",
    "UnknownName",
    "draw",
    "dump_record",
    "find_game",
    "games",
    "load_record",
    "make_player",
    "start",
]


# The command line passes here too: what it may not need, and what needs NumPy, is imported when it is used.
_LATER = {
    "CHANCE": "duels.core.rules.CHANCE",
    "Event": "duels.core.rules.Event",
    "Match": "duels.core.match.Match",
    "Outcome": "duels.core.rules.Outcome",
    "Player": "duels.players.Player",
    "Record": "duels.core.record.Record",
    "Rules": "duels.core.rules.Rules",
    "Seat": "duels.core.rules.Seat",
    "Sight": "duels.core.rules.Sight",
    "draw": "duels.core.match.draw",
    "dump_record": "duels.core.record.dumps",
    "exploitability": "duels.envs.grading.exploitability",
    "exploitability_bounds": "duels.envs.grading.exploitability_bounds",
    "make_player": "duels.players.make_player",
    "table_of": "duels.envs.agents.table_of",
}


def start(game: str, **options: int | None) -> "Match[Any, Any, Any]":
    """A new match of the game that goes by this name; options change its size or set a limit."""
    from duels.core.match import Match

    return Match.start(find_game(game).rules(**options))


def __getattr__(name: str) -> Any:
    if name == "vector":
        return import_module("duels.vector")
    if name not in _LATER:
        raise AttributeError(f"module 'duels' has no attribute {name!r}")
    module, _, thing = _LATER[name].rpartition(".")
    globals()[name] = found = getattr(import_module(module), thing)
    return found


def __dir__() -> list[str]:
    dunders = [name for name in globals() if name.startswith("__")]
    return sorted({*dunders, *__all__, *_LATER, "vector"})
