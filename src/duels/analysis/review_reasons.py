"""Reasons why a match was won or lost, the largest first, and advice for the next match.

The reader, addressed as `you`, is the only person who played. If two people played, it is the loser, or both
if nobody won. A match between machines has no reader. A slip is a decision that gave something away.
"""

from dataclasses import dataclass

from duels.analysis.review import Review, ReviewedEntry
from duels.analysis.review_text import (
    Account,
    compare_with_average,
    compute_account,
    describe_turning_point,
    format_loss,
    get_actor_name,
    get_player_names,
    get_possessive,
    is_slip,
)
from duels.analysis.wording import MAX_NAMED, MIN_SHOWN, format_points
from duels.core.rules import Seat
from duels.core.words import join_or
from duels.solving.oracle import Exactness

_MAX_SLIPS = 3  # with their reasons they fill a small terminal
_MAX_ODDS_OF_BAD_CHOICES = 0.001
"""Choices less likely than this are not attributed to luck."""
_MIN_CHOICE_EFFECT = 20
"""Tenths of a point. Choices closer to average did not decide the match."""
_WHOLE_MATCH = 1000  # tenths of a point
_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")


@dataclass(frozen=True)
class Reason:
    """A paragraph, with the position that it is about if there is one."""

    text: str
    position: str = ""


@dataclass(frozen=True)
class Section:
    """A list of reasons under a title."""

    title: str
    reasons: tuple[Reason, ...]


@dataclass(frozen=True)
class _Cause:
    """Reasons of one kind, and their total cost to the loser in tenths of a point."""

    cost: float
    reasons: list[Reason]
    summary: str = ""
    """One line for all the reasons; empty if the first reason is short enough."""


def explain_result(review: Review) -> list[Section]:
    """Explain why the match was won or lost and what to do better; empty if it is unfinished."""
    outcome = review.match.outcome
    if not outcome:
        return []
    if outcome.winner:
        reader, loser = _get_reader(review), outcome.winner.other
        causes = sorted(_list_causes(review, reader, loser), key=lambda cause: -cause.cost)
        reasons = tuple(reason for cause in causes for reason in cause.reasons)
        sections = [Section(_format_section_title(review, reader, loser), reasons)]
        learners = [reader] if reader is outcome.winner else []
    else:
        sections, learners = [], [seat for seat in Seat if review.is_person(seat)]
    for seat in learners:
        suffix = "" if review.person else f", {seat.label}"
        advice = tuple(_list_improvements(review, seat))
        sections.append(Section(f"What you could do better{suffix}", advice))
    return [section for section in sections if section.reasons]


def summarize_result(review: Review) -> str:
    """Return a sentence that tells the reader what decided the match; empty if there is nothing to tell."""
    outcome, reader = review.match.outcome, _get_reader(review)
    if not outcome or not reader:
        return ""
    if not outcome.winner:
        return _describe_worst_slip(review, reader)
    causes = [
        cause
        for cause in _list_causes(review, reader, outcome.winner.other)
        if cause.cost > 0 and cause.reasons
    ]
    if not causes:
        return ""
    decisive = max(causes, key=lambda cause: cause.cost)
    return decisive.summary or decisive.reasons[0].text


def list_reader_slips(review: Review) -> list[ReviewedEntry]:
    """Return the reader's slips, the most expensive first; empty if there is no reader."""
    reader = _get_reader(review)
    return _list_slips(review, reader) if reader else []


def _get_reader(review: Review) -> Seat | None:
    outcome = review.match.outcome
    if not outcome:
        return None
    loser = outcome.winner and outcome.winner.other
    return review.person or (loser if loser and review.is_person(loser) else None)


def _format_section_title(review: Review, reader: Seat | None, loser: Seat) -> str:
    if not reader:
        return f"Why {loser.label} lost"
    if not review.person:
        return f"Why you lost, {reader.label}"
    return f"Why you {'lost' if reader is loser else 'won'}"


def _list_causes(review: Review, reader: Seat | None, loser: Seat) -> list[_Cause]:
    account = compute_account(review)
    slips = [*_sum_up_slips(review, account, loser), *_describe_slips(review, loser, reader)]
    return [
        _Cause(float("inf"), _describe_turning_points(review)),  # always first
        _Cause(account.losses[loser], slips, _describe_worst_slip(review, loser)),
        _Cause(0, _praise_flawless_play(review, reader)),
        *([_explain_opening(review, reader, loser)] if reader else []),
        *(_explain_choices(review, account, seat, loser) for seat in (loser, loser.other)),
        _explain_luck(review, account, reader or loser, loser),
    ]


def _describe_turning_points(review: Review) -> list[Reason]:
    reader = _get_reader(review)
    points = ((entry, describe_turning_point(review, entry, reader)) for entry in review.entries)
    return [Reason(f"{point} (entry {entry.number}).") for entry, point in points if point]


def _get_subject(review: Review, seat: Seat) -> str:
    return get_player_names(review, _get_reader(review)).name(seat)


def _get_owner(review: Review, seat: Seat, begins: bool = False) -> str:
    return get_possessive(review, seat, begins, _get_reader(review))


# -- slips -------------------------------------------------------------------------------------------


def _list_slips(review: Review, seat: Seat) -> list[ReviewedEntry]:
    slips = (entry for entry in review.entries if entry.actor is seat and is_slip(entry))
    return sorted(slips, key=lambda entry: -entry.loss)


def _describe_worst_slip(review: Review, seat: Seat) -> str:
    slips = _list_slips(review, seat)
    if not slips:
        return ""
    # After the last of several equally bad slips, the match stayed lost.
    worst = max(slips, key=lambda slip: (round(slip.loss, 3), slip.number))
    return _describe_slip(review, worst, worst.label)


def _describe_slip(review: Review, slip: ReviewedEntry, label: str) -> str:
    """Say what a slip cost: `Your second move (light 1) threw away the win; light 6 kept it.`"""
    assert isinstance(slip.actor, Seat)
    owner = _get_owner(review, slip.actor, begins=True)
    if slip.is_early_end:
        subject, best = f"{owner} {slip.label}", "playing on"
    else:
        best = join_or(slip.best_labels, MAX_NAMED)
        earlier = sum(entry.actor is slip.actor for entry in review.entries[: slip.number - 1])
        subject = f"{owner} {_format_ordinal(earlier + 1)} move ({label})"
    if slip.loss > 1 - MIN_SHOWN:
        return f"{subject} threw away the win; {best} kept it."
    return f"{subject} cost {format_loss(review, slip)}; {best} was best."


def _format_ordinal(number: int) -> str:
    if number <= len(_ORDINALS):
        return _ORDINALS[number - 1]
    suffix = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{suffix}"


def _sum_up_slips(review: Review, account: Account, seat: Seat) -> list[Reason]:
    if len(_list_slips(review, seat)) < 2:
        return []
    cost = format_points(account.losses[seat] / 1000, review.exactness)
    return [Reason(f"{_get_owner(review, seat, begins=True)} mistakes cost {cost} in total:")]


def _list_improvements(review: Review, reader: Seat) -> list[Reason]:
    reasons = _describe_slips(review, reader, reader)
    if _chose_badly(review, reader):
        reasons += _explain_choices(review, compute_account(review), reader, reader).reasons
    return reasons


def _describe_slips(review: Review, seat: Seat, reader: Seat | None) -> list[Reason]:
    """Describe a player's slips; the reader's own come with effect, reason and position."""
    slips = _list_slips(review, seat)
    reasons = []
    for slip in slips[:_MAX_SLIPS]:
        sentence = _describe_slip(review, slip, f"entry {slip.number}: {slip.label}")
        if seat is reader:
            effect = "" if slip.is_early_end else f" {slip.effect}"
            reasons.append(Reason(f"{sentence}{effect} {slip.reason}".rstrip(), slip.position))
        else:
            reasons.append(Reason(sentence))
    if not slips and seat is not reader:
        start = "We found no mistakes" if review.exactness is Exactness.ESTIMATE else "No mistakes"
        reasons.append(Reason(f"{start} by {get_actor_name(review, seat)}."))
    if smaller := slips[_MAX_SLIPS:]:
        loss, error = sum(slip.loss for slip in smaller), sum(slip.loss_error for slip in smaller)
        cost = format_points(loss, review.exactness, error)
        number = f"{len(smaller)} smaller mistakes" if len(smaller) > 1 else "One smaller mistake"
        reasons.append(Reason(f"{number} cost {cost}."))
    return reasons


def _praise_flawless_play(review: Review, reader: Seat | None) -> list[Reason]:
    if not reader or _list_slips(review, reader) or _chose_badly(review, reader):
        return []
    estimated = review.exactness is Exactness.ESTIMATE
    return [Reason("We found no mistakes in your play." if estimated else "You made no mistakes.")]


# -- the opening, choices and luck -------------------------------------------------------------------


def _explain_opening(review: Review, reader: Seat, loser: Seat) -> _Cause:
    """Say that the game is won or lost from the start; this is a cause only if it ended that way."""
    opening = review.opening if reader is Seat.ONE else 1 - review.opening
    if opening < MIN_SHOWN:
        sentence = "The game is lost for you from the start if the other player makes no mistake."
        return _Cause(_WHOLE_MATCH if reader is loser else 0, [Reason(sentence)])
    if opening > 1 - MIN_SHOWN:
        sentence = "The game is won for you from the start if you make no mistake."
        return _Cause(0 if reader is loser else _WHOLE_MATCH, [Reason(sentence)])
    return _Cause(0, [])


def _chose_badly(review: Review, seat: Seat) -> bool:
    """Whether a player's choices are too much worse than average to be bad luck."""
    return review.mixing_odds(seat) < _MAX_ODDS_OF_BAD_CHOICES


def _explain_choices(review: Review, account: Account, seat: Seat, loser: Seat) -> _Cause:
    """Compare a player's choices from the mixture with the average, if the difference matters."""
    tenths = account.choices.get(seat, 0)
    chose_badly = _chose_badly(review, seat)
    if abs(tenths) < _MIN_CHOICE_EFFECT and not chose_badly:
        return _Cause(0, [])
    sign = 1 if (tenths > 0) is (seat is Seat.ONE) else -1
    largest = max(
        (entry for entry in review.entries if entry.actor is seat), key=lambda entry: sign * entry.mixing
    )
    about = "about " if review.exactness is Exactness.ESTIMATE else ""
    comparison = f"turned out {about}{compare_with_average(tenths)}, mostly when {_say_when(review, largest)}"
    cost = -tenths if seat is loser else tenths
    if not chose_badly:
        owner = _get_owner(review, seat, begins=True)
        sentence = f"{owner} choices, all of which the strategy makes too, {comparison}."
        return _Cause(cost, [Reason(sentence)])
    owner = _get_owner(review, seat)
    other = "other " if _list_slips(review, seat) else ""
    sentence = (
        f"The strategy sometimes plays each of {owner} {other}moves, but hardly ever all of them: "
        f"{owner} choices {comparison}. A player who follows the strategy does as badly less than once in "
        "1,000 matches."
    )
    return _Cause(cost, [Reason(sentence)])


def _say_when(review: Review, entry: ReviewedEntry) -> str:
    clause = entry.outcome_text
    if isinstance(entry.actor, Seat):
        clause = f"{_get_subject(review, entry.actor)} {entry.action_text}"
    return f"{clause} (entry {entry.number})"


def _explain_luck(review: Review, account: Account, seat: Seat, loser: Seat) -> _Cause:
    luck = account.luck if seat is review.side else -account.luck
    if not luck:
        return _Cause(0, [])
    sign = 1 if (luck > 0) is (seat is Seat.ONE) else -1
    largest = max(review.entries, key=lambda entry: sign * (entry.luck - entry.mixing))
    name, amount = _get_subject(review, seat), format_points(abs(luck) / 1000, review.exactness)
    clause = f"Luck gave {name} {amount}" if luck > 0 else f"Luck took {amount} from {name}"
    sentence = f"{clause} in total, mostly when {_say_when(review, largest)}."
    return _Cause(-luck if seat is loser else luck, [Reason(sentence)])
