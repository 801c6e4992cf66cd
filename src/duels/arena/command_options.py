"""Options, help and parsing that several arena commands share."""

import os
import shlex
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import Any, TypeVar

import click

from duels.core.errors import DuelsError, escape_unprintable

F = TypeVar("F", bound=Callable[..., Any])

HELP = {"help_option_names": ["-h", "--help"]}


def format_examples(*lines: str) -> str:
    """Format examples for the end of a command's help."""
    return "\b\nExamples:\n" + "\n".join(f"  {line}" for line in lines)


class Group(click.Group):
    """A group whose help shows the first sentence of each command in full."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(
                [(name, item.get_short_help_str(limit=1000)) for name, item in sorted(self.commands.items())]
            )


FOLDER = click.Path(path_type=Path, exists=True, file_okay=False)


class _NewFolder(click.Path):
    """A folder that need not exist. An empty name is an error."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if value == "":
            self.fail("a folder needs a name; use '.' for the current folder.", param, ctx)
        return super().convert(value, param, ctx)


NEW_FOLDER = _NewFolder(path_type=Path, file_okay=False)
FILE = click.Path(path_type=Path, dir_okay=False)

workers_option = click.option(
    "--workers", type=click.IntRange(1), help="Number of processes.  [default: one per processor]"
)
force_option = click.option("--force", is_flag=True, help="Overwrite existing files.")


def refuse_existing(force: bool, *paths: Path | None) -> None:
    """Raise UsageError if one of the files exists, unless `force` is set."""
    for path in paths:
        if path and os.path.lexists(path) and not force:
            raise click.UsageError(f"{escape_unprintable(str(path))} exists; pass --force to overwrite it.")


@contextmanager
def usage_errors(prefix: str = "") -> Iterator[None]:
    """Turn errors in names and settings into click's UsageError."""
    try:
        yield
    except DuelsError as error:
        raise click.UsageError(f"{prefix}{error}") from None


def quote_for_shell(path: Path) -> str:
    """Quote a path for a command to copy. A leading `-` must not read as an option."""
    text = str(path)
    return shlex.quote(f"./{text}" if text.startswith("-") else text)


_PLAYER_OPTIONS: tuple[tuple[str, Any, str], ...] = (
    ("--move-seconds", click.FloatRange(0.01), "Time limit for a program's move.  [default: 10]"),
    ("--memory-mb", click.IntRange(16), "Memory limit for each program.  [default: 2048]"),
    ("--retries", click.IntRange(0), "Extra attempts after a failure.  [default: 2]"),
    ("--base-url", None, "Address of the chat endpoint for model:NAME, such as URL/v1."),
    ("--key-env", None, "Environment variable with the API key.  [default: OPENAI_API_KEY]"),
    ("--show-actions", click.BOOL, "Show models the legal actions."),
    ("--mirror", click.BOOL, "Show models mirror images of positions."),
    ("--relabel", click.BOOL, "Show models different names for cells."),
    ("--max-tokens", click.IntRange(0), "Maximum length of an answer; 0 for no limit.  [default: 4096]"),
    ("--max-tokens-name", None, "Name of this limit, such as max_completion_tokens.  [default: max_tokens]"),
    ("--temperature", click.FloatRange(0), "Temperature of models.  [default: the endpoint's]"),
    ("--concurrency", click.IntRange(1), "Concurrent model matches.  [default: 8]"),
    ("--input-price", click.FloatRange(0), "Price of a million input tokens."),
    ("--output-price", click.FloatRange(0), "Price of a million output tokens."),
    ("--budget", None, "Stop when this amount is spent, such as 5usd. Needs both prices."),
)


def player_options(command: F) -> F:
    """Add the options for programs and models to a command."""
    for name, kind, text in reversed(_PLAYER_OPTIONS):
        is_flag = kind is click.BOOL
        command = click.option(name, type=kind, is_flag=is_flag, default=None, help=text)(command)
    return command


def split_options(options: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """Split options into program limits, model settings, and values of the run or probe."""
    from duels.players.endpoint import EndpointSettings
    from duels.players.program import ProgramLimits

    given = {name: value for name, value in options.items() if value is not None}
    limits, model = (
        {each.name: given[each.name] for each in fields(settings) if each.name in given}
        for settings in (ProgramLimits, EndpointSettings)  # both have `retries`
    )
    return limits, model, {name: given[name] for name in given if name not in limits | model}


def warn_missing_key(name: str | None) -> None:
    """Warn on stderr if a model's endpoint usually needs an API key and none is set."""
    from duels.players.endpoint import describe_missing_key

    if name and (missing := describe_missing_key(name)):
        click.echo(f"{missing}: requests are sent without a key.", err=True)


def split_names(texts: tuple[str, ...]) -> tuple[str, ...]:
    """Split repeated options with comma-separated names, such as `--games lights,leap`."""
    return tuple(each.strip() for text in texts for each in text.split(",") if each.strip())
