"""`duels arena report`, `compare` and `merge`: what is in the folders of runs and probes."""

import json
from functools import partial
from pathlib import Path

import click

from duels.arena.commands.ending import compact_logs, show_report
from duels.arena.commands.options import FILE, FOLDER, NEW_FOLDER, examples, force_option, refuse_existing


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
    from duels.arena import report as reports
    from duels.arena.folder import Folder
    from duels.arena.progress_line import ProgressLine
    from duels.arena.report_views import as_page
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
    if html and folder.is_probe and not csv:  # which probes do not have
        from duels.arena import probe_report

        with ProgressLine() as line:
            page = probe_report.as_page(probe_report.report_on(folder, line.say))
        write(html, page)
    elif html or csv:
        with ProgressLine() as line:
            found = reports.report_on(folder, line.say)
        if html:
            write(html, as_page(found))
        if csv:
            write(csv, reports.as_csv(found))
    if as_json or not (html or csv or parquet):
        show_report(run, as_json)


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
