"""`duels arena run`, `probe`, `ladder`, `report`, `compare` and `merge`."""

import json
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from duels.arena.commands.options import (
    FILE,
    FOLDER,
    NEW_FOLDER,
    examples,
    for_shell,
    force_option,
    player_options,
    refuse_existing,
    split_names,
    split_options,
    tell_missing_key,
    workers_option,
)

if TYPE_CHECKING:
    from duels.arena.config import Config
    from duels.arena.folder import Folder

RUN_EXAMPLE = "duels arena run --players random,club --games lights --out runs/first"
NOT_FINISHED = 75
"""The exit code of a run or probe that was broken off and can go on: EX_TEMPFAIL of sysexits.h."""


def compact_logs(folder: "Folder") -> None:
    """Put the logs into one table, or say what is missing for that."""
    from duels.arena.folder import write_parquet
    from duels.core.extras import MissingExtra

    try:
        write_parquet(
            folder, folder.path / f"{'answers' if folder.is_probe else 'matches'}.parquet", over=True
        )
    except MissingExtra as missing:
        click.echo(f"No table of it was written. {missing}", err=True)


def show_report(folder: "Folder", as_json: bool = False) -> None:
    """Print the report on a run or a probe."""
    report, forms = _read_report(folder)
    click.echo(json.dumps(forms.as_data(report), indent=2) if as_json else forms.as_text(report), nl=as_json)


def _read_report(folder: "Folder") -> tuple[Any, Any]:
    """The report on a run or a probe, and the module that writes it as data, text and a page."""
    from duels.arena import report, report_views
    from duels.arena.progress_line import ProgressLine

    with ProgressLine() as line:
        if folder.is_probe:
            from duels.arena import probe_report

            return probe_report.report_on(folder, line.say), probe_report
        return report.report_on(folder, line.say), report_views


@click.command(
    name="report",
    epilog=examples(
        "duels arena report runs/first",
        "duels arena report runs/first --html page.html",
        "duels arena report runs/first --json",
        "duels arena report runs/first --csv standings.csv --parquet matches.parquet",
    ),
)
@click.argument("run", type=FOLDER)
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of tables.")
@click.option("--html", type=FILE, help="Write a page of its own.")
@click.option("--csv", type=FILE, help="Write players by games.")
@click.option("--parquet", type=FILE, help="Write all matches.")
@force_option
def report_command(
    run: Path, as_json: bool, html: Path | None, csv: Path | None, parquet: Path | None, force: bool
) -> None:
    """Tell what a run found: who won, what was given away, what was luck, and how sure that is."""
    from duels.arena.folder import Folder
    from duels.core.errors import DuelsError
    from duels.files import write_atomically

    def write(path: Path, text: str) -> None:
        write_atomically(path, text.encode(), overwrite=force)
        click.echo(f"{path} is written.", err=True)

    refuse_existing(force, html, csv, parquet)
    folder = Folder(run)
    if parquet:
        from duels.arena.folder import write_parquet

        write_parquet(folder, parquet, over=force)
        click.echo(f"{parquet} is written.", err=True)
    if csv and folder.is_probe:
        raise DuelsError(f"{folder.path} is of a probe, not of a run.")
    if html or csv:
        report, forms = _read_report(folder)
        if html:
            write(html, forms.as_page(report))
        if csv:
            write(csv, forms.as_csv(report))
    if as_json or not (html or csv or parquet):
        show_report(folder, as_json)


@click.command(
    epilog=examples(
        "duels arena compare runs/first runs/second", "duels arena compare runs/probe runs/probe-later"
    )
)
@click.argument("one", type=FOLDER)
@click.argument("two", type=FOLDER)
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of a table.")
def compare(one: Path, two: Path, as_json: bool) -> None:
    """Tell what changed from one run, or probe, to another, and how sure that is."""
    from duels.arena.compare import as_data, as_text, compare_probes, compare_runs
    from duels.arena.folder import Folder
    from duels.arena.progress_line import ProgressLine
    from duels.arena.report import report_on
    from duels.core.errors import DuelsError

    folders = Folder(one), Folder(two)
    kinds = {folder.is_probe for folder in folders}
    if len(kinds) > 1:
        told = [f"{folder.path} is of a {'probe' if folder.is_probe else 'run'}" for folder in folders]
        raise DuelsError(f"{' and '.join(told)}: two runs can be compared, or two probes.")
    with ProgressLine() as line:
        if kinds == {True}:
            from duels.arena import probe_report

            found = compare_probes(*(probe_report.report_on(folder, line.say) for folder in folders))
        else:
            found = compare_runs(*(report_on(folder, line.say) for folder in folders))
    click.echo(json.dumps(as_data(found), indent=2) if as_json else as_text(found), nl=as_json)


@click.command(epilog=examples("duels arena merge runs/a runs/b --out runs/all"))
@click.argument("runs", nargs=-1, required=True, type=FOLDER)
@click.option("--out", required=True, type=NEW_FOLDER, help="A new folder.")
def merge(runs: tuple[Path, ...], out: Path) -> None:
    """Join the parts of one run that were played in several folders."""
    from duels.arena import folder as folders

    count = folders.merge(runs, out, partial(click.echo, err=True))
    joined = folders.Folder(out)
    compact_logs(joined)
    if joined.is_probe:
        click.echo(f"{out}: {count} answers.", err=True)
    else:
        from duels.arena.report import planned

        asked = planned(joined.config)
        click.echo(f"{out}: {count}{f' of {asked}' if count < asked else ''} matches.", err=True)


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
@player_options
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
    out: Path | None,
    workers: int | None,
    shard: tuple[int, int],
    on: str | None,
    **given: Any,
) -> None:
    """Play every two players against each other, in every game, from both seats.

    Every match is in a log before the next begins. Called again, a run goes on where it was; the same config
    and seed give the same matches, whatever the number of workers.
    """
    from duels.arena.config import config_of, read_config_data
    from duels.core.errors import DuelsError

    limits, model, of_run = split_options(given)
    told: dict[str, Any] = {}
    try:
        if file:
            told, named = read_config_data(file)
            out = out or named
        of_run |= {"players": (*split_names(players), *player), "games": split_names(games)}
        told |= {name: value for name, value in of_run.items() if value != ()}
        told["limits"] = _joined(told.get("limits", {}), limits)
        asked = told["model"] = _joined(told.get("model", {}), model)
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
        show_report(folder)
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


@click.command(
    name="probe",
    epilog=examples(
        "duels arena probe --player club --games lights,leap --out runs/club",
        'duels arena probe --player "cmd:python bot.py" --games chain --symmetric --out runs/bot',
        "duels arena probe --player model:NAME --base-url URL/v1 --games lights --out runs/probe",
    ),
)
@click.option("--player", required=True, help='Who is asked: a name, "cmd:COMMAND" or model:NAME.')
@click.option("--games", multiple=True, required=True, help="Games, with commas.")
@click.option("--samples", type=click.IntRange(1), help="How often each position is asked.  [default: 1]")
@click.option(
    "--positions", type=click.IntRange(2), help="In games too large to be asked whole.  [default: 200]"
)
@click.option("--symmetric", is_flag=True, help="Ask one of two mirror images, and take its answer for both.")
@click.option("--seed", help="Makes positions and draws repeatable.  [default: 1]")
@player_options
@click.option("--out", required=True, type=NEW_FOLDER, help="Its folder.")
def probe_command(player: str, games: tuple[str, ...], symmetric: bool, out: Path, **given: Any) -> None:
    """Ask a player about positions instead of matches: the cheapest way to know it.

    In lights, leap and chain every position is asked that can come about against it; how much the best
    opponent wins, and what it gets against known opponents, then follows exactly. In flip and hunt positions
    from good play are asked. Called again, a probe goes on where it was.
    """
    from duels.arena.config import ProbeConfig
    from duels.arena.probe import probe
    from duels.arena.progress_line import ProgressLine
    from duels.core.errors import DuelsError
    from duels.players.endpoint import EndpointSettings
    from duels.players.program import ProgramLimits

    limits, model, of_run = split_options(given)
    try:
        of_run |= {
            "symmetric": symmetric,
            "limits": ProgramLimits(**limits),
            "model": EndpointSettings(**model),
        }
        config = ProbeConfig(player, split_names(games), **of_run)
    except DuelsError as error:
        raise click.UsageError(str(error)) from None
    if config.run().models():
        tell_missing_key(model.get("key_env"))
    with ProgressLine() as line:
        folder = probe(config, out, line.say)
    tell_unfinished(folder, "Questions are left")
    compact_logs(folder)
    show_report(folder)
    leave(folder)


def tell_unfinished(folder: "Folder", what: str) -> None:
    """Say why something is left to be done, a line for each reason, and how to go on."""
    again = "call the command again with a larger --budget" if folder.is_spent else "call the command again"
    for reason in folder.unfinished:
        click.echo(f"{what}: {reason.removesuffix('.')}. To go on, {again}.", err=True)


def leave(folder: "Folder") -> None:
    """Leave with a code of its own if not all could be played or asked."""
    if folder.unfinished:
        raise click.exceptions.Exit(NOT_FINISHED)
