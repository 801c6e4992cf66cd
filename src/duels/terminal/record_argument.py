"""A record on the command line: a file, or the match that was played last."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

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

    return last_match(lambda text: click.echo(text, err=True))
