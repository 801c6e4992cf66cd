"""The commands `games`, `players`, `rules` and `completion`."""

import json

import click
from click.shell_completion import get_completion_class

from duels.core.game import Game
from duels.games import GAMES, all_games, list_installed_games
from duels.players import BEST, HUMAN, PERFECT, PLAYER_KINDS, SIMPLE_PROGRAMS
from duels.players.levels import DISTINCT_LEVELS, LEVEL_SHARES, list_equal_levels
from duels.terminal.game_options import game_argument
from duels.terminal.options import format_examples, print_text

_ORIGIN = """\
The games come from five published, machine-written rule books for two-player games.
Two of the books are titled "Quantum Duel"; we added the subtitles.
"""
GREEDY_STRENGTH = (
    "perfect in leap, stronger than expert in chain, weaker than club in lights"  # docs/ladder.md
)


@click.command(epilog=format_examples("duels games", "duels games --json"))
@click.option("--json", "as_json", is_flag=True, help="Print a JSON list.")
def games(as_json: bool) -> None:
    """List the games and their rule books.

    A game from another package is listed with the package's name. `duels rules GAME` shows the rules.
    """
    rows = [(game, "duels") for game in GAMES.values()]
    rows += list_installed_games()
    if as_json:
        data = [
            {"game": game.name, "title": game.title, "summary": game.summary, "source": source}
            for game, source in rows
        ]
        click.echo(json.dumps(data, indent=2))
        return
    name_width = max(len(game.name) for game, _ in rows) + 2
    title_width = max(len(game.title) for game, _ in rows) + 2
    print_text(f"{'game':<{name_width}}{'rule book':<{title_width}}what you do")
    for game, source in rows:
        package = "" if game.name in GAMES else f"  [{source}]"
        print_text(f"{game.name:<{name_width}}{game.title:<{title_width}}{game.summary}{package}")
    print_text(f"\n{_ORIGIN}")


@click.command(epilog=format_examples("duels players", "duels players --json"))
@click.option("--json", "as_json", is_flag=True, help="Print a JSON list.")
def players(as_json: bool) -> None:
    """List the players that can take a seat.

    Pass a name to --seat1 or --seat2. Your own programs ("cmd:COMMAND") and language models (model:NAME)
    can play too.
    """
    guarantees = {
        game.name: describe() for game in all_games() if (describe := game.find("oracle", "how_perfect"))
    }
    if as_json:
        data = [
            {"player": kind.name, "summary": kind.summary}
            | ({"proven": guarantees} if kind.name == BEST else {})
            for kind in PLAYER_KINDS.values()
        ]
        click.echo(json.dumps(data, indent=2))
        return
    details = {
        BEST: [f"{name}: {text}" for name, text in guarantees.items()],
        PERFECT: ["in games with hidden information, best plays instead"],
        "greedy": [GREEDY_STRENGTH],
    }
    for game, shares in DISTINCT_LEVELS.items():
        details |= {
            name: [f"errs more in {game}"] for name, share in shares.items() if share > LEVEL_SHARES[name]
        }
        details |= {
            name: [f"plays like {level} in {game}"] for name, level in list_equal_levels(game).items()
        }
    levels = [name for name in PLAYER_KINDS if name not in (HUMAN, *SIMPLE_PROGRAMS)]
    for title, names in {
        "People:": [HUMAN],
        "Levels, from the weakest to the strongest:": levels,
        "Simple programs, for comparison:": SIMPLE_PROGRAMS,
    }.items():
        print_text(title)
        for name in names:
            print_text(f"  {name:<10}{PLAYER_KINDS[name].summary}")
            for detail in details.get(name, ()):
                print_text(f"{'':<14}{detail}")


@click.command(epilog=format_examples("duels rules hunt", "duels rules chain | less"))
@game_argument
def rules(game: Game) -> None:
    """Show the rules of a game on one page."""
    print_text(game.card())


@click.command(epilog=format_examples('eval "$(duels completion bash)"', "duels completion fish | source"))
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print a script that enables tab completion in your shell.

    The script completes commands, options, games and players. Run it from your shell's start-up file.
    """
    completer = get_completion_class(shell)
    assert completer
    click.echo(completer(context.find_root().command, {}, "duels", "_DUELS_COMPLETE").source())
