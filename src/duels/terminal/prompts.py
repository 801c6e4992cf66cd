"""A live match at the prompt. It asks people for their moves and tells the match in the book's words."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, TypeVar

from duels.core.errors import DuelsError, IllegalMove
from duels.core.rules import AnySight, Seat
from duels.core.words import Dialogue, Question, Words, ask_until, parse_yes_no
from duels.play.live import LiveMatch
from duels.play.narrator import Narrator, format_board_number
from duels.solving.oracle import no_progress
from duels.solving.oracles import get_oracle, is_oracle_ready
from duels.terminal import messages
from duels.terminal.next_step import review_live_match
from duels.terminal.screen import Screen

T = TypeVar("T")
Commands = Mapping[str, Callable[[list[str]], None]]

POSITION_COMMANDS = {
    "help": "show this list",
    "rules": "show the rules of this game",
    "board": "show the board",
    "moves": "list the legal moves",
    "hint": "show where to look; enter it again for the best action, then to see why",
    "back": "start this entry again",
}
"""The commands at a question about a position, in a match or in a puzzle."""
_BACK = "back"
COMMAND_ALIASES = {"?": "help", "q": "quit", "exit": "quit"}
"""Aliases of commands, unless the game uses the alias itself."""
COMMANDS = POSITION_COMMANDS | {
    "undo": "take back your last decision",
    "save": "show where the match is saved",
    "resign": "give up",
    "quit": "leave; the match is saved and you can resume it",
}
"""The commands at a prompt of a match."""
STOP_COMMAND = "propose to stop without a winner"
"""The description of `stop`, in games that allow it."""
_MAX_ENTRIES_TO_REVIEW = 200  # reviewing a longer match would delay its result


def format_help(commands: Mapping[str, str]) -> str:
    """Format the commands that a person can enter at any prompt."""
    lines = (f"  {command:<9}{description}\n" for command, description in commands.items())
    return "At any prompt you can also enter:\n" + "".join(lines)


HELP = format_help(COMMANDS)
_HELP_WITH_STOP = format_help({**COMMANDS, "stop": STOP_COMMAND})


class Quit(Exception):
    """A person left the match."""


def leave(entries: list[str]) -> None:
    """Run the command `quit`."""
    raise Quit


class _MatchChanged(Exception):
    """A command has changed the match, so the open question is void."""


class PromptedMatch:
    """A live match at the prompt. Raises DuelsError if the terminal cannot hide two people's secrets."""

    def __init__(self, live: LiveMatch, screen: Screen) -> None:
        self.live = live
        self.screen = screen
        self.words = live.words
        rules = live.match.rules
        both_have_secrets = rules.has_hidden_information and len(live.people) == 2
        self.hides_secrets = both_have_secrets and screen.on_terminal
        """Whether the screen must hide the secrets of two people from each other."""
        if both_have_secrets and screen.typed_at_terminal and not screen.on_terminal:
            raise DuelsError(
                f"two people cannot play {rules.name} through a pipe: each would see the other's secrets. "
                "Do not redirect the output."
            )
        if self.hides_secrets and not screen.can_clear:
            raise DuelsError(
                f"two people cannot play {rules.name} here: this terminal (TERM=dumb) cannot be cleared, "
                "so each would see the other's secrets. Use another terminal."
            )
        viewers = frozenset[Seat]() if self.hides_secrets else live.people or frozenset(Seat)
        names = messages.make_player_names(live) if screen.on_terminal and not screen.plain else None
        self.narrator = Narrator(self.words, viewers, names)
        self._seat_at_keyboard: Seat | None = None
        self._hints = {seat: messages.HintStages() for seat in Seat}

    def run(self) -> None:
        """Play to the end.

        Raises Quit, EOFError or KeyboardInterrupt if somebody leaves. The match is then saved.
        """
        if not self.hides_secrets:
            self._run()
            return
        # A person may type a secret before the question is shown.
        with self.screen.alternate_screen(), self.screen.echo(False):
            self._run()
        self._show_match()

    def _run(self) -> None:
        live = self.live
        self._show_matchup()
        self._show_match()
        while (actor := live.match.actor) is not None:
            if live.person_to_move:
                self._let_person_decide(live.person_to_move)
                continue
            with self.screen.progress("thinking"):
                entry = live.decide_next_entry()
            if entry.no_move:
                self.screen.notice(f"{entry.no_move}")
            elif isinstance(actor, Seat) or self.narrator.ends_in_suspense(live.match):
                self.screen.wait()
            live.play_entry(entry)
            if not entry.no_move:
                self.screen.say(self.narrator.render_entry(live.match))
            self._show_events()
        with self.screen.echo(False):  # finding the decisive move takes a moment
            self._show_result()

    @property
    def _solo_seat(self) -> Seat | None:
        """The seat of the only person, at a terminal against a machine."""
        return messages.find_solo_seat(self.live) if self.screen.on_terminal else None

    def _show_matchup(self) -> None:
        you = self._solo_seat
        if you:
            self.screen.set_reader(you)
            self.screen.say(f"{messages.format_matchup(self.live, you)}\n\n")

    def _show_result(self) -> None:
        if you := self._solo_seat:
            self.screen.say(f"\n{messages.format_result(self.live, you)}\n")
            if summary := _summarize_result(self.live):
                self.screen.say(f"{summary}\n")
        if self.screen.on_terminal and (score := messages.format_score(self.live)):
            self.screen.say(f"{score}\n")

    def _show_match(self) -> None:
        for text in self.narrator.render_match(self.live.match):
            self.screen.say(text)

    def _show_events(self) -> None:
        self.screen.say(self.narrator.render_events(self.live.match))

    def _let_person_decide(self, seat: Seat) -> None:
        """Ask until the person enters an action or a command changes the match."""
        sight = self.live.match.sight(seat)
        names = self.narrator.names
        if names and (board := self.words.solo_board(sight, names.name(seat.other))):
            self.screen.say(f"\n{board}")
        if names and (number := format_board_number(self.live.match)):
            advice = " Enter stop to end the match without a winner." if self.live.match.can_stop else ""
            self.screen.say(f"{number}.{advice}\n")

        def ask(question: Question) -> str:
            if self.hides_secrets and self._seat_at_keyboard is not seat:
                self._hand_over(seat)
            return self._ask(question)

        try:
            action = run_dialogue(
                lambda: self.words.ask(sight), ask, add_aliases(self._commands(seat), self.words)
            )
        except _MatchChanged:
            return
        self.live.play(seat, action)
        self._show_events()

    def _ask(self, question: Question) -> str:
        if self.hides_secrets and question.notice:
            # A notice quotes the entry. It may be a secret even if the question is not.
            self._show(f"{question.notice}\n")
            question = replace(question, notice="")
        if self.narrator.names:
            question = question.for_solo()
        return self.screen.ask(question, self.hides_secrets and question.secret)

    def _hand_over(self, seat: Seat) -> None:
        """Show only public information until the next person has the keyboard."""
        self._seat_at_keyboard = seat
        self.screen.clear()
        self._show_match()
        name = messages.name_people(self.live).name(seat)
        person = name if name == seat.label else f"{name} ({seat.label})"
        self.screen.pause(f"\nPass the keyboard to {person}, then press Enter. ")
        self.screen.clear()
        self._show_match()

    def _show(self, text: str) -> None:
        """Show a text to the person at the keyboard."""
        if self.hides_secrets:
            self.screen.show_privately(text)
            self._show_match()
        else:
            self.screen.say(text)

    def _commands(self, seat: Seat) -> Commands:
        show = self._show
        commands: Commands = {
            "help": lambda entries: show(_HELP_WITH_STOP if self.live.match.can_stop else HELP),
            **make_lookup_commands(self.live.match.sight(seat), self.words, show),
            "hint": lambda entries: self._hint(seat, entries),
            "undo": lambda entries: self._propose(messages.propose_takeback, self._find_undo_seat(seat)),
            "save": lambda entries: self._save(),
            "resign": lambda entries: self._propose(messages.propose_resignation, seat),
            "quit": leave,
        }
        if self.live.match.rules.enough_boards is None:
            return commands
        return {**commands, "stop": lambda entries: self._propose(messages.propose_stop, seat)}

    def _hint(self, seat: Seat, entries: list[str]) -> None:
        match, opponent = self.live.match, messages.find_known_opponent(self.live, seat)
        try:
            with self.screen.progress("thinking") as progress:
                oracle = get_oracle(match.rules, progress)
                text = self._hints[seat].render(match.sight(seat), self.words, entries, oracle, opponent)
        except DuelsError as error:
            self.screen.say(f"{error}\n")
            return
        self._show(text)

    def _save(self) -> None:
        if self.live.journal:
            self.live.journal.ensure_saved(self.live.match)
            self.screen.notice(f"Saved: {self.live.journal.path}")

    def _propose(self, make_proposal: Callable[[LiveMatch, Seat], messages.Proposal], seat: Seat) -> None:
        try:
            proposal = make_proposal(self.live, seat)
        except IllegalMove as error:
            self.screen.say(f"{error}\n")
            return
        is_asked = proposal.question and (proposal.needs_consent or self.screen.on_terminal)
        if is_asked and not self._confirm(proposal.question):
            self.screen.say(f"{proposal.refusal}\n")
            return
        proposal.carry_out()
        if self.live.match.over:
            self._show_events()
        else:
            self._show_takeback(proposal, seat)
        raise _MatchChanged

    def _find_undo_seat(self, seat: Seat) -> Seat:
        """Return the seat whose decision `undo` takes back while `seat` is asked. Ask if it is not clear."""
        if not self.screen.on_terminal:
            return seat
        seats = messages.find_undo_seats(self.live, seat)
        if len(seats) == 1 or self.hides_secrets:
            return seats[0] if len(seats) == 1 else seat
        choices = ", ".join(f"{s.value} for {messages.name_people(self.live).name(s)}" for s in seats)
        key = self.screen.choose_key(f"Whose decision is taken back? Press {choices}: ", ["1", "2"])
        return Seat(int(key))

    def _show_takeback(self, proposal: messages.Proposal, seat: Seat) -> None:
        self._seat_at_keyboard = None
        self.screen.say(f"{proposal.confirmation}\n\n")
        if not self.hides_secrets:  # otherwise the other person is still looking
            self.screen.say(f"{self.words.board(self.live.match.sight(seat))}\n")

    def _confirm(self, question: str) -> bool:
        return run_dialogue(lambda: ask_until(f"{question} (yes/no): ", parse_yes_no), self.screen.ask, {})


def _summarize_result(live: LiveMatch) -> str:
    """Explain what decided the match. Return an empty string if nothing did or a review would take long."""
    if len(live.match.turns) > _MAX_ENTRIES_TO_REVIEW or not is_oracle_ready(live.match.rules):
        return ""
    from duels.analysis.reasons import summarize_result

    try:
        return summarize_result(review_live_match(live, no_progress))
    except DuelsError:  # the match left the oracle's table
        return ""


def ask_position(sight: AnySight, screen: Screen, hint: Callable[[list[str]], None] | None = None) -> Any:
    """Ask what to play in a puzzle or a lesson, and return the action. Raises Quit if the person leaves."""
    words = sight.rules.game.words(sight.rules)
    descriptions = {name: text for name, text in POSITION_COMMANDS.items() if hint or name != "hint"}
    help_text = format_help({**descriptions, "quit": "leave"})
    commands: Commands = {
        "help": lambda entries: screen.say(help_text),
        **make_lookup_commands(sight, words, screen.say),
        "hint": hint or (lambda entries: screen.say("There are no hints here.\n")),
        "quit": leave,
    }
    return run_dialogue(
        lambda: words.ask(sight),
        lambda question: screen.ask(question.for_solo()),
        add_aliases(commands, words),
    )


def make_lookup_commands(sight: AnySight, words: Words[Any, Any], show: Callable[[str], None]) -> Commands:
    """Make the commands that show the rules, the board and the legal moves."""
    return {
        "rules": lambda entries: show(sight.rules.game.card()),
        "board": lambda entries: show(str(words.board(sight))),
        "moves": lambda entries: show(words.moves(sight)),
    }


def add_aliases(commands: Commands, words: Words[Any, Any]) -> Commands:
    """Return the commands with their aliases, except letters that the game uses."""
    aliases = {alias: name for alias, name in COMMAND_ALIASES.items() if alias not in words.letters}
    return {**commands, **{alias: commands[name] for alias, name in aliases.items()}}


def run_dialogue(start: Callable[[], Dialogue[T]], ask: Callable[[Question], str], commands: Commands) -> T:
    """Ask the questions of a dialogue and return its result.

    A command receives the previous entries of the same answer. It may raise an exception to end the dialogue.
    """
    entries: list[str] = []
    dialogue = start()
    try:
        question = next(dialogue)
        first_prompt = question.prompt
        while True:
            entry = ask(question)
            word = entry.strip().lower()
            if word == _BACK:
                entries.clear()
                dialogue = start()
                question = next(dialogue)
            elif word in commands:
                commands[word](entries)
                question = replace(question, notice="")
            else:
                question = dialogue.send(entry)
                if question.prompt == first_prompt:
                    entries.clear()
                elif not question.notice:
                    entries.append(entry)
    except StopIteration as done:
        answer: T = done.value
        return answer
