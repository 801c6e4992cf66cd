"""Five two-player rule-book games: rules, matches, records and players, ready to use from Python."""

from importlib import import_module
from typing import Any

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
from duels.core.match import Match, draw
from duels.core.record import Record
from duels.core.record import dumps as dump_record
from duels.core.rules import CHANCE, Event, Outcome, Rules, Seat, Sight
from duels.games import GAMES, Game, find_game, load_record
from duels.players import Player, make_player

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


def games() -> tuple[Game, ...]:
    """The five games."""
    return tuple(GAMES.values())


def start(game: str, **options: int | None) -> Match[Any, Any, Any]:
    """A new match of the game that goes by this name; options change its size or set a limit."""
    return Match.start(find_game(game).rules(**options))


def __getattr__(name: str) -> Any:
    """What needs NumPy is imported when it is first used: playing does without."""
    if name == "vector":
        return import_module("duels.vector")
    if name in ("exploitability", "exploitability_bounds"):
        return getattr(import_module("duels.envs.grading"), name)
    raise AttributeError(f"module 'duels' has no attribute {name!r}")
