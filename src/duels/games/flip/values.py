"""Values of single states of the abstraction, and bounds on the length of a match.

Functions that take `Tables` use the subset of Python that Numba compiles. Players run them uncompiled; the
environments compile them for levels.
"""

from array import array
from typing import Any, NamedTuple

from duels.games.flip.abstraction import MAX_NEAR, SCALE, Abstraction, evaluate_turn
from duels.games.flip.grid import Grid, make_grid

NEVER = 15
"""A number of turns that means: the holder does not lose the Quantum Flip."""
MOVER = 1
NOT_STORED = -1_000_000
SLOTS = 262_139  # a prime number, so that keys spread evenly

MY_QUANTUM, THEIR_QUANTUM, WITHOUT_MY_QUANTUM, WITHOUT_THEIR_QUANTUM, SEEN, SECOND_SEEN, LEAVES = range(7)
START, POINTS, FLIPPED = range(3)
VALUE_KEY, TURNS_KEY, CHANCE_KEY, BOUND_KEY = range(4)


class Tables(NamedTuple):
    """The data for values and bounds: Python containers, or arrays for compiled code."""

    values: int
    copies: int
    target: int
    stored_rows: int
    row_size: int
    high_row: int
    low_row: int
    rows: Any
    """For each row: whether the mover and the opponent have a Quantum Flip, the rows without the mover's and
    without the opponent's, the values of two seen tiles (0: none), and the number of leaves."""
    leaves: Any
    terms: Any
    """For each row, the fields of its `Turn`."""
    nobody_rows: Any
    """The rows in which nobody has a Quantum Flip, indexed by the values of two seen tiles (0: none)."""
    holder_rows: Any
    """The rows with one holder, indexed [1 if the mover is the holder else 0, seen value, near]."""
    codes: Any
    """For each code of flipped tiles: its `Layout.starts` or NOT_STORED, the points, the number of tiles of
    each value, and the code with one more tile of each value (-1: none)."""
    next_code_column: int
    """Add a value to get the column of the code with one more tile of that value."""
    stored_values: Any
    memo: Any
    """A hash table: a key and two numbers in each slot."""
    look_ahead_cache: Any
    """A cache of intervals from look-ahead. Compiled code does not use it."""
    grid: Grid


def make_tables(abstraction: Abstraction, stored_values: "array[int] | array[float]", side: int) -> Tables:
    """Return the tables for a board of `side` by `side` tiles."""
    layout, seen_values = abstraction.layout, range(abstraction.values + 1)  # 0: no tile is seen
    index, get_row = abstraction.row_index, abstraction.get_row_without_quantum
    rows = [
        (
            *(int(abstraction.has_quantum(i, mover)) for mover in (True, False)),
            *(abstraction.drop_quantum(i, mover) for mover in (True, False)),
            *(*row.seen, 0, 0)[:2],
            len(turn.leaves),
        )
        for i, (row, turn) in enumerate(zip(abstraction.rows, abstraction.turns, strict=True))
    ]
    holder_rows = [
        [[index[holder, (s, near if s else 0)] for near in range(MAX_NEAR + 2)] for s in seen_values]
        for holder in ("opponent", "mover")
    ]
    codes = {
        code: (
            layout.starts.get(code, NOT_STORED),
            layout.points[code],
            *flipped,
            # A code with too many tiles of one value would collide with another code.
            *(
                code + unit if count < abstraction.copies and code + unit in layout.flipped else -1
                for unit, count in zip(layout.units, flipped, strict=True)
            ),
        )
        for code, flipped in layout.flipped.items()
    }
    return Tables(
        abstraction.values,
        abstraction.copies,
        abstraction.target,
        abstraction.stored_rows,
        layout.row_size,
        index["high", ()],
        index["low", ()],
        tuple(rows),
        tuple(turn.leaves for turn in abstraction.turns),
        tuple(turn.terms for turn in abstraction.turns),
        [[get_row(tuple(v for v in (a, b) if v)) for b in seen_values] for a in seen_values],
        holder_rows,
        codes,
        FLIPPED + abstraction.values - 1,
        stored_values,
        [(-1, 0.0, 0.0)] * SLOTS,
        {},
        make_grid(side),
    )


def remember(t: Tables, key: int, low: float, high: float) -> None:
    """Store the bounds of a key in its slot, in place of an earlier key."""
    t.memo[key % SLOTS] = (key, low, high)


def count_bag(t: Tables, code: int, one: int, two: int) -> list[int]:
    """Return the number of unknown tiles of each value, given the values of two seen tiles."""
    line = t.codes[code]
    return [t.copies - line[FLIPPED - 1 + v] - (one == v) - (two == v) for v in range(1, t.values + 1)]


def flip_value(t: Tables, code: int, value: int) -> int:
    """Return the code with one more tile of a value, or -1."""
    next_code: int = t.codes[code][t.next_code_column + value]
    return next_code


def get_value(t: Tables, row: int, code: int, score: int) -> float:
    """Return the mover's value in `row`, with `score` points and the flipped tiles in `code`."""
    return get_value_until(t, row, code, score, NEVER, MOVER)


def get_value_until(t: Tables, row: int, code: int, score: int, turns: int, holder: int) -> float:
    """Return the mover's value if the holder (MOVER or 0) loses the Quantum Flip after `turns` turns.

    `turns` counts the holder's turns, including the current one if the holder moves.
    """
    row, turns = drop_lost_quantum(t, row, turns, holder)
    value = recall_value(t, row, code, score, turns, holder)
    return value if value >= 0 else compute_value(t, row, code, score, turns, holder)


def drop_lost_quantum(t: Tables, row: int, turns: int, holder: int) -> tuple[int, int]:
    """Return the row and the turns, without the mover's Quantum Flip if no turns are left."""
    if holder == MOVER and turns == 0:
        return t.rows[row][WITHOUT_MY_QUANTUM], NEVER
    return row, turns


def make_value_key(row: int, code: int, score: int, turns: int, holder: int) -> int:
    """Return a number unique to these arguments. The last two bits tell kinds of keys apart."""
    return ((((code * 256 + row) * 256 + score) * 16 + turns) * 2 + holder) * 4 + VALUE_KEY


def recall_value(t: Tables, row: int, code: int, score: int, turns: int, holder: int) -> float:
    """Return the stored or memoized value, or -1."""
    start = t.codes[code][START]
    if turns == NEVER and start != NOT_STORED and row < t.stored_rows:
        stored: float = t.stored_values[row * t.row_size + start + score] / SCALE
        return stored
    key = make_value_key(row, code, score, turns, holder)
    entry = t.memo[key % SLOTS]
    return entry[1] if entry[0] == key else -1.0


def compute_value(t: Tables, row: int, code: int, score: int, turns: int, holder: int) -> float:
    """Return the same value as `get_value_until` by backward induction, without looking it up.

    The recursion uses an explicit stack, because Numba cannot cache compiled recursion.
    """
    states, all_gains = [(row, code, score, turns, holder)], [[0.0] * 0]
    value = 0.0
    while len(states):
        row, code, score, turns, holder = states[-1]
        gains, line, leaves = all_gains[-1], t.codes[code], t.leaves[row]
        for leaf in range(len(gains), t.rows[row][LEAVES]):
            points, next_row = leaves[leaf][0], leaves[leaf][1]
            total, next_code = score + points, line[points + t.next_code_column]
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
    entry = t.memo[key % SLOTS]
    if entry[0] == key:
        return int(entry[1])
    room = t.target - 1 - score
    other_room = t.target - 1 - (t.codes[code][POINTS] - score)
    sums = [0]
    for v in range(1, t.values + 1):
        for _ in range(t.copies - t.codes[code][FLIPPED + v - 1]):
            sums.append(sums[-1] + v)
    flips, other_flips = 1, int(mover)  # the tiles that each player flips before the next turn
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

    Players cannot influence the order of unknown values. At best, they score the `flips` smallest among the
    next `flips` + `spared` values and `seen` (the value of the seen tile, or 0). Quantum Flips spare tiles.
    """
    key = (((code * 16 + seen) * 128 + flips) * 2 + spared) * 4 + CHANCE_KEY
    entry = t.memo[key % SLOTS]
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
