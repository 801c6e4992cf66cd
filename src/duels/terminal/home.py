"""Home: the menu that bare `duels` opens, and to which everything comes back."""

from collections.abc import Callable
from functools import partial
from itertools import islice
from random import Random

from duels.core.errors import DuelsError
from duels.core.game import Game
from duels.games import all_games
from duels.play.library import Kept, kept_matches
from duels.play.new_match import NewMatch
from duels.players import HUMAN, KINDS, STRONGEST, strongest
from duels.terminal.menu import Back, Leave, choose
from duels.terminal.play import After, play_new, play_on, show_review
from duels.terminal.screen import Screen

Door = tuple[str, Callable[[], After | None]]
"""What lies behind it, and how it is entered."""

_FRIEND = "friend"
_USUAL_LEVEL = "casual"
_ME, _OTHER, _COIN = "me", "other", "coin"
_RECENT = 50  # matches among which an unfinished one is looked for


class Home:
    """The menu, until the person leaves."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen

    def run(self, chosen: str = "") -> None:
        """Ask what to do and do it, again and again; `chosen` is done first."""
        while True:
            doors = self._doors()
            try:
                chosen = chosen or self._choose({name: told for name, (told, _) in doors.items()})
                _, enter = doors[chosen]
                if enter() is After.QUIT:
                    return
            except Leave:
                return
            except Back:
                if not chosen:  # nothing lies behind the first question
                    return
            except DuelsError as error:
                self._screen.say(f"{error}\n")
            chosen = ""
            self._screen.say("\n")

    def _choose(self, doors: dict[str, str]) -> str:
        title = "What would you like to do? Enter a number or a name; back goes back, quit leaves."
        return choose(self._screen, title, doors)

    def _doors(self) -> dict[str, Door]:
        kept = list(islice(kept_matches(lambda text: None), _RECENT))
        unfinished = next((match for match in kept if not match.record.match.over), None)
        doors: dict[str, Door] = {"play": ("a new match, against the machine or a friend", self._play)}
        if unfinished:
            told = f"go on with your match of {_title(unfinished)}"
            doors["resume"] = (told, partial(self._resume, unfinished))
        doors["daily"] = ("the puzzles of the day, the same for everybody", self._daily)
        doors["practice"] = ("positions with a clear answer, as hard as you can take them", self._practise)
        if kept:
            told = f"why your last match ({_title(kept[0])}) went as it did"
            doors["review"] = (told, partial(self._review, kept[0]))
            doors["stats"] = ("how you do against the machine", self._tell_statistics)
        doors["rules"] = ("how a game is played", self._rules)
        return doors

    # -- what can be done -----------------------------------------------------------------------

    def _play(self) -> After | None:
        rules = self._game().rules()
        left_out = {HUMAN, *STRONGEST} - {strongest(rules)}
        opponents = {kind.name: kind.summary for kind in KINDS.values() if kind.name not in left_out}
        opponents[_FRIEND] = "another person at this keyboard"
        other = choose(self._screen, "Against whom?", opponents, _USUAL_LEVEL)
        two = HUMAN if other == _FRIEND else other
        seats = (HUMAN, two) if self._who_is_first() == _ME else (two, HUMAN)
        self._screen.say("Type help at any time.\n\n")
        return self._again(play_new(NewMatch(rules, *seats), self._screen)[1])

    def _who_is_first(self) -> str:
        options = {_ME: "you", _OTHER: "the other", _COIN: "a coin decides"}
        first = choose(self._screen, "Who moves first?", options, _ME)
        if first == _COIN:
            self._screen.say("Flipping a coin...\n")
            self._screen.wait()
            first = Random().choice([_ME, _OTHER])
        told = (
            "You are Player 1 and move first." if first == _ME else "The other is Player 1 and moves first."
        )
        self._screen.say(f"{told}\n")
        return first

    def _resume(self, kept: Kept) -> After | None:
        return self._again(play_on(kept.path, self._screen)[1])

    def _again(self, after: After) -> After | None:
        return self._play() if after is After.NEW_GAME else after

    def _practise(self) -> None:
        from duels.terminal.practice import practise

        practise(self._game().rules(), 5, None, self._screen)

    def _daily(self) -> None:
        from datetime import date

        from duels.terminal.daily import play_daily

        play_daily(date.today(), date.today(), self._screen)

    def _tell_statistics(self) -> None:
        from duels.terminal.statistics import gather, statistics_as_text

        self._screen.say(statistics_as_text(gather(self._screen, lambda text: None)))

    def _review(self, kept: Kept) -> None:
        reviewed = show_review(kept.record, self._screen)
        screen = self._screen
        if not reviewed or not screen.on_terminal or not screen.can_clear:
            return
        if screen.key("\nPress b board by board, q back: ", ["b", "q"]) == "b":
            from duels.terminal.review_steps import step_through

            step_through(reviewed, screen)

    def _rules(self) -> None:
        self._screen.say(self._game().card())

    def _game(self) -> Game:
        games = {game.name: game for game in all_games()}
        told = {game.name: f"{game.title}: {game.summary}" for game in games.values()}
        return games[choose(self._screen, "Which game?", told)]


def _title(kept: Kept) -> str:
    return kept.record.match.rules.game.title
