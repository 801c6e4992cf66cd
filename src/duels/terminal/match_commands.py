"""The commands of `duels` by which matches are played, kept and shown."""

import json
from itertools import islice
from pathlib import Path
from typing import Any

import click

from duels.core.errors import DuelsError, escape_unprintable
from duels.core.record import dump_record
from duels.core.rules import AnyRules, Ending, Seat
from duels.games import GAMES
from duels.paths import matches_dir
from duels.play.library import SavedMatch, list_saved_matches, read_record
from duels.play.new_match import MatchSetup, SettingError
from duels.players import HUMAN, PlayerKind, number_duplicates
from duels.terminal.game_options import GameCommand, game_argument, model_options, player_option
from duels.terminal.home import Home
from duels.terminal.next_step import NextStep
from duels.terminal.options import (
    board_option,
    exit_with,
    find_last_match,
    find_last_unfinished,
    format_examples,
    pace_option,
    plain_option,
    print_text,
    record_argument,
)
from duels.terminal.play import play_branch, play_new_match, resume_match
from duels.terminal.replay import show_replay
from duels.terminal.screen import Screen


@click.command(
    epilog=format_examples(
        "duels play lights",
        "duels play hunt --seat2 greedy",
        "duels play chain --seat1 random --seat2 greedy --seed 7",
        'duels play chain --chance "heads tails heads"',
        'duels play flip --chance "4 5 2,5" --save evening.duel',
        "duels play lights --lights 12 --seat2 club",
        'duels play chain --seat2 "cmd:python bot.py"',
        "duels play lights --seat2 model:NAME --base-url http://localhost:8000/v1",
        "duels play chain --seat2 club --board",
    ),
    cls=GameCommand,
)
@game_argument
@player_option("--seat1", "Who plays as seat 1.", "human", programs=True)
@player_option(
    "--seat2", 'Who plays as seat 2; "cmd:COMMAND" for a program of yours.', "human", programs=True
)
@model_options
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
@board_option
@pace_option
@plain_option
def play(
    rules: AnyRules,
    seat1: PlayerKind | str,
    seat2: PlayerKind | str,
    first: str,
    seed: str | None,
    script: str | None,
    path: Path | None,
    board: bool,
    pace: str | None,
    plain: bool,
    **_asked: Any,
) -> None:
    """Play a game.

    `duels players` lists WHO can sit at a seat. A match with people in it is saved as it goes. At any
    prompt, help tells what else can be entered. A match of two machines ends without a winner after 50
    boards of chain or 50 turns of hunt; with people in it there is no limit.
    """
    if path and path.exists():
        name = escape_unprintable(str(path))
        raise click.UsageError(f"--save: {name} exists already; a match is never written over another file.")
    if path and not path.parent.is_dir():
        raise click.UsageError(f"--save: there is no folder {escape_unprintable(str(path.parent))}.")
    try:
        (one, two), external = _by_name((seat1, seat2))
        new = MatchSetup(rules, one, two, first, seed, script or "", path, external)
    except SettingError as error:
        raise click.UsageError(f"--{error.setting}: {error}") from None
    except DuelsError as error:
        raise click.UsageError(str(error)) from None
    screen = Screen(plain, pace)
    exit_with(_go_home(*play_new_match(new, screen, board), screen, board))


def _by_name(
    seats: tuple[PlayerKind | str, PlayerKind | str],
) -> tuple[tuple[str, ...], dict[str, PlayerKind]]:
    """The names of the players at both seats, and the external ones among them by name."""
    programs = number_duplicates([seat for seat in seats if not isinstance(seat, str)])
    apart = iter(programs)
    names = tuple(seat if isinstance(seat, str) else next(apart).name for seat in seats)
    return names, {kind.name: kind for kind in programs}


def _go_home(code: int, after: NextStep, screen: Screen, board: bool) -> int:
    """Where a match leads: home, if another game was asked for; the exit code."""
    if after is NextStep.NEW_GAME:
        Home(screen).run("board" if board else "play")
    return code


@click.command(
    epilog=format_examples(
        "duels resume",
        "duels resume evening.duel",
        "duels resume evening.duel --at 12",
        'duels resume evening.duel --seat2 "cmd:python bot.py"',
    )
)
@record_argument
@click.option(
    "--at",
    "entries",
    type=click.IntRange(0),
    metavar="N",
    help="Play on after its first N entries, in a new record; the match may be over.",
)
@player_option("--seat1", "The program or model that plays as Player 1.", programs=True)
@player_option("--seat2", "The program or model that plays as Player 2.", programs=True)
@model_options
@board_option
@pace_option
@plain_option
def resume(
    file: Path | None,
    entries: int | None,
    seat1: PlayerKind | str | None,
    seat2: PlayerKind | str | None,
    board: bool,
    pace: str | None,
    plain: bool,
    **_asked: Any,
) -> None:
    """Go on with an interrupted match, the last one by default.

    A record does not say how to call a program or a model that played in it: name it again.
    """
    screen = Screen(plain, pace)
    seats = {seat: who for seat, who in zip(Seat, (seat1, seat2), strict=True) if who is not None}
    for seat, who in seats.items():
        if isinstance(who, str):
            raise click.UsageError(
                f"--seat{seat.value} is for the program or model that played there: "
                '"cmd:COMMAND" or model:NAME.'
            )
    programs = {seat: who for seat, who in seats.items() if not isinstance(who, str)}
    if entries is None:
        ended = resume_match(file or find_last_unfinished(), screen, board, programs)
    else:
        ended = play_branch(file or find_last_match(), entries, screen, board, programs)
    exit_with(_go_home(*ended, screen, board))


@click.command(
    epilog=format_examples(
        "duels replay",
        "duels replay --step",
        "duels replay evening.duel",
        "duels replay evening.duel --seat 2",
    )
)
@record_argument
@click.option("--seat", type=click.Choice(["1", "2"]), help="As this seat saw it.")
@click.option("--step", is_flag=True, help="Turn by turn; on a terminal backwards too.")
@plain_option
def replay(file: Path | None, seat: str | None, step: bool, plain: bool) -> None:
    """Show a recorded match, the last one by default, as it was played, or as one seat saw it.

    What was hidden stays hidden while the match is unfinished, except from the seat that may know it.
    """
    show_replay(
        read_record(file or find_last_match()), Seat(int(seat)) if seat else None, step, Screen(plain)
    )


@click.command(epilog=format_examples("duels verify", "duels verify evening.duel --json"))
@record_argument
@click.option("--json", "as_json", is_flag=True, help="The answer as one JSON object.")
def verify(file: Path | None, as_json: bool) -> None:
    """Check that a record, the last one by default, is legal from its first line to its last."""
    file = file or find_last_match()
    try:
        record = read_record(file)
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
        print_text(f"{escape_unprintable(str(file))}: legal, {match.rules.name}, {entries} entries; {told}")


@click.command(
    epilog=format_examples("duels share --seat 1 > mine.duel", "duels share hunt.duel --seat 2 > theirs.duel")
)
@record_argument
@click.option("--seat", type=click.Choice(["1", "2"]), required=True, help="Whose copy it is.")
def share(file: Path | None, seat: str) -> None:
    """Print a record with one seat's view only, to hand to that seat.

    What the seat may not know reads '?', and the seed is left out. Without FILE it is the match that was
    played last.
    """
    file = file or find_last_match()
    record = read_record(file)
    if record.seat and record.seat != int(seat):
        raise DuelsError(f"{file} holds only what {record.seat.label} saw.")
    click.echo(dump_record(record.match, record.headers, Seat(int(seat))), nl=False)


@click.command(epilog=format_examples("duels matches", "duels matches --all", "duels matches --json"))
@click.option("--all", "every", is_flag=True, help="All of them, not only the last 20.")
@click.option("--json", "as_json", is_flag=True, help="One JSON list instead of lines.")
def matches(every: bool, as_json: bool) -> None:
    """List your matches, the last one first: game, players, result, when."""
    kept = list(islice(list_saved_matches(lambda text: click.echo(text, err=True)), None if every else 20))
    if as_json:
        listed = [
            {
                "game": one.record.match.rules.name,
                "players": list(one.players),
                "result": one.result,
                "played": one.when,
                "file": str(one.path),
            }
            for one in kept
        ]
        click.echo(json.dumps(listed, indent=2))
        return
    if not kept:
        click.echo("No match has been played yet.", err=True)
        return
    rows = [_row(one) for one in kept]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        print_text("  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip())
    click.echo(
        f"Times are UTC. Files without a folder are in {escape_unprintable(str(matches_dir()))}.", err=True
    )


def _row(one: SavedMatch) -> tuple[str, ...]:
    """When, which game, who, how it ended, and the file; that of a match in the usual folder without it."""
    file = one.path.name if one.path.parent == matches_dir() else str(one.path)
    players = escape_unprintable(" - ".join(one.players))
    when = one.played.strftime("%Y-%m-%d %H:%M")
    return when, one.record.match.rules.name, players, _told_to_people(one), escape_unprintable(file)


def _told_to_people(one: SavedMatch) -> str:
    """The result: of the one person who played, else of both seats."""
    outcome, players = one.record.match.outcome, one.players
    if not outcome:
        return "unfinished"
    if not outcome.winner:
        return outcome.ending.value
    if players.count(HUMAN) == 1:
        return "you won" if players[outcome.winner - 1] == HUMAN else "you lost"
    how = "" if outcome.ending is Ending.WON else f", {outcome.winner.other.label} {outcome.ending.value}"
    return f"{outcome.winner.label} won{how}"


@click.command(epilog=format_examples("duels demo"))
@plain_option
def demo(plain: bool) -> None:
    """Play one quick match of each game between built-in players."""
    screen = Screen(plain)
    for game in GAMES.values():
        screen.say(f"=== {game.name}: {game.title} (greedy against random) ===\n\n")
        code, _ = play_new_match(MatchSetup(game.rules(), "greedy", "random"), screen)
        if code:
            exit_with(code)
        screen.say("\n")
