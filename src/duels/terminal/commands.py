"""The `duels` command, and the subcommands by which matches are played, kept and shown.

Data goes to stdout, notices to stderr. 0: done, 1: failed, 2: wrong usage, 130: interrupted.
"""

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from duels.core.errors import DuelsError
from duels.core.game import Game
from duels.games import GAMES, installed_games
from duels.terminal import analysis_commands
from duels.terminal.options import (
    GameCommand,
    examples,
    game_argument,
    last_played,
    leave,
    pace_option,
    plain_option,
    read,
    record_argument,
    who_option,
)
from duels.terminal.shell import note_call
from duels.terminal.signals import end_in_order, exit_code

if TYPE_CHECKING:
    from duels.core.rules import Rules
    from duels.terminal.play import After
    from duels.terminal.screen import Screen


def main() -> None:
    """Run the command line and leave with its exit code."""
    _prepare_streams()
    end_in_order()
    note_call()
    sys.exit(run(sys.argv[1:]))


def run(arguments: list[str]) -> int:
    """Carry out a command; every expected failure becomes one line on stderr and an exit code."""
    try:
        # Outside its standalone mode click gives back the code of an Exit, and what a command returns.
        code = cli.main(arguments, prog_name="duels", standalone_mode=False)
        sys.stdout.flush()
        return code if isinstance(code, int) else 0
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except (KeyboardInterrupt, EOFError, click.Abort) as leaving:
        return exit_code(leaving.__cause__ or leaving)  # click's Abort has a cause
    except BrokenPipeError:
        # Whoever read our output has left; Python would complain once more when it closes stdout.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        click.echo(f"duels: {place}{error.strerror or error}", err=True)
        return 1
    except DuelsError as error:
        click.echo(f"duels: {error}", err=True)
        return 1


def _prepare_streams() -> None:
    """A closed stream, bytes that are no text, or a terminal that lacks a letter are no reason to fail."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, mode))  # noqa: SIM115 (open as long as the program)
        elif hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")


@click.group(
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=examples(
        "duels                                   choose from a menu",
        "duels play lights                       two people at one keyboard",
        "duels play chain --seat2 greedy         you against the machine",
        "duels resume                            go on with the last match",
    ),
)
@click.version_option(package_name="duels", message="%(package)s %(version)s")
@plain_option
@click.pass_context
def cli(context: click.Context, plain: bool) -> None:
    """Five two-player rule-book games at the terminal.

    Without a command, a menu asks for the game and the players.
    """
    if context.invoked_subcommand:
        return
    from duels.terminal.home import Home
    from duels.terminal.screen import Screen

    Home(Screen(plain)).run()


@cli.command(epilog=examples("duels games", "duels games --json"))
@click.option("--json", "as_json", is_flag=True, help="One JSON list instead of lines.")
def games(as_json: bool) -> None:
    """List the games, a line each, and where they come from."""
    rows = [(game, "duels") for game in GAMES.values()]
    rows += [(installed.game, installed.source) for installed in installed_games()]
    if as_json:
        listed = [
            {"game": game.name, "title": game.title, "summary": game.summary, "source": source}
            for game, source in rows
        ]
        click.echo(json.dumps(listed, indent=2))
        return
    name_width = max(len(game.name) for game, _ in rows) + 2
    title_width = max(len(game.title) for game, _ in rows) + 2
    for game, source in rows:
        origin = "" if game.name in GAMES else f"  [{source}]"
        click.echo(f"{game.name:<{name_width}}{game.title:<{title_width}}{game.summary}{origin}")


@cli.command(epilog=examples("duels players", "duels players --json"))
@click.option("--json", "as_json", is_flag=True, help="One JSON list instead of lines.")
def players(as_json: bool) -> None:
    """List who can sit at a seat, a line each."""
    from duels.players import KINDS, PERFECT

    proven = {game.name: tell() for game in GAMES.values() if (tell := game.find("oracle", "how_perfect"))}
    if as_json:
        listed: list[dict[str, object]] = [
            {"player": kind.name, "summary": kind.summary} for kind in KINDS.values()
        ]
        for entry in listed:
            if entry["player"] == PERFECT:
                entry["proven"] = proven
        click.echo(json.dumps(listed, indent=2))
        return
    for kind in KINDS.values():
        click.echo(f"{kind.name:<10}{kind.summary}")
        if kind.name == PERFECT:
            for name, text in proven.items():
                click.echo(f"{'':<12}{name}: {text}")


@cli.command(epilog=examples("duels rules hunt"))
@game_argument
def rules(game: Game) -> None:
    """Show a game's rule card."""
    click.echo(game.card(), nl=False)


@cli.command(
    epilog=examples(
        "duels play lights",
        "duels play hunt --seat2 greedy",
        "duels play chain --seat1 random --seat2 greedy --seed 7",
        'duels play chain --chance "heads tails heads"',
        'duels play flip --chance "4 5 2,5" --save evening.duel',
        "duels play lights --lights 12 --seat2 club",
    ),
    cls=GameCommand,
)
@game_argument
@who_option("--seat1", "Who plays as seat 1.", "human")
@who_option("--seat2", "Who plays as seat 2.", "human")
@click.option(
    "--first",
    type=click.Choice(["1", "2", "random"]),
    default="1",
    show_default=True,
    help="Which seat moves first, and so is Player 1.",
)
@click.option("--seed", help="Makes coins, tiles and machine players repeatable.")
@click.option("--chance", "script", help="Chance outcomes in order; when they run out the rest is drawn.")
@click.option(
    "--save",
    "path",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Record the match in this new file instead of the folder of matches.",
)
@pace_option
@plain_option
def play(
    rules: "Rules[Any, Any, Any]",
    seat1: str,
    seat2: str,
    first: str,
    seed: str | None,
    script: str | None,
    path: Path | None,
    pace: str | None,
    plain: bool,
) -> None:
    """Play a game.

    `duels players` lists WHO can sit at a seat. A match with people in it is saved as it goes. At any
    prompt, help tells what else can be entered. A match of two machines ends without a winner after 50
    boards of chain or 50 turns of hunt; with people in it there is no limit.
    """
    from duels.play.new_match import NewMatch
    from duels.terminal.play import play_new
    from duels.terminal.screen import Screen

    if path and path.exists():
        raise click.UsageError(f"--save: {path} exists already; a match is never written over another file.")
    if path and not path.parent.is_dir():
        raise click.UsageError(f"--save: there is no folder {path.parent}.")
    try:
        new = NewMatch(rules, seat1, seat2, first, seed, script or "", path)
    except DuelsError as error:
        raise click.UsageError(str(error)) from None
    screen = Screen(plain, pace)
    leave(_go_home(*play_new(new, screen), screen))


def _go_home(code: int, after: "After", screen: "Screen") -> int:
    """Where a match leads: home, if another game was asked for; the exit code."""
    from duels.terminal.play import After

    if after is After.NEW_GAME:
        from duels.terminal.home import Home

        Home(screen).run("play")
    return code


@cli.command(epilog=examples("duels resume", "duels resume evening.duel"))
@record_argument
@pace_option
@plain_option
def resume(file: Path | None, pace: str | None, plain: bool) -> None:
    """Go on with an interrupted match, the last one by default."""
    from duels.play.library import last_unfinished
    from duels.terminal.play import play_on
    from duels.terminal.screen import Screen

    screen = Screen(plain, pace)
    leave(_go_home(*play_on(file or last_unfinished(screen.notice), screen), screen))


@cli.command(
    epilog=examples(
        "duels replay evening.duel", "duels replay evening.duel --seat 2", "duels replay evening.duel --step"
    )
)
@record_argument
@click.option("--seat", type=click.Choice(["1", "2"]), help="As this seat saw it.")
@click.option("--step", is_flag=True, help="Wait for Enter after every turn.")
@plain_option
def replay(file: Path | None, seat: str | None, step: bool, plain: bool) -> None:
    """Show a recorded match, the last one by default, as it was played, or as one seat saw it.

    What was hidden stays hidden while the match is unfinished, except from the seat that may know it.
    """
    from duels.core.rules import Seat
    from duels.terminal.play import show_replay
    from duels.terminal.screen import Screen

    show_replay(read(file or last_played()), Seat(int(seat)) if seat else None, step, Screen(plain))


@cli.command(epilog=examples("duels verify evening.duel", "duels verify evening.duel --json"))
@record_argument
@click.option("--json", "as_json", is_flag=True, help="The answer as one JSON object.")
def verify(file: Path | None, as_json: bool) -> None:
    """Check that a record, the last one by default, is legal from its first line to its last."""
    file = file or last_played()
    try:
        record = read(file)
    except DuelsError as error:
        if as_json:
            click.echo(
                json.dumps({"legal": False, "line": getattr(error, "line", None), "error": str(error)})
            )
        raise
    match = record.match
    entries = len(match.turns)
    outcome = match.outcome
    if as_json:
        answer = {
            "legal": True,
            "game": match.rules.name,
            "entries": entries,
            "winner": outcome.winner if outcome else None,
            "result": outcome.code if outcome else None,
        }
        click.echo(json.dumps(answer))
    else:
        told = outcome.reason if outcome else "unfinished"
        click.echo(f"{file}: legal, {match.rules.name}, {entries} entries; {told}")


@cli.command(epilog=examples("duels share hunt.duel --seat 1 > mine.duel"))
@record_argument
@click.option("--seat", type=click.Choice(["1", "2"]), required=True, help="Whose copy it is.")
def share(file: Path | None, seat: str) -> None:
    """Print a record with one seat's view only, to hand to that seat.

    What the seat may not know reads '?', and the seed is left out.
    """
    from duels.core.record import dumps
    from duels.core.rules import Seat

    file = file or last_played()
    record = read(file)
    if record.seat and record.seat != int(seat):
        raise DuelsError(f"{file} holds only what {record.seat.label} saw.")
    click.echo(dumps(record.match, record.headers, Seat(int(seat))), nl=False)


@cli.command(epilog=examples("duels matches", "duels matches --all", "duels matches --json"))
@click.option("--all", "every", is_flag=True, help="All of them, not only the last 20.")
@click.option("--json", "as_json", is_flag=True, help="One JSON list instead of lines.")
def matches(every: bool, as_json: bool) -> None:
    """List your matches, the last one first: game, players, result, when."""
    from itertools import islice

    from duels.play.library import kept_matches

    kept = islice(kept_matches(lambda text: click.echo(text, err=True)), None if every else 20)
    listed = [
        {
            "game": one.record.match.rules.name,
            "players": [one.record.headers.get(f"seat{n}", "human") for n in (1, 2)],
            "result": outcome.code if (outcome := one.record.match.outcome) else None,
            "played": one.played.strftime("%Y-%m-%d %H:%M UTC"),
            "file": str(one.path),
        }
        for one in kept
    ]
    if as_json:
        click.echo(json.dumps(listed, indent=2))
        return
    if not listed:
        click.echo("No match has been played yet.", err=True)
    for row in listed:
        players = " - ".join(row["players"])
        click.echo(
            f"{row['played']}  {row['game']:<8}{players:<20}{row['result'] or 'unfinished':<20}{row['file']}"
        )


@cli.command(epilog=examples("duels demo"))
@plain_option
def demo(plain: bool) -> None:
    """Play one quick match of each game between built-in players."""
    from duels.play.new_match import NewMatch
    from duels.terminal.play import play_new
    from duels.terminal.screen import Screen

    screen = Screen(plain)
    for game in GAMES.values():
        screen.say(f"=== {game.name}: {game.title} (greedy against random) ===\n\n")
        code, _ = play_new(NewMatch(game.rules(), "greedy", "random"), screen)
        if code:
            leave(code)
        screen.say("\n")


@cli.command(epilog=examples('eval "$(duels completion bash)"', "duels completion fish | source"))
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print the script that completes duels' commands in a shell."""
    from click.shell_completion import get_completion_class

    completer = get_completion_class(shell)
    assert completer
    click.echo(completer(cli, {}, "duels", "_DUELS_COMPLETE").source())


for command in analysis_commands.COMMANDS:
    cli.add_command(command)
