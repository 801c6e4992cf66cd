"""Options, help and parsing that several arena commands share."""

import os
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from duels.core.errors import escape_unprintable

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


def quote_for_shell(path: Path) -> str:
    """Quote a path for a command to copy. A leading `-` must not read as an option."""
    text = str(path)
    return shlex.quote(f"./{text}" if text.startswith("-") else text)


_LIMITS = ("move_seconds", "memory_mb", "retries")
_RUN_VALUES = ("matches", "until", "samples", "positions", "seed", "budget")
_PLAYER_OPTIONS = (
    click.option(
        "--move-seconds", type=click.FloatRange(0.01), help="Time limit for a program's move.  [default: 10]"
    ),
    click.option(
        "--memory-mb", type=click.IntRange(16), help="Memory limit for each program.  [default: 2048]"
    ),
    click.option("--retries", type=click.IntRange(0), help="Extra attempts after a failure.  [default: 2]"),
    click.option("--base-url", help="Address of the chat endpoint for model:NAME, such as URL/v1."),
    click.option("--key-env", help="Environment variable with the API key.  [default: OPENAI_API_KEY]"),
    click.option("--show-actions", is_flag=True, default=None, help="Show models the legal actions."),
    click.option("--mirror", is_flag=True, default=None, help="Show models mirror images of positions."),
    click.option("--relabel", is_flag=True, default=None, help="Show models different names for cells."),
    click.option(
        "--max-tokens",
        type=click.IntRange(0),
        help="Maximum length of a model's answer; 0 for no limit.  [default: 4096]",
    ),
    click.option(
        "--max-tokens-name",
        metavar="NAME",
        help="The endpoint's name for this limit, such as max_completion_tokens.  [default: max_tokens]",
    ),
    click.option(
        "--temperature", type=click.FloatRange(0), help="Temperature of models.  [default: the endpoint's]"
    ),
    click.option("--concurrency", type=click.IntRange(1), help="Concurrent model matches.  [default: 8]"),
    click.option("--input-price", type=click.FloatRange(0), help="Price of a million input tokens."),
    click.option("--output-price", type=click.FloatRange(0), help="Price of a million output tokens."),
    click.option("--budget", help="Stop when this amount is spent, such as 5usd. Needs both prices."),
)


def player_options(command: F) -> F:
    """Add the options for programs and models to a command."""
    for option in reversed(_PLAYER_OPTIONS):
        command = option(command)
    return command


def split_options(options: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """Split options into program limits, model settings, and values of the run or probe."""
    options = {name: value for name, value in options.items() if value is not None}
    limits, run_values = (
        {name: options[name] for name in names if name in options} for names in (_LIMITS, _RUN_VALUES)
    )
    not_for_models = (*_LIMITS[:2], *_RUN_VALUES)  # models use `retries`, too
    return limits, {name: value for name, value in options.items() if name not in not_for_models}, run_values


def warn_missing_key(name: str | None) -> None:
    """Warn on stderr if a model's endpoint usually needs an API key and none is set."""
    from duels.players.endpoint import describe_missing_key

    if name and (missing := describe_missing_key(name)):
        click.echo(f"{missing}: requests are sent without a key.", err=True)


def split_names(texts: tuple[str, ...]) -> tuple[str, ...]:
    """Split repeated options with comma-separated names, such as `--games lights,leap`."""
    return tuple(each.strip() for text in texts for each in text.split(",") if each.strip())
