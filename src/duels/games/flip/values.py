"""Values of the abstract game (`abstraction.py`), and how long it can last, one state at a time.

Functions that take `Tables` are in the subset of Python that Numba compiles. Players run them as they are;
`quick.py` compiles them.
"""

from array import array
from typing import Any, NamedTuple

from duels.games.flip.abstraction import MOST_NEAR, Abstraction, evaluate_turn
from duels.games.flip.grid import Grid, make_grid
from duels.games.flip.table import SCALE

NEVER = 15
"""As a number of turns: the Quantum Flip is not lost."""
MOVER = 1
NOT_STORED = -1_000_000
SLOTS = 262_139  # a prime number: results share a slot by chance alone

MINE, THEIRS, WITHOUT, LOST, SEEN, SEEN_TOO, LEAVES = range(7)
START, POINTS, FLIPPED = range(3)
VALUE_KEY, TURNS_KEY, CHANCE_KEY, BOUND_KEY = range(4)


class Tables(NamedTuple):
    """What values and bounds look up: tuples, a dictionary and a list, or arrays for compiled code."""

    values: int
    copies: int
    target: int
    stored: int
    """How many rows are stored."""
    size: int
    """How long they are."""
    high: int
    low: int
    rows: Any
    """[row] whether the mover holds the Quantum Flip, whether the other does, the row without the one and
    without the other, the values of two seen tiles (0: none), and the number of leaves."""
    leaves: Any
    terms: Any
    """[row] as in `Turn`."""
    none: Any
    """[value][value] the row without Quantum Flips, by the seen tiles; 0: none."""
    one: Any
    """[whether the mover holds it][value of the seen tile][its unknown neighbours] the row with one."""
    codes: Any
    """[code of what is flipped] where its scores start in a row, or NOT_STORED, the points, how many
    tiles of each value, and the code with one more of each value (-1: there is none)."""
    after: int
    """Where the codes with one more tile are, less 1."""
    numbers: Any
    """Stored values."""
    memory: Any
    """[slot] a key and two numbers: what was worked out last."""
    narrowed: Any
    """Intervals that were narrowed by looking ahead; not for compiled code."""
    grid: Grid


def make_tables(abstraction: Abstraction, numbers: "array[int]", side: int) -> Tables:
    """Return the tables for a board with so many tiles on a side."""
    places, faces = abstraction.places, range(abstraction.values + 1)
    index, none = abstraction.index, abstraction.none
    rows = [
        (
            *(int(abstraction.held(number, mover)) for mover in (True, False)),
            *(abstraction.without(number, mover) for mover in (True, False)),
            *(*row.seen, 0, 0)[:2],
            len(turn.leaves),
        )
        for number, (row, turn) in enumerate(zip(abstraction.rows, abstraction.turns, strict=True))
    ]
    one = [
        [[index[kind, (s, near if s else 0)] for near in range(MOST_NEAR + 2)] for s in faces]
        for kind in ("theirs", "mine")
    ]
    codes = {
        code: (
            places.start.get(code, NOT_STORED),
            places.points[code],
            *flipped,
            # A code with more tiles of a value than there are stands for other tiles.
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
    """Keep what was worked out."""
    t.memory[key % SLOTS] = (key, low, high)


def count_bag(t: Tables, code: int, one: int, two: int) -> list[int]:
    """Return how many tiles of each value are unknown, if those seen have the values `one` and `two`."""
    line = t.codes[code]
    return [t.copies - line[FLIPPED - 1 + v] - (one == v) - (two == v) for v in range(1, t.values + 1)]


def flip_value(t: Tables, code: int, value: int) -> int:
    """Return the code with one more tile of a value, or -1."""
    after: int = t.codes[code][t.after + value]
    return after


# -- values --------------------------------------------------------------------------------------------


def get_value(t: Tables, row: int, code: int, score: int) -> float:
    """Return the value of `row` to a mover with `score`, when `code` has been flipped."""
    return get_value_until(t, row, code, score, NEVER, MOVER)


def get_value_until(t: Tables, row: int, code: int, score: int, turns: int, holder: int) -> float:
    """Return the value to the mover if the holder, the MOVER or not, loses the Quantum Flip after `turns`.

    These are turns of the holder, the current one included if it is theirs.
    """
    row, turns = lose_quantum(t, row, turns, holder)
    value = recall_value(t, row, code, score, turns, holder)
    return value if value >= 0 else work_out_value(t, row, code, score, turns, holder)


def lose_quantum(t: Tables, row: int, turns: int, holder: int) -> tuple[int, int]:
    """Return the row and the turns left, once the holder has to do without the Quantum Flip."""
    if holder == MOVER and turns == 0:
        return t.rows[row][WITHOUT], NEVER
    return row, turns


def value_key(row: int, code: int, score: int, turns: int, holder: int) -> int:
    return ((((code * 256 + row) * 256 + score) * 16 + turns) * 2 + holder) * 4 + VALUE_KEY


def recall_value(t: Tables, row: int, code: int, score: int, turns: int, holder: int) -> float:
    """Return a value that is stored or remembered, or -1."""
    start = t.codes[code][START]
    if turns == NEVER and start != NOT_STORED and row < t.stored:
        stored: float = t.numbers[row * t.size + start + score] / SCALE
        return stored
    key = value_key(row, code, score, turns, holder)
    entry = t.memory[key % SLOTS]
    return entry[1] if entry[0] == key else -1.0


def work_out_value(t: Tables, row: int, code: int, score: int, turns: int, holder: int) -> float:
    """Return a value by the recurrence.

    This is a recursion on a stack of its own: Numba cannot keep compiled recursion for the next time.
    """
    states, all_gains = [(row, code, score, turns, holder)], [[0.0] * 0]
    value = 0.0
    while len(states):
        row, code, score, turns, holder = states[-1]
        gains, line, leaves = all_gains[-1], t.codes[code], t.leaves[row]
        for number in range(len(gains), t.rows[row][LEAVES]):
            total, left, after = (
                score + leaves[number][0],
                leaves[number][1],
                line[leaves[number][0] + t.after],
            )
            if total >= t.target or after < 0:  # what cannot come up has no weight, whatever its value
                gains.append(1.0 if total == t.target else 0.0)
                continue
            rest, who = NEVER, MOVER
            if turns != NEVER and t.rows[left][holder]:
                rest, who = turns - holder, 1 - holder
                left, rest = lose_quantum(t, left, rest, who)
            value = recall_value(t, left, after, line[POINTS] - score, rest, who)
            if value < 0:
                states.append((left, after, line[POINTS] - score, rest, who))
                all_gains.append([0.0] * 0)
                break
            gains.append(1 - value)
        else:
            bag = count_bag(t, code, t.rows[row][SEEN], t.rows[row][SEEN_TOO])
            value = evaluate_turn(t.terms[row], bag, gains, max)
            remember(t, value_key(row, code, score, turns, holder), value, 0.0)
            states.pop()
            all_gains.pop()
            if len(states):
                all_gains[-1].append(1 - value)
    return value


# -- how long a match can last -----------------------------------------------------------------------------


def most_turns(t: Tables, code: int, score: int, mover: bool) -> int:
    """Return the most turns, with this one, that the mover or the other can have: by the smallest tiles."""
    key = ((code * 256 + score) * 2 + int(mover)) * 4 + TURNS_KEY
    entry = t.memory[key % SLOTS]
    if entry[0] == key:
        return int(entry[1])
    left, rest = t.target - 1 - score, t.target - 1 - (t.codes[code][POINTS] - score)
    sums = [0]
    for v in range(1, t.values + 1):
        for _ in range(t.copies - t.codes[code][FLIPPED + v - 1]):
            sums.append(sums[-1] + v)
    one, two = 1, int(mover)  # the tiles that both must have flipped before one more turn
    while (
        one + two < len(sums) and sums[one + two] <= left + rest and sums[one] <= left and sums[two] <= rest
    ):
        one += 1
        two += 1
    remember(t, key, float(two), 0.0)
    return two


def chance_to_last(t: Tables, code: int, seen: int, flips: int, spared: int) -> float:
    """Bound the chance that `flips` more tiles leave both scores below the target, whoever does what.

    Whatever is turned over, unknown values come up in an order that nobody can influence. Of the first of
    them, `spared` (by Quantum Flips) and the seen tile (its value, or 0) the players may take the smallest
    `flips`, no fewer.
    """
    key = (((code * 16 + seen) * 128 + flips) * 2 + spared) * 4 + CHANCE_KEY
    entry = t.memory[key % SLOTS]
    if entry[0] == key:
        known: float = entry[1]
        return known
    bag = count_bag(t, code, seen, 0)
    tiles = 0
    for count in bag:
        tiles += count
    shown = min(flips + spared, tiles)
    # In how many ways so many tiles are still to be shown and to be taken, with so much room.
    ways = [(1, shown, flips, 2 * (t.target - 1) - t.codes[code][POINTS])]
    for v in range(1, t.values + 1):
        longer = []
        for times, left, wanted, room in ways:
            if wanted * v > room:
                continue
            for count in range(min(left, bag[v - 1]) + 1):
                used = max(0, min(wanted, count + (seen == v)))
                longer.append((times, left - count, wanted - used, room - used * v))
                times = times * (bag[v - 1] - count) // (count + 1)
        ways = longer
    lasting, every = 0, 1
    for times, left, wanted, room in ways:
        if left == 0 and wanted <= 0 <= room:
            lasting += times
    for k in range(shown):
        every = every * (tiles - k) // (k + 1)
    remember(t, key, lasting / every, 0.0)
    return lasting / every
