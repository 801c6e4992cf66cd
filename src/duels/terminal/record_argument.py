"""A record on the command line: a file, or the match that was played last."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from duels.core.errors import DuelsError, printable
from duels.terminal.shell import command

if TYPE_CHECKING:
    from duels.core.record import Record


class _RecordFile(click.Path):
    """A file that is there, or the name of one in the folder of matches, as `duels matches` lists it."""

    def convert(self, value: Any, param: click.Parameter | None, context: click.Context | None) -> Any:
        from duels.paths import matches_dir

        name = os.fspath(value)
        kept = matches_dir() / name
        listed = not os.path.lexists(name) and os.path.basename(name) == name and kept.is_file()
        return super().convert(str(kept) if listed else value, param, context)


record_argument = click.argument("file", type=_RecordFile(path_type=Path, exists=True), required=False)


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
