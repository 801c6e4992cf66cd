"""The menu that `duels` without a command opens."""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import islice
from typing import Any

import click

from duels.core.errors import BadOption, DuelsError, escape_unprintable, quote
from duels.core.game import Game
from duels.core.options import Option, OptionValue, list_options
from duels.core.rules import AnyRules
from duels.core.words import Question
from duels.games import all_games, find_game
from duels.play.library import SavedMatch, list_saved_matches
from duels.play.new_match import MatchSetup, shorten_match
from duels.players import (
    HUMAN,
    SIMPLE_PROGRAMS,
    STRONGEST_NAMES,
    describe_level,
    get_strongest_name,
    list_levels,
)
from duels.players.levels import DISTINCT_LEVELS
from duels.terminal.messages import format_entries
from duels.terminal.next_step import NextStep, show_review
from duels.terminal.play import can_use_board, is_board_installed, play_new_match, resume_match
from duels.terminal.prompts import COMMAND_ALIASES
from duels.terminal.screen import Screen

MenuItem = tuple[str, Callable[[], NextStep | None]]
"""The description of a menu item and the function that runs it."""

_PLAY, _PROMPTS = "play", "prompts"
_FRIEND = "friend"
_DEFAULT_OPPONENT = "casual"
_COIN = "coin"
_MAX_NAME = 20
_SHORT, _OPEN = "short", "open"
_COMMANDS_WITH_PLAIN = ("daily", "practice", "stats")
_RECENT_MATCHES = 50


class GoBack(Exception):
    """The person wants to go back to the previous question."""


class LeaveMenu(Exception):
    """The person wants to leave the menu."""


class Menu:
    """The menu that `duels` opens at an interactive terminal."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen

    def run(self, item: str = "") -> None:
        """Run the items that the person chooses, starting with `item` if given."""
        self._screen.in_menu = True
        if not item:
            self._screen.say("Choose by number or by name. Enter back to go back and quit to leave.\n\n")
        while True:
            items = self._list_items()
            try:
                descriptions = {name: description for name, (description, _) in items.items()}
                aliases = {"board": _PLAY}
                item = item or choose(
                    self._screen, "What would you like to do?", descriptions, aliases=aliases
                )
                item = item if item in items else _PLAY
                _, run_item = items[item]
                step = run_item()
                item = (_PROMPTS if item == _PROMPTS else _PLAY) if step is NextStep.NEW_GAME else ""
            except LeaveMenu:
                return
            except GoBack:
                if not item:
                    self._screen.say("This is the first question. Enter quit to leave.\n")
                item = ""
            except DuelsError as error:
                self._screen.say(f"{error}\n")
                item = ""
            self._screen.say("\n")

    def _list_items(self) -> dict[str, MenuItem]:
        unfinished_matches, last_finished = _find_last_matches()
        has_board = is_board_installed(self._screen)
        items: dict[str, MenuItem] = {
            _PLAY: ("start a match against the machine or a friend", partial(self._play, has_board))
        }
        if has_board:
            description = "type your moves at prompts, as in the rule books"
            items[_PROMPTS] = (description, partial(self._play, False))
        items["variant"] = (
            "start a match of another size, such as 12 lights",
            partial(self._play, has_board, self._ask_variant),
        )
        items["learn"] = ("learn a game in two minutes", self._learn)
        items["browser"] = ("play in your browser; press Ctrl-C here to stop", self._serve)
        if unfinished_matches:
            description = f"continue your match of {unfinished_matches[0].record.match.rules.name}"
            if len(unfinished_matches) > 1:
                description = "continue one of your unfinished matches"
            items["resume"] = (description, self._resume)
        items["daily"] = ("solve today's puzzles, the same for everybody", partial(self._invoke, "daily"))
        items["practice"] = (
            "solve puzzles that get harder as you improve",
            lambda: self._invoke("practice", self._ask_game()),
        )
        if last_finished:
            description = (
                f"see why you won or lost your last match of {last_finished.record.match.rules.name}"
            )
            items["review"] = (description, partial(self._review, last_finished))
            items["stats"] = ("see your results against the machine", partial(self._invoke, "stats"))
        items["rules"] = ("read the rules of a game", lambda: self._invoke("rules", self._ask_game()))
        return items

    def _play(self, use_board: bool, ask_rules: Callable[[], AnyRules] | None = None) -> NextStep | None:
        """Ask for the settings of a match and play it. By default, `ask_rules` asks only for the game."""
        ask_rules = ask_rules or (lambda: find_game(self._ask_game()).rules())
        rules, (opponent, people), first, length = ask_in_turn(
            lambda _: ask_rules(),
            lambda answers: self._ask_opponent_and_names(answers[0]),
            lambda answers: self._ask_first_seat(answers[1][1]),
            lambda answers: self._ask_length(answers[0]),
        )
        rules = shorten_match(rules) if length == _SHORT else rules
        use_board = use_board and can_use_board(rules, self._screen)
        if not use_board:
            self._screen.say("Enter help at any prompt to see the commands.\n\n")
        setup = MatchSetup(rules, HUMAN, opponent, first, people=people)
        return play_new_match(setup, self._screen, use_board)[1]

    def _learn(self) -> None:
        from duels.terminal.lesson import play_lesson

        play_lesson(find_game(self._ask_game()), self._screen)

    def _serve(self) -> None:
        if not self._screen.on_terminal:  # nobody could press Ctrl-C
            raise DuelsError(
                "The menu starts the server only at a terminal, where Ctrl-C can stop it. "
                "Run duels serve instead."
            )
        self._invoke("serve")

    def _invoke(self, name: str, *words: str) -> None:
        root = click.get_current_context().find_root()
        assert isinstance(root.command, click.Group)
        command = root.command.get_command(root, name)
        assert command
        plain = ["--plain"] if name in _COMMANDS_WITH_PLAIN and not self._screen.colour else []
        with command.make_context(name, [*words, *plain], parent=root) as context:
            command.invoke(context)

    def _ask_opponent_and_names(self, rules: AnyRules) -> tuple[str, tuple[str, str]]:
        """Ask for the opponent, and for the names of both people if it is a person."""
        answers: list[Any] = ask_in_turn(
            lambda _: self._ask_opponent(rules),
            lambda answers: self._ask_names() if answers[0] == _FRIEND else ("", ""),
        )
        opponent, people = answers
        return (HUMAN if opponent == _FRIEND else opponent), people

    def _ask_names(self) -> tuple[str, str]:
        one, two = ask_in_turn(
            lambda _: self._ask_name("on the left", "Left", []),
            lambda answers: self._ask_name("on the right", "Right", answers),
        )
        return one, two

    def _ask_name(self, seat_text: str, default: str, other_names: list[str]) -> str:
        """Ask for a short name that the other person does not have."""
        notice = ""
        unavailable = {name.lower() for name in (*other_names, _COIN)}
        while True:
            entry = _read_entry(self._screen, Question(f"Who sits {seat_text}? Name [{default}]: ", notice))
            name = " ".join(entry.split()) or default
            if name.isprintable() and len(name) <= _MAX_NAME and name.lower() not in unavailable:
                return name
            notice = f"Please enter another name of at most {_MAX_NAME} letters."

    def _ask_first_seat(self, people: tuple[str, str]) -> str:
        """Ask who moves first. Return the value of the option --first."""
        if all(people):
            options = {name: f"{name} is Player 1" for name in people} | {_COIN: "a coin decides"}
        else:
            options = {"me": "you", "other": "your opponent", _COIN: "a coin decides"}
        one, two = list(options)[:2]
        return {one: "1", two: "2", _COIN: "random"}[choose(self._screen, "Who moves first?", options, one)]

    def _ask_opponent(self, rules: AnyRules) -> str:
        opponents = {level: describe_level(rules, level) for level in list_levels(rules)}
        opponents[_FRIEND] = "another person at this keyboard"
        aliases = dict.fromkeys(STRONGEST_NAMES, get_strongest_name(rules))
        aliases |= {name: name for name in SIMPLE_PROGRAMS}
        title = "Against whom?"
        if rules.name in DISTINCT_LEVELS:
            title += f" In {rules.name}, only these levels differ: guessing decides much of it."
        return choose(self._screen, title, opponents, _DEFAULT_OPPONENT, aliases)

    def _ask_length(self, rules: AnyRules) -> str:
        """Ask for the length of the match, in games that may never end."""
        if not rules.enough_boards:
            return _OPEN
        short = f"up to {rules.enough_boards} boards, a good first match"
        lengths = {_SHORT: short, _OPEN: "until somebody wins or both agree to stop"}
        return choose(self._screen, "How long?", lengths, _SHORT)

    def _resume(self) -> NextStep | None:
        with self._screen.progress("reading your matches"):
            unfinished_matches = [saved for saved in _list_matches() if not saved.record.match.over]
        saved = unfinished_matches[0]
        if len(unfinished_matches) > 1:
            matches = {match.label: match for match in unfinished_matches}
            descriptions = {label: _describe_match(match) for label, match in matches.items()}
            saved = matches[choose(self._screen, "Which match? The newest is the first.", descriptions)]
        use_board = can_use_board(saved.record.match.rules, self._screen)
        return resume_match(saved.path, self._screen, use_board)[1]

    def _review(self, saved: SavedMatch) -> None:
        from duels.analysis.review import review_record

        screen = self._screen
        review = show_review(partial(review_record, saved.record), screen)
        if not review or not screen.can_page:
            return
        if screen.choose_key("\nPress b board by board, q back: ", ["b", "q"]) == "b":
            from duels.terminal.review import step_through

            step_through(review, screen)

    def _ask_variant(self) -> AnyRules:
        rules: AnyRules
        _, rules = ask_in_turn(
            lambda _: find_game(self._ask_game()), lambda answers: self._ask_options(answers[0])
        )
        return rules

    def _ask_options(self, game: Game) -> AnyRules:
        """Ask for the options of a game until they fit together."""
        options = list_options(game.rules_class())
        if game.rules().enough_boards:  # the length is a question of its own
            options = tuple(option for option in options if option.name != game.rules().limit)
        while True:
            values = ask_in_turn(*(partial(self._ask_option, game.name, option) for option in options))
            try:
                names = [option.name for option in options]
                return game.rules(**dict(zip(names, values, strict=True)))
            except BadOption as error:
                self._screen.say(f"{error}\n")

    def _ask_option(self, game: str, option: Option, _answers: list[Any]) -> OptionValue:
        help_text = option.help or option.name.replace("_", " ")
        prompt = f"{help_text[:1].upper()}{help_text[1:]} [{option.format(option.default)}]: "
        notice = ""
        while True:
            entry = _read_entry(self._screen, Question(prompt, notice))
            try:
                return option.check(option.parse(entry), game) if entry else option.default
            except BadOption as error:
                notice = f"{error}"

    def _ask_game(self) -> str:
        descriptions = {game.name: game.summary for game in all_games()}
        return choose(self._screen, "Which game?", descriptions)


def _list_matches() -> Iterator[SavedMatch]:
    return list_saved_matches(lambda text: None)


def _find_last_matches() -> tuple[list[SavedMatch], SavedMatch | None]:
    """Return up to two unfinished matches and the last finished one, among the recent matches."""
    unfinished_matches: list[SavedMatch] = []
    last_finished: SavedMatch | None = None
    for saved in islice(_list_matches(), _RECENT_MATCHES):
        if not saved.record.match.over:
            unfinished_matches.append(saved)
        elif not last_finished:
            last_finished = saved
        if last_finished and len(unfinished_matches) > 1:
            break
    return unfinished_matches, last_finished


def _describe_match(saved: SavedMatch) -> str:
    """Describe the game, the players and the length of a match."""
    machines = [escape_unprintable(name) for name in saved.players if name != HUMAN]
    players = f"against {machines[0]}" if len(machines) == 1 else " - ".join(machines) or "between two people"
    match = saved.record.match
    return f"{match.rules.name} {players}, {format_entries(len(match.turns))}"


def choose(
    screen: Screen,
    title: str,
    options: Mapping[str, str],
    default: str | None = None,
    aliases: Mapping[str, str] | None = None,
) -> str:
    """Ask for one of the options and return its name. An empty line chooses the default.

    `aliases` maps other names to options. Raises GoBack for `back` and LeaveMenu for `quit`.
    """
    numbers = {str(number): name for number, name in enumerate(options, start=1)}
    answers = {**numbers, **(aliases or {}), **{name.lower(): name for name in options}}
    width = max(map(len, options)) + 2
    lines = (f"{number:>3}. {name:<{width}}{options[name]}" for number, name in numbers.items())
    prompt = f"Number or name [{default}]: " if default else "Number or name: "
    notice = menu = "\n".join([title, *lines])
    while True:
        entry = _read_entry(screen, Question(prompt, notice)).lower()
        if not entry and default:
            return default
        if entry in answers:
            return answers[entry]
        problem = f"{quote(entry)} is not on the list. " if entry else ""
        advice = f"Please enter a number from 1 to {len(options)}, a name, back or quit."
        notice = menu if entry in ("help", "?") else f"{problem}{advice}"


def _read_entry(screen: Screen, question: Question) -> str:
    """Ask a question of the menu. Raises GoBack for `back` and LeaveMenu for `quit`."""
    try:
        entry = screen.ask(question).strip()
    except EOFError:
        raise LeaveMenu from None
    if COMMAND_ALIASES.get(entry.lower(), entry.lower()) == "quit":
        raise LeaveMenu
    if entry.lower() in ("back", "b"):
        raise GoBack
    return entry


def ask_in_turn(*questions: Callable[[list[Any]], Any]) -> list[Any]:
    """Ask the questions and return the answers. A question is a function of the previous answers.

    If a question raises GoBack, ask the previous one again. Raises GoBack at the first question.
    """
    answers: list[Any] = []
    while len(answers) < len(questions):
        try:
            answers.append(questions[len(answers)](answers))
        except GoBack:
            if not answers:
                raise
            answers.pop()
    return answers
