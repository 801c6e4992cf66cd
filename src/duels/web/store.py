"""What the server keeps of matches: a log for each that only grows, who sits where, and invitations.

A match is its record: a header, and lines. Its log has an entry for every line, and for whatever else
happened at the board: somebody sat down, offered something, took back. Appending is compare-and-set on the
log's number, so any process may write to any match; whoever comes second reads on and tries again.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from typing import Protocol

from duels.core.errors import DuelsError
from duels.core.rules import Seat


class Kind(Enum):
    """What an entry of a log says. The value is how it is stored."""

    PLAY = "play"
    """A line of the record: an action, what chance brought, or that somebody resigned."""
    SIT = "sit"
    """A person took the seat; the text is a name, or empty."""
    OFFER = "offer"
    """The seat offers something to the other: `takeback N`, `rematch`."""
    REFUSE = "refuse"
    """The seat does not take up what the other offered, or withdraws its own offer."""
    BACK = "back"
    """The record goes back to its first N lines; the text is N."""
    REMATCH = "rematch"
    """There is another match of the same two; the text is its id."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of a match's log."""

    kind: Kind
    text: str
    seat: Seat | None = None


@dataclass(frozen=True)
class NewMatch:
    """A match that is to be kept: its id, its record's header, what its log begins with, who sits where."""

    id: str
    header: str
    entries: tuple[Entry, ...]
    seats: dict[Seat, str]
    """The hashes of the identities at the seats that are taken by people."""
    invite: "Invite | None" = None
    over: bool = False


@dataclass(frozen=True)
class Invite:
    """A seat at a match that is free for whoever brings the token."""

    token: str
    match: str
    seat: Seat
    expires: float
    """Seconds since 1970."""


@dataclass(frozen=True)
class Claim:
    """An identity takes the seat that an invitation holds free."""

    token: str
    identity: str
    now: float


@dataclass(frozen=True)
class Change:
    """What is written at once or not at all: entries at the end of a log that has `number` of them now."""

    match: str
    number: int
    entries: tuple[Entry, ...]
    claim: Claim | None = None
    creates: NewMatch | None = None
    ends: bool = False
    """Whether the match is over with these entries; it stays so."""


@dataclass(frozen=True)
class Kept:
    """A match as a list of matches has it."""

    id: str
    seat: Seat
    since: float
    """When the identity sat down, in seconds since 1970."""
    number: int
    """How many entries its log has."""


@dataclass(frozen=True)
class Stored:
    """All that is kept of a match but its log."""

    header: str
    seats: dict[Seat, str] = field(default_factory=dict)
    invite: Invite | None = None
    """The invitation that can still be taken up, if there is one."""


class Conflict(DuelsError):
    """Somebody else has written to the match, or taken the seat."""


class StoreUnavailable(DuelsError):
    """The store cannot be reached or written to now. Nothing was written."""


Heard = Callable[[str | None], None]
"""Is told the id of a match that was written to by anybody; None if it may have been any."""


class Store(Protocol):
    """Where matches are kept. Methods raise StoreUnavailable where the store cannot do its work now."""

    async def open(self, heard: Heard) -> None:
        """Make ready; from now on `heard` is told of all that is written, in this process or another."""

    async def close(self) -> None:
        """Let go of everything. What was written stays."""

    async def create(self, match: NewMatch) -> None:
        """Keep a new match. When this returns, it is on disk."""

    async def find(self, match: str) -> Stored | None:
        """What is kept of a match; None if there is no such match."""

    async def entries(self, match: str, after: int = 0) -> list[Entry]:
        """The log of a match after its first `after` entries."""

    async def append(self, change: Change) -> None:
        """Write a change. When this returns, it is on disk; Conflict, if the log has another number."""

    async def invite(self, token: str, now: float) -> Invite | None:
        """The invitation with this token, if it can still be taken up."""

    async def match_of_invite(self, token: str) -> str | None:
        """The match that an invitation led to, even if it was taken up or is too old."""

    async def matches_of(self, identity: str, over: bool, most: int) -> list[Kept]:
        """The matches in which an identity sits that are over, or go on; where it sat down last first.

        Not by what was written last: that would tell of hidden moves.
        """

    async def count_since(self, identity: str, since: float) -> int:
        """How many matches an identity has sat down at since then."""

    async def check(self) -> None:
        """Return if the store can be read and written now."""
