"""The few kinds of pictures that docs/solved.md shows, as plain SVG."""

from collections.abc import Sequence
from html import escape

_WIDTH, _HEIGHT, _LEFT, _BOTTOM, _TOP = 680, 230, 44, 34, 38
_COLOURS = ("#3b82c4", "#d9822b", "#4a9d5b", "#b5464b")
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


def _page(title: str, body: str) -> str:
    size = f'width="{_WIDTH}" height="{_HEIGHT}"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} viewBox="0 0 {_WIDTH} {_HEIGHT}" {_STYLE}>'
        f'<rect {size} fill="white"/><text x="{_LEFT}" y="14" font-weight="bold">{escape(title)}</text>'
        f"{body}</svg>\n"
    )
