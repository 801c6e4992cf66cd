"""Plays the matches it is handed, one after another, and writes each to its own log."""

from pathlib import Path
from typing import Any

from duels.arena.bout import Asked, Bout, play_with
from duels.arena.config import Config
from duels.arena.folder import Folder, Log, Row
from duels.arena.values import Judge
from duels.core.rules import Rules, Seat


class Worker:
    """Players and judges are made once for each game; a program serves one seat only."""

    def __init__(self, config: Config, folder: Path, name: str) -> None:
        self._config = config
        self._folder = Folder(folder)
        self._name = name
        self._log = Log(folder, name)
        self._judges: dict[Rules[Any, Any, Any], Judge] = {}
        self._players: dict[tuple[Rules[Any, Any, Any], str, Seat], Asked] = {}

    def play(self, bout: Bout) -> Row:
        """Play a match; its row is on the disk when this returns."""
        rules = bout.rules()
        if rules not in self._judges:
            self._judges[rules] = Judge(rules)
        seated = {seat: self._seated(rules, bout.players[seat - 1], seat) for seat in Seat}
        row = play_with(bout, self._judges[rules], seated)
        self._log.add(row)
        return row

    def _seated(self, rules: Rules[Any, Any, Any], name: str, seat: Seat) -> Asked:
        key = rules, name, seat
        if key not in self._players:
            log = self._folder.bot_log(name, f"{self._name}-{seat.value}")
            self._players[key] = Asked(self._config.seat(name, rules, log), rules)
        return self._players[key]

    def close(self) -> None:
        """Let the players go, and the log."""
        for player in self._players.values():
            player.close()
        self._log.close()


def serve(connection: Any, config: Config, folder: Path, name: str) -> None:
    """The main loop of a worker process: a match in, its row out; ends when nobody is there any more."""
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever started us tells us to stop
    worker = Worker(config, folder, name)
    try:
        while (bout := connection.recv()) is not None:
            try:
                answer: Any = worker.play(bout)
            except Exception as error:
                answer = error
            connection.send(answer)
    except (EOFError, OSError):
        pass
    finally:
        worker.close()
