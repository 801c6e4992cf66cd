"""The text seat, for frameworks that have no adapter here."""

from duels.arena.text_seat import (
    DecisionGrade,
    Forfeit,
    MatchEnd,
    MatchTask,
    MoveResult,
    ReplyResult,
    RetryRequest,
    TextSeat,
)
from duels.players.text_player import Conditions

__all__ = [
    "Conditions",
    "DecisionGrade",
    "Forfeit",
    "MatchEnd",
    "MatchTask",
    "MoveResult",
    "ReplyResult",
    "RetryRequest",
    "TextSeat",
]
