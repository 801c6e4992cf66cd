"""The command `export`: matches between machine players, written to a file."""

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
@click.option("--games", "count", type=click.IntRange(1), default=100, show_default=True, help="How many.")
@player_option("--player", "Who plays.", "best")
@player_option("--against", "Who sits at the other seat; the same player by default.")
@click.option("--seed", default="export", show_default=True, help="Makes the matches repeatable.")
@click.option(
    "--out",
    "path",
    type=click.Path(path_type=Path, dir_okay=False),
    help="The file, .jsonl or .parquet; GAME-PLAYER.jsonl by default. With --format minari, a dataset's id.",
)
@click.option(
    "--format",
    "kind",
    type=click.Choice(["jsonl", "parquet", "minari"]),
    help="What is written; by default what the file's name says.",
)
@click.option("--jobs", type=click.IntRange(1), default=1, show_default=True, help="Processes that play.")
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
    """Write matches between machine players, every decision graded.

    A run that was interrupted goes on where it was when it is started again; a finished one goes on with
    more --games. A Minari dataset is made in one piece instead: it neither goes on nor grows. chain and
    hunt need not end between machines: without a limit of your own (--max-boards, --max-turns) they are cut
    off at 50.
    """
    run = exporting.Export(add_machine_limit(rules), (player, against or player), seed, count)

    def tell(done: int, games: int) -> None:
        if done % max(1, games // 20) == 0:
            click.echo(f"… {done} of {games}", err=True)

    if kind == "minari":
        from duels.analysis.minari import export_minari

        dataset = path.as_posix() if path else f"duels/{rules.name}-{player}-v0"
        export_minari(run, dataset, tell, jobs)
        click.echo(dataset)
        return
    path = path or Path(f"{rules.name}-{player}.{kind or 'jsonl'}")
    if kind and path.suffix != f".{kind}":
        raise click.UsageError(f"--format {kind} writes a file whose name ends with .{kind}, not {path}.")
    found = exporting.export(run, path, tell, jobs)
    if found:
        kept = "; more than asked for are kept" if found > count else ""
        click.echo(f"{found} matches were there already{kept}.", err=True)
    click.echo(str(path))
