"""`duels exam`: positions for any harness."""

from pathlib import Path

import click

from duels.arena.commands.options import FILE, HELP, examples, force_option, refuse_existing


@click.command(
    context_settings=HELP,
    epilog=examples(
        "duels exam chain --positions 200 --seed 1 --out exam.jsonl",
        "duels exam flip --positions 100 --out exam.parquet",
        "duels exam lights --option lights=9 --out nine.jsonl",
    ),
)
@click.argument("game")
@click.option("--positions", type=click.IntRange(2), default=200, show_default=True, help="How many.")
@click.option("--seed", default="1", show_default=True, help="The same seed draws the same positions.")
@click.option("--option", "options", multiple=True, metavar="NAME=VALUE", help="An option of the game.")
@click.option("--out", required=True, type=FILE, help=".jsonl, .parquet")
@force_option
def exam(game: str, positions: int, seed: str, options: tuple[str, ...], out: Path, force: bool) -> None:
    """Write positions with every legal action graded, for any harness, and a card that says how.

    The positions are drawn from good play, by how much there is to lose, with weights that undo that.
    """
    from duels.arena.exam import card_of, too_few, write_exam
    from duels.arena.progress_line import ProgressLine
    from duels.core.errors import DuelsError
    from duels.core.record import read_options
    from duels.games import find_game

    try:
        found = find_game(game)
        rules = found.rules(**read_options(found.rules_class(), " ".join(options)))
    except DuelsError as error:
        raise click.UsageError(str(error)) from None
    refuse_existing(force, out, card_of(out))
    with ProgressLine() as line:
        count = write_exam(rules, positions, seed, out, line.say, over=force)
    click.echo(f"{out}: {count} positions; {card_of(out)} says how they were drawn.", err=True)
    if fewer := too_few(positions, count):
        click.echo(fewer, err=True)
