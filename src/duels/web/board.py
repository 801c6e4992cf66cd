"""The board on the page of a match: drawn whole, and after that only what has changed of it."""

from dataclasses import dataclass

from duels.core.rules import Seat
from duels.core.svg import Picture
from duels.web.naming import Names, drawn_with_names


@dataclass(frozen=True)
class Board:
    """A picture with the players' names; its reader is called `you`."""

    picture: Picture
    names: Names
    reader: Seat | None

    def __str__(self) -> str:
        return self._named(str(self.picture))

    @property
    def element(self) -> str:
        """All of it, as the page has it."""
        return f'<div id="board">{self}</div>'

    def since(self, before: "Board | None") -> str:
        """As an event tells it to a page that shows `before`.

        If the board has as many parts as then, those that changed are enough: `data-changed` says which.
        """
        if not before or before.names != self.names or len(before.picture.parts) != len(self.picture.parts):
            return self.element
        start, parts = self.picture
        changed = [place for place, part in enumerate(before.picture.parts) if part != parts[place]]
        tag = f'{start[:-1]} data-changed="{" ".join(map(str, changed))}">'
        return self._named("".join((tag, *[parts[place] for place in changed], "</svg>")))

    def _named(self, drawn: str) -> str:
        return drawn_with_names(drawn, self.names, self.reader)
