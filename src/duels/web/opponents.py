"""The bots of this server: the levels, and players added by its operator with `--player`.

A player can be a program (`--player NAME=cmd:…`). Each program runs once per game, answers one match at a
time, and ends with the server.
"""

from contextlib import suppress
from dataclasses import dataclass
from random import Random
from shutil import which
from threading import Lock
from typing import Any

from duels.core.errors import DuelsError, UnknownName, format_unknown_name, quote
from duels.core.game import NAME
from duels.core.rules import AnyRules, AnySight
from duels.players import (
    HUMAN,
    MODEL,
    PLAYER_KINDS,
    PROGRAM,
    Player,
    PlayerKind,
    list_levels,
    make_player,
)
from duels.players.child import split_command
from duels.players.external import CMD_PREFIX, parse_player_kind
from duels.players.levels import list_equal_levels
from duels.players.program import ProgramPlayer
from duels.web.workers import WorkerPool

DEFAULT_OPPONENT = "casual"
_PROGRAM_THREADS = 4
_CLOSE_TIMEOUT = 0.5  # seconds for a program that is choosing a move
_added_players: list[str] = []
_programs: set[str] = set()


def register_player(text: str) -> None:
    """Add the player that `NAME=PLAYER` describes: a built-in player or a program (`cmd:…`).

    Raises DuelsError if the name is taken or the player cannot play here.
    """
    name, equals, player = text.partition("=")
    if not equals or not NAME.fullmatch(name):
        raise DuelsError(f"--player must be NAME=PLAYER, such as champion=expert, not {quote(text)}.")
    if name in PLAYER_KINDS or name == "friend":
        raise DuelsError(f"--player: the name {quote(name)} is taken. Choose another.")
    try:
        kind = parse_player_kind(player)
    except UnknownName:
        known = [kind for kind in PLAYER_KINDS if kind != HUMAN]
        message = format_unknown_name("player", player, known).removesuffix(".")
        raise DuelsError(f"--player {name}: {message}, or cmd:COMMAND for a program.") from None
    if kind.name == HUMAN:
        raise DuelsError(f"--player: {quote(player)} is a person. Name a bot or a program.")
    if kind.name.startswith(MODEL):
        raise DuelsError("--player: language models play only in duels arena.")
    if kind.name.startswith(PROGRAM):
        program = split_command(player.strip()[len(CMD_PREFIX) :])[0]
        if not which(program):
            raise DuelsError(f"--player {name}: the program {quote(program)} was not found.")
        _programs.add(name)
    PLAYER_KINDS[name] = PlayerKind(name, kind.summary, kind.make)
    _added_players.append(name)


def is_program(name: str) -> bool:
    """Whether this player is a program."""
    return name in _programs


def get_built_in(name: str) -> str | None:
    """Return the name of a player that every process knows, or None if the operator added the player."""
    return None if name in _added_players else name


def is_available(name: str) -> bool:
    """Whether visitors may play against this player."""
    return name in PLAYER_KINDS and name != HUMAN


def get_same_opponent(rules: AnyRules, previous: str) -> str:
    """Return the previous opponent, or the default if it was a person or is no longer offered."""
    previous = list_equal_levels(rules.name).get(previous, previous)
    return previous if previous in list_opponents(rules) else DEFAULT_OPPONENT


def list_opponents(rules: AnyRules) -> list[str]:
    """Return the levels from the weakest to the strongest, then the players that the operator added."""
    return [*list_levels(rules), *_added_players]


class ProgramPool:
    """The programs that this server runs."""

    def __init__(self) -> None:
        self.workers = WorkerPool(_PROGRAM_THREADS)
        """Separate threads, so that reviews do not wait for programs."""
        self._lock = Lock()
        self._running: dict[tuple[str, str], _SharedProgram] = {}

    def get_player(self, name: str, rules: AnyRules, match: str) -> Player:
        """Return the player for a match: a shared program, or a new bot."""
        if not is_program(name):
            return make_player(name, rules)
        key = name, repr(rules)
        with self._lock:
            if key not in self._running:
                player = make_player(name, rules)
                assert isinstance(player, ProgramPlayer)
                self._running[key] = _SharedProgram(player)
            return _SeatedProgram(self._running[key], match)

    def close(self) -> None:
        """End all programs."""
        self.workers.close()
        with self._lock:
            for program in self._running.values():
                program.close()


class _SharedProgram:
    """A program that several matches share, one request at a time."""

    def __init__(self, player: ProgramPlayer) -> None:
        self._player = player
        self._lock = Lock()
        self._closed = False

    def choose(self, match: str, sight: AnySight, rng: Random) -> Any:
        with self._lock:
            if self._closed:
                raise DuelsError("The server is shutting down.")
            self._player.new_match(match)
            try:
                return self._player.choose(sight, rng)
            finally:
                if self._closed:  # the player may have restarted the program meanwhile
                    self._player.close()

    def close(self) -> None:
        self._closed = True
        is_idle = self._lock.acquire(timeout=_CLOSE_TIMEOUT)
        try:
            with suppress(OSError, ValueError):  # `choose` may end it at the same moment
                self._player.close()
        finally:
            if is_idle:
                self._lock.release()


@dataclass(frozen=True)
class _SeatedProgram:
    """A program at a seat of one match."""

    program: _SharedProgram
    match: str

    def choose(self, sight: AnySight, rng: Random) -> Any:
        return self.program.choose(self.match, sight, rng)
