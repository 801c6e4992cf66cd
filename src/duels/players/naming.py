"""Names of players from outside the package, as records have them. Nothing here can run anything."""

import re
from collections.abc import Iterable
from dataclasses import replace

from duels.core.errors import UnknownName, quote
from duels.players import Kind

PROGRAM, MODEL = "program ", "model "
"""How the names begin that programs and models have in records and reports."""


def is_outside(name: str) -> bool:
    """Whether a record's name for a player is that of one from outside, who has to be seated again."""
    return name.startswith((PROGRAM, MODEL))


def told_apart(kinds: Iterable[Kind]) -> list[Kind]:
    """The same kinds; of several that have the same name, later ones get a number."""
    seen: dict[str, int] = {}
    apart = []
    for kind in kinds:
        seen[kind.name] = count = seen.get(kind.name, 0) + 1
        apart.append(replace(kind, name=f"{kind.name} ({count})") if count > 1 else kind)
    return apart


def is_called(name: str, recorded: str) -> bool:
    """Whether a player of this name may be the one that a record names, perhaps with a number."""
    return recorded == name or re.fullmatch(rf"{re.escape(name)} \([0-9]+\)", recorded) is not None


def option_to_seat(name: str, seat: int) -> str:
    """The option that fills a seat of somebody from outside again, to be completed."""
    return f"--seat{seat} " + ("model:NAME --base-url URL" if name.startswith(MODEL) else '"cmd:COMMAND"')


def refuse_unseated(name: str, seat: int) -> None:
    """Say how a seat of somebody from outside is filled again."""
    if is_outside(name):
        raise UnknownName(
            f"seat {seat} was {quote(name)}, and a record does not say how to call it: "
            f"add {option_to_seat(name, seat)}."
        )
