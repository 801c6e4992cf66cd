"""The sentences of a review, which terminal and page lay out each in its own way."""

from duels.analysis.review import Moment, Review
from duels.analysis.wording import LEAST_SHOWN, MARKS, how_sure, points
from duels.core.rules import Seat
from duels.core.words import either
from duels.solving.oracle import Exactness, Value

POSITION = "  Position: "
"""Begins a paragraph that holds a position, to be copied in one piece."""
_SLIPS_TOLD = 5
_LEAST_DOUBT = 0.005  # what a decision that is not proven wrong may have cost at most to say so


def heading(review: Review) -> str:
    """How the match ended, and what kind of values are shown."""
    outcome = review.match.outcome
    sure = " (All values are estimates.)" if review.exactness is Exactness.ESTIMATE else ""
    return f"{outcome.reason if outcome else 'unfinished; values are as the match stands.'}{sure}"


def who(moment: Moment) -> str:
    """Who acted: `Player 1`, `chance`."""
    return moment.actor.label if isinstance(moment.actor, Seat) else moment.actor.value


def best_of(moment: Moment) -> str:
    """The best actions by name, a few of them."""
    names = moment.best
    return either(names if len(names) <= 3 else [*names[:2], f"{len(names) - 2} more"])


def lost(review: Review, moment: Moment) -> str:
    """What a decision gave away; `at most` so much where it is not proven worse than another."""
    if doubtful(moment):
        return f"at most {points(moment.loss + moment.loss_error, review.exactness)}"
    return points(moment.loss, review.exactness, moment.loss_error)


def slipped(moment: Moment) -> bool:
    """Whether a decision gave something away."""
    return moment.loss > MARKS[0].most


def doubtful(moment: Moment) -> bool:
    """Whether a decision may have given something away, though that is not proven."""
    return not slipped(moment) and moment.loss_error > _LEAST_DOUBT


def what_came_up(review: Review, moment: Moment) -> list[str]:
    """Luck of this entry: draw luck and mixing luck; negligible parts omitted."""
    if not isinstance(moment.actor, Seat):
        return [f"luck: {_luck(moment.luck)}"]
    least = max(LEAST_SHOWN, 2 * review.error)
    parts = {"chance of the draw": moment.mixing, "luck": moment.luck - moment.mixing}
    return [f"{name}: {_luck(part)}" for name, part in parts.items() if abs(part) > least]


def _luck(luck: float) -> str:
    return f"{100 * luck:+.1f} for Player 1" if abs(luck) >= LEAST_SHOWN else "none"


def account(review: Review) -> list[str]:
    """What was given away, what was luck, and that they add up to the score; a paragraph each."""
    one, two = review.loss(Seat.ONE), review.loss(Seat.TWO)
    sure = how_sure(Value(review.opening, review.exactness, error=review.error))
    sign = "+" if review.luck >= 0 else "-"
    end = "the result" if review.match.outcome else "the value as it stands"
    mixing = sum(moment.mixing for moment in review.moments)
    by_mixing = f" (chance of the draw, where perfect play mixes: {100 * mixing:+.1f})" if mixing else ""
    return [
        f"Given away: Player 1 {100 * one:.1f} points, Player 2 {100 * two:.1f} points. "
        f"Luck: {_luck(review.luck)}{by_mixing}. (Each value: {sure}.)",
        f"{100 * review.opening:.1f} at the start {sign} {100 * abs(review.luck):.1f} luck "
        f"- {100 * one:.1f} + {100 * two:.1f} given away = {100 * review.score:.1f}, {end}.",
    ]


def legend() -> str:
    """What the marks mean."""
    names = ", ".join(f"{mark.name} to {100 * mark.most:g}" for mark in MARKS[:-1])
    return f"Marks, by points given away: {names}, {MARKS[-1].name} above."


def slips_of_loser(review: Review) -> list[Moment]:
    """What the player who lost gave away, the dearest first; empty where nobody lost."""
    outcome = review.match.outcome
    loser = outcome.winner.other if outcome and outcome.winner else None
    slips = (moment for moment in review.moments if moment.actor is loser and slipped(moment))
    return sorted(slips, key=lambda moment: -moment.loss)


def why_lost(review: Review) -> list[str]:
    """Why the match was lost, told to the loser: slips and luck, a paragraph each; empty if nobody lost."""
    outcome = review.match.outcome
    if not outcome or not outcome.winner:
        return []
    loser = outcome.winner.other
    slips = slips_of_loser(review)
    lines = [f"Why you lost, {loser.label}:"]
    for slip in slips[:_SLIPS_TOLD]:
        lines.append(
            f"- Entry {slip.number}, {slip.entry}, gave away {lost(review, slip)}; best was "
            f"{best_of(slip)}. {slip.effect} {slip.reason}"
        )
        lines.append(f"{POSITION}{slip.position}")
    rest = slips[_SLIPS_TOLD:]
    if rest:
        sum_of_them = points(
            sum(slip.loss for slip in rest), review.exactness, sum(slip.loss_error for slip in rest)
        )
        lines.append(f"- {len(rest)} smaller slips gave away {sum_of_them} together.")
    if not slips:
        estimated = review.exactness is Exactness.ESTIMATE
        lines.append("- We found no mistakes." if estimated else "- You made no mistakes.")
    opening = review.opening if loser is Seat.ONE else 1 - review.opening
    if opening < LEAST_SHOWN:
        lines.append("- The game is lost for you from the start if the other player makes no mistake.")
    return lines + _luck_lines(review, loser)


def _happened(moment: Moment, loser: Seat) -> str:
    """What happened, as a clause to the loser."""
    if not isinstance(moment.actor, Seat):
        return moment.came_up
    return f"{'you' if moment.actor is loser else moment.actor.label} played {moment.entry}"


def _luck_lines(review: Review, loser: Seat) -> list[str]:
    side = 1 if loser is Seat.ONE else -1
    if -side * review.luck >= LEAST_SHOWN:
        worst = min(review.moments, key=lambda moment: side * moment.luck)
        how = f": {worst.mishap}" if worst.mishap else ""
        return [
            f"- Luck took {points(-side * review.luck, review.exactness)} from you in all, mostly when "
            f"{_happened(worst, loser)} (entry {worst.number}){how}."
        ]
    if side * review.luck >= LEAST_SHOWN:
        return [f"- Luck was on your side, by {points(side * review.luck, review.exactness)}."]
    return []
