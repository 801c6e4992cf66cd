"""Who plays at this server: the levels, and players that its operator has named. Requests name no other."""

from shutil import which
from typing import Any

from duels.core.errors import DuelsError, UnknownName, no_such, quote
from duels.core.game import NAME
from duels.core.rules import Rules
from duels.players import HUMAN, KINDS, Kind, register, strongest
from duels.players.child import split_command
from duels.players.levels import SHARE
from duels.players.naming import MODEL, PROGRAM
from duels.players.outside import COMMAND, kind_called

USUAL = "casual"
_LEVELS = tuple(level for level in SHARE if level != "best")
_named: list[str] = []
_programs: set[str] = set()


def register_player(text: str) -> None:
    """Add the player that `NAME=PLAYER` describes, PLAYER being one that we have, or a program (`cmd:…`)."""
    name, equals, what = text.partition("=")
    if not equals or not NAME.fullmatch(name):
        raise DuelsError(f"--player is NAME=PLAYER, like champion=expert, not {quote(text)}.")
    if name in KINDS or name == "friend":
        raise DuelsError(f"--player: there is a player {quote(name)} already.")
    try:
        kind = kind_called(what)
    except UnknownName:
        there = [kind for kind in KINDS if kind != HUMAN]
        told = no_such("player", what, there).removesuffix(".")
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
    register(Kind(name, kind.summary, kind.seat))
    _named.append(name)


def is_program(name: str) -> bool:
    """Whether this player is a program that the operator has named."""
    return name in _programs


def may_play(name: str) -> bool:
    """Whether a request may ask for this player: one that is built in, or that the operator has named."""
    return name in KINDS and name != HUMAN


def as_before(rules: Rules[Any, Any, Any], met: str) -> str:
    """Whom one goes on against: the one met before, unless it was a person, or is no longer offered."""
    return met if met in opponents(rules) else USUAL


def opponents(rules: Rules[Any, Any, Any]) -> list[str]:
    """Whom one may play against, from the weakest level to the strongest, then those with names."""
    return [*_LEVELS, strongest(rules), *_named]
