"""The few kinds of pictures that docs/solved.md and docs/baselines.md show, as plain SVG."""

from collections.abc import Sequence
from html import escape
from math import log10

_WIDTH, _HEIGHT, _LEFT, _BOTTOM, _TOP = 680, 230, 44, 34, 38
_COLOURS = ("#3b82c4", "#d9822b", "#4a9d5b", "#b5464b")
_BEFORE = 0.4  # powers of ten between a count of 0, which has no logarithm, and the first that has
_STYLE = 'font-family="sans-serif" font-size="11" fill="#555"'


def bars(title: str, labels: Sequence[str], values: Sequence[float]) -> str:
    """A bar for each value, its number above it."""
    top = max(values) or 1
    gap = (_WIDTH - _LEFT) / len(values)
    shapes = []
    for i, (label, value) in enumerate(zip(labels, values, strict=True)):
        height = (_HEIGHT - _BOTTOM - _TOP) * value / top
        x, y = _LEFT + i * gap, _HEIGHT - _BOTTOM - height
        middle = x + gap * 0.4
        shapes.append(
            f'<rect x="{x:.1f}" y="{y:.1f}" width="{gap * 0.8:.1f}" height="{height:.1f}" fill="#3b82c4"/>'
            f'<text x="{middle:.1f}" y="{y - 4:.1f}" text-anchor="middle">{value:g}</text>'
            f'<text x="{middle:.1f}" y="{_HEIGHT - 18}" text-anchor="middle">{escape(label)}</text>'
        )
    return _page(title, "".join(shapes))


def grouped(title: str, labels: Sequence[str], series: dict[str, Sequence[float]]) -> str:
    """For each label a bar of every series side by side, percentages above them."""
    top = max(value for values in series.values() for value in values) or 1
    gap = (_WIDTH - _LEFT) / len(labels)
    width = gap * 0.84 / len(series)
    shapes = []
    for i, label in enumerate(labels):
        x = _LEFT + i * gap
        for number, values in enumerate(series.values()):
            height = (_HEIGHT - _BOTTOM - _TOP - 14) * values[i] / top
            left, y = x + number * width, _HEIGHT - _BOTTOM - height
            shapes.append(
                f'<rect x="{left:.1f}" y="{y:.1f}" width="{width - 1:.1f}" height="{height:.1f}" '
                f'fill="{_COLOURS[number]}"/>'
                f'<text x="{left + width / 2:.1f}" y="{y - 4:.1f}" text-anchor="middle">'
                f"{100 * values[i]:.0f}</text>"
            )
        shapes.append(
            f'<text x="{x + gap * 0.42:.1f}" y="{_HEIGHT - 18}" text-anchor="middle">{escape(label)}</text>'
        )
    for number, name in enumerate(series):
        shapes.append(
            f'<text x="{_LEFT + 130 * number}" y="30" fill="{_COLOURS[number]}">{escape(name)}</text>'
        )
    return _page(title, "".join(shapes))


def bands(title: str, series: dict[str, Sequence[tuple[int, tuple[float, float, float]]]], top: float) -> str:
    """For each series a line through the middles and a band from lows to highs; counts are on a log scale.

    A point is a count (of steps, from 0) and what is in the middle, lowest and highest there. A series
    without points is left out, and the others keep their colours.
    """
    last = max(count for points in series.values() for count, _ in points)
    first = 10 ** int(log10(min(count for points in series.values() for count, _ in points if count)))
    begin = log10(first) - _BEFORE
    right, floor = _WIDTH - 16, _HEIGHT - _BOTTOM

    def at(count: int, value: float) -> str:
        share = (log10(count) - begin) / (log10(last) - begin) if count else 0
        return f"{_LEFT + share * (right - _LEFT):.1f},{floor - (floor - _TOP) * value / top:.1f}"

    shapes = []
    for value in (0, top / 2, top):
        y = at(0, value).split(",")[1]
        shapes.append(
            f'<path d="M{_LEFT} {y}H{right}" stroke="#ddd"/>'
            f'<text x="{_LEFT - 6}" y="{float(y) + 4:.1f}" text-anchor="end">{value:g}</text>'
        )
    powers = [10**power for power in range(12) if first <= 10**power <= last]
    for count in (0, *powers):
        x = at(count, 0).split(",")[0]
        shapes.append(f'<text x="{x}" y="{_HEIGHT - 18}" text-anchor="middle">{_short(count)}</text>')
    for number, (name, points) in enumerate(series.items()):
        if not points:
            continue
        colour = _COLOURS[number]
        line = " ".join(at(count, middle) for count, (middle, _, _) in points)
        edge = [at(count, low) for count, (_, low, _) in points]
        edge += [at(count, high) for count, (_, _, high) in reversed(points)]
        shapes.append(
            f'<polygon points="{" ".join(edge)}" fill="{colour}" fill-opacity="0.18"/>'
            f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2"/>'
            f'<text x="{_LEFT + 130 * number}" y="30" fill="{colour}">{escape(name)}</text>'
        )
    return _page(title, "".join(shapes))


def _short(count: int) -> str:
    for size, letter in ((10**6, "M"), (10**3, "k")):
        if count >= size:
            return f"{count // size}{letter}"
    return str(count)


def _page(title: str, body: str) -> str:
    size = f'width="{_WIDTH}" height="{_HEIGHT}"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} viewBox="0 0 {_WIDTH} {_HEIGHT}" {_STYLE}>'
        f'<rect {size} fill="white"/><text x="{_LEFT}" y="14" font-weight="bold">{escape(title)}</text>'
        f"{body}</svg>\n"
    )
