"""Players from outside the package, as a person names them: `cmd:python bot.py`.

Only what is typed, or stands in a person's own config, is read here. Records, uploads and requests name
players by the registry alone (`find_kind`): nothing in them can make us run a command.
"""

from pathlib import Path

from duels.core.errors import UnknownName
from duels.players import Kind, find_kind
from duels.players.program import USUAL, Limits, ProgramPlayer, program_name

COMMAND = "cmd:"


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
    try:
        return find_kind(text)
    except UnknownName as error:
        raise UnknownName(f'{str(error).removesuffix(".")}, or "cmd:COMMAND" for a program.') from None
