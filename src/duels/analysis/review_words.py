"""The sentences of a review, which terminal and page lay out each in its own way.

One person against a machine is `you`, and sees the match from there. Otherwise it is told from Player 1's
side. Of two people the loser is told why; a machine is never `you`.
"""

from collections.abc import Mapping
from dataclasses import dataclass

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
"""Choices less likely than this are not put down to luck."""
_NONE = 1e-9  # less comes from rounding
_LEAST_TOLD = 20
"""Tenths of a point: choices that lie nearer to the mixture in all did not decide the match."""


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


def whose_play(review: Review) -> str:
    """How both play in the values, after `if both play`: the strategy where nothing is proven of it."""
    return "the strategy" if review.exactness is Exactness.ESTIMATE else "perfectly"


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
    """Luck of this entry, and how far it lies from the mixture; negligible parts omitted."""
    if not isinstance(moment.actor, Seat):
        return [f"luck: {_luck(review, moment.luck)}"]
    least = max(LEAST_SHOWN, 2 * review.error)
    chosen = moment.mixing if moment.actor is Seat.ONE else -moment.mixing
    said = [_from_the_mixture(round(1000 * chosen))] if abs(chosen) > least else []
    luck = moment.luck - moment.mixing
    return [*said, f"luck: {_luck(review, luck)}"] if abs(luck) > least else said


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


@dataclass(frozen=True)
class _Account:
    """What a match adds up to for the side that is shown, in tenths of a point: just as it is printed."""

    start: int
    luck: int
    """Beyond what was chosen of the strategy's mixture."""
    chosen: Mapping[Seat, int]
    """How far each seat's choices lie above the mixture; empty where the strategy does not mix."""
    lost: Mapping[Seat, int]
    score: int


def _add_up(review: Review) -> _Account:
    """The parts in print. What rounding leaves goes to luck, or, where there was none, to another part."""
    mine, theirs = review.side, review.side.other
    start, score = (round(1000 * review.chance(value)) for value in (review.opening, review.score))
    exactly = {
        "luck": review.unforeseen(mine),
        "mine": review.mixing(mine),
        "theirs": -review.mixing(theirs),
        "lost": -review.loss(mine),
        "won": review.loss(theirs),
    }
    parts = {name: round(1000 * part) for name, part in exactly.items()}
    takes_the_rest = "luck" if abs(exactly["luck"]) > _NONE else max(exactly, key=lambda n: abs(exactly[n]))
    parts[takes_the_rest] += score - start - sum(parts.values())
    mixes = any(moment.draws for moment in review.moments)
    chosen = {mine: parts["mine"], theirs: -parts["theirs"]} if mixes else {}
    return _Account(start, parts["luck"], chosen, {mine: -parts["lost"], theirs: parts["won"]}, score)


def account(review: Review) -> list[str]:
    """What was given away, what was luck, and that they add up to the score; a paragraph each."""
    mine, theirs = review.side, review.side.other
    found = _add_up(review)
    sure = how_sure(Value(review.opening, review.exactness, error=review.error))
    end = "the result" if review.match.outcome else "the value as it stands"
    luck = f"{found.luck / 10:+.1f} for {_name(review, mine)}" if found.luck else "none"
    said = [
        f"Given away: {_name(review, mine)} {found.lost[mine] / 10:.1f} points, {_name(review, theirs)} "
        f"{found.lost[theirs] / 10:.1f} points.",
        f"Luck: {luck}.",
    ]
    terms = [f"{found.start / 10:.1f} at the start", f"{_signed(found.luck)} luck"]
    if found.chosen:
        of_both = ", ".join(
            f"{_name(review, seat)} {_from_the_mixture(found.chosen[seat])}" for seat in (mine, theirs)
        )
        said.append(f"Choices: {of_both}.")
        terms.append(f"{_signed(found.chosen[mine])} {_whose(review, mine)} choices")
        terms.append(f"{_signed(-found.chosen[theirs])} {_whose(review, theirs)} choices")
    terms.append(f"- {found.lost[mine] / 10:.1f} + {found.lost[theirs] / 10:.1f} given away")
    return [
        f"{' '.join(said)} (Each value: {sure}.)",
        f"{' '.join(terms)} = {found.score / 10:.1f}, {end}.",
    ]


def _signed(tenths: int) -> str:
    return f"{'-' if tenths < 0 else '+'} {abs(tenths) / 10:.1f}"


def _whose(review: Review, seat: Seat) -> str:
    return "your" if seat is review.person else f"{seat.label}'s"


def _from_the_mixture(tenths: int) -> str:
    """How far choices lie from the mixture, which are so much above it: `7.6 points below the mixture`."""
    return f"{abs(tenths) / 10:.1f} points {'below' if tenths < 0 else 'above'} the mixture"


def legend(review: Review) -> str:
    """What the marks mean."""
    names = ", ".join(f"{mark.name} to {100 * mark.most:g}" for mark in MARKS[:-1])
    told = f"Marks, by points given away: {names}, {MARKS[-1].name} above."
    if any(moment.mark == RARE for moment in review.moments):
        told += f" What the strategy takes now and then, but seldom, is {RARE}."
    if any(moment.draws for moment in review.moments):
        told += (
            " Whatever the strategy mixes in gives nothing away. Below the mixture: worth less than what it "
            "wins on average there; who mixes like it is above as much as below in the long run."
        )
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
            *_mishap_lines(review, loser),
            *_slips_of_other(review, loser),
            *_own_slips(review, told),
            *_rest(review, told),
        ]
    if told:
        title = "Why you lost:" if review.person else f"Why you lost, {told.label}:"
        return [
            title,
            *_mishap_lines(review, told),
            *_own_slips(review, told),
            *_rest(review, told),
        ]
    return [
        f"Why {loser.label} lost:",
        *_mishap_lines(review, loser),
        *_slips_of_other(review, loser),
        *_choice_lines(review, loser),
        *_luck_lines(review, loser),
    ]


def _rest(review: Review, told: Seat) -> list[str]:
    return [*_opening_lines(review, told), *_choice_lines(review, told), *_luck_lines(review, told)]


def _mishap_lines(review: Review, loser: Seat) -> list[str]:
    """What lost the match at once, though the loser could not know."""
    return [
        f"- {_subject(review, loser).capitalize()} {moment.mishap} (entry {moment.number})."
        for moment in review.moments
        if moment.mishap and moment.actor is loser
    ]


def _subject(review: Review, seat: Seat) -> str:
    """Who did something, to the player who is told why."""
    return "you" if seat is _told(review) else seat.label


def _own_slips(review: Review, told: Seat) -> list[str]:
    """What the player who is told gave away, with what it did, why the best was best, and the position."""
    slips = _slips(review, told)
    lines = []
    for slip in slips[:_SLIPS_TOLD]:
        lines.append(
            f"- Entry {slip.number} ({slip.entry}) gave away {lost(review, slip)}; best was "
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
        f"- Entry {slip.number} ({slip.entry} by {seat.label}) gave away {lost(review, slip)}; best was "
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
    """Whether a player's choices lie too far below the mixture for that to be luck."""
    return review.mixing_odds(seat) < _NO_LUCK


def _choice_lines(review: Review, seat: Seat) -> list[str]:
    """How far both players' choices lie from the mixture, where that counts; first those of `seat`."""
    return [line for each in (seat, seat.other) for line in _choices_of(review, each)]


def _choices_of(review: Review, seat: Seat) -> list[str]:
    chosen = _add_up(review).chosen.get(seat, 0)
    badly = _draws_badly(review, seat)
    if abs(chosen) < _LEAST_TOLD and not badly:
        return []
    sign = 1 if (chosen > 0) is (seat is Seat.ONE) else -1
    most = max(
        (moment for moment in review.moments if moment.actor is seat), key=lambda moment: sign * moment.mixing
    )
    about = "about " if review.exactness is Exactness.ESTIMATE else ""
    told = f"choices lie {about}{_from_the_mixture(chosen)} in all, mostly when {_when(review, most)}."
    whose = "your" if _subject(review, seat) == "you" else f"{seat.label}'s"
    if not badly:
        return [f"- {whose[0].upper()}{whose[1:]} {told}"]
    other = "other " if _slips(review, seat) else ""
    return [
        f"- Each of {whose} {other}entries is one that the strategy sometimes plays, but it would hardly "
        f"ever play them all: the {told} To a player who mixes like it that happens less than once in 1,000 "
        "matches."
    ]


def _when(review: Review, moment: Moment) -> str:
    """What happened, as a clause, and where."""
    happened = moment.came_up
    if isinstance(moment.actor, Seat):
        happened = f"{_subject(review, moment.actor)} {moment.did}"
    return f"{happened} (entry {moment.number})"


def _luck_lines(review: Review, seat: Seat) -> list[str]:
    """What luck did to a player, which may be nobody to be spoken to."""
    luck = _add_up(review).luck if seat is review.side else -_add_up(review).luck
    if not luck:
        return []
    sign = 1 if (luck > 0) is (seat is Seat.ONE) else -1
    most = max(review.moments, key=lambda moment: sign * (moment.luck - moment.mixing))
    whom, amount = _subject(review, seat), points(abs(luck) / 1000, review.exactness)
    did = f"Luck gave {whom} {amount}" if luck > 0 else f"Luck took {amount} from {whom}"
    return [f"- {did} in all, mostly when {_when(review, most)}."]
