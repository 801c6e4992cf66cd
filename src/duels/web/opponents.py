"""Who plays at this server: the levels, and players that its operator has named. Requests name no other."""

from typing import Any

from duels.core.errors import DuelsError, quote
from duels.core.game import NAME
from duels.core.rules import Rules
from duels.players import HUMAN, KINDS, Kind, find_kind, register, strongest
from duels.players.levels import SHARE

USUAL = "casual"
_LEVELS = tuple(level for level in SHARE if level != "best")
_named: list[str] = []


def register_player(text: str) -> None:
    """Add the player that `NAME=PLAYER` describes, PLAYER being one that we have."""
    name, equals, what = text.partition("=")
    if not equals or not NAME.fullmatch(name):
        raise DuelsError(f"--player is NAME=PLAYER, like champion=expert, not {quote(text)}.")
    if name in KINDS or name == "friend":
        raise DuelsError(f"--player: there is a player {quote(name)} already.")
    kind = find_kind(what)
    if kind.name == HUMAN:
        raise DuelsError(f"--player: {quote(what)} is a person.")
    register(Kind(name, kind.summary, kind.seat))
    _named.append(name)


def may_play(name: str) -> bool:
    """Whether a request may ask for this player: one that is built in, or that the operator has named."""
    return name in KINDS and name != HUMAN


def opponents(rules: Rules[Any, Any, Any]) -> list[str]:
    """Whom one may play against, from the weakest level to the strongest, then those with names."""
    return [*_LEVELS, strongest(rules), *_named]
