"""What the commands of `duels` share: arguments, options, and how they begin and end."""

from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from duels.core.errors import DuelsError
from duels.games import GAMES, Game, find_game

if TYPE_CHECKING:
    from collections.abc import Callable

    from click.shell_completion import CompletionItem

    from duels.core.record import Record


INTERRUPTED = 130
"""The exit code after Ctrl-C, and where the input ends too early."""

F = TypeVar("F", bound="Callable[..., Any]")


def _as_game(_context: click.Context, _parameter: click.Parameter, name: str) -> Game:
    try:
        return find_game(name)
    except DuelsError as error:
        raise click.BadParameter(str(error)) from None


def _as_who(_context: click.Context, _parameter: click.Parameter, name: str | None) -> str | None:
    from duels.players import find_kind

    try:
        return None if name is None else find_kind(name).name
    except DuelsError as error:
        raise click.BadParameter(str(error)) from None


def _complete_game(
    _context: click.Context, _parameter: click.Parameter, start: str
) -> "list[CompletionItem]":
    from click.shell_completion import CompletionItem

    return [
        CompletionItem(g.name, help=g.summary) for g in GAMES.values() if g.name.startswith(start.lower())
    ]


def _complete_who(_context: click.Context, _parameter: click.Parameter, start: str) -> "list[CompletionItem]":
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


def who_option(name: str, text: str, default: str | None = None) -> "Callable[[F], F]":
    """An option that names a kind of player."""
    return click.option(
        name,
        metavar="WHO",
        callback=_as_who,
        shell_complete=_complete_who,
        default=default,
        show_default=default is not None,
        help=text,
    )


def read(file: Path) -> "Record":
    """The match recorded in `file`."""
    from duels.terminal.journal import read_record

    return read_record(file)


def leave(code: int) -> None:
    """End the command with this exit code."""
    raise click.exceptions.Exit(code)
