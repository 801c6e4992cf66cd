"""Players that are programs: each runs once for its game, and one match at a time asks it.

Only the operator names programs (`--player NAME=cmd:…`). They end with the server.
"""

from contextlib import suppress
from random import Random
from threading import Lock
from typing import Any

from duels.core.errors import DuelsError
from duels.core.rules import Rules, Sight
from duels.players import Player, make_player
from duels.players.program import ProgramPlayer
from duels.web.opponents import is_program
from duels.web.workers import Workers

_THREADS = 4
_TO_END = 0.5  # seconds for a program that is being asked


class Programs:
    """The programs that this server runs."""

    def __init__(self) -> None:
        self.workers = Workers(_THREADS)
        """Threads of their own: whoever waits for a program keeps no review waiting."""
        self._lock = Lock()
        self._running: dict[tuple[str, str], _Program] = {}

    def seat(self, name: str, rules: Rules[Any, Any, Any], match: str) -> Player:
        """The player `name` for a match: a program that runs already, or any other, which is made."""
        if not is_program(name):
            return make_player(name, rules)
        key = name, repr(rules)
        with self._lock:
            if key not in self._running:
                player = make_player(name, rules)
                assert isinstance(player, ProgramPlayer)
                self._running[key] = _Program(player)
            return _Seated(self._running[key], match)

    def close(self) -> None:
        """End them all."""
        self.workers.close()
        with self._lock:
            for program in self._running.values():
                program.close()


class _Program:
    """A program that several matches ask, one after another."""

    def __init__(self, player: ProgramPlayer) -> None:
        self._player = player
        self._lock = Lock()
        self._closed = False

    def choose(self, match: str, sight: Sight[Any, Any], rng: Random) -> Any:
        with self._lock:
            if self._closed:
                raise DuelsError("The server ends.")
            self._player.new_match(match)
            try:
                return self._player.choose(sight, rng)
            finally:
                if self._closed:  # it may have been started again meanwhile
                    self._player.close()

    def close(self) -> None:
        self._closed = True
        free = self._lock.acquire(timeout=_TO_END)
        try:
            with suppress(OSError, ValueError):  # whoever asks it may end it at the same moment
                self._player.close()
        finally:
            if free:
                self._lock.release()


class _Seated:
    """A program at a seat of one match."""

    def __init__(self, program: _Program, match: str) -> None:
        self._program = program
        self._match = match

    def choose(self, sight: Sight[Any, Any], rng: Random) -> Any:
        """The program's move; NoMove if it gives none."""
        return self._program.choose(self._match, sight, rng)
