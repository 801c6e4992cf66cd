"""Errors that a request can cause, each with its HTTP status."""

from duels.core.errors import DuelsError


class RequestError(DuelsError):
    """A request that cannot be carried out. The message is shown to the visitor."""

    status = 422


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


class TooMany(RequestError):
    """Too many requests. `wait` is the number of seconds until the next attempt."""

    status = 429

    def __init__(self, message: str, wait: float) -> None:
        super().__init__(message)
        self.wait = wait
