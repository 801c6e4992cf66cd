"""`duels arena probe`: a player is asked about positions."""

from pathlib import Path
from typing import Any

import click

from duels.arena.commands.ending import compact_logs, leave, show_report, tell_unfinished
from duels.arena.commands.options import (
    NEW_FOLDER,
    examples,
    given_only,
    limit_options,
    model_options,
    split_names,
    tell_missing_key,
)


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
@limit_options
@model_options
@click.option("--out", required=True, type=NEW_FOLDER, help="Its folder.")
def probe_command(
    player: str,
    games: tuple[str, ...],
    samples: int | None,
    positions: int | None,
    symmetric: bool,
    seed: str | None,
    move_seconds: float | None,
    memory_mb: int | None,
    retries: int | None,
    out: Path,
    budget: str | None,
    **model: Any,
) -> None:
    """Ask a player about positions instead of matches: the cheapest way to know it.

    In lights, leap and chain every position is asked that can come about against it; how much the best
    opponent wins, and what it gets against known opponents, then follows exactly. In flip and hunt positions
    from good play are asked. Called again, a probe goes on where it was.
    """
    from duels.arena.config import ProbeConfig
    from duels.arena.probe import probe
    from duels.arena.progress_line import ProgressLine
    from duels.core.errors import DuelsError
    from duels.players.endpoint import Settings
    from duels.players.program import Limits

    told = given_only(samples=samples, positions=positions, seed=seed, budget=budget)
    limits = Limits(**given_only(move_seconds=move_seconds, memory_mb=memory_mb, retries=retries))
    try:
        asked = Settings(**given_only(retries=retries, **model))
        config = ProbeConfig(
            player, split_names(games), symmetric=symmetric, limits=limits, model=asked, **told
        )
    except DuelsError as error:
        raise click.UsageError(str(error)) from None
    if config.run().models():
        tell_missing_key(model["key_env"])
    with ProgressLine() as line:
        folder = probe(config, out, line.say)
    tell_unfinished(folder, "Questions are left")
    compact_logs(folder)
    show_report(out, as_json=False)
    leave(folder)
