"""The commands `play`, `resume`, `matches`, `replay`, `verify`, `share` and `demo`."""

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
from duels.terminal.menu import Menu
from duels.terminal.next_step import NextStep
from duels.terminal.options import (
    NEW_FILE,
    board_option,
    find_last_match,
    format_examples,
    pace_option,
    plain_option,
    print_text,
    record_argument,
    warn,
)
from duels.terminal.play import play_branch, play_new_match, resume_match
from duels.terminal.replay import show_replay
from duels.terminal.screen import Screen


@click.command(
    epilog=format_examples(
        "duels play lights",
        "duels play hunt --seat2 casual",
        "duels play chain --seat1 casual --seat2 club --seed 7",
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
@player_option("--seat1", "The player at seat 1.", "human", allow_programs=True)
@player_option(
    "--seat2",
    'The player at seat 2, such as casual, "cmd:COMMAND" or model:NAME.',
    "human",
    allow_programs=True,
)
@model_options
@click.option(
    "--first",
    type=click.Choice(["1", "2", "random"]),
    default="1",
    show_default=True,
    help="The seat that moves first, as Player 1.",
)
@click.option("--seed", help="Seed for chance events and machine players.")
@click.option("--chance", help="The first chance outcomes, in order. Later ones are random.")
@click.option("--save", "path", type=NEW_FILE, help="Save in this new file, not in your matches folder.")
@board_option
@pace_option
@plain_option
def play(
    rules: AnyRules,
    seat1: PlayerKind | str,
    seat2: PlayerKind | str,
    first: str,
    seed: str | None,
    chance: str | None,
    path: Path | None,
    board: bool,
    pace: str | None,
    plain: bool,
    **_model_options: Any,
) -> int:
    """Play a match.

    `duels players` lists the built-in players. Every move is saved if a person plays, so you can quit at any
    time and continue with `duels resume`. Enter help at any prompt to see the commands.

    A match between two machines ends without a winner after 50 boards of chain or 50 turns of hunt. A match
    with people has no limit.
    """
    if path and path.exists():
        name = escape_unprintable(str(path))
        raise click.UsageError(f"--save: {name} already exists. Choose the name of a new file.")
    if path and not path.parent.is_dir():
        raise click.UsageError(
            f"--save: the folder {escape_unprintable(str(path.parent))} does not exist. Create it first."
        )
    try:
        (one, two), external = _split_external((seat1, seat2))
        setup = MatchSetup(rules, one, two, first, seed, chance or "", path, external)
    except SettingError as error:
        raise click.UsageError(f"--{error.setting}: {error}") from None
    except DuelsError as error:
        raise click.UsageError(str(error)) from None
    screen = Screen(plain, pace)
    return _open_menu_if_wanted(*play_new_match(setup, screen, board), screen, board)


def _split_external(
    seats: tuple[PlayerKind | str, PlayerKind | str],
) -> tuple[tuple[str, ...], dict[str, PlayerKind]]:
    """Return the names of both players and the external players by name."""
    external = number_duplicates([seat for seat in seats if not isinstance(seat, str)])
    remaining = iter(external)
    names = tuple(seat if isinstance(seat, str) else next(remaining).name for seat in seats)
    return names, {kind.name: kind for kind in external}


def _open_menu_if_wanted(code: int, step: NextStep, screen: Screen, board: bool) -> int:
    """Open the menu if the person wants another game, and return the exit code."""
    if step is NextStep.NEW_GAME:
        Menu(screen).run("play" if board else "prompts")
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
    help="Start a new match after the first N entries of this one, which may be finished.",
)
@player_option("--seat1", "The program or model at seat 1.", allow_programs=True)
@player_option("--seat2", "The program or model at seat 2.", allow_programs=True)
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
    **_model_options: Any,
) -> int:
    """Continue an unfinished match, by default the last one.

    A saved match does not store how to start a program or reach a model. If one of them plays, pass --seat1
    or --seat2 again.
    """
    screen = Screen(plain, pace)
    external: dict[Seat, PlayerKind] = {}
    for seat, player in zip(Seat, (seat1, seat2), strict=True):
        if isinstance(player, str):
            raise click.UsageError(
                f"--seat{seat.value} must be a program or a model: "
                '"cmd:COMMAND" or model:NAME. All other players are stored in the match.'
            )
        if player is not None:
            external[seat] = player
    if entries is None:
        result = resume_match(file or find_last_match(only_unfinished=True), screen, board, external)
    else:
        result = play_branch(file or find_last_match(), entries, screen, board, external)
    return _open_menu_if_wanted(*result, screen, board)


@click.command(
    epilog=format_examples(
        "duels replay",
        "duels replay --step",
        "duels replay evening.duel",
        "duels replay evening.duel --seat 2",
    )
)
@record_argument
@click.option("--seat", type=click.Choice(["1", "2"]), help="Show only the information that this seat had.")
@click.option("--step", is_flag=True, help="Go through the turns one by one. Needs a terminal.")
@plain_option
def replay(file: Path | None, seat: str | None, step: bool, plain: bool) -> None:
    """Replay a match, by default the last one.

    While a match is unfinished, hidden information stays hidden. Pass --seat to see what one seat knows.
    """
    show_replay(
        read_record(file or find_last_match()), Seat(int(seat)) if seat else None, step, Screen(plain)
    )


@click.command(epilog=format_examples("duels verify", "duels verify evening.duel --json"))
@record_argument
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object.")
def verify(file: Path | None, as_json: bool) -> None:
    """Check that every move of a match is legal, by default of the last one.

    The exit code is 1 if the file is damaged or a move is illegal.
    """
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
        result = outcome.reason if outcome else "unfinished"
        print_text(f"{escape_unprintable(str(file))}: legal, {match.rules.name}, {entries} entries; {result}")


@click.command(
    epilog=format_examples("duels share --seat 1 > mine.duel", "duels share hunt.duel --seat 2 > theirs.duel")
)
@record_argument
@click.option("--seat", type=click.Choice(["1", "2"]), required=True, help="The seat that receives the copy.")
def share(file: Path | None, seat: str) -> None:
    """Print a copy of a match for one seat, without the other seat's secrets.

    The copy shows hidden moves as '?' and leaves out the seed. Without FILE, duels copies the last match.
    """
    file = file or find_last_match()
    record = read_record(file)
    if record.seat and record.seat != int(seat):
        raise DuelsError(f"{file} holds only what {record.seat.label} saw. Pass --seat {record.seat.value}.")
    click.echo(dump_record(record.match, record.headers, Seat(int(seat))), nl=False)


@click.command(epilog=format_examples("duels matches", "duels matches --all", "duels matches --json"))
@click.option("--all", "list_all", is_flag=True, help="List all matches, not only the last 20.")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON list.")
def matches(list_all: bool, as_json: bool) -> None:
    """List your matches, newest first.

    You can pass a file name from the list to resume, replay, review, verify or share.
    """
    limit = None if list_all else 20
    saved = list(islice(list_saved_matches(warn), limit))
    if as_json:
        data = [
            {
                "game": match.record.match.rules.name,
                "players": list(match.players),
                "result": outcome.code if (outcome := match.record.match.outcome) else None,
                "played": match.last_played.strftime("%Y-%m-%d %H:%M UTC"),
                "file": str(match.path),
            }
            for match in saved
        ]
        click.echo(json.dumps(data, indent=2))
        return
    if not saved:
        click.echo("You have not played a match yet.", err=True)
        return
    rows = [_format_row(match) for match in saved]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        print_text("  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip())
    click.echo(
        f"Times are UTC. Files without a folder are in {escape_unprintable(str(matches_dir()))}.", err=True
    )


def _format_row(match: SavedMatch) -> tuple[str, ...]:
    players = escape_unprintable(" - ".join(match.players))
    when = match.last_played.strftime("%Y-%m-%d %H:%M")
    return when, match.record.match.rules.name, players, _format_result(match), match.label


def _format_result(match: SavedMatch) -> str:
    outcome, players = match.record.match.outcome, match.players
    if not outcome:
        return "unfinished"
    if not outcome.winner:
        return outcome.ending.value
    if players.count(HUMAN) == 1:
        return "you won" if players[outcome.winner - 1] == HUMAN else "you lost"
    reason = "" if outcome.ending is Ending.WON else f", {outcome.winner.other.label} {outcome.ending.value}"
    return f"{outcome.winner.label} won{reason}"


@click.command(epilog=format_examples("duels demo"))
@plain_option
def demo(plain: bool) -> int:
    """Watch a quick match of each game between built-in players.

    The player greedy plays against random. The matches are not saved.
    """
    screen = Screen(plain)
    for game in GAMES.values():
        screen.say(f"=== {game.name}: {game.title} (greedy against random) ===\n\n")
        code, _ = play_new_match(MatchSetup(game.rules(), "greedy", "random"), screen)
        if code:
            return code
        screen.say("\n")
    return 0
