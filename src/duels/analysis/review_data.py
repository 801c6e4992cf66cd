"""A review as data for programs: dictionaries, lists, texts and numbers, as JSON has them."""

from typing import Any

from duels.analysis.review import Moment, Review
from duels.analysis.wording import MARKS
from duels.core.rules import Seat
from duels.solving.oracle import Exactness

_VALUES = (
    "opening, score, before, after, luck and mixing are Player 1's; loss is the actor's; "
    "score = opening + luck - loss of 1 + loss of 2; luck includes mixing, which is how far what the actor "
    "chose of the strategy's mixture lies above it; mishap and strike are clauses whose subject "
    "is the actor; stake is what the reply could give away; you is the one person's seat"
)


def review_as_data(review: Review) -> dict[str, Any]:
    """The whole review."""
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
        "thresholds": {mark.name: mark.most for mark in MARKS},
        "moments": [_moment(moment) for moment in review.moments],
    }


def _moment(moment: Moment) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "number": moment.number,
        "actor": moment.actor.value,
        "entry": moment.entry,
        "position": moment.position,
        "before": moment.before,
        "after": moment.after,
        "loss": moment.loss,
        "loss_error": moment.loss_error,
        "luck": moment.luck,
        "best": list(moment.best),
        "mark": moment.mark,
        "reason": moment.reason,
        "effect": moment.effect,
    }
    if stake := moment.stake:
        fields["stake"] = {"replies": stake.replies, "mistakes": stake.mistakes, "most": stake.most}
    if moment.match.rules.has_secrets:
        fields |= {
            "mixing": moment.mixing,
            "mishap": moment.mishap.format(whose="the other's"),
            "strike": moment.strike.format(whose="the other's"),
        }
    if moment.beliefs:
        fields["beliefs"] = {
            str(seat.value): {"places": dict(belief.places), "truth": belief.truth}
            for seat, belief in moment.beliefs.items()
        }
    return fields
