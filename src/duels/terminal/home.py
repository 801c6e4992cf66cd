"""Home: the menu that bare `duels` opens, and to which everything comes back."""

from collections.abc import Callable
from random import Random

from duels.core.errors import DuelsError
from duels.core.game import Game
from duels.games import all_games
from duels.play.library import Kept, kept_matches
from duels.play.new_match import NewMatch
from duels.players import HUMAN, KINDS
from duels.terminal.menu import Back, choose
from duels.terminal.play import After, play_new, play_on, show_review
from duels.terminal.screen import Screen

FRIEND = "friend"
_USUAL_LEVEL = "casual"


class Home:
    """The menu, until the person leaves."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen

    def run(self) -> None:
        self._screen.say("Five duels for two. Enter a number or a name; back goes back.\n\n")
        while True:
            kept = list(kept_matches(lambda text: None))
            doors = self._doors(kept)
            try:
                chosen = choose(
                    self._screen, "What would you like to do?", {k: v[0] for k, v in doors.items()}
                )
            except (Back, EOFError):
                return
            try:
                if doors[chosen][1]() is After.QUIT:
                    return
            except Back:
                pass
            except DuelsError as error:
                self._screen.say(f"{error}\n")
            self._screen.say("\n")

    def _doors(self, kept: list[Kept]) -> dict[str, tuple[str, Callable[[], After | None]]]:
        unfinished = [match for match in kept if not match.record.match.over]
        doors: dict[str, tuple[str, Callable[[], After | None]]] = {
            "play": ("a new match, against the machine or a friend", self._play)
        }
        if unfinished:
            told = f"go on with your match of {unfinished[0].record.match.rules.game.title}"
            doors["resume"] = (told, lambda: self._again(play_on(unfinished[0].path, self._screen)[1]))
        doors["practice"] = ("positions with a clear answer", self._practise)
        if kept:
            game = kept[0].record.match.rules.game.title
            doors["review"] = (f"why your last match ({game}) went as it did", lambda: self._review(kept[0]))
        doors["rules"] = ("how a game is played", self._rules)
        return doors

    def _game(self) -> Game:
        games = {game.name: game for game in all_games()}
        told = {game.name: f"{game.title}: {game.summary}" for game in games.values()}
        return games[choose(self._screen, "Which game?", told)]

    def _play(self) -> After | None:
        game = self._game()
        levels = {kind.name: kind.summary for kind in KINDS.values() if kind.name != HUMAN}
        opponents = {**levels, FRIEND: "another person at this keyboard"}
        other = choose(self._screen, "Against whom?", opponents, _USUAL_LEVEL)
        first = choose(
            self._screen,
            "Who moves first?",
            {"me": "you", "other": "the other", "coin": "a coin decides"},
            "me",
        )
        if first == "coin":
            first = Random().choice(["me", "other"])
        two = HUMAN if other == FRIEND else other
        seats = (HUMAN, two) if first == "me" else (two, HUMAN)
        self._screen.say("\nType help at any time.\n\n")
        return self._again(play_new(NewMatch(game.rules(), *seats), self._screen)[1])

    def _again(self, after: After) -> After | None:
        return self._play() if after is After.NEW_GAME else after

    def _practise(self) -> None:
        from duels.terminal.practice import practise

        practise(self._game().rules(), 5, Random(), self._screen)

    def _review(self, kept: Kept) -> None:
        show_review(kept.record, self._screen)

    def _rules(self) -> None:
        self._screen.say(self._game().card())
