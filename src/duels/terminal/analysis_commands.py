"""The commands of `duels` that need an oracle: what a match, a position or a player is worth."""

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from duels.core.errors import DuelsError, printable, quote
from duels.terminal.game_options import GameCommand, game_argument, who_option
from duels.terminal.options import examples, leave, plain_option, tell
from duels.terminal.record_argument import last_played, read, record_argument

if TYPE_CHECKING:
    from datetime import datetime

    from duels.core.rules import Rules


@click.command(
    epilog=examples(
        "duels solve lights",
        'duels solve chain --position "__XX_O_ 1"',
        'duels solve chain --position "__X?O__ 2" --json',
        "duels solve lights --lights 12",
        "duels solve leap --goal 100",
        "duels solve flip --verify",
    ),
    cls=GameCommand,
)
@game_argument
@click.option("--position", help="In the game's notation; the opening by default.")
@click.option("--json", "as_json", is_flag=True, help="The answer as one JSON object.")
@click.option("--all", "every_action", is_flag=True, help="List every action, however many there are.")
@click.option("--verify", "verifying", is_flag=True, help="Check the values by methods written apart.")
@plain_option
def solve(
    rules: "Rules[Any, Any, Any]",
    position: str | None,
    as_json: bool,
    every_action: bool,
    verifying: bool,
    plain: bool,
) -> None:
    """Show what perfect play is: the value of a position and of every action.

    A value is the probability that the player to move wins when both play perfectly; a draw counts one
    half, and so does never-ending play. In hunt, where nobody knows perfect play, it is when both play the
    strategy that comes with it.

    \b
    --verify takes, on one core:
      lights, leap  about a second
      chain         some seconds
      flip          a few minutes
      hunt          minutes, and needs the extra 'fast'
    """
    from duels.analysis.solution import position_to_solve
    from duels.terminal import solve as solving
    from duels.terminal.screen import Screen

    screen = Screen(plain)
    for name, given in {"--position": position is not None, "--all": every_action}.items():
        if verifying and given:
            raise click.UsageError(f"{name} does not go with --verify.")
    try:
        sight = position_to_solve(rules, position)
    except DuelsError as error:
        raise click.UsageError(str(error)) from None
    if verifying:
        leave(0 if solving.verify(rules, as_json, screen) else 1)
    else:
        solution = solving.find_solution(sight, screen)
        if as_json:
            click.echo(json.dumps(solution.as_data(), indent=2))
        else:
            screen.say(solving.solution_as_text(solution, every_action))


@click.command(
    epilog=examples(
        "duels levels chain", "duels levels flip --matches 100", "duels levels leap --goal 50 --json"
    ),
    cls=GameCommand,
)
@game_argument
@click.option(
    "--matches",
    type=click.IntRange(2),
    help="Matches a row; by default 1000 where skill alone decides, else 100.",
)
@click.option("--seed", default="levels", show_default=True, help="Makes the measurement repeatable.")
@click.option("--json", "as_json", is_flag=True, help="The rows as one JSON list.")
def levels(rules: "Rules[Any, Any, Any]", matches: int | None, seed: str, as_json: bool) -> None:
    """Show how strong the levels are: novice, casual, club, expert, best.

    A level is defined by how much winning probability it gives away per decision, as a share of what random
    play does: the share that is intended stands beside the one that is measured. `best` is called `perfect`
    where that is proven. In hunt, where the strategy mixes and nothing that it mixes in is given away, it is
    how far the choices lie below the mixture.
    """
    from duels.analysis.levels import measure_levels, usual_matches
    from duels.terminal.levels import levels_as_text
    from duels.terminal.screen import Screen

    matches = matches or usual_matches(rules)
    with Screen().progress("measuring") as progress:
        rows = measure_levels(rules, matches, seed, progress)
    if as_json:
        click.echo(json.dumps([row.as_data() for row in rows], indent=2))
    else:
        tell(levels_as_text(rules, rows, matches))


@click.command(
    epilog=examples(
        "duels review evening.duel",
        "duels review --step",
        "duels review evening.duel --json",
        "duels review evening.duel --html review.html",
    )
)
@record_argument
@click.option("--json", "as_json", is_flag=True, help="The review as one JSON object.")
@click.option(
    "--html",
    "page",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Also write a page to step through.",
)
@click.option("--force", is_flag=True, help="Write over a page that is there already.")
@click.option(
    "--step", is_flag=True, help="Board by board, forwards and backwards, secrets of both included."
)
@plain_option
def review(file: Path | None, as_json: bool, page: Path | None, force: bool, step: bool, plain: bool) -> None:
    """Show where a match was won and lost: what every decision gave away, and what was luck.

    Without FILE it is the match that was played last.
    """
    from duels.analysis.review import review_record
    from duels.terminal.review import review_as_text
    from duels.terminal.screen import Screen

    if step and as_json:
        raise click.UsageError("--step does not go with --json.")
    if page and os.path.lexists(page) and not force:
        raise click.UsageError(f"--html: {printable(str(page))} exists already; --force writes over it.")
    file = file or last_played()
    record = read(file)
    screen = Screen(plain)
    with screen.progress("reviewing") as progress:
        reviewed = review_record(record, progress)
    if page:
        from duels.analysis.review_page import review_as_page
        from duels.files import write_whole
        from duels.terminal.shell import command

        def play_on(entries: int) -> str:
            return command("resume", file.resolve(), "--at", entries)

        write_whole(page, review_as_page(reviewed, record.headers, play_on).encode(), over=force)
    if as_json:
        from duels.analysis.review_data import review_as_data

        click.echo(json.dumps(review_as_data(reviewed), indent=2))
    elif step:
        from duels.terminal.review_steps import step_through

        step_through(reviewed, screen)
    else:
        screen.say(review_as_text(reviewed, screen.width))
    if page:
        click.echo(f"Page: {printable(str(page))}", err=True)


@click.command(
    epilog=examples("duels practice chain", "duels practice lights --lights 12 --count 10"), cls=GameCommand
)
@game_argument
@click.option("--count", type=click.IntRange(1), default=5, show_default=True, help="How many positions.")
@click.option("--seed", help="Makes the positions repeatable.")
@plain_option
def practice(rules: "Rules[Any, Any, Any]", count: int, seed: str | None, plain: bool) -> None:
    """Solve positions with a clear answer, graded at once.

    They get harder as you get better, from one time to the next too; with --seed they are the same each time.
    Type help at any time.
    """
    from duels.terminal.practice import practise
    from duels.terminal.screen import Screen

    practise(rules, count, seed, Screen(plain))


@click.command(
    epilog=examples(
        "duels export chain --games 1000 --player perfect",
        "duels export lights --games 500 --player club --out lights.parquet",
        "duels export hunt --max-turns 20 --jobs 2",
        "duels export chain --player club --format minari --out duels/chain-club-v0",
    ),
    cls=GameCommand,
)
@game_argument
@click.option("--games", "count", type=click.IntRange(1), default=100, show_default=True, help="How many.")
@who_option("--player", "Who plays.", "best")
@who_option("--against", "Who sits at the other seat; the same player by default.")
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
    rules: "Rules[Any, Any, Any]",
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
    from duels.analysis import export as exporting
    from duels.play.new_match import limited

    run = exporting.Export(limited(rules), (player, against or player), seed, count)

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


@click.command(epilog=examples("duels stats", "duels stats --json"))
@click.option("--json", "as_json", is_flag=True, help="The statistics as one JSON object.")
@plain_option
def stats(as_json: bool, plain: bool) -> None:
    """Tell how you do against the machine: results, losses over time, usual mistakes."""
    from duels.terminal.screen import Screen
    from duels.terminal.stats import gather, statistics_as_text

    screen = Screen(plain)
    found = gather(screen, screen.notice)
    if as_json:
        click.echo(json.dumps(found.as_data(), indent=2))
    else:
        screen.say(statistics_as_text(found))


class _Day(click.DateTime):
    """A day, written as people write it."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter:
            self.fail(f"{quote(str(value))} is no day. Enter it as YYYY-MM-DD.", param, ctx)


@click.command(epilog=examples("duels daily", "duels daily --date 2026-11-16", "duels daily --json"))
@click.option(
    "--date",
    "day",
    type=_Day(["%Y-%m-%d"]),
    metavar="YYYY-MM-DD",
    help="Another day's puzzles, which count for nothing.",
)
@click.option("--json", "as_json", is_flag=True, help="The puzzles as one JSON object; nothing is asked.")
@plain_option
def daily(day: "datetime | None", as_json: bool, plain: bool) -> None:
    """Solve the puzzles of the day, one of each game, the same for everybody.

    Each is graded at once. A streak counts the days in a row, and the last line can be shared: it gives
    nothing away.
    """
    from datetime import date

    from duels.terminal.daily import daily_as_data, play_daily
    from duels.terminal.screen import Screen

    today = date.today()
    asked = day.date() if day else today
    if as_json:
        click.echo(json.dumps(daily_as_data(asked, today), indent=2))
    else:
        play_daily(asked, today, Screen(plain))
