"""Fills flip's table from nothing, a layer of equally many flipped tiles at a time.

With NumPy a layer is a few array operations; without it, the same recurrence runs state by state, slowly.
"""

from array import array
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

from duels.games.flip.lumped import Lumped, Places

Progress = Callable[[float], None]
"""Called with how far solving is, from 0 to 1."""

SCALE = 65535  # values are stored in sixteen bits


def fill(lumped: Lumped, progress: Progress = lambda share: None) -> "array[int]":
    """Every stored row's values, row by row, by the quickest way this installation has."""
    if find_spec("numpy"):
        return fill_arrays(lumped, progress)
    return fill_plainly(lumped, progress)


def fill_arrays(lumped: Lumped, progress: Progress = lambda share: None) -> "array[int]":
    """A layer is one array: a line for each row, a column for each (flipped, mover's score)."""
    import numpy as np

    places, target, rows = lumped.places, lumped.target, lumped.stored_rows
    faces = range(1, lumped.values + 1)
    stored = np.zeros((rows, places.size), np.uint16)
    start = np.zeros(max(places.flipped) + places.unit[-1] + 1, np.int64)  # as Places.start, in `after`
    after = np.zeros((rows, 1))
    for layer, codes in places.layers():
        spans = [places.scores(places.points[code], target) for code in codes]
        width = np.array([high - low + 1 for low, high in spans])
        begin = np.cumsum(width) - width
        code = np.repeat(codes, width)
        score = np.concatenate([np.arange(low, high + 1) for low, high in spans])
        other = np.repeat([places.points[c] for c in codes], width) - score
        flipped = np.array([places.flipped[c] for c in codes]).T.repeat(width, axis=1)
        # What it is worth to score v and leave each row to the other player. Where no such state exists its
        # chance is 0, so any column will do.
        worth = []
        for v in faces:
            column = np.where(score + v < target, start[code + places.unit[v - 1]] + other, 0)
            gain = 1 - after.take(column, axis=1, mode="clip")
            gain[:, score + v >= target] = 0
            gain[:, score + v == target] = 1
            worth.append(gain)

        def leave(v: int, row: int, worth: list[Any] = worth) -> Any:
            return worth[v - 1][row]

        values = np.zeros((rows, len(code)))
        for i, row in enumerate(lumped.rows[:rows]):
            bag = [lumped.copies - flipped[v - 1] - row.seen.count(v) for v in faces]
            value = lumped.worth(row, bag, leave, np.maximum)
            values[i] = np.where(np.min(bag, axis=0) >= 0, value, 0)
        if layer % 2 == 0:
            first = places.start[codes[0]] + spans[0][0]
            stored[:, first : first + len(code)] = np.rint(values * SCALE)
        start[:] = 0
        start[codes] = begin - [low for low, _ in spans]
        after = values
        progress(1 - layer / max(places.layer.values()))
    return array("H", stored.tobytes())


def fill_plainly(lumped: Lumped, progress: Progress = lambda share: None) -> "array[int]":
    """State by state, in plain Python: what is left when nothing else is installed."""
    places, target = lumped.places, lumped.target
    stored = array("H", bytes(2 * lumped.stored_rows * places.size))
    after: dict[tuple[int, int], list[float]] = {}
    for layer, codes in places.layers():
        now: dict[tuple[int, int], list[float]] = {}
        for i, row in enumerate(lumped.rows[: lumped.stored_rows]):
            for code in codes:
                bag = [lumped.copies - f - row.seen.count(v) for v, f in enumerate(places.flipped[code], 1)]
                if min(bag) < 0:
                    continue
                low, high = places.scores(places.points[code], target)
                line = [0.0] * low
                for score in range(low, high + 1):
                    leave = _leaving(after, code, places, score, target)
                    line.append(lumped.worth(row, bag, leave, max))
                now[i, code] = line
                if layer % 2 == 0:
                    first = i * places.size + places.start[code]
                    for score in range(low, high + 1):
                        stored[first + score] = round(line[score] * SCALE)
        after = now
        progress(1 - layer / max(places.layer.values()))
    return stored


def _leaving(
    after: dict[tuple[int, int], list[float]], code: int, places: Places, score: int, target: int
) -> Callable[[int, int], float]:
    other = places.points[code] - score

    def leave(v: int, row: int) -> float:
        if score + v >= target:
            return float(score + v == target)
        line = after.get((row, code + places.unit[v - 1]))
        return 1 - line[other] if line else 0.0  # no such state: its chance is 0

    return leave
