"""The table where a match is played: asks people, lets players choose, draws chance, tells it all."""

from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING, Any

from duels.core.errors import DuelsError, NotationError, UnknownName, quote
from duels.core.match import Match, draw
from duels.core.rules import CHANCE, Actor, Rules, Seat
from duels.core.words import Question, ask_until, read_yes
from duels.games import Game
from duels.players import Player
from duels.terminal.journal import Journal
from duels.terminal.narrator import Narrator
from duels.terminal.screen import Screen

if TYPE_CHECKING:
    from duels.solving.oracle import Oracle

AnyMatch = Match[Any, Any, Any]

ALWAYS = {
    "help": "this list",
    "rules": "the rule card of this game",
    "board": "the board as it stands",
    "moves": "what you may do now",
    "hint": "the best action, its value, and why",
    "back": "start this entry again",
}
"""What can be entered at any question about a position."""


def help_text(commands: Mapping[str, str]) -> str:
    lines = (f"  {command:<9}{what}\n" for command, what in commands.items())
    return "At any prompt you can also enter:\n" + "".join(lines)


HELP = help_text(
    ALWAYS
    | {
        "undo": "take back your last decision",
        "save": "where this match is saved",
        "resign": "give up",
        "quit": "leave; the match is saved and can be resumed",
    }
)


class Quit(Exception):
    """A person left the table."""


class Dice:
    """Randomness that depends on the seed and the place in the match alone.

    So a match that was left and resumed goes on as it would have without the break.
    """

    def __init__(self, seed: str) -> None:
        self._seed = seed

    def at(self, match: AnyMatch, purpose: str) -> Random:
        return Random(f"{self._seed} {purpose} {len(match.turns)}")


@dataclass(frozen=True)
class ChanceScript:
    """Chance outcomes given in advance, in order; when they run out the rest is drawn.

    What comes next depends on the place in the match alone, as with Dice.
    """

    outcomes: tuple[Any, ...]

    @classmethod
    def parse(cls, rules: Rules[Any, Any, Any], text: str) -> "ChanceScript":
        by_name = {rules.format(outcome): outcome for outcome in rules.all_outcomes()}
        words = text.lower().split()
        if words and not by_name:
            raise NotationError(f"chance plays no part in {rules.name}.")
        for word in words:
            if word not in by_name:
                can = ", ".join([*list(by_name)[:7], "…"] if len(by_name) > 7 else by_name)
                raise NotationError(f"{quote(word)} cannot come by chance in {rules.name}; {can} can.")
        return cls(tuple(by_name[word] for word in words))

    def at(self, match: AnyMatch) -> Any | None:
        """What comes at this chance node; None once the script is used up, or the match has left it."""
        used = tuple(turn.action for turn in match.turns if turn.actor is CHANCE)
        on_script = self.outcomes[: len(used)] == used and len(used) < len(self.outcomes)
        return self.outcomes[len(used)] if on_script else None


class Table:
    """One match with its players (None: a person), its screen and its record."""

    def __init__(
        self,
        game: Game,
        match: AnyMatch,
        players: Mapping[Seat, Player | None],
        screen: Screen,
        dice: Dice,
        script: ChanceScript,
        journal: Journal | None = None,
    ) -> None:
        self.game = game
        self.match = match
        self.players = players
        self.screen = screen
        self.dice = dice
        self.script = script
        self.journal = journal
        self.words = game.words(match.rules)
        people = frozenset(seat for seat, player in players.items() if player is None)
        # Two people share one screen: on a terminal it must then show neither's secrets.
        shared = match.rules.has_secrets and len(people) == 2
        self.guarded = shared and screen.on_terminal
        if shared and screen.typed_at_terminal and not screen.on_terminal:
            raise DuelsError(
                "two people can share this game only on a screen of their own, not through a pipe."
            )
        watching = frozenset[Seat]() if self.guarded else people or frozenset(Seat)
        self.narrator = Narrator(self.words, screen, watching)
        self._at_keyboard: Seat | None = None
        self._oracle: Oracle[Any, Any] | None = None
        self._entered: list[str] = []  # of an answer that takes more than one entry

    def run(self) -> AnyMatch:
        """Play to the end. Quit, EOFError and KeyboardInterrupt leave the match as it is on disk."""
        # What one person types ahead of a question can be a secret from the other.
        with self.screen.typing(shown=False) if self.guarded else nullcontext():
            return self._run()

    def _run(self) -> AnyMatch:
        self.narrator.retell(self.match)
        while (actor := self.match.actor) is not None:
            if not isinstance(actor, Seat):
                self._play(CHANCE, self._chance())
            elif player := self.players[actor]:
                with self.screen.patience("thinking"):
                    action = player.choose(self.match.sight(actor), self.dice.at(self.match, actor.label))
                self._play(actor, action, announce=True)
            else:
                self._let_person_decide(actor)
        return self.match

    # -- the match goes on ----------------------------------------------------------------------

    def _play(self, actor: Actor, action: Any, announce: bool = False) -> None:
        self._advance(self.match.play(actor, action), announce)

    def _advance(self, match: AnyMatch, announce: bool = False) -> None:
        """On disk first, then on the screen."""
        self.match = match
        if self.journal:
            self.journal.add(match)
        if announce:
            self.narrator.entered(match)
        self.narrator.happened(match)

    def _chance(self) -> Any:
        scripted = self.script.at(self.match)
        if scripted in self.match.actions:
            return scripted
        if scripted is not None:
            name, can = self.match.rules.format(scripted), map(self.match.rules.format, self.match.actions)
            self.screen.notice(
                f"--chance: '{name}' cannot come now (only {', '.join(can)}); the rest is drawn."
            )
        return draw(self.match, self.dice.at(self.match, "chance"))

    # -- people ---------------------------------------------------------------------------------

    def _let_person_decide(self, seat: Seat) -> None:
        """Ask until an action is entered or a command changes the match."""
        before = self.match
        self._entered = []
        dialogue = self.words.ask(before.sight(seat))
        try:
            question = next(dialogue)
            if self.guarded and self._at_keyboard is not seat:
                self._hand_over(seat)
            while True:
                entry = self._ask(question)
                word = entry.strip().lower()
                if word == _BACK:
                    self._entered = []
                    dialogue = self.words.ask(before.sight(seat))
                    question = next(dialogue)
                elif word in _COMMANDS:
                    _COMMANDS[word](self, seat)
                    if self.match is not before:
                        return
                    question = Question(question.prompt, secret=question.secret)
                else:
                    question = dialogue.send(entry)
                    if not question.notice:
                        self._entered.append(entry)
        except StopIteration as done:
            self._play(seat, done.value)

    def _ask(self, question: Question) -> str:
        if self.guarded and question.notice:
            # A refusal quotes the entry, and an entry can give a secret away: even at an open question,
            # where somebody may enter a movement once more. Neither is left on the screen.
            self.screen.whisper(f"{question.notice}\n")
            self.screen.clear()
            self.narrator.retell(self.match)
            question = Question(question.prompt, secret=question.secret)
        return self.screen.ask(question, self.guarded and question.secret)

    def _hand_over(self, seat: Seat) -> None:
        """Between two people the screen holds only what both may know."""
        self._at_keyboard = seat
        self.screen.clear()
        self.narrator.retell(self.match)
        self.screen.pause(f"\nPass the keyboard to {seat.label}, then press Enter. ")
        self.screen.clear()
        self.narrator.retell(self.match)

    def _show(self, text: str) -> None:
        """Show a person something of its own."""
        if self.guarded:
            self.screen.whisper(text)
        else:
            self.screen.say(text)

    # -- commands -------------------------------------------------------------------------------

    def _help(self, seat: Seat) -> None:
        self.screen.say(HELP)

    def _rules(self, seat: Seat) -> None:
        self.screen.say(self.game.card())

    def _board(self, seat: Seat) -> None:
        self._show(self.words.board(self.match.sight(seat)))

    def _moves(self, seat: Seat) -> None:
        self._show(self.words.moves(self.match.sight(seat)))

    def _hint(self, seat: Seat) -> None:
        from duels.terminal.advice import hint  # with the oracle it is half of what a table would import

        try:
            with self.screen.patience("thinking"):
                self._oracle = self._oracle or self.game.oracle(self.match.rules)
                sight = self.match.sight(seat)
                text = hint(self._oracle, self.match.rules, sight, self.words, self._entered)
        except UnknownName as unknown:
            self.screen.say(f"{unknown}\n")
            return
        self._show(text)

    def _save(self, seat: Seat) -> None:
        if self.journal:
            self.screen.notice(f"Saved: {self.journal.path}")

    def _resign(self, seat: Seat) -> None:
        self._advance(self.match.resign(seat))

    def _quit(self, seat: Seat) -> None:
        raise Quit

    def _undo(self, seat: Seat) -> None:
        """Take back to this person's last decision."""
        target = self._last_decision(seat)
        if not target:
            self.screen.say("There is no decision of yours to take back.\n")
            return
        dropped = self.match.turns[len(target.turns) :]
        if not all(turn.revocable for turn in dropped) and not self._agreed(seat):
            return
        if self.journal:
            self.journal.take_back(len(dropped))
        self.match = target
        self._at_keyboard = None
        self.screen.say(f"Taken back: {len(dropped)} {'entry' if len(dropped) == 1 else 'entries'}.\n\n")
        if not self.guarded:  # else the keyboard is passed first: whoever agreed is still looking
            self.screen.say(self.words.board(self.match.sight(seat)) + "\n")

    def _last_decision(self, seat: Seat) -> AnyMatch | None:
        """The match before this seat's last answer to a question."""
        match = self.match
        while match.previous and match.last:
            turn, match = match.last, match.previous
            if turn.actor is seat and any(True for _ in self.words.ask(match.sight(seat))):
                return match
        return None

    def _agreed(self, seat: Seat) -> bool:
        """What chance or an answer has told cannot be untold: both people must want to go back."""
        if any(self.players.values()):
            self.screen.say("That cannot be taken back: it has shown something that was hidden.\n")
            return False
        dialogue = ask_until(
            f"{seat.other.label}, do you agree to take it back? (yes/no): ",
            read_yes,
        )
        try:
            question = next(dialogue)
            while True:
                question = dialogue.send(self.screen.ask(question))
        except StopIteration as done:
            if not done.value:
                self.screen.say("It stands.\n")
            return bool(done.value)


_BACK = "back"
_COMMANDS: dict[str, Callable[[Table, Seat], None]] = {
    "help": Table._help,
    "?": Table._help,
    "rules": Table._rules,
    "board": Table._board,
    "moves": Table._moves,
    "hint": Table._hint,
    "undo": Table._undo,
    "save": Table._save,
    "resign": Table._resign,
    "quit": Table._quit,
}
