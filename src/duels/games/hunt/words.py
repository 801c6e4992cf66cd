"""The voice of Quantum Duel, hidden movement."""

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
    Known,
    Move,
    Moved,
    Observe,
    Observed,
    Phase,
    QuantumHunt,
    Tunnel,
    TurnsUsedUp,
)

_OWN, _NAMED = "@", "*"
_SHORT = {"m": "move", "t": "tunnel", "o": "observe"}


@dataclass(frozen=True)
class HuntWords(Words[Action, Known]):
    rules: QuantumHunt

    def opening(self) -> Narration:
        return Narration(
            [
                "Welcome to Quantum Duel!",
                "",
                self._grid(OFF_GRID),
                "Both tokens are off the grid in superposition.",
                f"Each turn, enter MOVE n, STAY or TUNNEL n, then OBSERVE n (n is 1 to {self.rules.cells}).",
            ]
        )

    def ask(self, sight: Sight[Action, Known]) -> Dialogue[Action]:
        if sight.view.phase is Phase.OBSERVE:
            return (yield from ask_until("Enters: ", lambda entry: self._read_observation(entry, sight)))
        prompt = f"\n{_player(sight.seat)}:\nEnters: "
        return (yield from ask_until(prompt, lambda entry: self._read_movement(entry, sight), secret=True))

    def _read_movement(self, entry: str, sight: Sight[Action, Known]) -> Action:
        here = sight.view.cell
        allowed = self._allowed(sight)
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

    def _read_observation(self, entry: str, sight: Sight[Action, Known]) -> Action:
        action = self._parse(entry, "observe")
        allowed = self._allowed(sight)
        if action in sight.actions:
            return action
        if not isinstance(action, Observe):
            raise InvalidEntry(f"{quote_entry(entry)} is not an observation. {allowed}")
        if not 1 <= action.cell <= self.rules.cells:
            raise InvalidEntry(f"There is no position {action.cell}. {allowed}")
        raise InvalidEntry(f"You observed position {action.cell} on your previous turn. {allowed}")

    def _parse(self, entry: str, bare: str) -> Action | None:
        """An action in full, by its first letter (`m 5`, `m5`), or, as `bare`, by its position alone."""
        letter, rest = entry.strip().lower()[:1], entry.strip()[1:].strip()
        spelled = f"{_SHORT[letter]} {rest}" if letter in _SHORT and rest.isdigit() else entry
        if parse_whole_number(entry) is not None:
            spelled = f"{bare} {entry}"
        try:
            return self.rules.parse(spelled)
        except NotationError:
            return None

    def _allowed(self, sight: Sight[Action, Known]) -> str:
        if sight.view.phase is Phase.OBSERVE:
            return f"Enter OBSERVE and a position: {join_or([action.cell for action in sight.actions])}."
        cells = [action.cell for action in sight.actions if isinstance(action, Move)]
        ways = [f"MOVE {join_or(cells)}"]
        if sight.view.cell != OFF_GRID:
            ways.append("STAY")
        if sight.view.tunnel:
            ways.append(f"TUNNEL 1 to {self.rules.cells}")
        return f"Enter {', '.join(ways[:-1])}, or {ways[-1]}."

    def entries(self, sight: Sight[Action, Known], action: Action) -> tuple[str, ...]:
        return (self.rules.format(action).upper(),)

    def name_action(self, sight: Sight[Action, Known], action: Action) -> str:
        return "stay" if action == Move(sight.view.cell) else self.rules.format(action)

    def summarize_actions(self, sight: Sight[Action, Known], actions: Sequence[Action]) -> str:
        every = {action for action in sight.actions if not isinstance(action, Tunnel)}
        if sight.view.phase is Phase.OBSERVE:
            cells = sorted(action.cell for action in actions)
            return f"observe {'any position' if set(actions) == every else join_or(cells)}"
        if set(actions) != every:
            return ""
        return "stay or move" if sight.view.cell else "move to any position"

    def render_secret_turn(self, seat: Seat) -> str:
        return f"\n{_player(seat)}:\nEnters: {Ink.DIM('(hidden)')}\n"

    def narrate(self, seen: Sequence[Event]) -> Narration:
        event = seen[-1]
        if isinstance(event, TurnsUsedUp):
            return Narration([f"Game Over: nobody is caught after {event.turns} turns."])
        assert isinstance(event, Moved | Observed | Captured | Collided)
        me, other = event.seat, event.seat.other
        if isinstance(event, Moved):
            return Narration([say(me, f"{_way(event, seen)} position {event.cell}.")], book=[], to=me)
        if isinstance(event, Observed):
            answer = "is" if event.hit else "is not"
            return Narration(
                [say(me, f"observed position {event.cell}.", whose(other), f"token {answer} there.")],
                book=[f"{other.label}'s token {answer} at position {event.cell}."],
                to=me,
            )
        if isinstance(event, Captured):
            won = say(me, wins(me), "by capturing", whose(other), "token!")
            return Narration([won], book=[*_game_over(won.render()), self._revealed(seen)], to=me)
        both = f"Both tokens reveal they are at position {event.cell}."
        loses = (verb(me, "loses", "lose"), "due to initiating collision.")
        won = say(victory(other), whose(me), "token destabilized in collision.")
        return Narration(
            [say(both, me, *loses, victory(other))],
            book=[
                both,
                "Collision Detected:",
                say("Result:", me, *loses).render(),
                *_game_over(won.render()),
                self._revealed(seen),
            ],
            to=me,
        )

    def board(self, sight: Sight[Action, Known]) -> TextBoard:
        view = sight.view
        place = "off the grid" if view.cell == OFF_GRID else f"at position {view.cell}"
        tunnel = "left" if view.tunnel else "spent"
        mine, theirs = view.named[sight.seat - 1], view.named[sight.seat.other - 1]
        return self._grid(
            view.cell,
            f"Your token is {place}; Quantum Tunneling is {tunnel}.\n"
            f"Last observed by you: {mine or 'none'}; by {sight.seat.other.label}: {theirs or 'none'}.\n",
        )

    def open_board(self, one: Sight[Action, Known], two: Sight[Action, Known]) -> TextBoard:
        """The grid, and below it a row for each player: the token, and the position observed last."""
        cells = range(1, self.rules.cells + 1)
        label = max(len(seat.label) for seat in Seat) + 1
        lines = [" " * label + "".join(f"[{cell}]" for cell in cells)]
        for sight in (one, two):
            view = sight.view
            named = view.named[sight.seat - 1]
            marks = (
                f"{_OWN * (cell == view.cell)}{_NAMED * (cell == named)}".center(len(str(cell)) + 2)
                for cell in cells
            )
            off = "  off the grid" * (view.cell == OFF_GRID)
            row = f"{sight.seat.label:<{label}}{''.join(marks)}".rstrip()
            lines.append(Ink.for_seat(sight.seat)(f"{row}{off}"))
        lines.append(f"({_OWN} is the token, {_NAMED} the position observed last.)")
        return TextBoard("".join(f"{line}\n" for line in lines))

    def place(self, sight: Sight[Action, Known], action: Action) -> Place:
        return Place((action.cell,), VERBS[type(action)])

    def moves(self, sight: Sight[Action, Known]) -> str:
        return f"{self._allowed(sight)}\n"

    def _revealed(self, seen: Sequence[Event]) -> TextBoard:
        """The grid once more: Q where a token was revealed, * on the position that was observed."""
        end, observed = seen[-1], seen[-2]
        assert isinstance(observed, Observed)
        token = end.cell if isinstance(end, Collided) else observed.cell
        cells = (
            f"{Ink.CHANGED('Q') if n == token else n}{'*' if n == observed.cell else ''}"
            for n in range(1, self.rules.cells + 1)
        )
        return TextBoard(rows=(Row(tuple(cells)),))

    def _grid(self, cell: int, below: str = "") -> TextBoard:
        """The grid with one's own token, which nobody has observed."""
        cells = (Ink.CHANGED(_OWN) if n == cell else str(n) for n in range(1, self.rules.cells + 1))
        return TextBoard(below, (Row(tuple(cells)),))


def _way(moved: Moved, seen: Sequence[Event]) -> str:
    """How the last of these events brought a token to where it is."""
    if moved.tunnel:
        return "tunneled to"
    cells = (event.cell for event in reversed(seen) if isinstance(event, Moved) and event.seat is moved.seat)
    before = next(islice(cells, 1, None), OFF_GRID)
    if before == OFF_GRID:
        return "entered at"
    return "stayed at" if before == moved.cell else "moved to"


def _game_over(won: str) -> list[str]:
    return [f"Game Over: {Ink.WON(won)}", ""]


def _player(seat: Seat) -> str:
    return Ink.for_seat(seat)(seat.label)


WORDS = HuntWords
