"""The page of a match, in parts. A part is rendered anew only when what it shows has changed.

So an event is short: the parts that changed, and the new lines of the log. All of it depends on nothing but
what the viewer was shown before and is shown now.
"""

from collections.abc import Callable
from operator import itemgetter
from typing import Any

from markupsafe import Markup

from duels.core.svg import Picture
from duels.web.pages import Pages

_PARTS: dict[str, Callable[[dict[str, Any]], tuple[Any, ...]]] = {
    "players": itemgetter("seats", "seat"),
    "sentence": itemgetter("sentence", "turn"),
    "asides": lambda shown: (shown["invite"],),
    "offers": itemgetter("offer", "refused", "seat"),
    "actions": itemgetter("buttons", "rematch", "may_rematch", "over", "seat", "game", "match"),
    "tools": lambda shown: (shown["may"],),
    "question": itemgetter("prompt", "example"),
    "links": itemgetter("watchable", "invite", "seat", "over", "match"),
}
"""Each part, log and board aside, by the id of its element and of its macro: what it shows of a view."""
_SHARED = ("players", "sentence", "tools", "question")
"""Parts that are the same on the pages of many matches: they are rendered once for all of them."""
_of_line = itemgetter("seat", "who", "entry", "secret", "text", "told_next", "earlier")


class MatchPage:
    """What the page of one viewer shows, and what of it changed last."""

    def __init__(self, pages: Pages) -> None:
        self._pages = pages
        self._shown: dict[str, tuple[Any, ...]] = {}
        self._made: dict[str, str] = {}
        self._board: Picture | None = None
        self._log: list[dict[str, Any]] = []
        self._lines: list[str] = []
        self._event = 0

    def show(self, shown: dict[str, Any]) -> str:
        """Follow the match to what is to be shown now; the elements that have changed since."""
        self._event = shown["event"]
        changed = []
        for part, pick in _PARTS.items():
            now = pick(shown)
            if self._shown.get(part) != now:
                self._shown[part] = now
                render = self._pages.cached_part if part in _SHARED else self._pages.part
                self._made[part] = render(part, *now)
                changed.append(self._made[part])
        before, self._board = self._board, shown["board"]
        if before != self._board:
            changed.append(board_changes(before, self._board))
        return "".join((*changed, *self._tell(shown["log"])))

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
        return [self._told()]

    def _told(self) -> str:
        """The whole log; it says how much of it comes from another match."""
        told = [line["earlier"] for line, made in zip(self._log, self._lines, strict=True) if made]
        return self._pages.part("told", self._lines, sum(told))

    @property
    def parts(self) -> dict[str, str]:
        """The whole page, by its parts."""
        assert self._board, "something was shown"
        board = Markup(_whole_board(self._board))
        return {**self._made, "board": board, "told": self._told()}

    def whole(self) -> str:
        """All of it as one element."""
        return self._pages.render("_match.html", event=self._event, parts=self.parts)


def board_changes(before: Picture | None, now: Picture) -> str:
    """The board as an event brings it to a page that shows `before`.

    If it has as many parts as before, those that changed are enough: `data-changed` says which.
    """
    if not before or len(before.parts) != len(now.parts):
        return _whole_board(now)
    changed = [place for place, part in enumerate(before.parts) if part != now.parts[place]]
    tag = f'{now.start[:-1]} data-changed="{" ".join(map(str, changed))}">'
    return "".join((tag, *[now.parts[place] for place in changed], "</svg>"))


def _whole_board(picture: Picture) -> str:
    return f'<div id="board">{picture}</div>'
