"""`duels arena report`, `compare` and `merge`: what is in the folders of runs and probes."""

import json
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from duels.arena.commands.options import FILE, FOLDER, NEW_FOLDER, examples, force_option, refuse_existing

if TYPE_CHECKING:
    from duels.arena.folder import Folder


def compact_logs(folder: "Folder") -> None:
    """Put the logs into one table, or say what is missing for that."""
    from duels.arena.parquet import compact

    missing = compact(folder)
    if missing:
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
    from duels.files import write_whole

    def write(path: Path, text: str) -> None:
        write_whole(path, text.encode(), over=force)
        click.echo(f"{path} is written.", err=True)

    refuse_existing(force, html, csv, parquet)
    folder = Folder(run)
    if parquet:
        from duels.arena.parquet import write_parquet

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
