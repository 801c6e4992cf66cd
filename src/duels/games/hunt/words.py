"""The prompts, messages and text board of Quantum Duel: the hunt."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from duels.core.errors import NotationError
from duels.core.narration import (
    SEAT_LABELS,
    Narration,
    PlayerNames,
    Row,
    TextBoard,
    say,
    verb,
    victory,
    whose,
    wins,
)
from duels.core.notation import parse_whole_number
from duels.core.rules import Event, Seat, Sight
from duels.core.words import ActionCells, Dialogue, Ink, InvalidEntry, Words, ask_until, join_or, quote_entry
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

_OWN_TOKEN, _REVEALED = "@", "Q"
_OBSERVED, _OBSERVED_BY_OTHER = "*", "!"
_VERB_BY_LETTER = {"m": "move", "t": "tunnel", "o": "observe"}


@dataclass(frozen=True)
class HuntWords(Words[Action, View]):
    """The book's prompts and lines for secret moves, observations and the end."""

    rules: QuantumHunt

    answer_kinds = (
        ("move and the position where you go (your own, to stay)", Move),
        ("tunnel and the position where you go", Tunnel),
        ("observe and the position that you name", Observe),
    )

    def facts(self, sight: Sight[Action, View]) -> list[str]:
        return ["@ is your own token, which your opponent does not see."] if sight.view.cell else []

    def opening(self) -> Narration:
        return Narration(
            [
                "Welcome to Quantum Duel!",
                "",
                self._render_grid({}),
                "Both tokens are off the grid in superposition.",
                f"Each turn, enter MOVE n, STAY or TUNNEL n, then OBSERVE n (n is 1 to {self.rules.cells}).",
            ]
        )

    def ask(self, sight: Sight[Action, View]) -> Dialogue[Action]:
        if sight.view.phase is Phase.OBSERVE:
            return (
                yield from ask_until(
                    "Enters: ",
                    lambda entry: self._read_observation(entry, sight),
                    solo_prompt="Which position do you observe? OBSERVE n: ",
                )
            )
        verbs = ["MOVE n", "STAY" * (sight.view.cell != OFF_GRID), "TUNNEL n" * sight.view.tunnel]
        return (
            yield from ask_until(
                f"\n{self.player(sight.seat)}:\nEnters: ",
                lambda entry: self._read_movement(entry, sight),
                secret=True,
                solo_prompt=f"Where do you go? {join_or([verb for verb in verbs if verb])}: ",
            )
        )

    def _read_movement(self, entry: str, sight: Sight[Action, View]) -> Action:
        own_cell = sight.view.cell
        allowed = self._format_allowed(sight)
        stays = entry.strip().lower() == "stay"
        if stays and own_cell == OFF_GRID:
            raise InvalidEntry(f"Your token is off the grid and must enter it. {allowed}")
        action = Move(own_cell) if stays else self._parse(entry, "move")
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
        raise InvalidEntry(f"Position {action.cell} is not next to position {own_cell}. {allowed}")

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
        """Parse an action, or return None if that fails. The verb may be a letter: `m 5`, `m5`.

        `default_verb` is used for a position without a verb.
        """
        letter, number = entry.strip().lower()[:1], entry.strip()[1:].strip()
        notation = (
            f"{_VERB_BY_LETTER[letter]} {number}" if letter in _VERB_BY_LETTER and number.isdigit() else entry
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
        options = [f"MOVE {join_or(cells)}"]
        if sight.view.cell != OFF_GRID:
            options.append("STAY")
        if sight.view.tunnel:
            options.append(f"TUNNEL 1 to {self.rules.cells}")
        return f"Enter {', '.join(options[:-1])}, or {options[-1]}."

    def entries(self, sight: Sight[Action, View], action: Action) -> tuple[str, ...]:
        return (self.rules.format(action).upper(),)

    def name_action(self, sight: Sight[Action, View], action: Action) -> str:
        return "stay" if action == Move(sight.view.cell) else self.rules.format(action)

    def label_action(self, sight: Sight[Action, View], action: Action) -> str:
        return self.name_action(sight, action)

    def summarize_actions(self, sight: Sight[Action, View], actions: Sequence[Action]) -> str:
        usual_actions = {action for action in sight.actions if not isinstance(action, Tunnel)}
        if sight.view.phase is Phase.OBSERVE:
            cells = sorted(action.cell for action in actions)
            return f"observe {'any position' if set(actions) == usual_actions else join_or(cells)}"
        if set(actions) != usual_actions:
            return ""
        return "stay or move" if sight.view.cell else "move to any position"

    def render_secret_turn(self, seat: Seat) -> str:
        return f"\n{self.player(seat)}:\nEnters: {Ink.DIM('(hidden)')}\n"

    def narrate(self, seen: Sequence[Event]) -> Narration:
        event = seen[-1]
        if isinstance(event, TurnsUsedUp):
            return Narration([f"Game Over: nobody is caught after {event.turns} turns."])
        assert isinstance(event, Moved | Observed | Captured | Collided)
        me, other = event.seat, event.seat.other
        if isinstance(event, Moved):
            moves = verb(me, *_choose_verb(event, seen))
            return Narration([say(me, moves, f"position {event.cell}.")], book=[], reader=me)
        if isinstance(event, Observed):
            token = f"token {'is' if event.hit else 'is not'}"
            observes = (verb(me, "observes", "observe"), f"position {event.cell}.")
            return Narration(
                [say(me, *observes, whose(other), f"{token} there.")],
                book=[say(whose(other), f"{token} at position {event.cell}.")],
                reader=me,
            )
        board = self._render_final_grid(seen)
        if isinstance(event, Captured):
            won = say(me, wins(me), "by capturing", whose(other), "token!")
            return Narration(
                [won, "", board],
                book=[*_render_game_over(won.render()), board],
                reader=me,
                book_names_seats=True,
            )
        revealed = f"Both tokens reveal they are at position {event.cell}."
        loses = (verb(me, "loses", "lose"), "due to initiating collision.")
        won = say(victory(other), whose(me), "token destabilized in collision.")
        return Narration(
            [say(revealed, me, *loses, victory(other)), "", board],
            book=[
                revealed,
                "Collision Detected:",
                say("Result:", me, *loses).render(),
                *_render_game_over(won.render()),
                board,
            ],
            reader=me,
            book_names_seats=True,
        )

    def board(self, sight: Sight[Action, View]) -> TextBoard:
        return self._render_board(sight, sight.seat.other.label)

    def solo_board(self, sight: Sight[Action, View], opponent: str) -> TextBoard:
        return self._render_board(sight, opponent, _OBSERVED, _OBSERVED_BY_OTHER)

    def _render_board(
        self, sight: Sight[Action, View], opponent: str, own_mark: str = "", other_mark: str = ""
    ) -> TextBoard:
        """Render the grid for a seat, with marks for the last observations of the seat and of the other."""
        view, revealed = sight.view, find_revealed_tokens(sight.events)
        location = "off the grid" if view.cell == OFF_GRID else f"at position {view.cell}"
        tunnel = "left" if view.tunnel else "spent"
        own, other = view.last_observed[sight.seat - 1], view.last_observed[sight.seat.other - 1]
        tokens = {view.cell: _OWN_TOKEN, **dict.fromkeys(revealed.values(), _REVEALED)}
        marks = [(own, own_mark), (other, other_mark)]
        if revealed:
            marks = [(view.last_observed[view.mover.other - 1], _OBSERVED)]
        own_legend, other_legend = (f" ({mark})" if mark else "" for mark in (own_mark, other_mark))
        return self._render_grid(
            tokens,
            marks,
            f"Your token is {location}; Quantum Tunneling is {tunnel}.\n"
            f"Last observed by you{own_legend}: {own or 'none'}; "
            f"by {opponent}{other_legend}: {other or 'none'}.\n",
        )

    def open_board(
        self, one: Sight[Action, View], two: Sight[Action, View], *, names: PlayerNames = SEAT_LABELS
    ) -> TextBoard:
        """Render the grid, and below it each player's token and last observation."""
        cells = range(1, self.rules.cells + 1)
        revealed = find_revealed_tokens(one.events)
        labels = {seat: names.name(seat, begins=True) for seat in Seat}
        label_width = max(map(len, labels.values())) + 1
        lines = [" " * label_width + "".join(f"[{cell}]" for cell in cells)]
        for sight in (one, two):
            view = sight.view
            token = _REVEALED if sight.seat in revealed else _OWN_TOKEN
            observed = view.last_observed[sight.seat - 1]
            marks = (
                f"{token * (cell == view.cell)}{_OBSERVED * (cell == observed)}".center(len(str(cell)) + 2)
                for cell in cells
            )
            note = "  off the grid" * (view.cell == OFF_GRID)
            row = f"{labels[sight.seat]:<{label_width}}{''.join(marks)}".rstrip()
            lines.append(Ink.for_seat(sight.seat)(f"{row}{note}"))
        signs = f"{_OWN_TOKEN} is the token, "
        if revealed:
            hidden = f"{_OWN_TOKEN} the other, " * (len(revealed) == 1)
            signs = f"{_REVEALED} is a revealed token, {hidden}"
        lines.append(f"({signs}{_OBSERVED} the position observed last.)")
        return TextBoard("".join(f"{line}\n" for line in lines))

    def action_cells(self, sight: Sight[Action, View], action: Action) -> ActionCells:
        return ActionCells((action.cell,), VERBS[type(action)])

    def moves(self, sight: Sight[Action, View]) -> str:
        return f"{self._format_allowed(sight)}\n"

    def _render_final_grid(self, seen: Sequence[Event]) -> TextBoard:
        """Render the final grid: Q is a revealed token, and * marks the observed position."""
        observed = seen[-2]
        assert isinstance(observed, Observed)
        tokens = dict.fromkeys(find_revealed_tokens(seen).values(), _REVEALED)
        return self._render_grid(tokens, [(observed.cell, _OBSERVED)])

    def _render_grid(
        self, tokens: Mapping[int, str], marks: Sequence[tuple[int, str]] = (), below: str = ""
    ) -> TextBoard:
        """Render the grid with the signs of the tokens by position, and marks after some positions."""
        cells = []
        for cell in range(1, self.rules.cells + 1):
            token = Ink.CHANGED(tokens[cell]) if cell in tokens else str(cell)
            cells.append(token + "".join(mark for marked, mark in marks if marked == cell))
        return TextBoard(below, (Row(tuple(cells)),))


def find_revealed_tokens(events: Sequence[Event]) -> dict[Seat, int]:
    """Return the cells of the tokens that the end revealed: both by a collision, one by a hit."""
    if events and isinstance(events[-1], Collided):
        return dict.fromkeys(Seat, events[-1].cell)
    return {
        event.seat.other: event.cell for event in events[-2:] if isinstance(event, Observed) and event.hit
    }


def _choose_verb(moved: Moved, seen: Sequence[Event]) -> tuple[str, str]:
    """Return the verb for a movement, in the third and the second person."""
    if moved.tunnel:
        return "tunnels to", "tunnel to"
    cells = (event.cell for event in reversed(seen) if isinstance(event, Moved) and event.seat is moved.seat)
    previous = next(islice(cells, 1, None), OFF_GRID)
    if previous == OFF_GRID:
        return "enters at", "enter at"
    return ("stays at", "stay at") if previous == moved.cell else ("moves to", "move to")


def _render_game_over(won: str) -> list[str]:
    return [f"Game Over: {Ink.WON(won)}", ""]


WORDS = HuntWords
