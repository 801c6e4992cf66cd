"""`duels bot`: help for whoever writes a program that plays."""

import json

import click

from duels.arena.commands.options import HELP, Group, examples

_EXAMPLES = examples('duels bot check "cmd:python bot.py"', 'duels bot check "cmd:node bot.js" --games hunt')


@click.group(cls=Group, context_settings=HELP, epilog=_EXAMPLES)
def bot() -> None:
    """Help whoever writes a program that plays.

    docs/protocol.md tells how a program is asked and answers.
    """


@bot.command(epilog=_EXAMPLES)
@click.argument("program", metavar='"cmd:COMMAND"')
@click.option("--games", default="lights,leap,chain,hunt,flip", show_default=True, help="Games to play.")
@click.option("--move-seconds", type=click.FloatRange(0.01), default=10.0, show_default=True)
@click.option("--memory-mb", type=click.IntRange(16), default=2048, show_default=True)
@click.option("--json", "as_json", is_flag=True, help="One JSON list instead of lines.")
def check(program: str, games: str, move_seconds: float, memory_mb: int, as_json: bool) -> None:
    """Play the protocol through with a program, bad days included, and tell what is wrong."""
    from duels.arena.bot_check import check_bot
    from duels.games import find_game
    from duels.players.program import Limits

    if not program.lower().startswith("cmd:"):
        raise click.UsageError('a program is given as "cmd:COMMAND", such as "cmd:python bot.py".')
    rules = [find_game(name).rules() for name in games.split(",")]
    limits = Limits(move_seconds=move_seconds, memory_mb=memory_mb)
    findings = []
    for finding in check_bot(program[len("cmd:") :], rules, limits):
        findings.append(finding)
        if not as_json:
            click.echo(str(finding))
    if as_json:
        listed = [{"check": each.name, "passed": each.passed, "detail": each.detail} for each in findings]
        click.echo(json.dumps(listed, indent=2))
    if not all(finding.passed for finding in findings):
        raise click.exceptions.Exit(1)
