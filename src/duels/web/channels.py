"""What streams are sent, made once for all that show the same match from the same seat."""

import json
from typing import Any
from weakref import WeakValueDictionary

from duels.web.match_page import MatchPage
from duels.web.pages import Pages
from duels.web.standing import Viewer


class Channel:
    """The events of one match for one viewer, as data or as a page."""

    def __init__(self, page: MatchPage | None) -> None:
        self._page = page
        self.number: int | None = None
        """Of the event that was made last."""
        self._before: int | None = None
        self._changes = b""
        self._whole = b""

    def show(self, shown: dict[str, Any]) -> None:
        """Make the next event."""
        self._before, self.number = self.number, shown["event"]
        self._whole = b""
        if self._page is None:
            self._whole = self._changes = self._lines(json.dumps(shown, ensure_ascii=False))
        else:
            self._changes = self._lines(self._page.show(shown))

    def event(self, after: int | None) -> bytes:
        """The event for a stream whose last one is that: what changed since, or else all there is."""
        if after is not None and after == self._before:
            return self._changes
        if self._page and not self._whole:
            self._whole = self._lines(self._page.whole())
        return self._whole

    def _lines(self, data: str) -> bytes:
        body = data.encode()  # replacing in bytes takes a twentieth of the time
        # To HTML every end of a line is the same; to a stream each begins another field.
        if b"\r" in body:
            body = body.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        return b"id: %d\ndata: %b\n\n" % (self.number or 0, body.replace(b"\n", b"\ndata: "))


class Channels:
    """All channels that somebody listens to."""

    def __init__(self, pages: Pages) -> None:
        self._pages = pages
        self._open: WeakValueDictionary[tuple[str, Viewer, bool], Channel] = WeakValueDictionary()

    def new(self, as_json: bool) -> Channel:
        """A channel for one listener."""
        return Channel(None if as_json else MatchPage(self._pages))

    def shared(self, match: str, viewer: Viewer, as_json: bool) -> Channel:
        """The channel of all who see the same. It lives as long as somebody holds it."""
        channel = self._open.get((match, viewer, as_json))
        if channel is None:
            channel = self._open[match, viewer, as_json] = self.new(as_json)
        return channel
