"""Who plays in a run: how a person calls a player, its name, and whether it is the same in two runs."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from duels.core.errors import BadOption, UnknownName, quote
from duels.players import HUMAN
from duels.players.outside import COMMAND, MODEL_PREFIX, kind_called
from duels.players.program import Limits

OURS, PROGRAM, MODEL = "ours", "program", "model"
_ASKED_BY = {PROGRAM: "limits", MODEL: "model"}
"""Which table of a config says how players of a sort are asked."""
_NAMED = re.compile(r"([A-Za-z0-9][A-Za-z0-9 ._-]{0,39})=(.+)", re.DOTALL)

Identity = Mapping[str, Any]
"""The sort of a player, a hash of how it is called, and how it is asked."""


@dataclass(frozen=True)
class Entrant:
    """A player of a run."""

    name: str
    call: str
    """How a person calls it: `club`, `cmd:python bot.py`, `model:NAME`."""

    @classmethod
    def of(cls, text: str, limits: Limits) -> "Entrant":
        """The player that a person means, under a name of the person's own if one is given (`mine=club`)."""
        named = _NAMED.fullmatch(text.strip())
        entrant = cls(named[1], named[2].strip()) if named else cls("", text.strip())
        if entrant.sort == OURS and "=" in entrant.call:
            name = quote(entrant.call.partition("=")[0])
            raise BadOption(
                f"{name} cannot be a player's name: that is up to 40 letters (A to Z), digits, spaces and "
                ". _ -, beginning with a letter or digit."
            )
        kind = kind_called(entrant.call, limits)
        if kind.name == HUMAN:
            raise UnknownName("a person cannot play in a run; see duels players for who can.")
        return entrant if named else cls(kind.name, entrant.call)

    @property
    def sort(self) -> str:
        """OURS, PROGRAM or MODEL."""
        call = self.call.lower()
        return PROGRAM if call.startswith(COMMAND) else MODEL if call.startswith(MODEL_PREFIX) else OURS

    def identity(self, base_url: str) -> dict[str, str]:
        """What a run's folder keeps of it: neither a command nor an address can be read from that."""
        told = f"{self.call} {base_url}" if self.sort == MODEL else self.call
        return {"sort": self.sort, "called": sha256(told.encode(errors="surrogatepass")).hexdigest()[:16]}


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
