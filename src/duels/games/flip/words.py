"""The prompts, messages and text board of Quantum Flip."""

from collections.abc import Sequence
from dataclasses import dataclass

from duels.core.errors import NotationError
from duels.core.narration import Line, Narration, Row, TextBoard, say, verb, victory
from duels.core.rules import Event, Seat, Sight
from duels.core.words import (
    ActionCells,
    Dialogue,
    Ink,
    InvalidEntry,
    Words,
    ask_until,
    join_and,
    join_or,
    quote_entry,
)
from duels.games.flip.rules import (
    UNKNOWN,
    Action,
    Ended,
    Flip,
    Keep,
    Lifted,
    QuantumFlip,
    QuantumTiles,
    Revealed,
    Scored,
    State,
)

_MAX_LISTED = 3


@dataclass(frozen=True)
class FlipWords(Words[Action, State]):
    """The book's prompts and lines for flips, Quantum Flips and scores."""

    rules: QuantumTiles

    letters = frozenset({"q", "f"})
    answer_kinds = (
        ("the tile that you flip", Flip),
        ("both tiles of a Quantum Flip with a plus sign", QuantumFlip),
        ("keep and the tile whose value you keep", Keep),
    )

    def opening(self) -> Narration:
        bag = f"The bag is balanced: {self.rules.copies} tiles of each value from 1 to {self.rules.values}."
        return Narration(
            ["Welcome to Quantum Flip!", bag, "", self._render_grid(self.rules.initial().tiles), ""]
        )

    def ask(self, sight: Sight[Action, State]) -> Dialogue[Action]:
        if sight.view.choosing:
            return (yield from self._ask_kept_tile(sight))
        player = self.player(sight.seat)
        if any(isinstance(action, QuantumFlip) for action in sight.actions):
            choice = yield from ask_until(
                f"{player}, enter 'Q' to perform a Quantum Flip or 'F' to flip a single tile: ",
                lambda entry: self._read_q_or_f(entry, sight),
                solo_prompt="Enter 'Q' to perform a Quantum Flip or 'F' to flip a single tile: ",
            )
            if not isinstance(choice, bool):
                return choice
            if choice:
                return (yield from self._ask_pair(sight))
        tile = yield from ask_until(
            f"{player}, enter the coordinate of the tile you wish to flip (e.g., A3): ",
            lambda entry: self._read_single_tile(entry, sight),
            solo_prompt="Enter the coordinate of the tile you wish to flip (e.g., A3): ",
        )
        return Flip(tile)

    def _read_q_or_f(self, entry: str, sight: Sight[Action, State]) -> bool | Action:
        """Return True for Q, False for F, or an action in notation."""
        word = entry.strip().upper()
        if word in ("Q", "F"):
            return word == "Q"
        try:
            action = self.rules.parse(entry)
        except NotationError:
            action = None
        if action in sight.actions:
            return action
        if isinstance(action, Flip):
            self._read_tile(entry, sight.view)  # raises with the reason
        if isinstance(action, QuantumFlip):
            raise InvalidEntry(f"{quote_entry(entry)} is not two face-down neighbours. Please enter Q or F.")
        raise InvalidEntry(f"{quote_entry(entry)} is neither Q nor F. Please enter Q or F.")

    def _ask_pair(self, sight: Sight[Action, State]) -> Dialogue[Action]:
        pairs = {(a.first, a.second) for a in sight.actions if isinstance(a, QuantumFlip)}

        def partners(tile: int) -> list[str]:
            return [self.rules.name_of(b if tile == a else a) for a, b in sorted(pairs) if tile in (a, b)]

        def read_first(entry: str) -> int:
            tile = self._read_tile(entry, sight.view)
            if not partners(tile):
                raise InvalidEntry(
                    f"Tile {self.rules.name_of(tile)} has no adjacent tile left. Please choose another tile."
                )
            return tile

        first = yield from ask_until("Enter the coordinates of the first tile: ", read_first)

        def read_second(entry: str) -> QuantumFlip:
            second = self._read_tile(entry, sight.view)
            pair = QuantumFlip(min(first, second), max(first, second))
            if (pair.first, pair.second) not in pairs:
                name, other = self.rules.name_of(first), self.rules.name_of(second)
                why = "the first tile itself" if first == second else f"not adjacent to {name}"
                raise InvalidEntry(f"Tile {other} is {why}. Please choose {join_or(partners(first))}.")
            return pair

        return (yield from ask_until("Enter the coordinates of the adjacent second tile: ", read_second))

    def _ask_kept_tile(self, sight: Sight[Action, State]) -> Dialogue[Action]:
        tiles = sight.view.lifted
        names = [self.rules.name_of(tile) for tile in tiles]
        values = [str(self.rules.value_of(sight.view.tiles[tile])) for tile in tiles]
        by_entry = dict(zip([name.lower() for name in names], tiles, strict=True))
        noun, options = "tile", join_or(names)
        if len(set(values)) > 1:
            by_entry |= dict(zip(values, tiles, strict=True))
            noun, options = "value", join_or(values)

        def read(entry: str) -> Action:
            tile = by_entry.get(entry.strip().lower())
            if tile is None and entry.strip() == values[0] == values[1]:
                raise InvalidEntry(f"Both tiles show {values[0]}. Please enter {options}.")
            if tile is None:
                raise InvalidEntry(f"{quote_entry(entry)} is not one of the two. Please enter {options}.")
            return Keep(tile)

        prompt = f"Which {noun} do you choose to add to your score? Enter {options}: "
        return (yield from ask_until(prompt, read))

    def _read_single_tile(self, entry: str, sight: Sight[Action, State]) -> int:
        if entry.strip().upper() == "Q" and not any(isinstance(a, QuantumFlip) for a in sight.actions):
            reason = "You have already used your Quantum Flip."
            if sight.view.has_quantum(sight.seat):
                reason = "No two face-down tiles are adjacent, so a Quantum Flip is not possible."
            raise InvalidEntry(f"{reason} {self._coordinate_hint}")
        return self._read_tile(entry, sight.view)

    @property
    def _coordinate_hint(self) -> str:
        return f"Please enter a coordinate from A1 to {self.rules.name_of(self.rules.side**2 - 1)}."

    def _read_tile(self, entry: str, view: State) -> int:
        tile = self.rules.tile_at(entry)
        if tile is None:
            raise InvalidEntry(f"{quote_entry(entry)} is not a tile. {self._coordinate_hint}")
        if view.tiles[tile].isdigit():
            name = self.rules.name_of(tile)
            raise InvalidEntry(f"Tile {name} has already been flipped. Please choose a different tile.")
        return tile

    def entries(self, sight: Sight[Action, State], action: Action) -> tuple[str, ...]:
        if isinstance(action, Keep):
            values = [self.rules.value_of(sight.view.tiles[tile]) for tile in sight.view.lifted]
            chosen = self.rules.value_of(sight.view.tiles[action.tile])
            return (str(chosen) if values.count(chosen) == 1 else self.rules.name_of(action.tile),)
        if isinstance(action, QuantumFlip):
            return "Q", self.rules.name_of(action.first), self.rules.name_of(action.second)
        assert isinstance(action, Flip)
        has_choice = any(isinstance(option, QuantumFlip) for option in sight.actions)
        return ("F",) * has_choice + (self.rules.name_of(action.tile),)

    def narrate(self, seen: Sequence[Event]) -> Narration:
        event = seen[-1]
        if isinstance(event, Revealed):
            revealed = self._format_revealed(event)
            return Narration(
                [say(event.seat, verb(event.seat, "makes", "make"), f"a Quantum Flip revealing {revealed}.")],
                book=[f"Quantum Flip revealed {revealed}."],
                reader=event.seat,
            )
        if isinstance(event, Scored):
            return self._narrate_score(event)
        if isinstance(event, Ended):
            scored = seen[-2]
            assert isinstance(scored, Scored)
            return self._narrate_end(event, scored)
        assert isinstance(event, Lifted)
        return Narration()

    def _format_revealed(self, event: Revealed) -> str:
        pairs = zip(event.tiles, event.values, strict=True)
        one, two = (f"{self.rules.name_of(tile)}:{value}" for tile, value in pairs)
        return f"tiles {one} and {two}"

    def _narrate_score(self, event: Scored) -> Narration:
        me, value, tile = event.seat, event.value, self.rules.name_of(event.tile)
        score = event.scores[me - 1]
        if event.chosen:
            news = say(me, verb(me, "chooses", "choose"), f"{value}, tile {tile}.")
            message = f"You chose {value}. Your new score is {score}."
        else:
            revealing = f"tile {tile} revealing a {value}."
            news = say(me, verb(me, "flips", "flip"), revealing)
            message = f"You flipped {revealing}"
        # At the end, the book prints the verdict without a board.
        board: list[Line] = (
            []
            if score >= self.rules.target
            else ["", self._render_grid(event.tiles, event.scores, event.tile), ""]
        )
        return Narration([say(news, f"New score: {score}."), *board], book=[message, *board], reader=me)

    def _narrate_end(self, event: Ended, scored: Scored) -> Narration:
        winner = event.seat if event.won else event.seat.other
        book: list[Line]
        if event.won:
            book = [f"Your total score is now exactly {event.score}.", Ink.WON(f"{winner.label} wins!")]
        else:
            why = f"Your total score is now {event.score}, which exceeds {self.rules.target}."
            book = [why, say("You lose the game.", victory(winner, Ink.WON))]
        verdict = f"That {'is exactly' if event.won else 'exceeds'} {self.rules.target}."
        board: list[Line] = ["", self._render_grid(scored.tiles, scored.scores, scored.tile)]
        return Narration(
            [say(verdict, victory(winner)), *board],
            book=[*book, *board],
            reader=event.seat,
            book_names_seats=True,
        )

    def board(self, sight: Sight[Action, State]) -> TextBoard:
        return self._render_grid(self._turn_up_lifted(sight.view), sight.view.scores)

    def _turn_up_lifted(self, state: State) -> str:
        """Return the tiles, with both tiles of a Quantum Flip face up while the mover chooses."""
        lifted = state.lifted if state.choosing else ()
        return "".join(
            str(self.rules.value_of(tile)) if index in lifted else tile
            for index, tile in enumerate(state.tiles)
        )

    def action_cells(self, sight: Sight[Action, State], action: Action) -> ActionCells:
        if isinstance(action, QuantumFlip):
            return ActionCells((action.first + 1, action.second + 1), "Quantum Flip")
        assert isinstance(action, Flip | Keep)
        return ActionCells((action.tile + 1,), "flip a single tile" if isinstance(action, Flip) else "keep")

    def summarize_actions(self, sight: Sight[Action, State], actions: Sequence[Action]) -> str:
        unseen = [tile == UNKNOWN for tile in sight.view.tiles]
        flips = [action.tile for action in actions if isinstance(action, Flip)]
        pairs = [action for action in actions if isinstance(action, QuantumFlip)]
        if len(actions) <= _MAX_LISTED or not all(unseen[tile] for tile in flips):
            return ""
        if len(flips) == sum(unseen) == len(actions):
            return "flip any unseen tile"
        if len(flips) == len(actions):
            return f"flip an unseen tile, say {self.rules.name_of(flips[0])}"
        if len(pairs) == len(actions) and all(unseen[pair.first] and unseen[pair.second] for pair in pairs):
            return f"Quantum Flip on two unseen tiles, say {self.rules.format(pairs[0])}"
        return ""

    def recap(self, sight: Sight[Action, State]) -> Narration:
        state = sight.view
        one, two = (state.has_quantum(seat) for seat in Seat)
        joiner = "and" if one and two else "" if one or two else "none"
        holders = say("Quantum Flips left:", Seat.ONE if one else "", joiner, Seat.TWO if two else "", ".")
        shown_tiles = describe_turned_back(self.rules, state)
        return Narration([shown_tiles, holders] if shown_tiles else [holders])

    def facts(self, sight: Sight[Action, State]) -> list[str]:
        view, seat = sight.view, sight.seat
        own, other = ("left" if view.has_quantum(player) else "spent" for player in (seat, seat.other))
        facts = [f"Your Quantum Flip is {own}, your opponent's is {other}."]
        if view.choosing:
            name_of, value_of = self.rules.name_of, self.rules.value_of
            lifted = [f"{name_of(tile)} (a {value_of(view.tiles[tile])})" for tile in view.lifted]
            turned_up = f"Your Quantum Flip has turned up {' and '.join(lifted)}. Keep one of them."
            facts = [turned_up, f"Your opponent's Quantum Flip is {other}."]
        if known_tiles := _list_turned_back(self.rules, view):
            facts.append(f"Tiles that were shown and turned face down again: {', '.join(known_tiles)}.")
        return facts

    def moves(self, sight: Sight[Action, State]) -> str:
        if sight.view.choosing:
            return f"Choose one of the tiles {join_or([self.rules.name_of(t) for t in sight.view.lifted])}.\n"
        flips = [self.rules.format(a) for a in sight.actions if isinstance(a, Flip)]
        pairs = [self.rules.format(a) for a in sight.actions if isinstance(a, QuantumFlip)]
        text = f"F, one tile: {', '.join(flips)}\n"
        return text + (f"Q, two adjacent tiles: {', '.join(pairs)}\n" if pairs else "")

    def _render_grid(
        self, tiles: str, scores: tuple[int, int] | None = None, changed: int | None = None
    ) -> TextBoard:
        """Render the board for people: a tile that was turned back is blank."""
        side = self.rules.side
        columns = "".join(f"   {column}" for column in range(1, side + 1))
        texts = [tile if tile.isdigit() else " " for tile in tiles]
        if changed is not None:
            texts[changed] = Ink.CHANGED(texts[changed])
        rows = []
        for start in range(0, side**2, side):
            name = chr(ord("A") + start // side)
            rows.append(Row(tuple(texts[start : start + side]), f"{name} [", "] [", "]", name))
        return TextBoard(f"\n{_render_scoreboard(scores)}" if scores else "", tuple(rows), f"{columns}\n")


def describe_turned_back(rules: QuantumTiles, state: State) -> str:
    """Return a sentence about the tiles that were shown and are face down again, or ''."""
    seen = _list_turned_back(rules, state)
    return f"Shown and face down: {join_and(seen)}." if seen else ""


def _list_turned_back(rules: QuantumTiles, state: State) -> list[str]:
    return [
        f"{rules.name_of(index)} is a {rules.value_of(tile)}"
        for index, tile in enumerate(state.tiles)
        if tile.isalpha() and not (state.choosing and index in state.lifted)
    ]


def _render_scoreboard(scores: tuple[int, int]) -> str:
    lines = (
        f"{Ink.for_seat(seat)(seat.label)}: {score} point{'s' * (score != 1)}\n"
        for seat, score in zip(Seat, scores, strict=True)
    )
    return "Scoreboard:\n" + "".join(lines)


WORDS = FlipWords
