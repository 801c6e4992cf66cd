"""The menu that bare `duels` opens: choose a game and who sits where."""

from collections.abc import Mapping

from duels.core.errors import quote
from duels.core.game import Game
from duels.core.words import Question
from duels.games import all_games
from duels.players import KINDS
from duels.terminal.prompts import Quit
from duels.terminal.screen import Screen


def choose_match(screen: Screen) -> tuple[Game, str, str]:
    """Ask for the game and the two seats; Quit if the person leaves."""
    screen.say("Five duels for two.\n\n")
    games = {game.name: game for game in all_games()}
    told = {game.name: f"{game.title}: {game.summary}" for game in games.values()}
    game = games[_choose(screen, "Which game?", told, None)]
    kinds = {kind.name: kind.summary for kind in KINDS.values()}
    one = _choose(screen, "Who is Player 1?", kinds, "human")
    two = _choose(screen, "Who is Player 2?", kinds, "human")
    screen.say(f"\n{game.name}: {one} against {two}. At any prompt, enter help for help.\n\n")
    return game, one, two


def _choose(screen: Screen, title: str, options: Mapping[str, str], default: str | None) -> str:
    """One of the options, by its number or its name; an empty line takes the default."""
    names = list(options)
    lines = [f"  {i}. {name:<8} {options[name]}" for i, name in enumerate(names, start=1)]
    hint = f" [{default}]" if default else ""
    notice = f"{title}\n" + "\n".join(lines)
    while True:
        entry = screen.ask(Question(f"Number or name{hint}: ", notice)).strip().lower()
        if entry in ("quit", "q"):
            raise Quit
        if entry == "help":
            notice = f"{title}\n" + "\n".join(lines)
            continue
        if not entry and default:
            return default
        if entry in options:
            return entry
        if entry in map(str, range(1, len(names) + 1)):
            return names[int(entry) - 1]
        wrong = quote(entry) if entry else "An empty line"
        notice = f"{wrong} is not on the list. Enter 1 to {len(names)}, a name, or quit."
