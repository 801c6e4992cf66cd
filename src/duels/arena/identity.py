"""Who a player is, beyond its name: whether players of one name, in two runs, are the same."""

from collections.abc import Mapping
from hashlib import sha256
from typing import Any

from duels.players.outside import COMMAND, MODEL_PREFIX

OURS, PROGRAM, MODEL = "ours", "program", "model"
_ASKED_BY = {PROGRAM: "limits", MODEL: "model"}
"""Which table of a config says how players of a sort are asked."""

Identity = Mapping[str, Any]
"""The sort of a player, a hash of how it is called, and how it is asked."""


def identity(call: str, base_url: str) -> dict[str, str]:
    """What a run's folder keeps of a player: neither a command nor an address can be read from it."""
    sort, call = sort_of(call), call.strip()
    told = f"{call} {base_url}" if sort == MODEL else call
    return {"sort": sort, "called": sha256(told.encode(errors="surrogatepass")).hexdigest()[:16]}


def sort_of(call: str) -> str:
    """OURS, PROGRAM or MODEL, by how a person calls a player."""
    call = call.strip().lower()
    return PROGRAM if call.startswith(COMMAND) else MODEL if call.startswith(MODEL_PREFIX) else OURS


def identities(players: Mapping[str, Mapping[str, str]], config: Mapping[str, Any]) -> dict[str, Identity]:
    """All that a folder's config knows of its players, by name."""
    return {
        name: {**kept, **config.get(_ASKED_BY.get(kept["sort"], ""), {})} for name, kept in players.items()
    }


def unlike(one: Identity, two: Identity) -> str:
    """What is known to differ between two players of one name, as part of a sentence; nothing if none is.

    Programs that are called in the same way are taken for the same, whatever they have become.
    """
    if one["called"] != two["called"]:
        return "it is called in another way"
    known = {name: (one.get(name, "not stated"), two.get(name, "not stated")) for name in {**one, **two}}
    return ", ".join(f"{name} was {old} and is {new}" for name, (old, new) in known.items() if old != new)
