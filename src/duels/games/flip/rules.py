"""Quantum Flip: flip face-down tiles and reach the target exactly. Each player has one Quantum Flip."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from itertools import compress, product
from math import perm, prod
from random import Random

from duels.core.errors import BadOption, NotationError, quote
from duels.core.narration import say, verb, whose
from duels.core.notation import parse_seat, parse_whole_number, split_fields
from duels.core.options import option
from duels.core.rules import CHANCE, Actor, Event, OpenRules, Outcome, Seat, Step
from duels.games.flip import GAME

UNKNOWN = "."
SEEN_AS = "abcdefghi"  # face-down tiles that were shown: a is a 1, b is a 2, …


@dataclass(frozen=True, slots=True)
class State:
    """The tiles row by row, the scores, the Quantum Flips left, and the player to move.

    A tile is `.` (unknown), a digit (flipped) or a letter (shown, face down again). `lifted` holds the
    indices of the tiles being flipped. `choosing` is true while the mover chooses one of two shown tiles.
    """

    tiles: str
    scores: tuple[int, int]
    quantum: tuple[bool, bool]
    mover: Seat
    lifted: tuple[int, ...] = ()
    choosing: bool = False

    def has_quantum(self, seat: Seat) -> bool:
        """Return whether `seat` has its Quantum Flip left. One in progress counts as spent."""
        return self.quantum[seat - 1] and not (len(self.lifted) == 2 and seat is self.mover)


@dataclass(frozen=True, slots=True)
class Flip:
    """Flip one face-down tile. Tiles are numbered from 0, row by row."""

    tile: int


@dataclass(frozen=True, slots=True)
class QuantumFlip:
    """Lift two face-down neighbours, in reading order."""

    first: int
    second: int


@dataclass(frozen=True, slots=True)
class Keep:
    """Keep one of the two tiles of a Quantum Flip."""

    tile: int


@dataclass(frozen=True, slots=True)
class Drawn:
    """The values of the lifted tiles, in reading order, drawn by chance."""

    values: tuple[int, ...]


Action = Flip | QuantumFlip | Keep | Drawn


@dataclass(frozen=True, slots=True)
class Lifted(Event):
    """`seat` lifted one or two tiles; their values follow."""

    seat: Seat
    tiles: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Revealed(Event):
    """A Quantum Flip of `seat` showed the values of two tiles."""

    seat: Seat
    tiles: tuple[int, ...]
    values: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Scored(Event):
    """`seat` scored `value` with `tile`. `chosen` is true after a Quantum Flip. `tiles` is the new board."""

    seat: Seat
    tile: int
    value: int
    chosen: bool
    tiles: str
    scores: tuple[int, int]


@dataclass(frozen=True, slots=True)
class Ended(Event):
    """`seat` reached or exceeded the target with `score`."""

    seat: Seat
    score: int
    won: bool


@dataclass(frozen=True)
class QuantumTiles(OpenRules[State, Action]):
    """Flip tiles to reach `target` points exactly. A player who passes it loses."""

    # Coordinates and values are single digits.
    side: int = option(5, "rows and columns of the board", maximum=9)
    values: int = option(5, "the highest value of a tile", maximum=9)
    copies: int = option(5, "tiles of each value")
    target: int = option(21, "the points to reach exactly")

    game = GAME

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.values * self.copies != self.side**2:
            raise BadOption("'values' times 'copies' must equal the number of tiles, 'side' times 'side'.")
        # If both players can stay below the target with all tiles flipped, a match could have no winner.
        if self.points_in_bag <= 2 * (self.target - 1):
            raise BadOption(f"'target' {self.target} is too high: the {self.side**2} tiles could run out.")

    def initial(self) -> State:
        return State(UNKNOWN * self.side**2, (0, 0), (True, True), Seat.ONE)

    def actor(self, state: State) -> Actor | None:
        if max(state.scores) >= self.target:
            return None
        return CHANCE if state.lifted and not state.choosing else state.mover

    def actions(self, state: State) -> tuple[Action, ...]:
        if max(state.scores) >= self.target:
            return ()
        if state.choosing:
            return tuple(Keep(tile) for tile in state.lifted)
        if state.lifted:
            return self._list_draws(state)[0]
        is_down = [not tile.isdigit() for tile in state.tiles]
        flips, quantum_flips = _list_turns(self.side)
        allowed: tuple[Action, ...] = tuple(compress(flips, is_down))
        if state.quantum[state.mover - 1]:
            allowed += tuple(flip for flip in quantum_flips if is_down[flip.first] and is_down[flip.second])
        return allowed

    def odds(self, state: State) -> tuple[Fraction, ...]:
        if state.choosing or not state.lifted:
            return ()
        return self._list_draws(state)[1]

    @property
    def faces(self) -> tuple[str, ...]:
        """The characters of a tile in `State.tiles`: unknown, then flipped values, then shown values."""
        return UNKNOWN, *map(str, range(1, self.values + 1)), *SEEN_AS[: self.values]

    @property
    def points_in_bag(self) -> int:
        """The sum of all tiles."""
        return self.copies * sum(range(1, self.values + 1))

    def left_in_bag(self, tiles: str) -> tuple[int, ...]:
        """Return the number of unknown tiles of each value, from 1."""
        return tuple(
            self.copies - tiles.count(str(value)) - tiles.count(SEEN_AS[value - 1])
            for value in range(1, self.values + 1)
        )

    def value_of(self, tile: str) -> int | None:
        """Return the value of a tile, or None if it is unknown."""
        if tile == UNKNOWN:
            return None
        return int(tile) if tile.isdigit() else SEEN_AS.index(tile) + 1

    def _list_draws(self, state: State) -> tuple[tuple[Drawn, ...], tuple[Fraction, ...]]:
        lifted_values = tuple(self.value_of(state.tiles[tile]) for tile in state.lifted)
        return _list_draws_from(self.left_in_bag(state.tiles), lifted_values)

    def deal(self, rng: Random) -> tuple[int, ...]:
        """Return the value of every tile, in reading order."""
        bag = [value for value in range(1, self.values + 1) for _ in range(self.copies)]
        rng.shuffle(bag)
        return tuple(bag)

    def read_deal(self, deal: tuple[int, ...], drawn: Sequence[tuple[State, Action]], state: State) -> Drawn:
        board = list(deal)
        for node, outcome in drawn:
            assert isinstance(outcome, Drawn)
            unseen = [tile for tile, face in enumerate(node.tiles) if face == UNKNOWN]
            for tile, value in zip(node.lifted, outcome.values, strict=True):
                if board[tile] != value:
                    # A player entered this value by hand: swap it with the first unseen tile that has it.
                    source = next(i for i in unseen if board[i] == value)
                    board[source], board[tile] = board[tile], value
                if tile in unseen:
                    unseen.remove(tile)
        return Drawn(tuple(board[tile] for tile in state.lifted))

    def apply(self, state: State, action: Action) -> Step[State]:
        if isinstance(action, Drawn):
            return self._reveal(state, state.lifted, action.values, ())
        if isinstance(action, Keep):
            value = self.value_of(state.tiles[action.tile])
            assert value is not None
            return self._score(state, action.tile, value, True, ())
        lifted = (action.tile,) if isinstance(action, Flip) else (action.first, action.second)
        events = (Lifted(state.mover, lifted),)
        known = [self.value_of(state.tiles[tile]) for tile in lifted]
        if None in known:
            return Step(replace(state, lifted=lifted), events)
        # All tiles were shown before, so nothing is drawn.
        return self._reveal(state, lifted, tuple(value for value in known if value), events)

    def _reveal(
        self, state: State, lifted: tuple[int, ...], values: tuple[int, ...], events: tuple[Event, ...]
    ) -> Step[State]:
        if len(lifted) == 1:
            return self._score(state, lifted[0], values[0], False, events)
        tiles = state.tiles
        for tile, value in zip(lifted, values, strict=True):
            tiles = _replace_tile(tiles, tile, SEEN_AS[value - 1])
        successor = replace(state, tiles=tiles, lifted=lifted, choosing=True)
        return Step(successor, (*events, Revealed(state.mover, lifted, values)))

    def _score(
        self, state: State, tile: int, value: int, chosen: bool, events: tuple[Event, ...]
    ) -> Step[State]:
        mover = state.mover
        tiles = _replace_tile(state.tiles, tile, str(value))
        one, two = state.scores
        scores = (one + value, two) if mover is Seat.ONE else (one, two + value)
        quantum = state.quantum
        if chosen:
            quantum = (False, quantum[1]) if mover is Seat.ONE else (quantum[0], False)
        events += (Scored(mover, tile, value, chosen, tiles, scores),)
        score = scores[mover - 1]
        if score >= self.target:
            events += (Ended(mover, score, score == self.target),)
        return Step(State(tiles, scores, quantum, mover.other), events)

    def outcome(self, state: State) -> Outcome | None:
        for seat in Seat:
            score = state.scores[seat - 1]
            if score == self.target:
                reaches = verb(seat, "reaches", "reach")
                return Outcome.win(seat, say(seat, reaches, f"exactly {self.target} points."))
            if score > self.target:
                return Outcome.win(seat.other, say(whose(seat), f"total of {score} exceeds {self.target}."))
        return None

    def all_actions(self) -> tuple[Action, ...]:
        flips, quantum_flips = _list_turns(self.side)
        return (*flips, *quantum_flips, *map(Keep, range(self.side**2)))

    def all_outcomes(self) -> tuple[Action, ...]:
        values = range(1, self.values + 1)
        return (*(Drawn((a,)) for a in values), *(Drawn((a, b)) for a in values for b in values))

    def max_states(self) -> int:
        tiles = self.side**2
        faces = 2 * self.values + 1  # unknown, flipped, or shown and face down
        lifts = 1 + tiles + 2 * len(list_neighbours(self.side))
        # The flipped tiles determine the player to move and the sum of the scores.
        scores = self.target + self.values
        return int(faces**tiles * scores * len(Seat) ** 2 * lifts)

    def parse(self, text: str) -> Action:
        word = text.strip().lower()
        if re.fullmatch(r"[0-9](,[0-9])?", word):
            return Drawn(tuple(int(value) for value in word.split(",")))
        match = re.fullmatch(r"(keep\s+)?([a-z][0-9])(?:\+([a-z][0-9]))?", word)
        tiles = [self.tile_at(name) for name in match.groups()[1:] if name] if match else []
        if not match or None in tiles or (match[1] and len(tiles) == 2):
            raise NotationError(
                f"Cannot read {quote(text)}: write B2, D4+D5, keep D4, or the values drawn (4 or 2,5)."
            )
        if match[1]:
            return Keep(tiles[0] or 0)
        if len(tiles) == 1:
            return Flip(tiles[0] or 0)
        first, second = sorted(tile for tile in tiles if tile is not None)
        return QuantumFlip(first, second)

    def format(self, action: Action) -> str:
        if isinstance(action, Drawn):
            return ",".join(map(str, action.values))
        if isinstance(action, QuantumFlip):
            return f"{self.name_of(action.first)}+{self.name_of(action.second)}"
        return ("keep " if isinstance(action, Keep) else "") + self.name_of(action.tile)

    def name_of(self, tile: int) -> str:
        """Return the coordinate of a tile, such as B2."""
        row, column = divmod(tile, self.side)
        return f"{chr(ord('A') + row)}{column + 1}"

    def tile_at(self, name: str) -> int | None:
        """Return the tile at a coordinate in either case, or None."""
        match = re.fullmatch(r"([A-Z])([0-9])", name.strip().upper(), flags=re.ASCII)
        if not match:
            return None
        row, column = ord(match[1]) - ord("A"), int(match[2]) - 1
        return row * self.side + column if row < self.side and 0 <= column < self.side else None

    def parse_state(self, text: str) -> State:
        example = "...../.4.../..5../...2e/..... 6,5 01 2"
        board, scores, quantum, mover, *lifted = split_fields(text, 4, 5, example)
        tiles = board.lower().replace("/", "")
        if [len(row) for row in board.split("/")] != [self.side] * self.side or set(tiles) - set(self.faces):
            raise NotationError(
                f"Cannot read the board in {quote(text)}: {self.side} rows of {self.side}, each tile "
                f"., 1 to {self.values}, or {SEEN_AS[0]} to {SEEN_AS[self.values - 1]}."
            )
        if min(self.left_in_bag(tiles)) < 0:
            raise NotationError(
                f"Cannot read {quote(text)}: the bag holds {self.copies} tiles of each value."
            )
        points = [parse_whole_number(score) for score in scores.split(",")]
        flipped = sum(int(tile) for tile in tiles if tile.isdigit())
        if len(points) != 2 or points[0] is None or points[1] is None or sum(filter(None, points)) != flipped:
            raise NotationError(
                f"Cannot read the scores in {quote(text)}: two numbers like 6,5 "
                f"that add up to the flipped tiles ({flipped})."
            )
        if not re.fullmatch(r"[01]{2}", quantum):
            raise NotationError(f"Cannot read the Quantum Flips left in {quote(text)}: 11, 10, 01 or 00.")
        state = State(
            tiles, (points[0], points[1]), (quantum[0] == "1", quantum[1] == "1"), parse_seat(mover, text)
        )
        state = self._parse_lifted(state, lifted[0], text) if lifted else state
        # Each Quantum Flip used leaves one shown tile face down; one in progress shows two more.
        left_down = sum(tile.isalpha() for i, tile in enumerate(tiles) if i not in state.lifted)
        if left_down > state.quantum.count(False):
            raise NotationError(
                f"Cannot read {quote(text)}: more tiles are shown and face down ({left_down}) "
                f"than Quantum Flips are used ({state.quantum.count(False)})."
            )
        return state

    def _parse_lifted(self, state: State, text: str, line: str) -> State:
        """Parse the lifted tiles: `B2`, `D4+D5`, or `D4|D5` once both are shown."""
        choosing = "|" in text
        try:
            action = self.parse(text.replace("|", "+"))
        except NotationError:
            action = None
        why = "write B2, D4+D5, or D4|D5 once both have been shown"
        if isinstance(action, Flip | QuantumFlip):
            lifted = (action.tile,) if isinstance(action, Flip) else (action.first, action.second)
            all_seen = UNKNOWN not in (state.tiles[tile] for tile in lifted)
            if action in self.actions(state) and all_seen == choosing:
                return replace(state, lifted=lifted, choosing=choosing)
            why = self._explain_lifted(state, lifted, choosing)
        raise NotationError(f"Cannot read the tiles being turned, {quote(text)}, in {quote(line)}: {why}.")

    def _explain_lifted(self, state: State, lifted: tuple[int, ...], choosing: bool) -> str:
        if self.outcome(state):
            return "the match is over"
        if any(state.tiles[tile].isdigit() for tile in lifted):
            return "they must be face down"
        if len(lifted) == 2 and not state.quantum[state.mover - 1]:
            return (
                f"while they are turned, {state.mover.label} still counts as having the Quantum Flip (11, or "
                f"{'10' if state.mover is Seat.ONE else '01'})"
            )
        if len(lifted) == 2 and lifted not in list_neighbours(self.side):
            return "they must be neighbours"
        if choosing:
            return "to keep one of two, both must have been shown (a to e on the board)"
        return "a tile that has been shown already is not drawn by chance" + (
            ": once both are shown, write | between them" if len(lifted) == 2 else ""
        )

    def format_state(self, state: State) -> str:
        rows = (state.tiles[i : i + self.side] for i in range(0, self.side**2, self.side))
        quantum = "".join("1" if left else "0" for left in state.quantum)
        line = f"{'/'.join(rows)} {state.scores[0]},{state.scores[1]} {quantum} {state.mover.value}"
        if state.lifted:
            line += " " + ("|" if state.choosing else "+").join(map(self.name_of, state.lifted))
        return line


@lru_cache
def list_neighbours(side: int) -> tuple[tuple[int, int], ...]:
    """Return every pair of tiles that share an edge, in reading order."""
    pairs = []
    for tile in range(side**2):
        if (tile + 1) % side:
            pairs.append((tile, tile + 1))
        if tile + side < side**2:
            pairs.append((tile, tile + side))
    return tuple(pairs)


@lru_cache
def _list_turns(side: int) -> tuple[tuple[Flip, ...], tuple[QuantumFlip, ...]]:
    return tuple(map(Flip, range(side**2))), tuple(QuantumFlip(a, b) for a, b in list_neighbours(side))


@lru_cache(maxsize=10_000)
def _list_draws_from(
    bag: tuple[int, ...], known_values: tuple[int | None, ...]
) -> tuple[tuple[Drawn, ...], tuple[Fraction, ...]]:
    """Return the possible values of the lifted tiles, and their probabilities.

    `bag` counts the unknown tiles of each value. `known_values` has None for each unknown tile.
    """
    draws, odds = [], []
    choices = [range(1, len(bag) + 1) if value is None else (value,) for value in known_values]
    for values in product(*choices):
        drawn = [value for value, known in zip(values, known_values, strict=True) if known is None]
        weight = prod(bag[value - 1] - drawn[:i].count(value) for i, value in enumerate(drawn))
        if weight:
            draws.append(Drawn(values))
            odds.append(Fraction(weight, perm(sum(bag), len(drawn))))
    return tuple(draws), tuple(odds)


def _replace_tile(tiles: str, index: int, tile: str) -> str:
    return tiles[:index] + tile + tiles[index + 1 :]


RULES = QuantumTiles
