"""Ways in which a program or a model gives no move, kept apart from how well it plays."""

from dataclasses import dataclass
from enum import Enum
from typing import Any

from duels.core.errors import DuelsError


class Failure(Enum):
    """Why an answer was no move. The value is the word that logs and reports use."""

    UNREADABLE = "unreadable"
    ILLEGAL = "illegal"
    EMPTY = "empty"
    CUT_OFF = "cut off"
    """The answer ended at a limit of length."""
    LATE = "late"
    CRASHED = "crashed"
    FLOODED = "flooded"
    """It wrote more than anybody needs for a move."""
    REFUSED = "refused"


class BadAnswer(DuelsError):
    """One attempt gave no move."""

    def __init__(self, failure: Failure, detail: str) -> None:
        super().__init__(detail)
        self.failure = failure
        self.detail = detail

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.failure, self.detail)  # so that it can be told between processes


class NoMove(DuelsError):
    """All attempts at one decision failed: by rule the match is forfeited."""

    def __init__(self, player: str, failed: tuple[BadAnswer, ...]) -> None:
        last = failed[-1]
        tries = "attempt" if len(failed) == 1 else "attempts"
        super().__init__(
            f"{player} gave no move in {len(failed)} {tries}; the last was {last.failure.value}: {last}"
        )
        self.player = player
        self.failed = failed

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.player, self.failed)


class TransportError(DuelsError):
    """No reply could be had over the wire; the match is unfinished, and nobody has lost it."""


@dataclass(frozen=True)
class Answer:
    """A decision: the action, what went wrong on the way to it, and the policy it was drawn from if told."""

    action: Any
    policy: dict[Any, float] | None = None
    failed: tuple[BadAnswer, ...] = ()
