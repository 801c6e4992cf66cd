"""What a program is shown of a view, as numbers 0 and 1: a list of features, each with its values.

A game states its features once, from the side of the seat that looks; every environment uses them.
"""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from duels.core.rules import Seat


@dataclass(frozen=True)
class Feature:
    """`count` slots of the same kind, each with one of `values`, read from a view by the seat that looks.

    A slot of two values is one number (0 for the first, 1 for the second), any other is one-hot.
    """

    name: str
    values: tuple[Hashable, ...]
    read: Callable[[Any, Seat], Sequence[Hashable]]
    count: int = 1

    @property
    def width(self) -> int:
        """How many numbers one slot takes."""
        return 1 if len(self.values) == 2 else len(self.values)

    @property
    def size(self) -> int:
        return self.count * self.width


WIDE = 64  # values: from there on their marks together would take much more room than they are worth


class Encoding:
    """A list of features, laid end to end."""

    def __init__(self, features: Sequence[Feature]) -> None:
        self.features = tuple(features)
        self.size = sum(feature.size for feature in self.features)
        self._marks = tuple(self._mark(feature) for feature in self.features)

    @staticmethod
    def _mark(feature: Feature) -> "Mapping[Hashable, bytes]":
        """Every value of a slot as the numbers that stand for it."""
        if feature.width == 1:
            return {value: bytes([place]) for place, value in enumerate(feature.values)}
        marks = _OneHot(feature.values)
        return marks if feature.width > WIDE else {value: marks[value] for value in feature.values}

    def encode(self, view: Any, seat: Seat) -> bytes:
        """The numbers, a byte each, that `seat` is shown of `view`."""
        return b"".join(
            [
                mark[value]
                for feature, mark in zip(self.features, self._marks, strict=True)
                for value in feature.read(view, seat)
            ]
        )

    def place(self, name: str) -> slice:
        """Where the numbers of the feature `name` stand."""
        start = 0
        for feature in self.features:
            if feature.name == name:
                return slice(start, start + feature.size)
            start += feature.size
        raise KeyError(name)


class _OneHot(dict[Hashable, bytes]):
    """The marks of values, each made when it is asked for and not kept."""

    def __init__(self, values: Sequence[Hashable]) -> None:
        super().__init__()
        self._place = {value: place for place, value in enumerate(values)}

    def __missing__(self, value: Hashable) -> bytes:
        place = self._place[value]
        return bytes(place) + b"\1" + bytes(len(self._place) - place - 1)
