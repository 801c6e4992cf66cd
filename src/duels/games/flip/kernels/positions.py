"""Proven intervals for flip's positions, compiled: `Bounds` without looking ahead once more."""

from typing import Any

from duels.games.flip.abstraction import MOST_NEAR
from duels.games.flip.bounds import AFFORDABLE, ENOUGH
from duels.games.flip.kernels.lasting import chance_to_last, most_turns, sure_turns
from duels.games.flip.kernels.lookup import (
    HIGH,
    LOW,
    MINE_ROW,
    NO,
    NUMBER,
    POINTS,
    START,
    TARGET,
    THEIR_ROW,
    UNIT,
    YES,
    ZERO,
    integer_at,
    none_row,
    value_at,
)
from duels.games.flip.kernels.shapes import NO_SHAPE, Shape, find_shape
from duels.games.flip.kernels.value_until import value_until
from duels.games.flip.table import ROUNDING
from duels.solving.compiling import inner


@inner
def before_turn(
    tables: Any,
    unknown: int,
    code: int,
    score: int,
    mine: bool,
    theirs: bool,
    count: int,
    seen: int,
    values: tuple[int, int],
) -> Any:
    """The interval of a position before a turn, and whether it is known; `seen` is one of `count` tiles."""
    if count > 2 or (count > 1 and (mine or theirs)) or (count and mine and theirs):
        return 0.0, 1.0, False
    shape = find_shape(tables, unknown, seen) if mine or theirs else NO_SHAPE
    return _interval(tables, integer_at(tables, NUMBER, code), score, values, mine, theirs, shape)


@inner
def _interval(
    tables: Any, code: int, score: int, seen: tuple[int, int], mine: bool, theirs: bool, shape: Shape
) -> Any:
    """The interval of a position to its mover, and whether it is known; `seen` are values, 0: none."""
    if not mine and not theirs:
        place = integer_at(tables, START, code) + score
        low = high = value_at(tables, none_row(tables, seen[0], seen[1]), place)
        return max(0.0, low - ROUNDING), min(1.0, high + ROUNDING), True
    if shape[2] > MOST_NEAR:
        return 0.0, 1.0, False
    s = seen[0] if seen[0] else seen[1]
    low, high = _estimate(tables, code, score, s, mine, theirs, shape, NO)
    if high - low > ENOUGH:
        low, high = _estimate(tables, code, score, s, mine, theirs, shape, YES)
    return max(0.0, low - ROUNDING), min(1.0, high + ROUNDING), True


@inner
def _estimate(
    tables: Any, code: int, score: int, s: int, mine: bool, theirs: bool, shape: Shape, patient: bool
) -> Any:
    """`Bounds._estimate` with a Quantum Flip left; `s` is the value of the seen tile, 0: none."""
    pairs, spare, near, far_pairs, far_spare = shape
    place, both = integer_at(tables, START, code) + score, mine and theirs
    part, none = MINE_ROW if mine else THEIR_ROW, none_row(tables, ZERO, s)
    beside = integer_at(tables, part, s * (MOST_NEAR + 1) + near)
    least, other = 0.0, 0.0
    # Both holders in turn; or the one holder, who can count on the seen tile's neighbours or not.
    for way in range(2):
        if both:
            row = tables[0][HIGH] if way else tables[0][LOW]
            without = integer_at(tables, MINE_ROW, ZERO) if way else integer_at(tables, THEIR_ROW, ZERO)
            mover, kept = way == 0, (pairs, spare)
        else:
            row, without = beside if way else integer_at(tables, part, s * (MOST_NEAR + 1)), none
            mover, kept = mine, (far_pairs, far_spare) if way else (pairs, spare)
        if both or way == 0 or near:
            found = _secured(tables, (row, without), code, score, s, kept, mover, both, patient)
        else:
            found = least
        if way == 0:
            least = found
        else:
            other = found
    if both:
        return least, other
    if mine:
        return max(least, other), value_at(tables, beside, place)
    return value_at(tables, beside, place), min(least, other)


@inner
def _secured(
    tables: Any,
    rows: tuple[int, int],
    code: int,
    score: int,
    seen: int,
    kept: tuple[int, int],
    mover: bool,
    rival: bool,
    patient: bool,
) -> Any:
    """The value when a holder relies on what is sure.

    `rows` are the row and that without the Quantum Flip; `kept` are the pairs and the spare tile counted on.
    """
    place = integer_at(tables, START, code) + score
    full = value_at(tables, rows[0], place)
    sure, turns = sure_turns(kept[0], kept[1], mover, rival), most_turns(tables, code, score, mover)
    if sure >= turns:
        return full
    if patient and turns <= AFFORDABLE:
        return value_until(tables, rows[0], code, score, sure, mover)
    lost = value_at(tables, rows[1], place)
    chance = chance_to_last(tables, code, seen, 2 * sure + int(not mover), int(rival))
    return max(lost, full - chance) if mover else min(lost, full + chance)


@inner
def scored(
    tables: Any,
    code: int,
    score: int,
    value: int,
    seen: tuple[int, int],
    mine: bool,
    theirs: bool,
    shape: Shape,
) -> Any:
    """The interval after the mover scores `value`, once the rest is left so; `code` is the code itself."""
    target, points = tables[0][TARGET], integer_at(tables, POINTS, integer_at(tables, NUMBER, code))
    if score + value >= target:
        won = 1.0 if score + value == target else 0.0
        return won, won, True
    after = integer_at(tables, NUMBER, code + integer_at(tables, UNIT, value - 1))
    low, high, known = _interval(tables, after, points - score, seen, theirs, mine, shape)
    return 1 - high, 1 - low, known


@inner
def scored_last(tables: Any, code: int, score: int, value: int, seen: tuple[int, int]) -> Any:
    """The same where no Quantum Flip is left; it is asked most, and quicker for asking nothing else."""
    target = tables[0][TARGET]
    if score + value >= target:
        won = 1.0 if score + value == target else 0.0
        return won, won
    after = integer_at(tables, NUMBER, code + integer_at(tables, UNIT, value - 1))
    other = integer_at(tables, POINTS, integer_at(tables, NUMBER, code)) - score
    row = none_row(tables, seen[0], seen[1])
    worth = value_at(tables, row, integer_at(tables, START, after) + other)
    return 1 - min(1.0, worth + ROUNDING), 1 - max(0.0, worth - ROUNDING)
