"""A live match at the prompt: asks people in the book's words, and tells everything that happens."""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from duels.core.errors import DuelsError
from duels.core.record import format_entry
from duels.core.rules import AnySight, Seat
from duels.core.words import Dialogue, Ink, Question, Words, ask_until, parse_yes_no
from duels.play.live import LiveMatch
from duels.play.narrator import Narrator
from duels.players import HUMAN
from duels.solving.oracles import get_oracle
from duels.terminal.messages import (
    RESIGN_QUESTION,
    TAKEBACK_REFUSED,
    HintLayers,
    explain_takeback_refusal,
    find_solo_seat,
    format_consent_question,
    format_matchup,
    format_result,
    format_takeback,
)
from duels.terminal.screen import Screen

T = TypeVar("T")
Commands = Mapping[str, Callable[[list[str]], None]]

POSITION_COMMANDS = {
    "help": "this list",
    "rules": "the rule card of this game",
    "board": "the board as it stands",
    "moves": "what you may do now",
    "hint": "the best action and its value; once more: why",
    "back": "start this entry again",
}
"""What can be entered at any question about a position."""
_BACK = "back"
COMMAND_ALIASES = {"?": "help", "q": "quit", "exit": "quit"}
"""Other words for some commands, where the game has no meaning of its own for them."""
COMMANDS = POSITION_COMMANDS | {
    "undo": "take back your last decision",
    "save": "where this match is saved",
    "resign": "give up",
    "quit": "leave; the match is saved and can be resumed",
}
"""What can be entered at any prompt of a match."""
_ROOM_FOR_A_QUESTION = 4  # lines
_LONGEST = 200  # entries of a match of which it is said at once what decided it


def format_help(commands: Mapping[str, str]) -> str:
    lines = (f"  {command:<9}{what}\n" for command, what in commands.items())
    return "At any prompt you can also enter:\n" + "".join(lines)


HELP = format_help(COMMANDS)


class Quit(Exception):
    """A person left the match."""


class _MatchChanged(Exception):
    """A command has changed the match: what was asked is asked no more."""


class PromptedMatch:
    """A live match on a screen."""

    def __init__(self, live: LiveMatch, screen: Screen) -> None:
        self.live = live
        self.screen = screen
        self.words = live.words
        rules = live.match.rules
        # Two people share one screen: on a terminal it must then show neither's secrets.
        shared = rules.has_secrets and len(live.people) == 2
        self.guarded = shared and screen.on_terminal
        if shared and screen.typed_at_terminal and not screen.on_terminal:
            raise DuelsError(
                "two people can share this game only on a screen of their own, not through a pipe."
            )
        if self.guarded and not screen.can_clear:
            raise DuelsError(
                f"two people cannot play {rules.name} here: this terminal (TERM=dumb) cannot be cleared, "
                "so each would see the other's secrets."
            )
        watching = frozenset[Seat]() if self.guarded else live.people or frozenset(Seat)
        self.narrator = Narrator(self.words, watching)
        self._at_keyboard: Seat | None = None
        self._lines = 0  # on the screen since a person was last asked
        self._asked_at = 0
        self._hints: dict[Seat, HintLayers] = {}

    def run(self) -> None:
        """Play to the end. Quit, EOFError and KeyboardInterrupt leave the match as it is on disk."""
        if not self.guarded:
            self._run()
            return
        # What one person types ahead of a question can be a secret from the other.
        with self.screen.alternate_screen(), self.screen.echo(False):
            self._run()
        self._retell()

    def _run(self) -> None:
        live = self.live
        self._say_who_is_who()
        self._retell()
        while (actor := live.match.actor) is not None:
            if live.person_to_move:
                self._recall()
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
                self._say(self.narrator.render_entry(live.match))
            self._tell()
        self._say_who_won()

    @property
    def _alone(self) -> Seat | None:
        """The one person at a terminal, against a machine."""
        return find_solo_seat(self.live) if self.screen.on_terminal else None

    def _say_who_is_who(self) -> None:
        you = self._alone
        if you:
            self.screen.set_reader(you)
            self.screen.say(f"{format_matchup(self.live, you)}\n\n")

    def _say_who_won(self) -> None:
        if you := self._alone:
            self.screen.say(f"\n{format_result(self.live, you)}\n")
            if told := _cause(self.live):
                self.screen.say(f"{told}\n")

    def _say(self, text: str) -> None:
        self.screen.say(text)
        self._lines += self.screen.count_lines(text)

    def _recall(self) -> None:
        """Say what was played since this person's last decision, where the screen has lost sight of it."""
        you = self._alone
        if you and self._lines > self.screen.size[1] - _ROOM_FOR_A_QUESTION:
            moves = self._moves_since(you)
            self.screen.say(Ink.DIM(f"Last moves: {'; '.join(moves)}.") + "\n" if moves else "")
        self._lines, self._asked_at = 0, len(self.live.match.turns)

    def _moves_since(self, you: Seat) -> list[str]:
        """What was played since this person was last asked, in notation, each with what chance brought."""
        moves: list[str] = []
        for turn in self.live.match.turns[self._asked_at :]:
            entry = format_entry(self.live.match.rules, turn)
            if not isinstance(turn.actor, Seat):
                moves[-1:] = [f"{move} ({entry})" for move in moves[-1:]]
            elif not turn.hidden_from(you):
                moves.append(f"{'you' if turn.actor is you else self.live.names[turn.actor]}: {entry}")
        return moves

    def _retell(self) -> None:
        for text in self.narrator.render_match(self.live.match):
            self.screen.say(text)

    def _tell(self) -> None:
        self._say(self.narrator.render_events(self.live.match))

    # -- people ---------------------------------------------------------------------------------

    def _let_person_decide(self, seat: Seat) -> None:
        """Ask until an action is entered or a command changes the match."""
        sight = self.live.match.sight(seat)

        def ask(question: Question) -> str:
            if self.guarded and self._at_keyboard is not seat:
                self._hand_over(seat)
            return self._ask(question)

        try:
            action = run_dialogue(
                lambda: self.words.ask(sight), ask, add_aliases(self._commands(seat), self.words)
            )
        except _MatchChanged:
            return
        self.live.play(seat, action)
        self._tell()

    def _ask(self, question: Question) -> str:
        if self.guarded and question.notice:
            # A refusal quotes the entry, and an entry can give a secret away: even at an open question,
            # where somebody may enter a movement once more. Neither is left on the screen.
            self._show(f"{question.notice}\n")
            question = Question(question.prompt, secret=question.secret)
        self._lines += self.screen.count_lines(f"{question.notice}\n{question.prompt}\n")
        return self.screen.ask(question, self.guarded and question.secret)

    def _hand_over(self, seat: Seat) -> None:
        """Between two people the screen holds only what both may know."""
        self._at_keyboard = seat
        self.screen.clear()
        self._retell()
        self.screen.pause(f"\nPass the keyboard to {seat.label}, then press Enter. ")
        self.screen.clear()
        self._retell()

    def _show(self, text: str) -> None:
        """Show a person something, of two people only the one who asked for it."""
        if self.guarded:
            self.screen.show_privately(text)
            self._retell()
        else:
            self.screen.say(text)

    # -- commands -------------------------------------------------------------------------------

    def _commands(self, seat: Seat) -> Commands:
        show = self._show
        return {
            "help": lambda entered: show(HELP),
            **make_lookup_commands(self.live.match.sight(seat), self.words, show),
            "hint": lambda entered: self._hint(seat, entered),
            "undo": lambda entered: self._undo(seat),
            "save": lambda entered: self._save(),
            "resign": lambda entered: self._resign(seat),
            "quit": lambda entered: self._quit(),
        }

    def _hint(self, seat: Seat, entered: list[str]) -> None:
        layers = self._hints.setdefault(seat, HintLayers())
        match = self.live.match
        try:
            with self.screen.progress("thinking") as progress:
                oracle = get_oracle(match.rules, progress)
                text = layers.render(match.sight(seat), self.words, entered, oracle)
        except DuelsError as unknown:
            self.screen.say(f"{unknown}\n")
            return
        self._show(text)

    def _save(self) -> None:
        if self.live.journal:
            self.live.journal.ensure_saved(self.live.match)
            self.screen.notice(f"Saved: {self.live.journal.path}")

    def _resign(self, seat: Seat) -> None:
        if self.screen.on_terminal and not self._confirmed(RESIGN_QUESTION):
            return
        self.live.resign(seat)
        self._tell()
        raise _MatchChanged

    def _quit(self) -> None:
        raise Quit

    def _undo(self, seat: Seat) -> None:
        """Take back to this person's last decision."""
        back = self.live.find_takeback(seat)
        refusal = explain_takeback_refusal(self.live, back)
        if refusal or not back:
            self.screen.say(f"{refusal}\n")
            return
        question = format_consent_question(self.live, back)
        if question and not self._confirmed(question):
            self.screen.say(f"{TAKEBACK_REFUSED}\n")
            return
        self.live.take_back(back)
        self._at_keyboard = None
        self._lines = 0  # nothing has been played since
        self.screen.say(f"{format_takeback(back)}\n\n")
        if not self.guarded:  # else the keyboard is passed first: whoever agreed is still looking
            self.screen.say(f"{self.words.board(back.match.sight(seat))}\n")
        raise _MatchChanged

    def _confirmed(self, question: str) -> bool:
        return run_dialogue(lambda: ask_until(f"{question} (yes/no): ", parse_yes_no), self.screen.ask, {})


def _cause(live: LiveMatch) -> str:
    """What decided the match for its one person; empty where nothing did, or finding out takes long."""
    from duels.solving.oracles import get_oracle, is_oracle_ready  # a match by itself needs none of these

    match = live.match
    if len(match.turns) > _LONGEST or not is_oracle_ready(match.rules):
        return ""
    from duels.analysis.review import review
    from duels.analysis.review_reasons import summarize_result

    try:
        players = {seat: HUMAN if seat in live.people else name for seat, name in live.names.items()}
        return summarize_result(review(match, get_oracle(match.rules), players))
    except DuelsError:  # the oracle does not know what was played
        return ""


def make_lookup_commands(sight: AnySight, words: Words[Any, Any], show: Callable[[str], None]) -> Commands:
    """The commands that show what there is to know about a position."""
    return {
        "rules": lambda entered: show(sight.rules.game.card()),
        "board": lambda entered: show(str(words.board(sight))),
        "moves": lambda entered: show(words.moves(sight)),
    }


def add_aliases(commands: Commands, words: Words[Any, Any]) -> Commands:
    """The commands, and the short words for them."""
    short = {word: name for word, name in COMMAND_ALIASES.items() if word not in words.letters}
    return {**commands, **{word: commands[name] for word, name in short.items()}}


def run_dialogue(
    start: Callable[[], Dialogue[T]],
    ask: Callable[[Question], str],
    commands: Commands,
) -> T:
    """What the dialogue comes to.

    A command is told what has been entered so far of an answer that takes several entries; it may raise to
    leave.
    """
    entered: list[str] = []
    dialogue = start()
    try:
        question = next(dialogue)
        first = question.prompt
        while True:
            entry = ask(question)
            word = entry.strip().lower()
            if word == _BACK:
                entered.clear()
                dialogue = start()
                question = next(dialogue)
            elif word in commands:
                commands[word](entered)
                question = Question(question.prompt, secret=question.secret)
            else:
                question = dialogue.send(entry)
                if question.prompt == first:
                    entered.clear()
                elif not question.notice:
                    entered.append(entry)
    except StopIteration as done:
        answer: T = done.value
        return answer
