"""Values of single states of the abstraction, and bounds on the length of a match.

Functions that take `Tables` use the subset of Python that Numba compiles. Players run them uncompiled;
`quick.py` compiles them.
"""

from array import array
from typing import Any, NamedTuple

from duels.games.flip.abstraction import MAX_NEAR, Abstraction, evaluate_turn
from duels.games.flip.grid import Grid, make_grid
from duels.games.flip.table import SCALE

NEVER = 15
"""As a number of turns: the holder does not lose the Quantum Flip."""
MOVER = 1
NOT_STORED = -1_000_000
SLOTS = 262_139  # a prime number, so that keys spread evenly

MINE, THEIRS, WITHOUT_MINE, WITHOUT_THEIRS, SEEN, SECOND_SEEN, LEAVES = range(7)
START, POINTS, FLIPPED = range(3)
VALUE_KEY, TURNS_KEY, CHANCE_KEY, BOUND_KEY = range(4)


class Tables(NamedTuple):
    """The tables that values and bounds read: Python containers, or arrays for compiled code."""

    values: int
    copies: int
    target: int
    stored: int
    """The number of stored rows."""
    size: int
    """The length of a stored row."""
    high: int
    low: int
    rows: Any
    """Per row: whether the mover and the opponent hold a Quantum Flip, the rows without the mover's and
    without the opponent's, the values of two seen tiles (0: none), and the number of leaves."""
    leaves: Any
    terms: Any
    """Per row: as in `Turn`."""
    none: Any
    """Rows without Quantum Flips, indexed by the values of the two seen tiles (0: none)."""
    one: Any
    """Rows with one Quantum Flip, indexed [1 mover or 0 opponent, seen value, unknown neighbours of it]."""
    codes: Any
    """Per code of the flipped tiles: the start of its scores in a row or NOT_STORED, the points, the number
    of tiles of each value, and the code with one more tile of each value (-1: none)."""
    after: int
    """The column of the codes with one more tile, minus 1."""
    numbers: Any
    """The stored values."""
    memory: Any
    """The memo: a key and two numbers per slot."""
    look_ahead_cache: Any
    """A cache of intervals from look-ahead. Compiled code does not use it."""
    grid: Grid


def make_tables(abstraction: Abstraction, numbers: "array[int]", side: int) -> Tables:
    """Return the tables for a board of `side` by `side` tiles."""
    places, faces = abstraction.places, range(abstraction.values + 1)
    index, none = abstraction.index, abstraction.none
    rows = [
        (
            *(int(abstraction.has_quantum(i, mover)) for mover in (True, False)),
            *(abstraction.drop_quantum(i, mover) for mover in (True, False)),
            *(*row.seen, 0, 0)[:2],
            len(turn.leaves),
        )
        for i, (row, turn) in enumerate(zip(abstraction.rows, abstraction.turns, strict=True))
    ]
    one = [
        [[index[kind, (s, near if s else 0)] for near in range(MAX_NEAR + 2)] for s in faces]
        for kind in ("theirs", "mine")
    ]
    codes = {
        code: (
            places.start.get(code, NOT_STORED),
            places.points[code],
            *flipped,
            # A code with too many tiles of one value would collide with another code.
            *(
                code + unit if count < abstraction.copies and code + unit in places.flipped else -1
                for unit, count in zip(places.unit, flipped, strict=True)
            ),
        )
        for code, flipped in places.flipped.items()
    }
    return Tables(
        abstraction.values,
        abstraction.copies,
        abstraction.target,
        abstraction.stored_rows,
        places.size,
        index["high", ()],
        index["low", ()],
        tuple(rows),
        tuple(turn.leaves for turn in abstraction.turns),
        tuple(turn.terms for turn in abstraction.turns),
        [[none(tuple(v for v in (a, b) if v)) for b in faces] for a in faces],
        one,
        codes,
        FLIPPED + abstraction.values - 1,
        numbers,
        [(-1, 0.0, 0.0)] * SLOTS,
        {},
        make_grid(side),
    )


def remember(t: Tables, key: int, low: float, high: float) -> None:
    t.memory[key % SLOTS] = (key, low, high)


def count_bag(t: Tables, code: int, one: int, two: int) -> list[int]:
    """Return the number of unknown tiles of each value, given the values of two seen tiles."""
    line = t.codes[code]
    return [t.copies - line[FLIPPED - 1 + v] - (one == v) - (two == v) for v in range(1, t.values + 1)]


def flip_value(t: Tables, code: int, value: int) -> int:
    """Return the code with one more tile of a value, or -1."""
    next_code: int = t.codes[code][t.after + value]
    return next_code


def get_value(t: Tables, row: int, code: int, score: int) -> float:
    """Return the value of `row` to a mover with `score` after the flips in `code`."""
    return get_value_until(t, row, code, score, NEVER, MOVER)


def get_value_until(t: Tables, row: int, code: int, score: int, turns: int, holder: int) -> float:
    """Return the value to the mover if the holder (MOVER or 0) loses the Quantum Flip after `turns`.

    `turns` counts the holder's turns, including the current one if the holder moves.
    """
    row, turns = drop_lost_quantum(t, row, turns, holder)
    value = recall_value(t, row, code, score, turns, holder)
    return value if value >= 0 else compute_value(t, row, code, score, turns, holder)


def drop_lost_quantum(t: Tables, row: int, turns: int, holder: int) -> tuple[int, int]:
    """Return the row and turns, without the Quantum Flip if no turns are left."""
    if holder == MOVER and turns == 0:
        return t.rows[row][WITHOUT_MINE], NEVER
    return row, turns


def make_value_key(row: int, code: int, score: int, turns: int, holder: int) -> int:
    return ((((code * 256 + row) * 256 + score) * 16 + turns) * 2 + holder) * 4 + VALUE_KEY


def recall_value(t: Tables, row: int, code: int, score: int, turns: int, holder: int) -> float:
    """Return the stored or memoized value, or -1."""
    start = t.codes[code][START]
    if turns == NEVER and start != NOT_STORED and row < t.stored:
        stored: float = t.numbers[row * t.size + start + score] / SCALE
        return stored
    key = make_value_key(row, code, score, turns, holder)
    entry = t.memory[key % SLOTS]
    return entry[1] if entry[0] == key else -1.0


def compute_value(t: Tables, row: int, code: int, score: int, turns: int, holder: int) -> float:
    """Return a value by backward induction.

    The recursion uses an explicit stack, because Numba cannot cache compiled recursion.
    """
    states, all_gains = [(row, code, score, turns, holder)], [[0.0] * 0]
    value = 0.0
    while len(states):
        row, code, score, turns, holder = states[-1]
        gains, line, leaves = all_gains[-1], t.codes[code], t.leaves[row]
        for leaf in range(len(gains), t.rows[row][LEAVES]):
            points, next_row = leaves[leaf][0], leaves[leaf][1]
            total, next_code = score + points, line[points + t.after]
            if total >= t.target or next_code < 0:  # impossible outcomes have weight 0
                gains.append(1.0 if total == t.target else 0.0)
                continue
            next_turns, next_holder = NEVER, MOVER
            if turns != NEVER and t.rows[next_row][holder]:
                next_turns, next_holder = turns - holder, 1 - holder
                next_row, next_turns = drop_lost_quantum(t, next_row, next_turns, next_holder)
            value = recall_value(t, next_row, next_code, line[POINTS] - score, next_turns, next_holder)
            if value < 0:
                states.append((next_row, next_code, line[POINTS] - score, next_turns, next_holder))
                all_gains.append([0.0] * 0)
                break
            gains.append(1 - value)
        else:
            bag = count_bag(t, code, t.rows[row][SEEN], t.rows[row][SECOND_SEEN])
            value = evaluate_turn(t.terms[row], bag, gains, max)
            remember(t, make_value_key(row, code, score, turns, holder), value, 0.0)
            states.pop()
            all_gains.pop()
            if len(states):
                all_gains[-1].append(1 - value)
    return value


def count_max_turns(t: Tables, code: int, score: int, mover: bool) -> int:
    """Return the maximum number of turns, including this one, of the mover or the opponent."""
    key = ((code * 256 + score) * 2 + int(mover)) * 4 + TURNS_KEY
    entry = t.memory[key % SLOTS]
    if entry[0] == key:
        return int(entry[1])
    room = t.target - 1 - score
    other_room = t.target - 1 - (t.codes[code][POINTS] - score)
    sums = [0]
    for v in range(1, t.values + 1):
        for _ in range(t.copies - t.codes[code][FLIPPED + v - 1]):
            sums.append(sums[-1] + v)
    flips, other_flips = 1, int(mover)  # the tiles that each player flips before one more turn
    while (
        flips + other_flips < len(sums)
        and sums[flips + other_flips] <= room + other_room
        and sums[flips] <= room
        and sums[other_flips] <= other_room
    ):
        flips += 1
        other_flips += 1
    remember(t, key, float(other_flips), 0.0)
    return other_flips


def bound_lasting_chance(t: Tables, code: int, seen: int, flips: int, spared: int) -> float:
    """Return an upper bound on the chance that both scores stay below the target for `flips` more tiles.

    Players cannot influence the order of unknown values. At best, they take the smallest `flips` of the next
    `flips` + `spared` values (Quantum Flips spare some) and the seen tile (its value, or 0).
    """
    key = (((code * 16 + seen) * 128 + flips) * 2 + spared) * 4 + CHANCE_KEY
    entry = t.memory[key % SLOTS]
    if entry[0] == key:
        chance: float = entry[1]
        return chance
    bag = count_bag(t, code, seen, 0)
    tiles = 0
    for count in bag:
        tiles += count
    drawn = min(flips + spared, tiles)
    # Each case: its multiplicity, the tiles still to be drawn and taken, and the points left.
    cases = [(1, drawn, flips, 2 * (t.target - 1) - t.codes[code][POINTS])]
    for v in range(1, t.values + 1):
        extended = []
        for multiplicity, to_draw, to_take, points_left in cases:
            if to_take * v > points_left:
                continue
            for count in range(min(to_draw, bag[v - 1]) + 1):
                used = max(0, min(to_take, count + (seen == v)))
                extended.append((multiplicity, to_draw - count, to_take - used, points_left - used * v))
                multiplicity = multiplicity * (bag[v - 1] - count) // (count + 1)
        cases = extended
    lasting_count, total_count = 0, 1
    for multiplicity, to_draw, to_take, points_left in cases:
        if to_draw == 0 and to_take <= 0 <= points_left:
            lasting_count += multiplicity
    for k in range(drawn):
        total_count = total_count * (tiles - k) // (k + 1)
    remember(t, key, lasting_count / total_count, 0.0)
    return lasting_count / total_count
