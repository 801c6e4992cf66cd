"""The `duels` command. Running a subcommand imports only its own module.

Data goes to stdout, notices to stderr. Exit codes: 0 success, 1 failure, 2 wrong usage, 130 interrupted.
"""

import os
import sys
from importlib import import_module
from io import StringIO

import click

from duels.core.errors import DuelsError, escape_unprintable, find_nearest, quote
from duels.terminal.options import format_examples, plain_option, print_text
from duels.terminal.screen import Screen
from duels.terminal.signals import get_exit_code, install_signal_handlers

_MODULES = {
    "duels.terminal.match_commands": "play resume matches replay verify share demo",
    "duels.terminal.review": "review",
    "duels.terminal.lesson": "lesson",
    "duels.terminal.puzzle_commands": "daily practice",
    "duels.terminal.data_commands": "stats levels export",
    "duels.terminal.solve": "solve",
    "duels.web.command": "serve",
    "duels.arena.commands": "arena bot exam",
    "duels.integrations.mcp_command": "mcp",
    "duels.terminal.list_commands": "games rules players completion",
}
_COMMANDS = {name: module for module, names in _MODULES.items() for name in names.split()}
"""The module that defines each command."""


def main() -> None:
    """Run the command line `duels` and exit with its code."""
    _prepare_streams()
    install_signal_handlers()
    sys.exit(run(sys.argv[1:]))


def run(arguments: list[str]) -> int:
    """Run a command and return its exit code. Expected errors become one line on stderr."""
    try:
        # Without standalone mode, click returns the code of an Exit or the command's return value.
        code = cli.main(arguments, prog_name="duels", standalone_mode=False)
        sys.stdout.flush()
        return code if isinstance(code, int) else 0
    except click.ClickException as error:
        message = escape_unprintable(error.message, keep="\n\t")  # click lists choices on separate lines
        object.__setattr__(error, "message", message)
        output = StringIO()
        error.show(output)
        print_text(output.getvalue(), err=True)
        return error.exit_code
    except (KeyboardInterrupt, EOFError, click.Abort) as error:
        return get_exit_code(error)
    except BrokenPipeError:  # the reader of our output has exited
        _discard_output()
        return 1
    except OSError as error:
        _discard_output()
        file = f"{os.fsdecode(error.filename)}: " if error.filename else ""
        return _fail(f"{file}{error.strerror or error}")
    except DuelsError as error:
        return _fail(str(error))


def _discard_output() -> None:
    # Otherwise Python reports the write error a second time when it closes stdout.
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _fail(message: str) -> int:
    print_text(f"duels: {escape_unprintable(message)}", err=True)  # file names may have control characters
    return 1


def _prepare_streams() -> None:
    """Replace closed streams and make the others tolerate undecodable and unencodable text."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, mode))  # noqa: SIM115 (open until exit)
        elif hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")


class _Commands(click.Group):
    """A click group that imports commands on demand."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        command: click.Command = getattr(import_module(_COMMANDS[cmd_name]), cmd_name)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        is_unknown = not name.startswith("-") and self.get_command(ctx, name) is None
        if is_unknown and not ctx.resilient_parsing:
            near = find_nearest(name, self.list_commands(ctx))
            advice = f"Did you mean {near}?" if near else "duels --help lists the commands."
            ctx.fail(f"No such command {quote(name)}. {advice}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        commands = {name: self.get_command(ctx, name) for name in _COMMANDS}
        with formatter.section("Commands"):
            formatter.write_dl(
                [(name, (command.help or "").split("\n")[0]) for name, command in commands.items() if command]
            )


@click.group(
    cls=_Commands,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=format_examples(
        "duels                             open the menu",
        "duels play lights                 two people at one keyboard",
        "duels play chain --seat2 casual   you against the machine",
        "duels resume                      continue the last match",
        "duels review                      find out why you won or lost",
    ),
)
@click.version_option(package_name="duels", message="%(package)s %(version)s")
@plain_option
@click.pass_context
def cli(context: click.Context, plain: bool) -> None:
    """Play, solve and analyse five two-player games.

    Without a command, duels opens a menu. There you can start or resume a match, solve puzzles, review your
    matches and see your statistics.
    """
    if context.invoked_subcommand:
        return
    from duels.terminal.menu import Menu

    Menu(Screen(plain)).run()
