"""How a run or probe ends: what is left of it, its table and its report."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from duels.arena.folder import Folder

NOT_FINISHED = 75
"""The exit code of a run or probe that was broken off and can go on: EX_TEMPFAIL of sysexits.h."""


def tell_unfinished(folder: "Folder", what: str) -> None:
    """Say why something is left to be done, a line for each reason, and how to go on."""
    again = "call the command again with a larger --budget" if folder.is_spent else "call the command again"
    for reason in folder.unfinished:
        click.echo(f"{what}: {reason.removesuffix('.')}. To go on, {again}.", err=True)


def leave(folder: "Folder") -> None:
    """Leave with a code of its own if not all could be played or asked."""
    if folder.unfinished:
        raise click.exceptions.Exit(NOT_FINISHED)


def compact_logs(folder: "Folder") -> None:
    """Put the logs into one table, or say what is missing for that."""
    from duels.arena.parquet import compact

    missing = compact(folder)
    if missing:
        click.echo(f"No table of it was written. {missing}", err=True)


def show_report(folder: Path, as_json: bool) -> None:
    """Print the report on a run or a probe."""
    from duels.arena.folder import Folder
    from duels.arena.progress_line import ProgressLine

    found = Folder(folder)
    with ProgressLine() as line:
        if found.is_probe:
            from duels.arena import probe_report

            probed = probe_report.report_on(found, line.say)
            told: Any = (probe_report.as_data if as_json else probe_report.as_text)(probed)
        else:
            from duels.arena.report import as_data, report_on
            from duels.arena.report_views import as_text

            told = (as_data if as_json else as_text)(report_on(found, line.say))
    click.echo(json.dumps(told, indent=2) if as_json else told, nl=as_json)
