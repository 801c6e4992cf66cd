"""Why a match was won or lost, the biggest cause first, and what could be done better.

The one person is told, of two people the loser, or both if nobody won; where machines played, nobody is
spoken to.
"""

from dataclasses import dataclass

from duels.analysis.review import Moment, Review
from duels.analysis.review_words import (
    Account,
    add_up,
    best_of,
    from_the_mixture,
    lost,
    name_of,
    names_of,
    slipped,
    turning_point,
)
from duels.analysis.wording import LEAST_SHOWN, points
from duels.core.rules import Seat
from duels.solving.oracle import Exactness

_SLIPS_TOLD = 3  # with their reasons they fill a small terminal
_NO_LUCK = 0.001
"""Choices less likely than this are not put down to luck."""
_LEAST_TOLD = 20
"""Tenths of a point: choices that lie nearer to the mixture in all did not decide the match."""
_ALL = 1000  # tenths of a point: the whole match


@dataclass(frozen=True)
class Reason:
    """A paragraph of a list, with the position that it is about, to be copied, if there is one."""

    text: str
    position: str = ""


@dataclass(frozen=True)
class Section:
    """A list of reasons under a title."""

    title: str
    reasons: tuple[Reason, ...]


@dataclass(frozen=True)
class _Cause:
    """Reasons of one kind, and what they took from the loser in all, in tenths of a point."""

    took: float
    reasons: list[Reason]
    short: str = ""
    """The same in one line; empty where the first of the reasons is short enough."""


def why(review: Review) -> list[Section]:
    """Why the match was won or lost, then what could be done better; empty while it goes on."""
    outcome = review.match.outcome
    if not outcome:
        return []
    if outcome.winner:
        told, loser = _told(review), outcome.winner.other
        causes = tuple(_in_order(_causes(review, told, loser)))
        sections = [Section(_title(review, told, loser), causes)]
        learners = [told] if told is outcome.winner else []
    else:
        sections, learners = [], [seat for seat in Seat if review.is_person(seat)]
    for seat in learners:
        named = "" if review.person else f", {seat.label}"
        sections.append(Section(f"What you could do better{named}", tuple(_to_do_better(review, seat))))
    return [section for section in sections if section.reasons]


def in_a_line(review: Review) -> str:
    """What decided the match, in a sentence to the player who is told; empty where nothing did."""
    outcome, told = review.match.outcome, _told(review)
    if not outcome or not told:
        return ""
    if not outcome.winner:
        return _last_of_dearest(review, told)
    causes = [
        cause for cause in _causes(review, told, outcome.winner.other) if cause.took > 0 and cause.reasons
    ]
    if not causes:
        return ""
    decisive = max(causes, key=lambda cause: cause.took)
    return decisive.short or decisive.reasons[0].text


def slips_to_learn_from(review: Review) -> list[Moment]:
    """What the player who is told of the match gave away, the dearest first; empty where nobody is."""
    told = _told(review)
    return _slips(review, told) if told else []


def _told(review: Review) -> Seat | None:
    """Who is told why: the one person, or of two people the loser; None while the match goes on."""
    outcome = review.match.outcome
    if not outcome or review.person:
        return review.person if outcome else None
    loser = outcome.winner and outcome.winner.other
    return loser if loser and review.is_person(loser) else None


def _title(review: Review, told: Seat | None, loser: Seat) -> str:
    if not told:
        return f"Why {loser.label} lost"
    if not review.person:
        return f"Why you lost, {told.label}"
    return f"Why you {'lost' if told is loser else 'won'}"


def _causes(review: Review, told: Seat | None, loser: Seat) -> list[_Cause]:
    found = add_up(review)
    own = _own_slips(review, loser) if told is loser else _slips_of_other(review, loser)
    return [
        _Cause(float("inf"), _turning_points(review)),
        _Cause(
            found.lost[loser], [*_cost_in_all(review, found, loser), *own], _last_of_dearest(review, loser)
        ),
        _Cause(0, _flawless(review, told)),
        *([_opening(review, told, loser)] if told else []),
        *(_choices(review, found, seat, loser) for seat in (loser, loser.other)),
        _luck(review, found, told or loser, loser),
    ]


def _in_order(causes: list[_Cause]) -> list[Reason]:
    """The biggest cause first."""
    ordered = sorted(causes, key=lambda cause: -cause.took)
    return [reason for cause in ordered for reason in cause.reasons]


def _turning_points(review: Review) -> list[Reason]:
    """What won or lost the match at once, though nobody could know."""
    points = ((moment, turning_point(review, moment, _told(review))) for moment in review.moments)
    return [Reason(f"{point} (entry {moment.number}).") for moment, point in points if point]


def _subject(review: Review, seat: Seat) -> str:
    """Who did something, to the player who is told why."""
    return names_of(review, _told(review)).name(seat)


def _whose(review: Review, seat: Seat, begins: bool = False) -> str:
    """The same of an owner."""
    return names_of(review, _told(review), in_full=False).possessive(seat, begins)


# -- slips -------------------------------------------------------------------------------------------


def _slips(review: Review, seat: Seat) -> list[Moment]:
    slips = (moment for moment in review.moments if moment.actor is seat and slipped(moment))
    return sorted(slips, key=lambda moment: -moment.loss)


def _last_of_dearest(review: Review, seat: Seat) -> str:
    """What gave away most, in a sentence; of several as dear the last, after which it stayed lost."""
    slips = _slips(review, seat)
    if not slips:
        return ""
    slip = max(slips, key=lambda slip: (round(slip.loss, 3), slip.number))
    what = "the win" if slip.loss > 1 - LEAST_SHOWN else lost(review, slip)
    by = "" if seat is _told(review) else f" by {name_of(review, seat)}"
    return f"Entry {slip.number} ({slip.entry}){by} gave away {what}; best was {best_of(slip)}."


def _cost_in_all(review: Review, found: Account, seat: Seat) -> list[Reason]:
    """What several slips add up to, which the other causes are compared with."""
    if len(_slips(review, seat)) < 2:
        return []
    cost = points(found.lost[seat] / 1000, review.exactness)
    return [Reason(f"{_whose(review, seat, begins=True)} mistakes cost {cost} in all:")]


def _to_do_better(review: Review, told: Seat) -> list[Reason]:
    """The slips of a player who did not lose by them, and choices that somebody could foresee."""
    badly = _choices(review, add_up(review), told, told) if _draws_badly(review, told) else _Cause(0, [])
    return [*_own_slips(review, told), *badly.reasons]


def _own_slips(review: Review, told: Seat) -> list[Reason]:
    """What the player who is told gave away, with what it did, why the best was best, and the position."""
    slips = _slips(review, told)
    return [
        *(
            Reason(
                f"Entry {slip.number} ({slip.entry}) gave away {lost(review, slip)}; best was "
                f"{best_of(slip)}. {slip.effect} {slip.reason}",
                slip.position,
            )
            for slip in slips[:_SLIPS_TOLD]
        ),
        *_smaller(review, slips[_SLIPS_TOLD:]),
    ]


def _flawless(review: Review, told: Seat | None) -> list[Reason]:
    """That the player who is told made no mistakes, where that is so."""
    if not told or _slips(review, told) or _draws_badly(review, told):
        return []
    estimated = review.exactness is Exactness.ESTIMATE
    return [Reason("We found no mistakes of yours." if estimated else "You made no mistakes.")]


def _slips_of_other(review: Review, seat: Seat) -> list[Reason]:
    """What another player gave away, who is not spoken to."""
    slips, name = _slips(review, seat), name_of(review, seat)
    if not slips:
        estimated = review.exactness is Exactness.ESTIMATE
        return [Reason(f"{'We found no mistakes of' if estimated else 'No mistakes by'} {name}.")]
    return [
        *(
            Reason(
                f"Entry {slip.number} ({slip.entry}) by {name} gave away {lost(review, slip)}; "
                f"best was {best_of(slip)}."
            )
            for slip in slips[:_SLIPS_TOLD]
        ),
        *_smaller(review, slips[_SLIPS_TOLD:]),
    ]


def _smaller(review: Review, slips: list[Moment]) -> list[Reason]:
    if not slips:
        return []
    sum_of_them = points(
        sum(slip.loss for slip in slips), review.exactness, sum(slip.loss_error for slip in slips)
    )
    return [Reason(f"{len(slips)} smaller slips gave away {sum_of_them} together.")]


# -- what is nobody's mistake ------------------------------------------------------------------------


def _opening(review: Review, told: Seat, loser: Seat) -> _Cause:
    """That the game is decided from the start; a cause of the result only if that is how it ended."""
    opening = review.opening if told is Seat.ONE else 1 - review.opening
    if opening < LEAST_SHOWN:
        said = "The game is lost for you from the start if the other player makes no mistake."
        return _Cause(_ALL if told is loser else 0, [Reason(said)])
    if opening > 1 - LEAST_SHOWN:
        said = "The game is won for you from the start if you make no mistake."
        return _Cause(0 if told is loser else _ALL, [Reason(said)])
    return _Cause(0, [])


def _draws_badly(review: Review, seat: Seat) -> bool:
    """Whether a player's choices lie too far below the mixture for that to be luck."""
    return review.mixing_odds(seat) < _NO_LUCK


def _choices(review: Review, found: Account, seat: Seat, loser: Seat) -> _Cause:
    """How far a player's choices lie from the mixture, where that counts."""
    chosen = found.chosen.get(seat, 0)
    badly = _draws_badly(review, seat)
    if abs(chosen) < _LEAST_TOLD and not badly:
        return _Cause(0, [])
    sign = 1 if (chosen > 0) is (seat is Seat.ONE) else -1
    most = max(
        (moment for moment in review.moments if moment.actor is seat), key=lambda moment: sign * moment.mixing
    )
    about = "about " if review.exactness is Exactness.ESTIMATE else ""
    lie = f"{about}{from_the_mixture(chosen)} in all, mostly when {_when(review, most)}"
    took = -chosen if seat is loser else chosen
    if not badly:
        their = _whose(review, seat, begins=True)
        said = f"{their} choices, each one that the strategy makes too, happened to lie {lie}."
        return _Cause(took, [Reason(said)])
    other = "other " if _slips(review, seat) else ""
    said = (
        f"Each of {_whose(review, seat)} {other}entries is one that the strategy sometimes plays, but it "
        f"would hardly ever play them all: the choices lie {lie}. To a player who mixes like it that "
        "happens less than once in 1,000 matches."
    )
    return _Cause(took, [Reason(said)])


def _when(review: Review, moment: Moment) -> str:
    """What happened, as a clause, and where."""
    happened = moment.came_up
    if isinstance(moment.actor, Seat):
        happened = f"{_subject(review, moment.actor)} {moment.did}"
    return f"{happened} (entry {moment.number})"


def _luck(review: Review, found: Account, seat: Seat, loser: Seat) -> _Cause:
    """What luck did to a player, which may be nobody to be spoken to."""
    luck = found.luck_of(review, seat)
    if not luck:
        return _Cause(0, [])
    sign = 1 if (luck > 0) is (seat is Seat.ONE) else -1
    most = max(review.moments, key=lambda moment: sign * (moment.luck - moment.mixing))
    whom, amount = _subject(review, seat), points(abs(luck) / 1000, review.exactness)
    did = f"Luck gave {whom} {amount}" if luck > 0 else f"Luck took {amount} from {whom}"
    said = f"{did} in all, mostly when {_when(review, most)}."
    return _Cause(-luck if seat is loser else luck, [Reason(said)])
