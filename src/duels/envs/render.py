"""Renders boards as text or pixels, for the `render` methods of environments."""

from functools import cached_property
from io import BytesIO

import numpy as np
from numpy.typing import NDArray

from duels.core.errors import DuelsError, require_extra
from duels.core.rules import AnyRules, AnySight, Seat
from duels.core.svg import WIDTH
from duels.core.words import strip_ink
from duels.raster import render_png

Pixels = NDArray[np.uint8]

RENDER_MODES = ("human", "ansi", "rgb_array")

_INK, _PAPER = "#1b1b1f", "#ffffff"


class BoardRenderer:
    """Renders the board as one seat may see it.

    Raises DuelsError if the mode is unknown, MissingExtra if `rgb_array` needs the extra `rl`.
    """

    def __init__(self, rules: AnyRules, mode: str | None) -> None:
        if mode is not None and mode not in RENDER_MODES:
            raise DuelsError(f"Unknown render mode {mode!r}. Use one of {', '.join(RENDER_MODES)}.")
        if mode == "rgb_array":
            with require_extra("rl"):
                import PIL  # noqa: F401
                import resvg_py  # noqa: F401
        self._rules = rules
        self.mode = mode

    def render(self, sight: AnySight) -> str | Pixels | None:
        """Return the board as text (`ansi`) or pixels (`rgb_array`), or print it (`human`)."""
        if self.mode == "rgb_array":
            return self._draw(sight)
        text = strip_ink(str(self._rules.game.words(self._rules).board(sight)))
        if self.mode == "ansi":
            return text
        print(text)
        return None

    def _draw(self, sight: AnySight) -> Pixels:
        """Return the pixels, indexed [y, x, colour]. All images of a game have the same size, for videos."""
        from PIL import Image

        width, height = self._size
        png = render_png(
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" color="{_INK}">'
            f"{self._rules.game.drawing(self._rules).draw(sight)}</svg>",
            _PAPER,
        )
        return np.asarray(Image.open(BytesIO(png)).convert("RGB")).copy()

    @cached_property
    def _size(self) -> tuple[int, int]:
        """The size of the first board. Later boards are scaled to it."""
        start = self._rules.sight(self._rules.initial(), Seat.ONE)
        height = self._rules.game.drawing(self._rules).draw(start).height
        # Common video formats need even sizes.
        return WIDTH, round(height / 2) * 2
