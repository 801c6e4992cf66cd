"""Ink on a full screen: the terminal's own colours, so that dark and light terminals both stay readable."""

from textual.color import Color
from textual.content import Content
from textual.style import Style

from duels.core.rules import Seat
from duels.core.words import Ink, pieces

YOURS, THEIRS = Style(foreground=Color.parse("ansi_cyan")), Style(foreground=Color.parse("ansi_yellow"))
_STYLES = {
    Ink.CHANGED: Style(bold=True),
    Ink.WON: Style(foreground=Color.parse("ansi_green"), bold=True),
    Ink.LOST: Style(foreground=Color.parse("ansi_red"), bold=True),
    Ink.DIM: Style(dim=True),
    Ink.COPIED: Style(),
}


class Palette:
    """What each ink looks like; the first player's colour means you, whichever seat that is."""

    def __init__(self, you: Seat = Seat.ONE) -> None:
        self._styles = {**_STYLES, Ink.of(you): YOURS, Ink.of(you.other): THEIRS}

    def style(self, *inks: Ink) -> Style:
        """The style of what these inks lie on."""
        style = Style()
        for ink in inks:
            style += self._styles[ink]
        return style

    def content(self, text: str) -> Content:
        """A text with ink as something to show."""
        return Content.assemble(*((piece, self.style(*inks)) for piece, inks in pieces(text)))
