"""Boards as text or pixels, for `render`."""

from functools import cached_property
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from duels.core.drawing import Drawing
from duels.core.errors import DuelsError
from duels.core.extras import require_extra
from duels.core.rules import AnyRules, AnySight, Seat
from duels.core.svg import WIDTH
from duels.core.words import Words, strip_ink

Pixels = NDArray[np.uint8]

RENDER_MODES = ("human", "ansi", "rgb_array")

# Shipped, so that text looks the same on every machine, also without fonts.
_FONT = Path(__file__).with_name("fonts") / "DejaVuSansMono.ttf"
_FONT_NAME = "DejaVu Sans Mono"
_INK, _PAPER = "#1b1b1f", "#ffffff"


def check_render_mode(mode: str | None) -> str | None:
    """Return the mode. Raises DuelsError if there is no such mode, MissingExtra without the extra `rl`."""
    if mode is not None and mode not in RENDER_MODES:
        raise DuelsError(f"Unknown render mode {mode!r}. Use one of {', '.join(RENDER_MODES)}.")
    if mode == "rgb_array":
        with require_extra("rl"):
            import PIL  # noqa: F401
            import resvg_py  # noqa: F401
    return mode


class BoardRenderer:
    """Renders the board as a seat may see it."""

    def __init__(self, rules: AnyRules) -> None:
        self._rules = rules

    def __reduce__(self) -> tuple[Any, ...]:
        return BoardRenderer, (self._rules,)

    @cached_property
    def _words(self) -> Words[Any, Any]:
        return self._rules.game.words(self._rules)

    @cached_property
    def _drawing(self) -> Drawing[Any, Any]:
        return self._rules.game.drawing(self._rules)

    def text(self, sight: AnySight) -> str:
        """Return the board as text."""
        return strip_ink(str(self._words.board(sight)))

    def picture(self, sight: AnySight) -> Pixels:
        """[y, x, colour] the drawn board. All pictures of a game have the same size, as videos need it."""
        import resvg_py
        from PIL import Image

        width, height = self._size
        png = resvg_py.svg_to_bytes(
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" color="{_INK}">'
            f"{self._drawing.draw(sight)}</svg>",
            background=_PAPER,
            skip_system_fonts=True,
            font_files=[str(_FONT)],
            font_family=_FONT_NAME,
            # A missing font family is replaced by the serif one.
            serif_family=_FONT_NAME,
            sans_serif_family=_FONT_NAME,
            monospace_family=_FONT_NAME,
        )
        return np.asarray(Image.open(BytesIO(png)).convert("RGB")).copy()

    @cached_property
    def _size(self) -> tuple[int, int]:
        """The size of the board at the start; later boards are scaled to it."""
        start = self._rules.sight(self._rules.initial(), Seat.ONE)
        height = self._drawing.picture(start).height
        # Common video formats need even sizes.
        return WIDTH, round(height / 2) * 2
