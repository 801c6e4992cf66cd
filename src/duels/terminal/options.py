"""Options that commands of `duels` share, how they print, and how they end."""

import sys

import click


def examples(*lines: str) -> str:
    """The end of a command's help."""
    return "\b\nExamples:\n" + "\n".join(f"  {line}" for line in lines)


plain_option = click.option("--plain", is_flag=True, help="No colours, even on a terminal.")
board_option = click.option(
    "--board", is_flag=True, help="On a full-screen board: choose by arrows, digits or mouse."
)
pace_option = click.option(
    "--pace",
    type=click.Choice(["off", "quick", "normal"]),
    help="How long to pause before a machine's move, at a terminal; a key cuts it short.  [default: normal]",
)


def tell(text: str) -> None:
    """Print a line, or lines, for people: on a terminal no wider than that."""
    if sys.stdout.isatty():
        from duels.terminal.screen import terminal_size, wrap

        text = wrap(text, terminal_size()[0])
    click.echo(text, nl=not text.endswith("\n"))


def leave(code: int) -> None:
    """End the command with this exit code."""
    raise click.exceptions.Exit(code)
