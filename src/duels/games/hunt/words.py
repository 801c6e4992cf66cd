"""The prompts, messages and text board of Quantum Duel: the hunt."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

from duels.core.errors import NotationError
from duels.core.narration import Narration, Row, TextBoard, say, verb, victory, whose, wins
from duels.core.notation import parse_whole_number
from duels.core.rules import Event, Seat, Sight
from duels.core.words import Dialogue, Ink, InvalidEntry, Place, Words, ask_until, join_or, quote_entry
from duels.games.hunt.rules import (
    OFF_GRID,
    VERBS,
    Action,
    Captured,
    Collided,
    Move,
    Moved,
    Observe,
    Observed,
    Phase,
    QuantumHunt,
    Tunnel,
    TurnsUsedUp,
    View,
)

_OWN_TOKEN, _OBSERVED = "@", "*"
_VERB_BY_LETTER = {"m": "move", "t": "tunnel", "o": "observe"}


@dataclass(frozen=True)
class HuntWords(Words[Action, View]):
    rules: QuantumHunt

    def opening(self) -> Narration:
        return Narration(
            [
                "Welcome to Quantum Duel!",
                "",
                self._render_grid(OFF_GRID),
                "Both tokens are off the grid in superposition.",
                f"Each turn, enter MOVE n, STAY or TUNNEL n, then OBSERVE n (n is 1 to {self.rules.cells}).",
            ]
        )

    def ask(self, sight: Sight[Action, View]) -> Dialogue[Action]:
        if sight.view.phase is Phase.OBSERVE:
            return (yield from ask_until("Enters: ", lambda entry: self._read_observation(entry, sight)))
        prompt = f"\n{_render_player(sight.seat)}:\nEnters: "
        return (yield from ask_until(prompt, lambda entry: self._read_movement(entry, sight), secret=True))

    def _read_movement(self, entry: str, sight: Sight[Action, View]) -> Action:
        here = sight.view.cell
        allowed = self._format_allowed(sight)
        stay = entry.strip().lower() == "stay"
        if stay and here == OFF_GRID:
            raise InvalidEntry(f"Your token is off the grid and must enter it. {allowed}")
        action = Move(here) if stay else self._parse(entry, "move")
        if action in sight.actions:
            return action
        if isinstance(action, Observe):
            raise InvalidEntry(f"First the movement, then the observation. {allowed}")
        if action is None:
            raise InvalidEntry(f"{quote_entry(entry)} is not a movement. {allowed}")
        if not 1 <= action.cell <= self.rules.cells:
            raise InvalidEntry(f"There is no position {action.cell}. {allowed}")
        if isinstance(action, Tunnel):
            raise InvalidEntry(f"Your Quantum Tunneling is spent. {allowed}")
        raise InvalidEntry(f"Position {action.cell} is not next to position {here}. {allowed}")

    def _read_observation(self, entry: str, sight: Sight[Action, View]) -> Action:
        action = self._parse(entry, "observe")
        allowed = self._format_allowed(sight)
        if action in sight.actions:
            return action
        if not isinstance(action, Observe):
            raise InvalidEntry(f"{quote_entry(entry)} is not an observation. {allowed}")
        if not 1 <= action.cell <= self.rules.cells:
            raise InvalidEntry(f"There is no position {action.cell}. {allowed}")
        raise InvalidEntry(f"You observed position {action.cell} on your previous turn. {allowed}")

    def _parse(self, entry: str, default_verb: str) -> Action | None:
        """Parse an action: in full, by its first letter (`m 5`, `m5`) or as a position alone.

        `default_verb` is the verb for a position alone.
        """
        letter, rest = entry.strip().lower()[:1], entry.strip()[1:].strip()
        notation = (
            f"{_VERB_BY_LETTER[letter]} {rest}" if letter in _VERB_BY_LETTER and rest.isdigit() else entry
        )
        if parse_whole_number(entry) is not None:
            notation = f"{default_verb} {entry}"
        try:
            return self.rules.parse(notation)
        except NotationError:
            return None

    def _format_allowed(self, sight: Sight[Action, View]) -> str:
        if sight.view.phase is Phase.OBSERVE:
            return f"Enter OBSERVE and a position: {join_or([action.cell for action in sight.actions])}."
        cells = [action.cell for action in sight.actions if isinstance(action, Move)]
        ways = [f"MOVE {join_or(cells)}"]
        if sight.view.cell != OFF_GRID:
            ways.append("STAY")
        if sight.view.tunnel:
            ways.append(f"TUNNEL 1 to {self.rules.cells}")
        return f"Enter {', '.join(ways[:-1])}, or {ways[-1]}."

    def entries(self, sight: Sight[Action, View], action: Action) -> tuple[str, ...]:
        return (self.rules.format(action).upper(),)

    def name_action(self, sight: Sight[Action, View], action: Action) -> str:
        return "stay" if action == Move(sight.view.cell) else self.rules.format(action)

    def summarize_actions(self, sight: Sight[Action, View], actions: Sequence[Action]) -> str:
        every = {action for action in sight.actions if not isinstance(action, Tunnel)}
        if sight.view.phase is Phase.OBSERVE:
            cells = sorted(action.cell for action in actions)
            return f"observe {'any position' if set(actions) == every else join_or(cells)}"
        if set(actions) != every:
            return ""
        return "stay or move" if sight.view.cell else "move to any position"

    def render_secret_turn(self, seat: Seat) -> str:
        return f"\n{_render_player(seat)}:\nEnters: {Ink.DIM('(hidden)')}\n"

    def narrate(self, seen: Sequence[Event]) -> Narration:
        event = seen[-1]
        if isinstance(event, TurnsUsedUp):
            return Narration([f"Game Over: nobody is caught after {event.turns} turns."])
        assert isinstance(event, Moved | Observed | Captured | Collided)
        me, other = event.seat, event.seat.other
        if isinstance(event, Moved):
            return Narration(
                [say(me, f"{_describe_movement(event, seen)} position {event.cell}.")], book=[], to=me
            )
        if isinstance(event, Observed):
            answer = "is" if event.hit else "is not"
            return Narration(
                [say(me, f"observed position {event.cell}.", whose(other), f"token {answer} there.")],
                book=[f"{other.label}'s token {answer} at position {event.cell}."],
                to=me,
            )
        if isinstance(event, Captured):
            won = say(me, wins(me), "by capturing", whose(other), "token!")
            return Narration(
                [won], book=[*_render_game_over(won.render()), self._render_final_grid(seen)], to=me
            )
        both = f"Both tokens reveal they are at position {event.cell}."
        loses = (verb(me, "loses", "lose"), "due to initiating collision.")
        won = say(victory(other), whose(me), "token destabilized in collision.")
        return Narration(
            [say(both, me, *loses, victory(other))],
            book=[
                both,
                "Collision Detected:",
                say("Result:", me, *loses).render(),
                *_render_game_over(won.render()),
                self._render_final_grid(seen),
            ],
            to=me,
        )

    def board(self, sight: Sight[Action, View]) -> TextBoard:
        view = sight.view
        place = "off the grid" if view.cell == OFF_GRID else f"at position {view.cell}"
        tunnel = "left" if view.tunnel else "spent"
        mine, theirs = view.named[sight.seat - 1], view.named[sight.seat.other - 1]
        return self._render_grid(
            view.cell,
            f"Your token is {place}; Quantum Tunneling is {tunnel}.\n"
            f"Last observed by you: {mine or 'none'}; by {sight.seat.other.label}: {theirs or 'none'}.\n",
        )

    def open_board(self, one: Sight[Action, View], two: Sight[Action, View]) -> TextBoard:
        """Render the grid, and below it each player's token and last observation."""
        cells = range(1, self.rules.cells + 1)
        label = max(len(seat.label) for seat in Seat) + 1
        lines = [" " * label + "".join(f"[{cell}]" for cell in cells)]
        for sight in (one, two):
            view = sight.view
            named = view.named[sight.seat - 1]
            marks = (
                f"{_OWN_TOKEN * (cell == view.cell)}{_OBSERVED * (cell == named)}".center(len(str(cell)) + 2)
                for cell in cells
            )
            off = "  off the grid" * (view.cell == OFF_GRID)
            row = f"{sight.seat.label:<{label}}{''.join(marks)}".rstrip()
            lines.append(Ink.for_seat(sight.seat)(f"{row}{off}"))
        lines.append(f"({_OWN_TOKEN} is the token, {_OBSERVED} the position observed last.)")
        return TextBoard("".join(f"{line}\n" for line in lines))

    def place(self, sight: Sight[Action, View], action: Action) -> Place:
        return Place((action.cell,), VERBS[type(action)])

    def moves(self, sight: Sight[Action, View]) -> str:
        return f"{self._format_allowed(sight)}\n"

    def _render_final_grid(self, seen: Sequence[Event]) -> TextBoard:
        """Render the final grid: Q for a revealed token, * on the observed position."""
        end, observed = seen[-1], seen[-2]
        assert isinstance(observed, Observed)
        token = end.cell if isinstance(end, Collided) else observed.cell
        cells = (
            f"{Ink.CHANGED('Q') if n == token else n}{'*' if n == observed.cell else ''}"
            for n in range(1, self.rules.cells + 1)
        )
        return TextBoard(rows=(Row(tuple(cells)),))

    def _render_grid(self, cell: int, below: str = "") -> TextBoard:
        """Render the grid with the player's own token."""
        cells = (Ink.CHANGED(_OWN_TOKEN) if n == cell else str(n) for n in range(1, self.rules.cells + 1))
        return TextBoard(below, (Row(tuple(cells)),))


def _describe_movement(moved: Moved, seen: Sequence[Event]) -> str:
    if moved.tunnel:
        return "tunneled to"
    cells = (event.cell for event in reversed(seen) if isinstance(event, Moved) and event.seat is moved.seat)
    before = next(islice(cells, 1, None), OFF_GRID)
    if before == OFF_GRID:
        return "entered at"
    return "stayed at" if before == moved.cell else "moved to"


def _render_game_over(won: str) -> list[str]:
    return [f"Game Over: {Ink.WON(won)}", ""]


def _render_player(seat: Seat) -> str:
    return Ink.for_seat(seat)(seat.label)


WORDS = HuntWords
