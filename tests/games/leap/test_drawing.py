"""The arcs of leap's board cross no cell, so every number is readable."""

import re
from itertools import pairwise
from xml.etree import ElementTree

import pytest

from duels.core.drawing import Drawing
from duels.core.rules import Seat
from duels.games.leap.rules import Action, Leap, QuantumLeap, State

Point = tuple[float, ...]
CELL = 64


def curves(data: str) -> list[list[Point]]:
    """The parts of a path, each by the points that bend it."""
    arcs: list[list[Point]] = []
    position: Point = ()
    for letter, numbers in re.findall(r"([A-Z])([^A-Z]*)", data):
        values = [float(value) for value in numbers.split()]
        points = [(position[0], *values)] if letter == "V" else [*zip(values[::2], values[1::2], strict=True)]
        if letter != "M":
            arcs.append([position, *points])
        position = points[-1]
    return arcs


def along(points: list[Point], share: float) -> Point:
    """The point on a Bézier curve after this share of it."""
    while len(points) > 1:
        points = [
            tuple(a + share * (b - a) for a, b in zip(one, two, strict=True)) for one, two in pairwise(points)
        ]
    return points[0]


@pytest.mark.parametrize("goal", [21, 49])
def test_arcs_cross_no_cell(goal: int) -> None:
    rules = QuantumLeap(goal=goal)
    drawing: Drawing[Action, State] = rules.game.drawing(rules)
    for start in range(1, goal):
        sight = rules.sight(State((start, 1), Seat.ONE), Seat.ONE)
        svg = ElementTree.fromstring(drawing.draw(sight, targets=True))
        place = {
            int(cell.attrib["data-cell"]): [float(n) for n in re.findall(r"[\d.]+", cell.attrib["transform"])]
            for cell in svg.iter()
            if "data-cell" in cell.attrib
        }
        leaps = [action.by for action in sight.actions if isinstance(action, Leap)]
        arcs = [each.attrib["d"] for each in svg.iter() if each.get("stroke-dasharray")]
        assert len(arcs) == len(leaps)
        for leap, arc in zip(leaps, arcs, strict=True):
            points = curves(arc)
            for end, number in ((points[0][0], start), (points[-1][-1], start + leap)):
                x, y = place[number]
                assert abs(end[0] - x) < 0.1
                assert abs(abs(end[1] - y) - CELL / 2) < 0.1
            for x, y in (along(curve, step / 40) for curve in points for step in range(41)):
                assert not any(max(abs(x - cx), abs(y - cy)) < CELL / 2 - 0.1 for cx, cy in place.values()), (
                    start,
                    leap,
                )
