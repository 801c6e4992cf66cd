"""What the commands of `duels` share: arguments, options, and how they begin and end."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from duels.core.errors import DuelsError
from duels.games import GAMES, Game, find_game

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from duels.core.record import Record


def _as_game(_context: click.Context, _parameter: click.Parameter, name: str) -> Game:
    try:
        return find_game(name)
    except DuelsError as error:
        raise click.BadParameter(str(error)) from None


def as_who(_context: click.Context, _parameter: click.Parameter, name: str | None) -> str | None:
    from duels.players import find_kind

    if name is None:
        return None
    try:
        return find_kind(name).name
    except DuelsError as error:
        raise click.BadParameter(str(error)) from None


def _complete_game(
    _context: click.Context, _parameter: click.Parameter, start: str
) -> "list[CompletionItem]":
    from click.shell_completion import CompletionItem

    return [
        CompletionItem(g.name, help=g.summary) for g in GAMES.values() if g.name.startswith(start.lower())
    ]


def complete_who(_context: click.Context, _parameter: click.Parameter, start: str) -> "list[CompletionItem]":
    from click.shell_completion import CompletionItem

    from duels.players import KINDS

    return [
        CompletionItem(k.name, help=k.summary) for k in KINDS.values() if k.name.startswith(start.lower())
    ]


def examples(*lines: str) -> str:
    """The end of a command's help."""
    return "\b\nExamples:\n" + "\n".join(f"  {line}" for line in lines)


plain_option = click.option("--plain", is_flag=True, help="No colours, even on a terminal.")
game_argument = click.argument("game", callback=_as_game, shell_complete=_complete_game)
record_argument = click.argument("file", type=click.Path(path_type=Path, exists=True, dir_okay=False))


def read(file: Path) -> "Record":
    """The match recorded in `file`."""
    from duels.terminal.journal import read_record

    return read_record(file)


def leave(code: int) -> None:
    """End the command with this exit code."""
    raise click.exceptions.Exit(code)
