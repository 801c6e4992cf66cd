"""The board of a game as text or as a picture: what `render` shows."""

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

Picture = NDArray[np.uint8]

RENDER_MODES = ("human", "ansi", "rgb_array")

# Shipped, so that text looks the same on every machine, and is there on one without fonts.
_FONT = Path(__file__).with_name("fonts") / "DejaVuSansMono.ttf"
_FONT_NAME = "DejaVu Sans Mono"
_INK, _PAPER = "#1b1b1f", "#ffffff"


def check_render_mode(mode: str | None) -> str | None:
    """The mode, if it is one; `rgb_array` needs what turns a drawing into pixels."""
    if mode is not None and mode not in RENDER_MODES:
        raise DuelsError(f"There is no render mode {mode!r}; there are {', '.join(RENDER_MODES)}.")
    if mode == "rgb_array":
        with require_extra("rl"):
            import PIL  # noqa: F401
            import resvg_py  # noqa: F401
    return mode


class Board:
    """What a seat may see of a game, to be looked at."""

    def __init__(self, rules: AnyRules) -> None:
        self._rules = rules

    def __reduce__(self) -> tuple[Any, ...]:
        return Board, (self._rules,)

    @cached_property
    def _words(self) -> Words[Any, Any]:
        return self._rules.game.words(self._rules)

    @cached_property
    def _drawing(self) -> Drawing[Any, Any]:
        return self._rules.game.drawing(self._rules)

    def text(self, sight: AnySight) -> str:
        """The board in the game's words."""
        return strip_ink(str(self._words.board(sight)))

    def picture(self, sight: AnySight) -> Picture:
        """[y, x, colour] the drawn board. All pictures of a game have one size: films need that."""
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
            # A family that is not there is replaced by the serif one.
            serif_family=_FONT_NAME,
            sans_serif_family=_FONT_NAME,
            monospace_family=_FONT_NAME,
        )
        return np.asarray(Image.open(BytesIO(png)).convert("RGB")).copy()

    @cached_property
    def _size(self) -> tuple[int, int]:
        """The size of the board at the start; what is drawn later is fitted into it."""
        start = self._rules.sight(self._rules.initial(), Seat.ONE)
        height = self._drawing.picture(start).height
        # The usual formats of films take even sizes only.
        return WIDTH, round(height / 2) * 2
