"""Pixels from SVG, in the shipped font: text looks the same on every machine."""

from pathlib import Path

_FONT = Path(__file__).with_name("fonts") / "DejaVuSansMono.ttf"
_FONT_NAME = "DejaVu Sans Mono"
LETTER_WIDTH = 0.602
"""The width of every letter, as a share of the font size."""


def render_png(svg: str, background: str | None = None) -> bytes:
    """Return a drawing as PNG. Needs resvg-py, of the extras `rl` and `web`."""
    import resvg_py

    png: bytes = resvg_py.svg_to_bytes(
        svg,
        background=background,
        skip_system_fonts=True,
        font_files=[str(_FONT)],
        font_family=_FONT_NAME,
        # resvg falls back to the serif family if a font is missing.
        serif_family=_FONT_NAME,
        sans_serif_family=_FONT_NAME,
        monospace_family=_FONT_NAME,
    )
    return png
