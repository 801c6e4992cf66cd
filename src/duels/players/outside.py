"""Players from outside the package, as a person names them: `cmd:python bot.py`.

Only what is typed, or stands in a person's own config, is read here. Records, uploads and requests name
players by the registry alone (`find_kind`): nothing in them can make us run a command.
"""

from pathlib import Path
from typing import Any, NoReturn

from duels.core.errors import DuelsError, UnknownName
from duels.core.rules import Rules
from duels.players import Kind, find_kind
from duels.players.naming import MODEL
from duels.players.program import USUAL, Limits, ProgramPlayer, program_name
from duels.solving.progress import Progress

COMMAND = "cmd:"
MODEL_PREFIX = "model:"


def kind_called(text: str, limits: Limits = USUAL, log: Path | None = None) -> Kind:
    """The kind of player that a person means: a built-in one by its name, or a program by its command."""
    text = text.strip()
    if text.lower().startswith(COMMAND):
        command = text[len(COMMAND) :]
        return Kind(
            program_name(command),
            "a program that is asked in JSON lines",
            lambda rules, progress: ProgramPlayer(command, rules, limits, log),
        )
    if text.lower().startswith(MODEL_PREFIX):
        model = text[len(MODEL_PREFIX) :].strip()
        if not model:
            raise UnknownName("model: needs a name, such as model:NAME.")
        return Kind(MODEL + model, "a language model", _not_here)
    try:
        return find_kind(text)
    except UnknownName as error:
        raise UnknownName(
            f'{str(error).removesuffix(".")}, or "cmd:COMMAND" for a program, or model:NAME.'
        ) from None


def _not_here(rules: Rules[Any, Any, Any], progress: Progress) -> NoReturn:
    raise DuelsError("a language model plays in duels arena only.")
