"""The commands `duels arena`, `duels bot` and `duels exam`. Each imports its modules when called."""

import json
from pathlib import Path

import click

from duels.arena.commands.options import (
    FILE,
    HELP,
    Group,
    force_option,
    format_examples,
    refuse_existing,
    usage_errors,
)
from duels.arena.commands.run import (
    RUN_EXAMPLE,
    compare,
    ladder,
    merge,
    probe_command,
    report_command,
    run_command,
    verify_command,
)

__all__ = ["arena", "bot", "exam"]


@click.group(
    cls=Group,
    context_settings=HELP,
    epilog=format_examples(
        RUN_EXAMPLE,
        "duels arena run tournament.toml",
        "duels arena report runs/first --html page.html",
        "duels arena ladder --out runs/ladder",
    ),
)
def arena() -> None:
    """Measure players against each other and against perfect play.

    docs/arena.md explains the commands, docs/reports.md the numbers.
    """


for command in (run_command, probe_command, report_command, compare, merge, ladder, verify_command):
    arena.add_command(command)

_BOT_EXAMPLES = format_examples(
    'duels bot check "cmd:python bot.py"', 'duels bot check "cmd:node bot.js" --games hunt'
)


@click.group(cls=Group, context_settings=HELP, epilog=_BOT_EXAMPLES)
def bot() -> None:
    """Check a bot program.

    docs/protocol.md describes the protocol that bots use.
    """


@bot.command(epilog=_BOT_EXAMPLES)
@click.argument("program", metavar='"cmd:COMMAND"')
@click.option("--games", default="lights,leap,chain,hunt,flip", show_default=True, help="Games to play.")
@click.option(
    "--move-seconds",
    type=click.FloatRange(0.01),
    default=10.0,
    show_default=True,
    help="Time limit per move.",
)
@click.option("--memory-mb", type=click.IntRange(16), default=2048, show_default=True, help="Memory limit.")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON list instead of lines.")
def check(program: str, games: str, move_seconds: float, memory_mb: int, as_json: bool) -> None:
    """Check that a program follows the protocol, and play a match in every game from both seats."""
    from duels.arena.bot_check import check_bot
    from duels.games import find_game
    from duels.players.program import ProgramLimits

    if not program.lower().startswith("cmd:"):
        raise click.UsageError('pass the program as "cmd:COMMAND", such as "cmd:python bot.py".')
    rules = [find_game(name).rules() for name in games.split(",")]
    limits = ProgramLimits(move_seconds=move_seconds, memory_mb=memory_mb)
    findings = []
    for finding in check_bot(program[len("cmd:") :], rules, limits):
        findings.append(finding)
        if not as_json:
            click.echo(str(finding))
    if as_json:
        data = [{"check": each.name, "passed": each.passed, "detail": each.detail} for each in findings]
        click.echo(json.dumps(data, indent=2))
    if not all(finding.passed for finding in findings):
        raise click.exceptions.Exit(1)


@click.command(
    context_settings=HELP,
    epilog=format_examples(
        "duels exam chain --positions 200 --seed 1 --out exam.jsonl",
        "duels exam flip --positions 100 --out exam.parquet",
        "duels exam lights --option lights=9 --out nine.jsonl",
    ),
)
@click.argument("game")
@click.option(
    "--positions", type=click.IntRange(2), default=200, show_default=True, help="Number of positions."
)
@click.option("--seed", default="1", show_default=True, help="The same seed draws the same positions.")
@click.option("--option", "options", multiple=True, metavar="NAME=VALUE", help="An option of the game.")
@click.option("--out", required=True, type=FILE, help="Output file: .jsonl or .parquet.")
@force_option
def exam(game: str, positions: int, seed: str, options: tuple[str, ...], out: Path, force: bool) -> None:
    """Write graded positions for any test harness, and a card that describes them.

    The positions come from good play. Those with more at stake are sampled more often; weights correct this.
    """
    from duels.arena.exam import explain_shortage, get_card_path, write_exam
    from duels.arena.progress_line import ProgressLine
    from duels.core.record import parse_options
    from duels.games import find_game

    with usage_errors():
        game_class = find_game(game)
        rules = game_class.rules(**parse_options(game_class.rules_class(), " ".join(options)))
    refuse_existing(force, out, get_card_path(out))
    with ProgressLine() as line:
        count = write_exam(rules, positions, seed, out, line.show, overwrite=force)
    click.echo(f"{out}: {count} positions; {get_card_path(out)} describes them.", err=True)
    if shortage := explain_shortage(positions, count):
        click.echo(shortage, err=True)
