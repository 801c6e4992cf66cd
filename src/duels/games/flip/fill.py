"""Fills flip's table from nothing, a layer of equally many flipped tiles at a time.

With NumPy a layer is a few array operations; without it, the same recurrence runs state by state, slowly.
"""

from array import array
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from typing import Any

from duels.games.flip.abstraction import Abstraction, Places
from duels.solving.progress import Progress, quiet

SCALE = 65535  # values are stored in sixteen bits


def fill(abstraction: Abstraction, progress: Progress = quiet) -> "array[int]":
    """Every stored row's values, row by row, by the quickest way this installation has."""
    if find_spec("numpy"):
        return fill_arrays(abstraction, progress)
    return fill_plainly(abstraction, progress)


def fill_arrays(abstraction: Abstraction, progress: Progress = quiet) -> "array[int]":
    """By NumPy, the fullest boards first."""
    import numpy as np

    stored = np.zeros((abstraction.stored_rows, abstraction.places.size), np.uint16)
    for columns, values in solved_layers(abstraction, progress=progress):
        stored[:, columns] = np.rint(values * SCALE)
    return array("H", stored.tobytes())


def solved_layers(
    abstraction: Abstraction, table: "array[int] | None" = None, progress: Progress = quiet
) -> "Iterator[tuple[slice, Any]]":
    """Each stored layer: its columns in the table, and the values that follow from the layers after it.

    With a `table` they follow from the values that are stored there, else from those solved before.
    """
    import numpy as np

    rows = abstraction.stored_rows
    stored = None if table is None else np.frombuffer(table, np.uint16).reshape(rows, -1)
    later, after = Columns(abstraction, []), np.zeros((rows, 1))
    for layer, codes in abstraction.places.layers():
        now = Columns(abstraction, codes)
        values = now.values(later, after)
        later, after = now, values
        if layer % 2 == 0:
            first = abstraction.places.start[codes[0]] + int(now.score[0])
            place = slice(first, first + len(now.score))
            yield place, values
            if stored is not None:
                after = stored[:, place] / SCALE
        progress(_done(layer, abstraction.places))


class Columns:
    """A layer's states as one array: a line for each row, a column for each (flipped, mover's score)."""

    def __init__(self, abstraction: Abstraction, codes: list[int]) -> None:
        import numpy as np

        self.abstraction = abstraction
        places, target = abstraction.places, abstraction.target
        points = np.array([places.points[code] for code in codes], np.int64)
        spans = [places.scores(places.points[code], target) for code in codes]
        low, high = np.array(spans, np.int64).reshape(-1, 2).T
        width = high - low + 1
        begin = np.cumsum(width) - width
        self.start = np.zeros(max(places.flipped) + places.unit[-1] + 1, np.int64)  # as Places.start
        self.start[codes] = begin - low
        self.code = np.repeat(np.array(codes, np.int64), width)
        self.score = np.arange(len(self.code)) - np.repeat(begin - low, width)
        self.other = np.repeat(points, width) - self.score
        self.flipped = np.array([places.flipped[code] for code in codes]).T.repeat(width, axis=-1)

    def values(self, later: "Columns", after: Any) -> Any:
        """The values of these states, from those `after` them, which lie as `later` says."""
        import numpy as np

        abstraction, faces = self.abstraction, range(1, self.abstraction.values + 1)
        # What it is worth to score v and leave each row to the other player. Where no such state exists its
        # chance is 0, so any column will do.
        worth = []
        for v in faces:
            score = self.score + v
            goes_on = score < abstraction.target
            column = np.where(
                goes_on, later.start[self.code + abstraction.places.unit[v - 1]] + self.other, 0
            )
            gain = 1 - after.take(column, axis=1, mode="clip")
            gain[:, ~goes_on] = 0
            gain[:, score == abstraction.target] = 1
            worth.append(gain)

        def leave(v: int, row: int) -> Any:
            return worth[v - 1][row]

        values = np.zeros((len(after), len(self.code)))
        for i, row in enumerate(abstraction.rows[: len(after)]):
            bag = [abstraction.copies - self.flipped[v - 1] - row.seen.count(v) for v in faces]
            value = abstraction.worth(row, bag, leave, np.maximum)
            values[i] = np.where(np.min(bag, axis=0) >= 0, value, 0)
        return values


def fill_plainly(abstraction: Abstraction, progress: Progress = quiet) -> "array[int]":
    """State by state, in plain Python: what is left when nothing else is installed."""
    places, target = abstraction.places, abstraction.target
    stored = array("H", bytes(2 * abstraction.stored_rows * places.size))
    after: dict[tuple[int, int], list[float]] = {}
    for layer, codes in places.layers():
        now: dict[tuple[int, int], list[float]] = {}
        for i, row in enumerate(abstraction.rows[: abstraction.stored_rows]):
            for code in codes:
                bag = [
                    abstraction.copies - f - row.seen.count(v) for v, f in enumerate(places.flipped[code], 1)
                ]
                if min(bag) < 0:
                    continue
                low, high = places.scores(places.points[code], target)
                line = [0.0] * low
                for score in range(low, high + 1):
                    leave = _leaving(after, code, places, score, target)
                    line.append(abstraction.worth(row, bag, leave, max))
                now[i, code] = line
                if layer % 2 == 0:
                    first = i * places.size + places.start[code]
                    for score in range(low, high + 1):
                        stored[first + score] = round(line[score] * SCALE)
        after = now
        progress(_done(layer, places))
    return stored


def _done(layer: int, places: Places) -> str:
    return f"solving flip, {1 - layer / max(places.layer.values()):.0%}"


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
