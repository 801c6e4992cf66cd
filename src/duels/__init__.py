"""Five two-player rule-book games: rules, matches, records and players, ready to use from Python."""

from duels.core.errors import DuelsError, GameOver, IllegalMove, NotationError, NotYourTurn, RecordError
from duels.core.match import Match, draw
from duels.core.rules import CHANCE, Event, Outcome, Rules, Seat, Sight
from duels.games import GAMES, Game, find_game
from duels.players import Player, make_player

__all__ = [
    "CHANCE",
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
    "RecordError",
    "Rules",
    "Seat",
    "Sight",
    "draw",
    "find_game",
    "games",
    "make_player",
    "start",
]


def games() -> tuple[Game, ...]:
    """The five games."""
    return tuple(GAMES.values())


def start(game: str, **options: int | None) -> "Match[object, object, object]":
    """A new match of the game that goes by this name; options change its size or set a limit."""
    return Match.start(find_game(game).rules(**options))
