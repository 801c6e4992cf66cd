"""The commands `duels arena`, `duels bot` and `duels exam`. What they do is loaded when they are called."""

import click

from duels.arena.commands.bot import bot
from duels.arena.commands.exam import exam
from duels.arena.commands.options import HELP, Group, examples
from duels.arena.commands.probe import probe_command
from duels.arena.commands.results import compare, merge, report_command
from duels.arena.commands.run import RUN_EXAMPLE, ladder, run_command

__all__ = ["arena", "bot", "exam"]


@click.group(
    cls=Group,
    context_settings=HELP,
    epilog=examples(
        RUN_EXAMPLE,
        "duels arena run tournament.toml",
        "duels arena report runs/first --html page.html",
        "duels arena ladder --out runs/ladder",
    ),
)
def arena() -> None:
    """Measure players against each other and against perfect play.

    docs/arena.md tells what the numbers mean and how far they can be trusted.
    """


for each in (run_command, probe_command, report_command, compare, merge, ladder):
    arena.add_command(each)
