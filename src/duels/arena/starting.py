"""Starts each program once before anything is played: one that cannot start would forfeit every match."""

from contextlib import closing

from duels.arena.config import Config
from duels.core.errors import DuelsError
from duels.players.program import ProgramPlayer


def check_programs(config: Config) -> None:
    """DuelsError, which says why, if a program does not start and say that it is ready."""
    rules = config.rules(config.games[0])
    for name in config.programs():
        player = config.seat(name, rules)
        assert isinstance(player, ProgramPlayer)
        with closing(player):
            try:
                player.start()
            except DuelsError as error:
                raise DuelsError(f"{name} does not start: {error}") from None
