"""Starts each program once before anything is played: one that cannot start would forfeit every match."""

from contextlib import closing
from pathlib import Path

from duels.arena.config import Config
from duels.arena.folder import CONFIG
from duels.core.errors import DuelsError
from duels.players.program import ProgramPlayer


class ProgramCheck:
    """Starts the programs of a run at once where it begins, so that nothing is written if one does not start.

    Where it goes on, they are started before the first match that is missing, and not at all if none is.
    """

    def __init__(self, config: Config, out: Path) -> None:
        self._config = config
        self._done = False
        if not (out / CONFIG).exists():
            self()

    def __call__(self) -> None:
        """DuelsError, which says why, if a program does not start and say that it is ready."""
        if self._done:
            return
        rules = self._config.rules(self._config.games[0])
        for name in self._config.programs():
            player = self._config.seat(name, rules)
            assert isinstance(player, ProgramPlayer)
            with closing(player):
                try:
                    player.start()
                except DuelsError as error:
                    raise DuelsError(f"{name} does not start: {error}") from None
        self._done = True
