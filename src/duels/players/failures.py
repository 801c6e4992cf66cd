"""The ways in which programs and models fail to give a move."""

from dataclasses import dataclass
from enum import Enum
from typing import Any

from duels.core.errors import DuelsError


class Failure(Enum):
    """The reasons why an answer is not a move. The values appear in logs and reports."""

    UNREADABLE = "unreadable"
    ILLEGAL = "illegal"
    EMPTY = "empty"
    CUT_OFF = "cut off"
    """The answer reached the length limit."""
    LATE = "late"
    CRASHED = "crashed"
    FLOODED = "flooded"
    """The output exceeded the size limits."""
    REFUSED = "refused"


class BadAnswer(DuelsError):
    """An answer that is not a move."""

    def __init__(self, failure: Failure, detail: str) -> None:
        super().__init__(detail)
        self.failure = failure
        self.detail = detail

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.failure, self.detail)  # so that it can be pickled


class NoMove(DuelsError):
    """All attempts at a decision failed, so the match is forfeited."""

    def __init__(self, player: str, failed: tuple[BadAnswer, ...]) -> None:
        last = failed[-1]
        noun = "attempt" if len(failed) == 1 else "attempts"
        super().__init__(
            f"{player} gave no move in {len(failed)} {noun}; the last was {last.failure.value}: {last}"
        )
        self.player = player
        self.failed = failed

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.player, self.failed)


class TransportError(DuelsError):
    """The endpoint could not be reached; the match stays unfinished."""


@dataclass(frozen=True)
class Answer:
    """A decision: the action, the policy it was drawn from, if any, and the failed attempts before it."""

    action: Any
    policy: dict[Any, float] | None = None
    failed: tuple[BadAnswer, ...] = ()
