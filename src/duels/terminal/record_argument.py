"""A record on the command line: a file, or the match that was played last."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from duels.core.errors import DuelsError, printable
from duels.terminal.shell import command

if TYPE_CHECKING:
    from duels.core.record import Record

record_argument = click.argument("file", type=click.Path(path_type=Path, exists=True), required=False)


def read(file: Path) -> "Record":
    """The match recorded in `file`."""
    from duels.play.library import read_record

    return read_record(file)


def last_played() -> Path:
    """The file of the match that was played last."""
    from duels.play.library import last_match

    return _found(last_match(_warn), "No match has been played yet.")


def last_unfinished() -> Path:
    """The file of the match to go on with."""
    from duels.play.library import last_unfinished

    return _found(last_unfinished(_warn), "There is no unfinished match.")


def _found(path: Path | None, otherwise: str) -> Path:
    if path is None:
        raise DuelsError(f"{otherwise} Start one with: {command('play', 'GAME')}")
    return path


def _warn(text: str) -> None:
    click.echo(printable(text), err=True)
