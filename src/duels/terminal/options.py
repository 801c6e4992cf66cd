"""Options and arguments that commands of `duels` share, how they print, and how they end."""

import os
import sys
from pathlib import Path
from typing import Any

import click

from duels.core.errors import DuelsError, escape_unprintable
from duels.paths import matches_dir
from duels.play import library
from duels.terminal.screen import PACES, terminal_size, wrap


def format_examples(*lines: str) -> str:
    """The end of a command's help."""
    return "\b\nExamples:\n" + "\n".join(f"  {line}" for line in lines)


plain_option = click.option("--plain", is_flag=True, help="No colours, even on a terminal.")
board_option = click.option(
    "--board", is_flag=True, help="On a full-screen board: choose by arrows, digits or mouse."
)
pace_option = click.option(
    "--pace",
    type=click.Choice(list(PACES)),
    help="How long to pause before a machine's move, at a terminal; a key cuts it short.  [default: normal]",
)


def print_text(text: str) -> None:
    """Print a line, or lines, for people: on a terminal no wider than that."""
    if sys.stdout.isatty():
        text = wrap(text, terminal_size()[0])
    click.echo(text, nl=not text.endswith("\n"))


def format_command(*words: object) -> str:
    """Return a command line that calls this program as the user's shell finds it."""
    import shlex
    import shutil

    program, script = "duels", sys.argv[0]
    if script.endswith(os.path.join("duels", "__main__.py")):
        program = "python -m duels"
    elif Path(script).stem == "duels" and shutil.which("duels") is None:
        program = shlex.quote(os.path.relpath(script))
    return " ".join([program, *(shlex.quote(str(word)) for word in words)])


def exit_with(code: int) -> None:
    """End the command with this exit code."""
    raise click.exceptions.Exit(code)


# -- a record: a file, or the match that was played last -------------------------------------------------


class _RecordFile(click.Path):
    """A file that is there, or the name of one in the folder of matches, as `duels matches` lists it."""

    def convert(self, value: Any, param: click.Parameter | None, context: click.Context | None) -> Any:
        name = os.fspath(value)
        kept = matches_dir() / name
        listed = not os.path.lexists(name) and os.path.basename(name) == name and kept.is_file()
        return super().convert(str(kept) if listed else value, param, context)


record_argument = click.argument("file", type=_RecordFile(path_type=Path, exists=True), required=False)


def find_last_match() -> Path:
    """The file of the match that was played last."""
    return _found(library.find_last_match(_warn), "No match has been played yet.")


def find_last_unfinished() -> Path:
    """The file of the match to go on with."""
    return _found(library.find_last_unfinished(_warn), "There is no unfinished match.")


def _found(path: Path | None, otherwise: str) -> Path:
    if path is None:
        raise DuelsError(f"{otherwise} Start one with: {format_command('play', 'GAME')}")
    return path


def _warn(text: str) -> None:
    click.echo(escape_unprintable(text), err=True)
