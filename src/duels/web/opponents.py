"""Who plays at this server: the levels, and players that its operator has named. Requests name no other.

A player may be a program (`--player NAME=cmd:…`). Each runs once for its game, one match at a time asks it,
and it ends with the server.
"""

from contextlib import suppress
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
    get_strongest_name,
    make_player,
    register_player_kind,
)
from duels.players.child import split_command
from duels.players.external import COMMAND, parse_player_kind
from duels.players.levels import LEVEL_SHARES
from duels.players.program import ProgramPlayer
from duels.web.workers import Workers

USUAL = "casual"
_LEVELS = tuple(level for level in LEVEL_SHARES if level != "best")
_THREADS = 4  # for programs
_TO_END = 0.5  # seconds for a program that is being asked
_named: list[str] = []
_programs: set[str] = set()


def register_player(text: str) -> None:
    """Add the player that `NAME=PLAYER` describes, PLAYER being one that we have, or a program (`cmd:…`)."""
    name, equals, what = text.partition("=")
    if not equals or not NAME.fullmatch(name):
        raise DuelsError(f"--player is NAME=PLAYER, like champion=expert, not {quote(text)}.")
    if name in PLAYER_KINDS or name == "friend":
        raise DuelsError(f"--player: there is a player {quote(name)} already.")
    try:
        kind = parse_player_kind(what)
    except UnknownName:
        there = [kind for kind in PLAYER_KINDS if kind != HUMAN]
        told = format_unknown_name("player", what, there).removesuffix(".")
        raise DuelsError(f"--player {name}: {told}, or cmd:COMMAND for a program.") from None
    if kind.name == HUMAN:
        raise DuelsError(f"--player: {quote(what)} is a person.")
    if kind.name.startswith(MODEL):
        raise DuelsError("--player: a language model plays in duels arena only.")
    if kind.name.startswith(PROGRAM):
        program = split_command(what.strip()[len(COMMAND) :])[0]
        if not which(program):
            raise DuelsError(f"--player {name}: there is no program {quote(program)} to run.")
        _programs.add(name)
    register_player_kind(PlayerKind(name, kind.summary, kind.seat))
    _named.append(name)


def is_program(name: str) -> bool:
    """Whether this player is a program that the operator has named."""
    return name in _programs


def may_play(name: str) -> bool:
    """Whether a request may ask for this player: one that is built in, or that the operator has named."""
    return name in PLAYER_KINDS and name != HUMAN


def as_before(rules: AnyRules, met: str) -> str:
    """Whom one goes on against: the one met before, unless it was a person, or is no longer offered."""
    return met if met in opponents(rules) else USUAL


def opponents(rules: AnyRules) -> list[str]:
    """Whom one may play against, from the weakest level to the strongest, then those with names."""
    return [*_LEVELS, get_strongest_name(rules), *_named]


class Programs:
    """The programs that this server runs."""

    def __init__(self) -> None:
        self.workers = Workers(_THREADS)
        """Threads of their own: whoever waits for a program keeps no review waiting."""
        self._lock = Lock()
        self._running: dict[tuple[str, str], _Program] = {}

    def seat(self, name: str, rules: AnyRules, match: str) -> Player:
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

    def choose(self, match: str, sight: AnySight, rng: Random) -> Any:
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

    def choose(self, sight: AnySight, rng: Random) -> Any:
        """The program's move; NoMove if it gives none."""
        return self._program.choose(self._match, sight, rng)
