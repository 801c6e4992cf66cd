"""The standing field: who is always measured, and how much of it takes two minutes on two processors."""

from duels.arena.config import Config
from duels.games import GAMES
from duels.players.levels import SHARE

PLAYERS = ("random", "greedy", *SHARE)
MATCHES = {"lights": 200, "leap": 200, "chain": 20, "hunt": 100, "flip": 20}
"""For each two players. Where luck is taken out, or matches are long, fewer are enough."""


def ladder_config(games: tuple[str, ...], matches: int | None, seed: str) -> Config:
    """The run of the ladder."""
    names = games or tuple(GAMES)
    usual = {name: MATCHES.get(name, 10) for name in names}
    return Config(PLAYERS, names, matches or usual, seed)
