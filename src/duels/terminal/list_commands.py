"""The commands of `duels` that tell what there is: games, players, rule cards, completions."""

import json

import click
from click.shell_completion import get_completion_class

from duels.core.game import Game
from duels.games import GAMES, all_games, list_installed_games
from duels.players import BEST, PERFECT, PLAYER_KINDS
from duels.terminal.game_options import game_argument
from duels.terminal.options import format_examples, print_text


@click.command(epilog=format_examples("duels games", "duels games --json"))
@click.option("--json", "as_json", is_flag=True, help="One JSON list instead of lines.")
def games(as_json: bool) -> None:
    """List the games, a line each, and where they come from."""
    rows = [(game, "duels") for game in GAMES.values()]
    rows += [(installed.game, installed.source) for installed in list_installed_games()]
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
        print_text(f"{game.name:<{name_width}}{game.title:<{title_width}}{game.summary}{origin}")


@click.command(epilog=format_examples("duels players", "duels players --json"))
@click.option("--json", "as_json", is_flag=True, help="One JSON list instead of lines.")
def players(as_json: bool) -> None:
    """List who can sit at a seat, a line each."""
    proven = {
        game.name: how_perfect()
        for game in all_games()
        if (how_perfect := game.find("oracle", "how_perfect"))
    }
    if as_json:
        listed: list[dict[str, object]] = [
            {"player": kind.name, "summary": kind.summary} for kind in PLAYER_KINDS.values()
        ]
        for entry in listed:
            if entry["player"] == BEST:
                entry["proven"] = proven
        click.echo(json.dumps(listed, indent=2))
        return
    for kind in PLAYER_KINDS.values():
        print_text(f"{kind.name:<10}{kind.summary}")
        if kind.name == BEST:
            for name, text in proven.items():
                print_text(f"{'':<12}{name}: {text}")
        if kind.name == PERFECT:
            print_text(f"{'':<12}perfect play is unknown in games with secrets; best plays instead")


@click.command(epilog=format_examples("duels rules hunt"))
@game_argument
def rules(game: Game) -> None:
    """Show a game's rule card."""
    print_text(game.card())


@click.command(epilog=format_examples('eval "$(duels completion bash)"', "duels completion fish | source"))
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print the script that completes duels' commands in a shell."""
    completer = get_completion_class(shell)
    assert completer
    click.echo(completer(context.find_root().command, {}, "duels", "_DUELS_COMPLETE").source())
