"""Plays the matches it is handed, one after another, and writes each to its own log."""

import os
from collections.abc import Callable, Iterable
from contextlib import closing, suppress
from multiprocessing import parent_process
from pathlib import Path
from time import monotonic
from typing import Any

from duels.arena.bout import Asked, Bout, play_with
from duels.arena.config import Config
from duels.arena.folder import Folder, Score, score_of
from duels.arena.logs import Log, Row
from duels.arena.values import Judge
from duels.core.options import OptionValue
from duels.core.rules import Rules, Seat

A_WHILE = 0.2
"""Seconds after which a worker tells what it has played."""
_Pairing = tuple[str, tuple[tuple[str, OptionValue], ...], tuple[str, str]]  # game, options, players in order


class Players:
    """Players and judges, each made once for each game; a program serves one seat only.

    `log_of` says where what a program writes to its stderr goes.
    """

    def __init__(self, config: Config, log_of: Callable[[str, Seat], Path | None] = lambda *_: None) -> None:
        self._config = config
        self._log_of = log_of
        self._judges: dict[Rules[Any, Any, Any], Judge] = {}
        self._players: dict[tuple[Rules[Any, Any, Any], str, Seat], Asked] = {}
        # All that a match needs in one lookup: three by rules, slow to hash, take 0.5% of a match of lights.
        self._seated: dict[_Pairing, tuple[Judge, dict[Seat, Asked]]] = {}

    def play(self, bout: Bout) -> Row:
        """Play a match; its row."""
        pairing = bout.game, bout.options, bout.players
        seated = self._seated.get(pairing)
        if seated is None:
            seated = self._seated[pairing] = self._seat(bout)
        return play_with(bout, *seated)

    def _seat(self, bout: Bout) -> tuple[Judge, dict[Seat, Asked]]:
        rules = bout.rules()
        if rules not in self._judges:
            self._judges[rules] = Judge(rules)
        return self._judges[rules], {seat: self._player(rules, bout.players[seat - 1], seat) for seat in Seat}

    def _player(self, rules: Rules[Any, Any, Any], name: str, seat: Seat) -> Asked:
        key = rules, name, seat
        if key not in self._players:
            self._players[key] = Asked(self._config.seat(name, rules, self._log_of(name, seat)))
        return self._players[key]

    def close(self) -> None:
        """Let the players go."""
        for player in self._players.values():
            player.close()


class Worker:
    """Plays with players of its own, into a log of its own."""

    def __init__(self, config: Config, folder: Path, name: str) -> None:
        kept = Folder(folder)
        self._players = Players(config, lambda player, seat: kept.bot_log(player, f"{name}-{seat.value}"))
        self._log = Log(folder, name)

    def play(self, bout: Bout) -> Row:
        """Play a match; its row is in the log when this returns."""
        row = self._players.play(bout)
        self._log.add(row)
        return row

    def play_some(self, bouts: Iterable[Bout]) -> list[Score]:
        """Play matches for a while; the scores of those that there was time for, one at least."""
        began, scores = monotonic(), []
        for bout in bouts:
            scores.append(score_of(self.play(bout)))
            if monotonic() - began > A_WHILE:
                break
        return scores

    def close(self) -> None:
        """Let the players go, and the log."""
        with closing(self._log):
            self._players.close()


def serve(connection: Any, config: Config, folder: Path, prefix: str, name: str) -> None:
    """The main loop of a worker process: matches in, scores out; ends when nobody is there any more.

    Its last words, if it has any, are that it could not save what it had played.
    """
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever started us tells us to stop
    handle = Folder(folder).hold_as_worker(prefix)
    starter = parent_process()
    if starter and not starter.is_alive():  # the run may go on without us, and play what was meant for us
        os.close(handle)
        return
    worker = Worker(config, folder, name)
    try:
        while (bouts := connection.recv()) is not None:
            try:
                answer: Any = worker.play_some(bouts)
            except Exception as error:
                answer = error
            connection.send(answer)
    except (EOFError, OSError):
        pass
    finally:
        try:
            worker.close()
        except OSError as error:
            with suppress(OSError):
                connection.send(error)
        os.close(handle)
