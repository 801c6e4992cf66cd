"""The JSON form of a review."""

from typing import Any

from duels.analysis.review import Review, ReviewedEntry
from duels.analysis.wording import MAX_LOSSES
from duels.core.rules import Seat
from duels.solving.oracle import Exactness

_VALUES = (
    "opening, score, before, after, luck and mixing are Player 1's; loss is the actor's; "
    "score = opening + luck - loss of 1 + loss of 2; luck includes mixing, which is how much better the "
    "choice from the strategy's mixture was than its average; mishap and strike are clauses whose subject is "
    "the actor; stake is what the reply could lose; you is the seat of the only person"
)


def review_to_dict(review: Review) -> dict[str, Any]:
    """Return the whole review as JSON-compatible data."""
    outcome = review.match.outcome
    return {
        "game": review.game.name,
        "players": {str(seat.value): name for seat, name in review.players.items()},
        "you": review.person.value if review.person else None,
        "finished": outcome is not None,
        "result": outcome.code if outcome else None,
        "ending": outcome.ending.value if outcome else None,
        "winner": outcome.winner.value if outcome and outcome.winner else None,
        "text": outcome.reason if outcome else None,
        "exactness": review.exactness.value,
        "error": None if review.exactness is Exactness.ESTIMATE else review.error,
        "values": _VALUES,
        "opening": review.opening,
        "score": review.score,
        "luck": review.luck,
        "loss": {str(seat.value): review.loss(seat) for seat in Seat},
        "thresholds": MAX_LOSSES,
        "moments": [_entry_to_dict(entry) for entry in review.entries],
    }


def _entry_to_dict(entry: ReviewedEntry) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "number": entry.number,
        "actor": entry.actor.value,
        "entry": entry.notation,
        "position": entry.position,
        "before": entry.value_before,
        "after": entry.value_after,
        "loss": entry.loss,
        "loss_error": entry.loss_error,
        "luck": entry.luck,
        "best": list(entry.best),
        "mark": entry.mark,
        "reason": entry.reason,
        "effect": entry.effect,
    }
    if stake := entry.stake:
        fields["stake"] = {"replies": stake.replies, "mistakes": stake.mistakes, "most": stake.max_loss}
    if entry.match.rules.has_hidden_information:
        fields |= {
            "mixing": entry.mixing,
            "mishap": entry.unforeseen_loss.format(whose="the other's"),
            "strike": entry.winning_discovery.format(whose="the other's"),
        }
    if entry.beliefs:
        fields["beliefs"] = {
            str(seat.value): {"places": dict(belief.probabilities), "truth": belief.truth}
            for seat, belief in entry.beliefs.items()
        }
    return fields
