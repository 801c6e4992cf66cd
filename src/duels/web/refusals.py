"""Requests that are understood and not carried out, each with the status that says so."""

from duels.core.errors import DuelsError


class Refusal(DuelsError):
    """A request that is understood and not carried out; the message is for whoever made it."""

    status = 422


class Stale(Refusal):
    """The match has gone on since: the page shows something that is no longer so."""

    status = 409


class Missing(Refusal):
    """There is nothing of that name, or nothing that this visitor may know of."""

    status = 404

    def __init__(self, message: str = "There is nothing here.") -> None:
        super().__init__(message)


class NoMatch(Missing):
    """A match that is unknown, or that this visitor may not watch now: nobody can tell which."""

    def __init__(self) -> None:
        super().__init__(
            "There is no such match, or it cannot be watched. "
            "A match with secrets can be watched once it is over."
        )


class TooMany(Refusal):
    """Too much was asked in too short a time."""

    status = 429

    def __init__(self, message: str, wait: float) -> None:
        super().__init__(message)
        self.wait = wait
