"""The `duels` command. Its subcommands are loaded when they are called, and not before.

Data goes to stdout, notices to stderr. 0: done, 1: failed, 2: wrong usage, 130: interrupted.
"""

import os
import sys
from importlib import import_module
from io import StringIO

import click

from duels.core.errors import DuelsError, escape_unprintable, find_nearest, quote
from duels.terminal.options import format_examples, plain_option
from duels.terminal.screen import Screen, terminal_size, wrap
from duels.terminal.signals import get_exit_code, install_signal_handlers

_MODULES = {
    "duels.terminal.match_commands": "play resume matches replay verify share demo",
    "duels.terminal.review": "review",
    "duels.terminal.puzzle_commands": "daily practice",
    "duels.terminal.stats": "stats",
    "duels.terminal.solve": "solve",
    "duels.terminal.levels": "levels",
    "duels.terminal.export": "export",
    "duels.web.command": "serve",
    "duels.arena.commands": "arena bot exam",
    "duels.terminal.list_commands": "games rules players completion",
}
_COMMANDS = {name: module for module, names in _MODULES.items() for name in names.split()}
"""The module that each command is loaded from when it is called, or listed. Some are of other rooms."""


def main() -> None:
    """Run the command line and leave with its exit code."""
    _prepare_streams()
    install_signal_handlers()
    sys.exit(run(sys.argv[1:]))


def run(arguments: list[str]) -> int:
    """Carry out a command; every expected failure becomes one line on stderr and an exit code."""
    try:
        # Outside its standalone mode click gives back the code of an Exit, and what a command returns.
        code = cli.main(arguments, prog_name="duels", standalone_mode=False)
        sys.stdout.flush()
        return code if isinstance(code, int) else 0
    except click.ClickException as error:
        message = escape_unprintable(error.message, but="\n\t")  # click lists choices in lines of their own
        object.__setattr__(error, "message", message)
        shown = StringIO()
        error.show(shown)
        _tell(shown.getvalue())
        return error.exit_code
    except (KeyboardInterrupt, EOFError, click.Abort) as leaving:
        return get_exit_code(leaving)
    except BrokenPipeError:  # whoever read our output has left
        _drop_output()
        return 1
    except OSError as error:
        _drop_output()
        place = f"{os.fsdecode(error.filename)}: " if error.filename else ""
        return _fail(f"{place}{error.strerror or error}")
    except DuelsError as error:
        return _fail(str(error))


def _drop_output() -> None:
    """Drop what cannot be written: Python would complain of it once more when it closes stdout."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _fail(message: str) -> int:
    # It may name a file, and a file may have any name.
    _tell(f"duels: {escape_unprintable(message)}\n")
    return 1


def _tell(text: str) -> None:
    """Write to stderr; on a terminal no line is broken in a word."""
    if sys.stderr.isatty():
        text = wrap(text, terminal_size()[0])
    click.echo(text, err=True, nl=False)


def _prepare_streams() -> None:
    """A closed stream, bytes that are no text, or a terminal that lacks a letter are no reason to fail."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, mode))  # noqa: SIM115 (open as long as the program)
        elif hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")


class _Commands(click.Group):
    """Finds commands by name, and loads those that it needs."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        found: click.Command = getattr(import_module(_COMMANDS[cmd_name]), cmd_name)
        return found

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        unknown = not name.startswith("-") and self.get_command(ctx, name) is None
        if unknown and not ctx.resilient_parsing:
            near = find_nearest(name, self.list_commands(ctx))
            ctx.fail(f"No such command {quote(name)}.{f' Did you mean {near}?' if near else ''}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        commands = {name: self.get_command(ctx, name) for name in _COMMANDS}
        with formatter.section("Commands"):
            formatter.write_dl(
                [(name, (found.help or "").split("\n")[0]) for name, found in commands.items() if found]
            )


@click.group(
    cls=_Commands,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=format_examples(
        "duels                                   choose from a menu",
        "duels play lights                       two people at one keyboard",
        "duels play chain --seat2 greedy         you against the machine",
        "duels resume                            go on with the last match",
    ),
)
@click.version_option(package_name="duels", message="%(package)s %(version)s")
@plain_option
@click.pass_context
def cli(context: click.Context, plain: bool) -> None:
    """Five two-player rule-book games at the terminal.

    Without a command, a menu leads to all of it: new and unfinished matches, here or in a browser, the
    puzzles of the day, practice, reviews and statistics.
    """
    if context.invoked_subcommand:
        return
    from duels.terminal.home import Home

    Home(Screen(plain)).run()
