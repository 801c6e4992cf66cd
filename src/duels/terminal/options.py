"""Options, arguments and output functions that the commands share."""

import os
import sys
from pathlib import Path
from typing import Any

import click

from duels.core.errors import DuelsError, escape_unprintable, quote
from duels.paths import matches_dir
from duels.play.library import list_saved_matches
from duels.terminal.screen import PACES, get_terminal_size, wrap


def format_examples(*lines: str) -> str:
    r"""Format examples for the end of a command's help. `\b` keeps click from wrapping them."""
    return "\b\nExamples:\n" + "\n".join(f"  {line}" for line in lines)


NEW_FILE = click.Path(path_type=Path, dir_okay=False)
"""The path of a file to write."""
plain_option = click.option("--plain", is_flag=True, help="Print without colours, as in a pipe.")
board_option = click.option(
    "--board", is_flag=True, help="Play on a full-screen board with arrow keys, digits or the mouse."
)
pace_option = click.option(
    "--pace",
    type=click.Choice(list(PACES)),
    help="Pause before a machine's move. Any key skips the pause.  [default: normal]",
)


def print_text(text: str, err: bool = False) -> None:
    """Print text for people to stdout or stderr, wrapped to the width of the terminal."""
    if (sys.stderr if err else sys.stdout).isatty():
        text = wrap(text, get_terminal_size()[0])
    click.echo(text, err=err, nl=not text.endswith("\n"))


def format_command(*words: object) -> str:
    """Format a `duels` command that the user can paste into the shell."""
    import shlex
    import shutil

    program, script = "duels", sys.argv[0]
    if script.endswith(os.path.join("duels", "__main__.py")):
        program = "python -m duels"
    elif Path(script).stem == "duels" and shutil.which("duels") is None:
        program = shlex.quote(os.path.relpath(script))
    return " ".join([program, *(shlex.quote(str(word)) for word in words)])


class _RecordFile(click.Path):
    """A path to a saved match, or a file name that `duels matches` lists."""

    def convert(self, value: Any, param: click.Parameter | None, context: click.Context | None) -> Any:
        name = os.fspath(value)
        saved = matches_dir() / name
        advice = f"List your matches with: {format_command('matches')}"
        if os.path.isdir(name):
            raise DuelsError(f"{name}: this is a folder, not a saved match. {advice}")
        if not os.path.lexists(name):
            if os.path.basename(name) != name or not saved.is_file():
                self.fail(f"No file {quote(name)}. {advice}", param)
            value = str(saved)
        return super().convert(value, param, context)


record_argument = click.argument("file", type=_RecordFile(path_type=Path, exists=True), required=False)


def find_last_match(only_unfinished: bool = False) -> Path:
    """Return the file of the last match or the last unfinished match. Raises DuelsError if there is none."""
    for saved in list_saved_matches(warn):
        if not only_unfinished or not saved.record.match.over:
            return saved.path
    problem = "There is no unfinished match." if only_unfinished else "You have not played a match yet."
    raise DuelsError(f"{problem} Start one with: {format_command('play', 'GAME')}")


def warn(text: str) -> None:
    """Write a warning to stderr. It may contain the name of a file."""
    print_text(escape_unprintable(text), err=True)
