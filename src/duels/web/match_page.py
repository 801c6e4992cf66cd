"""The page of a match, in parts. A part is rendered anew only when what it shows has changed.

So an event is short: the parts that changed, and the new lines of the log. All of it depends on nothing but
what the viewer was shown before and is shown now.
"""

from operator import itemgetter
from typing import Any

from duels.web.pages import Pages

_PARTS: dict[str, tuple[str, ...]] = {
    "players": ("players", "seat"),
    "sentence": ("sentence", "turn"),
    "asides": ("invite", "offer", "refused", "seat"),
    "board": ("board",),
    "actions": ("buttons", "rematch", "may", "outcome", "game", "match"),
    "tools": ("may", "seat", "turn"),
    "question": ("prompt", "example"),
    "links": ("watchable", "invite", "seat", "outcome", "match"),
}
"""Each part, the log aside, by the id of its element and of its macro: what it shows of a view."""
_CACHED = ("sentence", "question")
_of_line = itemgetter("seat", "who", "entry", "secret", "text")
_MOST_KEPT = 2


class MatchPage:
    """What the page of one viewer shows, and what of it changed last."""

    def __init__(self, pages: Pages) -> None:
        self._pages = pages
        self._made: dict[str, list[tuple[tuple[Any, ...], str]]] = {part: [] for part in _PARTS}
        """What each part has shown and how it was rendered, the last one first."""
        self._log: list[dict[str, Any]] = []
        self._lines: list[str] = []
        self._event = 0

    def show(self, shown: dict[str, Any]) -> str:
        """Follow the match to what is to be shown now; the elements that have changed since."""
        self._event = shown["event"]
        changed = [self._render(part, shown) for part in _PARTS]
        return "".join((*changed, *self._tell(shown["log"])))

    def _render(self, part: str, shown: dict[str, Any]) -> str:
        """The part, if it changed; what it shows in turn, such as whose turn it is, is rendered once."""
        now = tuple([shown[name] for name in _PARTS[part]])
        made = self._made[part]
        if made and made[0][0] == now:
            return ""
        again = next((each for each in made if each[0] == now), None)
        if again:
            made.remove(again)
        render = self._pages.cached_part if part in _CACHED else self._pages.part
        made.insert(0, again or (now, render(part, *now)))
        del made[_MOST_KEPT:]
        return made[0][1]

    def _tell(self, log: list[dict[str, Any]]) -> list[str]:
        """The new lines of the log; all of it where it did not only grow."""
        known = len(self._log)
        grew = known and log[:known] == self._log
        lines = self._lines[:known] if grew else []
        new = [
            self._pages.cached_part("line", number, *_of_line(line))
            for number, line in enumerate(log[len(lines) :], len(lines) + 1)
        ]
        before, self._log, self._lines = self._log, log, [*lines, *new]
        if grew or log == before:
            return new
        return [self._pages.part("told", self._lines)]

    @property
    def parts(self) -> dict[str, str]:
        """The whole page, by its parts."""
        shown = {part: made[0][1] for part, made in self._made.items()}
        return {**shown, "told": self._pages.part("told", self._lines)}

    def whole(self) -> str:
        """All of it as one element."""
        return self._pages.render("_match.html", event=self._event, parts=self.parts)
