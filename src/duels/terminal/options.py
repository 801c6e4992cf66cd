"""Arguments and options that commands of `duels` share, and how they begin and end."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from duels.core.record import Record


def examples(*lines: str) -> str:
    """The end of a command's help."""
    return "\b\nExamples:\n" + "\n".join(f"  {line}" for line in lines)


plain_option = click.option("--plain", is_flag=True, help="No colours, even on a terminal.")
record_argument = click.argument("file", type=click.Path(path_type=Path, exists=True), required=False)
pace_option = click.option(
    "--pace",
    type=click.Choice(["off", "quick", "normal"]),
    help="How long to pause before a machine's move, at a terminal; a key cuts it short.  [default: normal]",
)


def read(file: Path) -> "Record":
    """The match recorded in `file`."""
    from duels.play.library import read_record

    return read_record(file)


def last_played() -> Path:
    """The file of the match that was played last."""
    from duels.play.library import last_match

    return last_match(lambda text: click.echo(text, err=True))


def leave(code: int) -> None:
    """End the command with this exit code."""
    raise click.exceptions.Exit(code)
