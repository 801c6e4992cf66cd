"""The command `export`, which writes matches between machine players to a file."""

from pathlib import Path

import click

from duels.analysis import export as exporting
from duels.core.rules import AnyRules
from duels.play.new_match import add_machine_limit
from duels.terminal.game_options import GameCommand, game_argument, player_option
from duels.terminal.options import format_examples


@click.command(
    epilog=format_examples(
        "duels export chain --games 1000 --player perfect",
        "duels export lights --games 500 --player club --out lights.parquet",
        "duels export hunt --max-turns 20 --jobs 2",
        "duels export chain --player club --format minari --out duels/chain-club-v0",
    ),
    cls=GameCommand,
)
@game_argument
@click.option(
    "--games", "count", type=click.IntRange(1), default=100, show_default=True, help="Number of matches."
)
@player_option("--player", "The player.", "best")
@player_option("--against", "The opponent. By default the same player.")
@click.option("--seed", default="export", show_default=True, help="Seed of the matches.")
@click.option(
    "--out",
    "path",
    type=click.Path(path_type=Path, dir_okay=False),
    help="A .jsonl or .parquet file, or with --format minari a dataset id. By default GAME-PLAYER.jsonl.",
)
@click.option(
    "--format",
    "kind",
    type=click.Choice(["jsonl", "parquet", "minari"]),
    help="File format. By default the ending of the file's name decides.",
)
@click.option("--jobs", type=click.IntRange(1), default=1, show_default=True, help="Number of processes.")
def export(
    rules: AnyRules,
    count: int,
    player: str,
    against: str | None,
    seed: str,
    path: Path | None,
    kind: str | None,
    jobs: int,
) -> None:
    """Write matches between machine players, with a grade for every decision.

    If you interrupt an export, run the same command again to continue it. Run it with more --games to add
    matches. A Minari dataset is written in one piece: it cannot be continued or extended. Matches of chain
    and hunt end after 50 boards or turns unless you set --max-boards or --max-turns.
    """
    run = exporting.Export(add_machine_limit(rules), (player, against or player), seed, count)

    def report(done: int, games: int) -> None:
        if done % max(1, games // 20) == 0:
            click.echo(f"… {done} of {games}", err=True)

    if kind == "minari":
        from duels.analysis.minari import export_minari

        dataset = path.as_posix() if path else f"duels/{rules.name}-{player}-v0"
        export_minari(run, dataset, report, jobs)
        click.echo(dataset)
        return
    path = path or Path(f"{rules.name}-{player}.{kind or 'jsonl'}")
    if kind and path.suffix != f".{kind}":
        raise click.UsageError(f"--format {kind} needs a file name that ends with .{kind}, not {path}.")
    existing = exporting.export(run, path, report, jobs)
    if existing:
        surplus = f". The file keeps them all, although --games is {count}" if existing > count else ""
        click.echo(f"The file already had {existing} matches{surplus}.", err=True)
    click.echo(str(path))
