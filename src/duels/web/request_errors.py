"""Errors that a request can cause, each with its HTTP status."""

from math import ceil

from duels.core.errors import DuelsError


class RequestError(DuelsError):
    """A request that cannot be carried out. The message is shown to the visitor."""

    status = 422


class MalformedRequest(RequestError):
    """A request with text or an address that no browser sends."""

    status = 400


class StaleRequest(RequestError):
    """A request from a page that shows an older state of the match."""

    status = 409


class NotFound(RequestError):
    """The page does not exist, or this visitor may not know that it exists."""

    status = 404

    def __init__(self, message: str = "Page not found. Check the address.") -> None:
        super().__init__(message)


class MatchNotFound(NotFound):
    """The match does not exist or this visitor may not watch it: both cases have the same message."""

    def __init__(self) -> None:
        super().__init__(
            "No match with this id, or you cannot watch it yet. "
            "Check the link. A match with hidden moves can be watched after the end."
        )


class UnreadableMatch(RequestError):
    """The stored data of a match is damaged, or its game is no longer installed."""

    status = 410

    def __init__(self) -> None:
        super().__init__("This match cannot be read: its data is damaged, or its game is not installed.")


class TooMany(RequestError):
    """Too many requests. The message ends with the time to wait before the next attempt."""

    status = 429

    def __init__(self, message: str, wait: float) -> None:
        self.wait = max(1, ceil(wait))
        """Seconds until the next attempt."""
        amount, unit = (self.wait, "second") if self.wait < 120 else (ceil(self.wait / 60), "minute")
        super().__init__(f"{message} Try again in {amount} {unit}{'s' if amount > 1 else ''}.")
