"""What several commands of the arena have in common: options, help, and how they read what is given."""

import os
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from duels.core.errors import escape_unprintable

F = TypeVar("F", bound=Callable[..., Any])

HELP = {"help_option_names": ["-h", "--help"]}


def examples(*lines: str) -> str:
    """The end of a command's help."""
    return "\b\nExamples:\n" + "\n".join(f"  {line}" for line in lines)


class Group(click.Group):
    """Its help tells the first sentence about each command in full."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(
                [(name, one.get_short_help_str(limit=1000)) for name, one in sorted(self.commands.items())]
            )


FOLDER = click.Path(path_type=Path, exists=True, file_okay=False)


class _NewFolder(click.Path):
    """A folder that may have to be made; an empty name would be the current folder."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if value == "":
            self.fail("a folder needs a name; the current one is called '.'.", param, ctx)
        return super().convert(value, param, ctx)


NEW_FOLDER = _NewFolder(path_type=Path, file_okay=False)
FILE = click.Path(path_type=Path, dir_okay=False)

workers_option = click.option(
    "--workers", type=click.IntRange(1), help="How many processes play.  [default: one per processor]"
)
force_option = click.option("--force", is_flag=True, help="Write over files that are there already.")


def refuse_existing(force: bool, *paths: Path | None) -> None:
    """Refuse to write over what is there, before anything is worked out."""
    for path in paths:
        if path and os.path.lexists(path) and not force:
            raise click.UsageError(f"{escape_unprintable(str(path))} exists already; --force writes over it.")


def for_shell(path: Path) -> str:
    """A path as it can be pasted into a command."""
    text = str(path)
    return shlex.quote(f"./{text}" if text.startswith("-") else text)


_LIMITS = ("move_seconds", "memory_mb", "retries")
_OF_RUNS = ("matches", "until", "samples", "positions", "seed", "budget")
_PLAYER_OPTIONS = (
    click.option("--move-seconds", type=click.FloatRange(0.01), help="For a program's move.  [default: 10]"),
    click.option("--memory-mb", type=click.IntRange(16), help="For each program.  [default: 2048]"),
    click.option(
        "--retries", type=click.IntRange(0), help="After a failure, before giving up.  [default: 2]"
    ),
    click.option("--base-url", help="The address of a chat endpoint for model:NAME, such as URL/v1."),
    click.option("--key-env", help="The environment variable with its key.  [default: OPENAI_API_KEY]"),
    click.option("--show-actions", is_flag=True, default=None, help="List the legal actions for models."),
    click.option("--mirror", is_flag=True, default=None, help="Ask models about mirror images."),
    click.option("--relabel", is_flag=True, default=None, help="Give cells other names for models."),
    click.option(
        "--max-tokens", type=click.IntRange(0), help="Of a model's answer; 0 for no limit.  [default: 4096]"
    ),
    click.option(
        "--max-tokens-name",
        metavar="NAME",
        help="What the endpoint calls that, such as max_completion_tokens.  [default: max_tokens]",
    ),
    click.option("--temperature", type=click.FloatRange(0), help="Of a model.  [default: the endpoint's]"),
    click.option("--concurrency", type=click.IntRange(1), help="Matches with models at once.  [default: 8]"),
    click.option("--input-price", type=click.FloatRange(0), help="Of a million tokens that are sent."),
    click.option("--output-price", type=click.FloatRange(0), help="Of a million tokens that come back."),
    click.option("--budget", help="Stop when so much is spent, such as 5usd; needs prices."),
)


def player_options(command: F) -> F:
    """What programs may take, how models are asked, and how often both are asked again."""
    for option in reversed(_PLAYER_OPTIONS):
        command = option(command)
    return command


def split_options(given: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """What was given: limits of programs, settings of models, and what a run or probe itself is told."""
    given = {name: value for name, value in given.items() if value is not None}
    limits, of_run = ({name: given[name] for name in names if name in given} for names in (_LIMITS, _OF_RUNS))
    alone = (*_LIMITS[:2], *_OF_RUNS)  # models are asked again as often as programs
    return limits, {name: value for name, value in given.items() if name not in alone}, of_run


def tell_missing_key(name: str | None) -> None:
    """Say at once if the environment variable that was named for the key is not set."""
    from duels.players.endpoint import describe_missing_key

    if name and (missing := describe_missing_key(name)):
        click.echo(f"{missing}: models are asked without a key.", err=True)


def split_names(texts: tuple[str, ...]) -> tuple[str, ...]:
    """Names that are given with commas, or one by one."""
    return tuple(each.strip() for text in texts for each in text.split(",") if each.strip())
