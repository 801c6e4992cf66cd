"""The reasons why a match was won or lost.

The reader, addressed as `you`, is the only person who played. If two people played, the loser is the reader;
if nobody won, each of them is. A match between machines has no reader. A slip is a decision that gave
something away.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from duels.analysis.review import Review, ReviewedEntry
from duels.analysis.review_text import (
    Account,
    compare_with_average,
    compute_account,
    describe_turning_point,
    format_loss,
    get_player_names,
    is_slip,
)
from duels.analysis.wording import MAX_NAMED, MIN_SHOWN, MISTAKE_NAMES, format_points
from duels.core.narration import SEAT_LABELS, PlayerNames
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
    """A paragraph, and the notation of its position if it is about one."""

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
        suffix = "" if review.person else f", {(review.names or SEAT_LABELS).name(seat)}"
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


def describe_play(review: Review) -> str:
    """Say how the reader played: `One blunder at entry 12; otherwise well played. You were lucky.`

    The result is empty if there is no reader.
    """
    reader = _get_reader(review)
    if not reader:
        return ""
    slips = [entry for entry in _list_slips(review, reader) if entry.mark in MISTAKE_NAMES]
    worst = _find_worst(slips)
    start = "Well played"
    if worst:
        same_mark = sum(slip.mark == worst.mark for slip in slips)
        count = f"{same_mark} {worst.mark}s, the last" if same_mark > 1 else f"One {worst.mark}"
        others = len(slips) - same_mark
        rest = f", and {others} smaller slip{'s' * (others > 1)}" if others else "; otherwise well played"
        start = f"{count} at entry {worst.number}{rest}"
    luck = 1000 * review.luck_without_mixing(reader)
    fortune = "" if abs(luck) < _MIN_CHOICE_EFFECT else f" You were {'lucky' if luck > 0 else 'unlucky'}."
    return f"{start}.{fortune}"


def find_worst_slip(review: Review) -> ReviewedEntry | None:
    """Return the reader's worst slip, or anybody's if the reader made none; None if there was no slip."""
    entries = [entry for entry in review.entries if isinstance(entry.actor, Seat) and is_slip(entry)]
    return _find_worst(list_reader_slips(review)) or _find_worst(entries)


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
    name = (review.names or SEAT_LABELS).name(loser)
    if not reader:
        return f"Why {name} lost"
    if not review.person:
        return f"Why you lost, {name}"
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


def _get_names(review: Review) -> PlayerNames:
    return get_player_names(review, _get_reader(review))


# -- slips -------------------------------------------------------------------------------------------


def _list_slips(review: Review, seat: Seat) -> list[ReviewedEntry]:
    slips = (entry for entry in review.entries if entry.actor is seat and is_slip(entry))
    return sorted(slips, key=lambda entry: -entry.loss)


def _describe_worst_slip(review: Review, seat: Seat) -> str:
    worst = _find_worst(_list_slips(review, seat))
    return _describe_slip(review, worst, worst.label) if worst else ""


def _find_worst(slips: Sequence[ReviewedEntry]) -> ReviewedEntry | None:
    # After the last of several equally bad slips, the match stayed lost.
    return max(slips, key=lambda slip: (round(slip.loss, 3), slip.number), default=None)


def _describe_slip(review: Review, slip: ReviewedEntry, label: str) -> str:
    """Say what a slip cost: `Your second move (light 1) threw away the win; light 6 kept it.`"""
    assert isinstance(slip.actor, Seat)
    owner = _get_names(review).possessive(slip.actor, begins=True)
    if slip.is_early_end:
        subject, best = f"{owner} {slip.label}", "playing on"
    else:
        best = join_or(slip.best_labels, MAX_NAMED)
        # A player's decisions in a row, such as a Quantum Flip and the choice after it, are one move.
        seats = (entry.actor for entry in review.entries[: slip.number] if isinstance(entry.actor, Seat))
        moves = sum(seat is slip.actor for seat, _ in groupby(seats))
        subject = f"{owner} {_format_ordinal(moves)} move ({label})"
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
    return [Reason(f"{_get_names(review).possessive(seat, begins=True)} mistakes cost {cost} in total:")]


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
            # The reason is about the best action. Where all are equal, it would excuse a resignation.
            details = "" if slip.is_early_end else f" {slip.effect} {slip.reason}".rstrip()
            reasons.append(Reason(f"{sentence}{details}", slip.position))
        else:
            reasons.append(Reason(sentence))
    if not slips and seat is not reader:
        start = "We found no mistakes" if review.exactness is Exactness.ESTIMATE else "No mistakes"
        reasons.append(Reason(f"{start} by {get_player_names(review).name(seat)}."))
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
    """Say that the game is won or lost from the start. This is a cause only if the match ended so."""
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
        owner = _get_names(review).possessive(seat, begins=True)
        sentence = f"{owner} choices, all of which the strategy makes too, {comparison}."
        return _Cause(cost, [Reason(sentence)])
    owner = _get_names(review).possessive(seat)
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
        clause = f"{_get_names(review).name(entry.actor)} {entry.action_text}"
    return f"{clause} (entry {entry.number})"


def _explain_luck(review: Review, account: Account, seat: Seat, loser: Seat) -> _Cause:
    luck = account.luck if seat is review.side else -account.luck
    if not luck:
        return _Cause(0, [])
    sign = 1 if (luck > 0) is (seat is Seat.ONE) else -1
    largest = max(review.entries, key=lambda entry: sign * (entry.luck - entry.mixing))
    name, amount = _get_names(review).name(seat), format_points(abs(luck) / 1000, review.exactness)
    clause = f"Luck gave {name} {amount}" if luck > 0 else f"Luck took {amount} from {name}"
    sentence = f"{clause} in total, mostly when {_say_when(review, largest)}."
    return _Cause(-luck if seat is loser else luck, [Reason(sentence)])
