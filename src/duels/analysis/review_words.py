"""The sentences of a review, which terminal and page lay out each in its own way.

One person against a machine is `you`, and sees the match from there. Otherwise it is told from Player 1's
side. Of two people the loser is told why; a machine is never `you`.
"""

from duels.analysis.review import Moment, Review
from duels.analysis.wording import LEAST_SHOWN, MARKS, RARE, chance_of, how_sure, points
from duels.core.rules import Seat
from duels.core.words import either
from duels.solving.oracle import Exactness, Value

POSITION = "  Position: "
"""Begins a paragraph that holds a position, to be copied in one piece."""
_SLIPS_TOLD = 5
_LEAST_DOUBT = 0.005  # what a decision that is not proven wrong may have cost at most to say so
_NO_LUCK = 0.001
"""Draws less likely than this are not put down to luck."""


def heading(review: Review) -> str:
    """How the match ended, and what kind of values are shown."""
    outcome = review.match.outcome
    sure = " (All values are estimates.)" if review.exactness is Exactness.ESTIMATE else ""
    return f"{outcome.reason if outcome else 'unfinished; values are as the match stands.'}{sure}"


def who_played(review: Review) -> str:
    """Who played whom, in a sentence."""
    if review.person:
        return f"You were {review.person.label}, against {review.players[review.person.other]}."
    if review.is_person(Seat.ONE):
        return "Two people played."
    return f"Player 1 was {review.players[Seat.ONE]}, Player 2 was {review.players[Seat.TWO]}."


def whose_chance(review: Review) -> str:
    """What the values are, over a column or a curve."""
    return chance_of(_name(review, review.side), review.match.rules)


def who(review: Review, moment: Moment) -> str:
    """Who acted: `you`, `Player 1`, `chance`."""
    return _name(review, moment.actor) if isinstance(moment.actor, Seat) else moment.actor.value


def _name(review: Review, seat: Seat) -> str:
    return "you" if seat is review.person else seat.label


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
        return [f"luck: {_luck(review, moment.luck)}"]
    least = max(LEAST_SHOWN, 2 * review.error)
    parts = {"chance of the draw": moment.mixing, "luck": moment.luck - moment.mixing}
    return [f"{name}: {_luck(review, part)}" for name, part in parts.items() if abs(part) > least]


def _luck(review: Review, luck: float) -> str:
    """Luck of Player 1 as the side that is shown has it."""
    signed = luck if review.side is Seat.ONE else -luck
    return f"{100 * signed:+.1f} for {_name(review, review.side)}" if abs(luck) >= LEAST_SHOWN else "none"


def at_stake(review: Review, moment: Moment) -> str:
    """What the reply could give away, as a clause; empty where nobody replies."""
    stake = moment.stake
    if not stake:
        return ""
    if not stake.mistakes:
        return "no reply could lose anything"
    everything = stake.most > 1 - LEAST_SHOWN
    what = "the match" if everything else f"up to {points(stake.most, review.exactness)}"
    return f"{stake.mistakes} of {stake.replies} replies would have lost {what}"


def account(review: Review) -> list[str]:
    """What was given away, what was luck, and that they add up to the score; a paragraph each."""
    mine, theirs = review.side, review.side.other
    own, others = review.loss(mine), review.loss(theirs)
    luck = review.luck if mine is Seat.ONE else -review.luck
    sure = how_sure(Value(review.opening, review.exactness, error=review.error))
    sign = "+" if luck >= 0 else "-"
    end = "the result" if review.match.outcome else "the value as it stands"
    start, score = 100 * review.chance(review.opening), 100 * review.chance(review.score)
    mixing = sum(moment.mixing for moment in review.moments)
    by_mixing = f" (chance of the draw, where perfect play mixes: {_luck(review, mixing)})" if mixing else ""
    return [
        f"Given away: {_name(review, mine)} {100 * own:.1f} points, {_name(review, theirs)} "
        f"{100 * others:.1f} points. Luck: {_luck(review, review.luck)}{by_mixing}. (Each value: {sure}.)",
        f"{start:.1f} at the start {sign} {100 * abs(luck):.1f} luck "
        f"- {100 * own:.1f} + {100 * others:.1f} given away = {score:.1f}, {end}.",
    ]


def legend(review: Review) -> str:
    """What the marks mean."""
    names = ", ".join(f"{mark.name} to {100 * mark.most:g}" for mark in MARKS[:-1])
    told = f"Marks, by points given away: {names}, {MARKS[-1].name} above."
    if any(moment.mark == RARE for moment in review.moments):
        told += f" What perfect play takes now and then, but seldom, is {RARE}."
    return told


def slips_to_learn_from(review: Review) -> list[Moment]:
    """What the player who is told of the match gave away, the dearest first; empty where nobody won."""
    told = _told(review)
    return _slips(review, told) if told and review.match.outcome else []


def _slips(review: Review, seat: Seat) -> list[Moment]:
    slips = (moment for moment in review.moments if moment.actor is seat and slipped(moment))
    return sorted(slips, key=lambda moment: -moment.loss)


def _told(review: Review) -> Seat | None:
    """Who is told why: the one person, or of two people the loser; None where nobody is, or nobody won."""
    outcome = review.match.outcome
    if not outcome or not outcome.winner:
        return None
    loser = outcome.winner.other
    return review.person or (loser if review.is_person(loser) else None)


def why(review: Review) -> list[str]:
    """Why the match was won or lost: slips and luck, a paragraph each; empty if nobody won."""
    outcome = review.match.outcome
    if not outcome or not outcome.winner:
        return []
    told, loser = _told(review), outcome.winner.other
    if told is outcome.winner:
        return [
            "Why you won:",
            *_slips_of_other(review, loser),
            *_own_slips(review, told),
            *_rest(review, told),
        ]
    if told:
        title = "Why you lost:" if review.person else f"Why you lost, {told.label}:"
        return [title, *_own_slips(review, told), *_rest(review, told)]
    return [f"Why {loser.label} lost:", *_slips_of_other(review, loser), *_luck_lines(review, loser)]


def _rest(review: Review, told: Seat) -> list[str]:
    return [*_opening_lines(review, told), *_mixing_lines(review, told), *_luck_lines(review, told)]


def _own_slips(review: Review, told: Seat) -> list[str]:
    """What the player who is told gave away, with what it did, why the best was best, and the position."""
    slips = _slips(review, told)
    lines = []
    for slip in slips[:_SLIPS_TOLD]:
        lines.append(
            f"- Entry {slip.number}, {slip.entry}, gave away {lost(review, slip)}; best was "
            f"{best_of(slip)}. {slip.effect} {slip.reason}"
        )
        lines.append(f"{POSITION}{slip.position}")
    lines += _smaller(review, slips[_SLIPS_TOLD:])
    if not slips and not _draws_badly(review, told):
        estimated = review.exactness is Exactness.ESTIMATE
        lines.append("- We found no mistakes of yours." if estimated else "- You made no mistakes.")
    return lines


def _slips_of_other(review: Review, seat: Seat) -> list[str]:
    """What another player gave away, who is not spoken to."""
    slips = _slips(review, seat)
    lines = [
        f"- Entry {slip.number}, {slip.entry} by {seat.label}, gave away {lost(review, slip)}; best was "
        f"{best_of(slip)}."
        for slip in slips[:_SLIPS_TOLD]
    ]
    lines += _smaller(review, slips[_SLIPS_TOLD:])
    if not slips:
        estimated = review.exactness is Exactness.ESTIMATE
        lines.append(f"- {'We found no mistakes of' if estimated else 'No mistakes by'} {seat.label}.")
    return lines


def _smaller(review: Review, slips: list[Moment]) -> list[str]:
    if not slips:
        return []
    sum_of_them = points(
        sum(slip.loss for slip in slips), review.exactness, sum(slip.loss_error for slip in slips)
    )
    return [f"- {len(slips)} smaller slips gave away {sum_of_them} together."]


def _opening_lines(review: Review, told: Seat) -> list[str]:
    opening = review.opening if told is Seat.ONE else 1 - review.opening
    if opening < LEAST_SHOWN:
        return ["- The game is lost for you from the start if the other player makes no mistake."]
    if opening > 1 - LEAST_SHOWN:
        return ["- The game is won for you from the start if you make no mistake."]
    return []


def _draws_badly(review: Review, seat: Seat) -> bool:
    """Whether what a player chose of a mixture is too dear to be luck of the draw."""
    return review.mixing_odds(seat) < _NO_LUCK


def _mixing_lines(review: Review, told: Seat) -> list[str]:
    if not _draws_badly(review, told):
        return []
    side = 1 if told is Seat.ONE else -1
    drawn = [moment for moment in review.moments if moment.actor is told]
    worst = min(drawn, key=lambda moment: side * moment.mixing)
    return [
        "- The strategy might have played every one of your entries, but hardly all of them: what you chose "
        f"of its mixture cost {points(-review.mixing(told), review.exactness)} in all, most with entry "
        f"{worst.number}, {worst.entry}. To a player who mixes like it that happens less than once in 1,000 "
        "matches."
    ]


def _happened(review: Review, moment: Moment, told: Seat) -> str:
    """What happened, as a clause."""
    if not isinstance(moment.actor, Seat):
        return moment.came_up
    mine = moment.actor is told and told is _told(review)
    return f"{'you' if mine else moment.actor.label} played {moment.entry}"


def _luck_lines(review: Review, seat: Seat) -> list[str]:
    """What luck did to a player, which may be nobody to be spoken to."""
    whom = "you" if seat is _told(review) else seat.label
    side = 1 if seat is Seat.ONE else -1
    luck = side * review.luck - (review.mixing(seat) if _draws_badly(review, seat) else 0.0)
    if abs(luck) < LEAST_SHOWN:
        return []
    sign = 1 if luck > 0 else -1
    most = max(review.moments, key=lambda moment: sign * side * moment.luck)
    how = f": {most.mishap}" if most.mishap and most.actor is seat and whom == "you" else ""
    amount = points(abs(luck), review.exactness)
    did = f"Luck gave {whom} {amount}" if luck > 0 else f"Luck took {amount} from {whom}"
    return [f"- {did} in all, mostly when {_happened(review, most, seat)} (entry {most.number}){how}."]
