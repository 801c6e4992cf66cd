"""Home: the menu that bare `duels` opens, and to which everything comes back."""

from collections.abc import Callable, Mapping
from functools import partial
from itertools import islice

import click

from duels.core.errors import DuelsError, quote
from duels.core.rules import AnyRules
from duels.core.words import Question
from duels.games import all_games, find_game
from duels.play.library import SavedMatch, list_saved_matches
from duels.play.new_match import MatchSetup
from duels.players import HUMAN, PLAYER_KINDS, STRONGEST, get_strongest_name
from duels.terminal.next_step import NextStep, show_review
from duels.terminal.play import get_surface_class, play_new_match, resume_match
from duels.terminal.screen import Screen

MenuItem = tuple[str, Callable[[], NextStep | None]]
"""What lies behind it, and how it is entered."""

_FRIEND = "friend"
_USUAL_LEVEL = "casual"
_ME, _OTHER, _COIN = "me", "other", "coin"
_FIRST = {_ME: "you", _OTHER: "your opponent", _COIN: "a coin decides"}
_WITH_PLAIN = ("daily", "practice", "stats")  # commands that have the option --plain
_RECENT = 50  # matches among which an unfinished one is looked for


class GoBack(Exception):
    """The person wants to go back to the question before."""


class LeaveMenu(Exception):
    """The person wants to leave the menu."""


class Home:
    """The menu, until the person leaves."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen

    def run(self, chosen: str = "") -> None:
        """Ask what to do and do it, again and again; `chosen` is done first."""
        if not chosen:
            self._screen.say("Choose by number or by name; back goes back, quit leaves.\n\n")
        while True:
            doors = self._doors()
            try:
                told = {name: what for name, (what, _) in doors.items()}
                chosen = chosen or choose(self._screen, "What would you like to do?", told)
                _, enter = doors[chosen]
                if enter() is NextStep.QUIT:
                    return
            except LeaveMenu:
                return
            except GoBack:
                if not chosen:
                    self._screen.say("This is the first question; quit leaves.\n")
            except DuelsError as error:
                self._screen.say(f"{error}\n")
            chosen = ""
            self._screen.say("\n")

    def _doors(self) -> dict[str, MenuItem]:
        unfinished, finished = _last_two()
        doors: dict[str, MenuItem] = {
            "play": ("a new match, against the machine or a friend", self._play),
            "board": ("the same on a full screen, with arrows, digits or mouse", partial(self._play, True)),
            "browser": ("the same in your browser, until you press Ctrl-C here", self._serve),
        }
        if unfinished:
            told = f"go on with your match ({_title(unfinished)})"
            doors["resume"] = (told, partial(self._resume, unfinished))
        doors["daily"] = ("the puzzles of the day, the same for everybody", partial(self._command, "daily"))
        doors["practice"] = (
            "positions with a clear answer, which get harder as you get better",
            lambda: self._command("practice", self._game()),
        )
        if finished:
            told = f"why your last match ({_title(finished)}) went as it did"
            doors["review"] = (told, partial(self._review, finished))
            doors["stats"] = ("how you do against the machine", partial(self._command, "stats"))
        doors["rules"] = ("how a game is played", lambda: self._command("rules", self._game()))
        return doors

    # -- what can be done -----------------------------------------------------------------------

    def _play(self, board: bool = False) -> NextStep | None:
        get_surface_class(board)  # what is missing is told before anything is asked
        name, other, first = ask_in_turn(
            lambda _: self._game(),
            lambda answers: self._opponent(find_game(answers[0]).rules()),
            lambda _: choose(self._screen, "Who moves first?", _FIRST, _ME),
        )
        two = HUMAN if other == _FRIEND else other
        seats = (HUMAN, two) if self._settled(first) == _ME else (two, HUMAN)
        if not board:
            self._screen.say("Type help at any time.\n\n")
        new = MatchSetup(find_game(name).rules(), *seats)
        return self._again(play_new_match(new, self._screen, board)[1], board)

    def _serve(self) -> None:
        if not self._screen.on_terminal:  # nobody could press Ctrl-C
            raise DuelsError("The server runs until Ctrl-C, so the menu starts it at a terminal only.")
        self._command("serve")

    def _command(self, name: str, *words: str) -> None:
        """Run a command. Some are another room's: the program finds them by name."""
        program = click.get_current_context().find_root()
        assert isinstance(program.command, click.Group)
        command = program.command.get_command(program, name)
        assert command
        plain = ["--plain"] if name in _WITH_PLAIN and not self._screen.colour else []
        with command.make_context(name, [*words, *plain], parent=program) as context:
            command.invoke(context)

    def _opponent(self, rules: AnyRules) -> str:
        left_out = {HUMAN, *STRONGEST} - {get_strongest_name(rules)}
        opponents = {kind.name: kind.summary for kind in PLAYER_KINDS.values() if kind.name not in left_out}
        opponents[_FRIEND] = "another person at this keyboard"
        also = dict.fromkeys(STRONGEST, get_strongest_name(rules))
        return choose(self._screen, "Against whom?", opponents, _USUAL_LEVEL, also)

    def _settled(self, first: str) -> str:
        """Who moves first, told; a coin is tossed if need be."""
        if first == _COIN:
            self._screen.say("Flipping a coin...\n")
            self._screen.wait()
            from random import Random

            first = Random().choice([_ME, _OTHER])
        told = "You move first." if first == _ME else "Your opponent is Player 1 and moves first."
        self._screen.say(f"{told}\n")
        return first

    def _resume(self, kept: SavedMatch) -> NextStep | None:
        return self._again(resume_match(kept.path, self._screen)[1])

    def _again(self, after: NextStep, board: bool = False) -> NextStep | None:
        return self._play(board) if after is NextStep.NEW_GAME else after

    def _review(self, kept: SavedMatch) -> None:
        reviewed = show_review(kept.record, self._screen)
        screen = self._screen
        if not reviewed or not screen.on_terminal or not screen.can_clear:
            return
        if screen.choose_key("\nPress b board by board, q back: ", ["b", "q"]) == "b":
            from duels.terminal.review import step_through

            step_through(reviewed, screen)

    def _game(self) -> str:
        told = {game.name: f"{game.title}: {game.summary}" for game in all_games()}
        return choose(self._screen, "Which game?", told)


def _last_two() -> tuple[SavedMatch | None, SavedMatch | None]:
    """The unfinished and the finished match that were played last, if there are such lately."""
    unfinished = finished = None
    for kept in islice(list_saved_matches(lambda text: None), _RECENT):
        if kept.record.match.over:
            finished = finished or kept
        else:
            unfinished = unfinished or kept
        if finished and unfinished:
            break
    return unfinished, finished


def _title(kept: SavedMatch) -> str:
    game = kept.record.match.rules.game
    return f"{game.title}, {game.name}"


def choose(
    screen: Screen,
    title: str,
    options: Mapping[str, str],
    default: str | None = None,
    also: Mapping[str, str] | None = None,
) -> str:
    """One of the options; an empty line takes the default. Back or Leave if that is what the person wants.

    `also` are other names for some of the options.
    """
    names = list(options)
    width = max(map(len, names)) + 2
    lines = [f"  {i}. {name:<{width}}{options[name]}" for i, name in enumerate(names, start=1)]
    hint = f" [{default}]" if default else ""
    listed = f"{title}\n" + "\n".join(lines)
    notice = listed
    while True:
        try:
            entry = screen.ask(Question(f"Number or name{hint}: ", notice)).strip().lower()
        except EOFError:
            raise LeaveMenu from None
        if entry in ("quit", "q", "exit"):
            raise LeaveMenu
        if entry in ("back", "b"):
            raise GoBack
        if entry in ("help", "?"):
            notice = listed
        elif not entry and default:
            return default
        elif entry in options:
            return entry
        elif also and entry in also:
            return also[entry]
        elif entry in map(str, range(1, len(names) + 1)):
            return names[int(entry) - 1]
        else:
            wrong = f"{quote(entry)} is not on the list. " if entry else ""
            notice = f"{wrong}Please choose 1 to {len(names)}, a name, back or quit."


def ask_in_turn(*questions: Callable[[list[str]], str]) -> list[str]:
    """The answers to questions, each of which is told the answers so far.

    `back` leads to the question before; from the first it leads out of them.
    """
    answers: list[str] = []
    while len(answers) < len(questions):
        try:
            answers.append(questions[len(answers)](answers))
        except GoBack:
            if not answers:
                raise
            answers.pop()
    return answers
