"""`duels arena run` and `duels arena ladder`: matches are played."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from duels.arena.commands.ending import compact_logs, leave, show_report, tell_unfinished
from duels.arena.commands.options import (
    NEW_FOLDER,
    examples,
    for_shell,
    given_only,
    limit_options,
    model_options,
    split_names,
    tell_missing_key,
    workers_option,
)

if TYPE_CHECKING:
    from duels.arena.config import Config

RUN_EXAMPLE = "duels arena run --players random,club --games lights --out runs/first"


def _margin(_context: click.Context, _parameter: click.Parameter, text: str | None) -> float | None:
    """A margin as a person writes it: `0.03`, `±0.03`."""
    if text is None:
        return None
    try:
        return float(text.strip().lstrip("±+-"))
    except ValueError:
        raise click.BadParameter(f"{text!r} is not a margin such as ±0.03.") from None


def _shard(_context: click.Context, _parameter: click.Parameter, text: str | None) -> tuple[int, int]:
    """A part of the run: `2/4` is the second of four."""
    if text is None:
        return 1, 1
    part, _, parts = text.partition("/")
    if not (part.isdecimal() and parts.isdecimal() and 1 <= int(part) <= int(parts)):
        raise click.BadParameter(f"{text!r} is not a part such as 1/4.")
    return int(part), int(parts)


def _joined(told: Any, given: dict[str, Any]) -> Any:
    """A table of a config with what is said beside it; what is no table is refused by who reads it."""
    return {**told, **given} if isinstance(told, dict) else told


@click.command(
    name="run",
    epilog=examples(
        RUN_EXAMPLE,
        'duels arena run --players club --player "mine=cmd:python bot.py" --games chain --out runs/mine',
        "duels arena run --players club,model:NAME --base-url URL/v1 --games lights --out runs/model",
        "duels arena run tournament.toml",
        "duels arena run tournament.toml --shard 1/4",
        "duels arena run tournament.toml --on ray",
        "duels arena run --players club,expert --games flip --matches 5000 --until 0.03 --out runs/close",
    ),
)
@click.argument("file", required=False, metavar="[CONFIG.toml]", type=click.Path(path_type=Path, exists=True))
@click.option("--players", multiple=True, help='Who plays, with commas: random,club,"cmd:python bot.py".')
@click.option("--player", multiple=True, help="One player more; its command may have commas in it.")
@click.option("--games", multiple=True, help="What is played, with commas.")
@click.option("--matches", type=int, help="How many matches for each two players and game.  [default: 100]")
@click.option("--seed", help="Makes everything repeatable.  [default: 1]")
@click.option("--until", callback=_margin, help="Stop where a result is known to within this, such as 0.03.")
@limit_options
@model_options
@click.option("--out", type=NEW_FOLDER, help="The folder of the run; new, or to go on.")
@workers_option
@click.option(
    "--shard", callback=_shard, metavar="I/N", help="Play the I-th of N parts, on one of N machines."
)
@click.option("--on", metavar="ray[:ADDRESS]", help="Play on a Ray cluster instead of here.")
def run_command(
    file: Path | None,
    players: tuple[str, ...],
    player: tuple[str, ...],
    games: tuple[str, ...],
    matches: int | None,
    seed: str | None,
    until: float | None,
    move_seconds: float | None,
    memory_mb: int | None,
    retries: int | None,
    out: Path | None,
    workers: int | None,
    shard: tuple[int, int],
    on: str | None,
    budget: str | None,
    **model: Any,
) -> None:
    """Play every two players against each other, in every game, from both seats.

    Every match is in a log before the next begins. Called again, a run goes on where it was; the same config
    and seed give the same matches, whatever the number of workers.
    """
    from duels.arena.config import config_of, read_config_data
    from duels.core.errors import DuelsError

    told: dict[str, Any] = {}
    try:
        if file:
            told, named = read_config_data(file)
            out = out or named
        given = {
            "players": (*split_names(players), *player),
            "games": split_names(games),
            "matches": matches,
            "seed": seed,
            "until": until,
            "budget": budget,
        }
        told |= {name: value for name, value in given.items() if value not in (None, ())}
        limits = given_only(move_seconds=move_seconds, memory_mb=memory_mb, retries=retries)
        told["limits"] = _joined(told.get("limits", {}), limits)
        asked = told["model"] = _joined(told.get("model", {}), given_only(retries=retries, **model))
        config = config_of(told)
    except DuelsError as error:
        raise click.UsageError(f"{file}: {error}" if file else str(error)) from None
    if out is None:
        raise click.UsageError('a run needs a folder: --out FOLDER, or out = "FOLDER" in the config.')
    if config.models():
        tell_missing_key(asked.get("key_env"))
    _carry_out(config, out, workers, shard, on)


def _carry_out(
    config: "Config",
    out: Path,
    workers: int | None,
    shard: tuple[int, int] = (1, 1),
    on: str | None = None,
) -> None:
    """Play, tell how far it is, and show the report if all is played."""
    import os

    from duels.arena.progress_line import ProgressLine
    from duels.arena.run import run

    try:
        with ProgressLine() as line:
            folder = run(config, out, workers or os.cpu_count() or 1, shard, line.tell, on)
    except KeyboardInterrupt:
        click.echo(f"\nWhat was played is in {out}. Call the same command again to go on.", err=True)
        raise
    tell_unfinished(folder, "Matches are left to be played")
    if shard == (1, 1):
        compact_logs(folder)
        show_report(out, as_json=False)
        if left_out := sum(not folder.asks_for(row) for row in folder.rows().values()):
            click.echo(
                f"Matches in the logs that are left out, for fewer are asked for now: {left_out}.", err=True
            )
    see = f"duels arena report {for_shell(out)} --html page.html"
    click.echo(f"The run is in {out}. See it with: {see}", err=True)
    leave(folder)


@click.command(
    epilog=examples("duels arena ladder --out runs/ladder", "duels arena ladder --games hunt --out runs/hunt")
)
@click.option("--games", multiple=True, help="What is played, with commas.  [default: all five]")
@click.option("--matches", type=int, help="For each two players and game.  [default: as many as are quick]")
@click.option("--seed", default="1", show_default=True)
@click.option("--out", required=True, type=NEW_FOLDER, help="Its folder.")
@workers_option
def ladder(games: tuple[str, ...], matches: int | None, seed: str, out: Path, workers: int | None) -> None:
    """Play the standing field: random, greedy, the levels and best, against each other."""
    from duels.arena.config import ladder_config
    from duels.core.errors import DuelsError

    try:
        config = ladder_config(split_names(games), matches, seed)
    except DuelsError as error:
        raise click.UsageError(str(error)) from None
    _carry_out(config, out, workers)
