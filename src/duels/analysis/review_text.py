"""Sentences about a review: its entries, the account, and the reasons why the match was won or lost.

A person who played against a machine is addressed as `you` and sees the match from their side. Any other
match is described from Player 1's side. A machine is never `you`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from duels.analysis.review import Review, ReviewedEntry
from duels.analysis.wording import (
    ALREADY_LOST,
    DEFINITIONS,
    MAX_LOSSES,
    MAX_NAMED,
    MIN_SHOWN,
    MISTAKE_NAMES,
    RARE,
    RARE_EXPLANATION,
    describe_exactness,
    format_points,
    format_probabilities,
    is_loss,
)
from duels.core.narration import SEAT_LABELS, PlayerNames
from duels.core.rules import Actor, Seat
from duels.core.words import join_or
from duels.solving.oracle import Exactness, Value

_MIN_UNPROVEN_LOSS = 0.005
_MAX_NAME_LENGTH = 9  # a program may be named by its whole path
_ROUNDING = 1e-9


def format_heading(review: Review) -> str:
    """Say how the match ended, and whether the values are estimates."""
    outcome, names = review.match.outcome, review.names or get_player_names(review)
    note = " (All values are estimates.)" if review.exactness is Exactness.ESTIMATE else ""
    if not outcome:
        return f"unfinished; the score is the value of the current position.{note}"
    return outcome.sentence.render(names) + note


def describe_players(review: Review) -> str:
    """Say who played whom."""
    if review.person:
        other = review.person.other
        verb = "were" if review.match.over else "are"
        return f"You {verb} {review.person.label}, against {review.players[other]} ({other.label})."
    if review.is_person(Seat.ONE) and not review.names:
        return "Two people played."
    names = review.names or PlayerNames(review.players[Seat.ONE], review.players[Seat.TWO])
    return f"Player 1 was {names.one}, Player 2 was {names.two}."


def get_chance_label(review: Review) -> str:
    """Return the label of the values in a table or curve: `Your chance to win`."""
    if review.match.rules.can_be_drawn:
        return f"The match's worth to {get_actor_name(review, review.side)}"
    return f"{get_possessive(review, review.side, begins=True)} chance to win"


def format_title(review: Review, entry: ReviewedEntry) -> str:
    """Name an entry and its actor: `3. You: 5`, `4. club resigned`."""
    description = describe_entry(entry)
    actor = get_actor_name(review, entry.actor, begins=True)
    return f"{entry.number}. {actor}{':' if description == entry.notation else ''} {description}"


def describe_entry(entry: ReviewedEntry) -> str:
    """Return the entry in notation, or a verb for an early end: `resigned`."""
    return entry.action_text if entry.is_early_end else entry.notation


def get_actor_name(review: Review, actor: Actor, begins: bool = False) -> str:
    """Return the actor's name: `you`, `club`, `Player 2`, `chance`; `begins` capitalizes it."""
    if isinstance(actor, Seat):
        return get_player_names(review).name(actor, begins)
    return actor.value.capitalize() if begins else actor.value


def get_possessive(review: Review, seat: Seat, begins: bool = False, reader: Seat | None = None) -> str:
    """Return `your`, `club's` or `Player 2's`. The reader, by default the only person, is `you`."""
    return get_player_names(review, reader).possessive(seat, begins)


def get_player_names(review: Review, reader: Seat | None = None) -> PlayerNames:
    """Return the players' names in sentences. The reader, by default the only person, is `you`.

    A machine is named only if it played a person: two machines may have the same name.
    """
    names, person = review.names, review.person
    if names is None and person and len(name := review.players[person.other]) <= _MAX_NAME_LENGTH:
        names = PlayerNames("", name) if person is Seat.ONE else PlayerNames(name)
    return replace(names or SEAT_LABELS, reader=reader or person)


def describe_turning_point(review: Review, entry: ReviewedEntry, reader: Seat | None = None) -> str:
    """Say how an entry won or lost the match at once, without a full stop; empty if it did not.

    The reader, by default the only person, is `you`.
    """
    clause = entry.unforeseen_loss or entry.winning_discovery
    if not clause or not isinstance(entry.actor, Seat):
        return ""
    subject = get_player_names(review, reader).name(entry.actor, begins=True)
    return f"{subject} {clause.format(whose=get_possessive(review, entry.actor.other, reader=reader))}"


def format_best_actions(entry: ReviewedEntry) -> str:
    """List a few of the best actions; `to play on` instead of stopping, or of resigning out of turn."""
    return join_or(entry.best or ("to play on",), MAX_NAMED)


def format_loss(review: Review, entry: ReviewedEntry) -> str:
    """Return a decision's loss in points, or its upper bound (`at most`) if the loss is not proven."""
    if has_unproven_loss(entry):
        return f"at most {format_points(entry.loss + entry.loss_error, review.exactness)}"
    return format_points(entry.loss, review.exactness, entry.loss_error)


def is_slip(entry: ReviewedEntry) -> bool:
    """Whether a decision gave something away."""
    return is_loss(entry.loss)


def has_unproven_loss(entry: ReviewedEntry) -> bool:
    """Whether a decision may have given something away, though that is not proven."""
    return not is_slip(entry) and entry.loss_error > _MIN_UNPROVEN_LOSS


def describe_luck(review: Review, entry: ReviewedEntry) -> list[str]:
    """Return clauses on an entry's luck and on its choice from the mixture, if they are not negligible."""
    if not isinstance(entry.actor, Seat):
        return [f"luck: {_format_luck(review, entry.luck)}"]
    threshold = max(MIN_SHOWN, 2 * review.error)
    choice = entry.mixing if entry.actor is Seat.ONE else -entry.mixing
    clauses = [compare_with_average(round(1000 * choice))] if abs(choice) > threshold else []
    luck = entry.luck - entry.mixing
    return [*clauses, f"luck: {_format_luck(review, luck)}"] if abs(luck) > threshold else clauses


def _format_luck(review: Review, luck: float) -> str:
    if abs(luck) < MIN_SHOWN:
        return "none"
    signed = luck if review.side is Seat.ONE else -luck
    return f"{100 * signed:+.1f} for {get_actor_name(review, review.side)}"


def describe_indifference(review: Review, entry: ReviewedEntry, begins: bool = True) -> str:
    """Say that the choice did not matter, as a sentence or a clause; empty if it did matter."""
    sentence = entry.indifference
    if sentence == ALREADY_LOST:
        sentence = f"{get_actor_name(review, entry.actor, begins)} had already lost."
    elif not begins:
        sentence = sentence[:1].lower() + sentence[1:]
    return sentence if begins else sentence.removesuffix(".")


def describe_stake(review: Review, entry: ReviewedEntry) -> str:
    """Return a clause about the mistakes possible in reply; empty if nobody replies."""
    stake, seat = entry.stake, entry.match.actor
    if not stake or not isinstance(seat, Seat):
        return ""
    owner = get_possessive(review, seat)
    if not stake.mistakes:
        return f"none of {owner} replies could lose anything"
    loses_match = stake.max_loss > 1 - MIN_SHOWN
    amount = "the match" if loses_match else f"up to {format_points(stake.max_loss, review.exactness)}"
    return f"{stake.mistakes} of {owner} {stake.replies} replies would have lost {amount}"


def describe_total_stake(review: Review, entries: Sequence[ReviewedEntry]) -> str:
    """Return a clause about the mistakes possible in reply to some entries; empty if there were none."""
    clauses = []
    for seat in Seat:
        stakes = [entry.stake for entry in entries if entry.stake and entry.match.actor is seat]
        mistakes, replies = sum(stake.mistakes for stake in stakes), sum(stake.replies for stake in stakes)
        if mistakes:
            clauses.append(f"{mistakes} of {get_possessive(review, seat)} {replies} replies")
    return f"{' and '.join(clauses)} would have cost points" if clauses else ""


def list_comments(
    review: Review,
    entry: ReviewedEntry,
    format_belief: Callable[[Mapping[str, float]], str] = format_probabilities,
) -> list[str]:
    """Return comments on an entry, one line each. Only a person's entries get effects and reasons."""
    before, after = (100 * review.chance(value) for value in (entry.value_before, entry.value_after))
    lines = [f"{get_chance_label(review)}: {before:.1f}% before, {after:.1f}% after."]
    lines += _comment_on_decision(review, entry)
    if clauses := describe_luck(review, entry):
        lines.append(f"{_capitalize('; '.join(clauses))}.")
    if point := describe_turning_point(review, entry):
        lines.append(f"{point}.")
    if entry.beliefs and isinstance(entry.actor, Seat):
        belief, owner = entry.beliefs[entry.actor], get_possessive(review, entry.actor.other)
        name = get_actor_name(review, entry.actor)
        odds = format_belief(belief.probabilities)
        lines.append(f"What {name} could know about {owner} {belief.hidden}: {odds}")
    return lines


def _comment_on_decision(review: Review, entry: ReviewedEntry) -> list[str]:
    loss = f"{get_actor_name(review, entry.actor, begins=True)} gave away {format_loss(review, entry)}."
    if is_slip(entry):
        by_person = isinstance(entry.actor, Seat) and review.is_person(entry.actor)
        reason = entry.reason if by_person and not entry.is_early_end else ""
        return [
            f"{_capitalize(entry.mark)}: {loss} {entry.effect if by_person else ''}".rstrip(),
            f"Best was {format_best_actions(entry)}. {reason}".rstrip(),
            f"Position before it: {entry.position}",
        ]
    if entry.indifference:
        stake = describe_stake(review, entry)
        return [describe_indifference(review, entry), *([f"{_capitalize(stake)}."] if stake else [])]
    if not entry.mark:
        return []
    if has_unproven_loss(entry):
        return [f"{_capitalize(entry.mark)}: {loss}"]
    return [RARE_EXPLANATION if entry.mark == RARE else f"{_capitalize(entry.mark)}."]


def _capitalize(text: str) -> str:
    return text[:1].upper() + text[1:]


# -- the account ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Account:
    """The parts of a score in tenths of a point, for `Review.side`, rounded so that they add up."""

    start: int
    luck: int
    """Luck other than the choices from the strategy's mixture."""
    choices: Mapping[Seat, int]
    """How much better than average each seat's choices were; empty if the strategy does not mix."""
    losses: Mapping[Seat, int]
    score: int


def compute_account(review: Review) -> Account:
    """Round the parts of the score. Luck absorbs the rounding error; without luck, the largest part does."""
    own, other = review.side, review.side.other
    start, score = (round(1000 * review.chance(value)) for value in (review.opening, review.score))
    exact = {
        "luck": review.luck_without_mixing(own),
        "own choices": review.mixing(own),
        "other choices": -review.mixing(other),
        "own losses": -review.loss(own),
        "other losses": review.loss(other),
    }
    parts = {name: round(1000 * part) for name, part in exact.items()}
    adjusted = "luck" if abs(exact["luck"]) > _ROUNDING else max(exact, key=lambda name: abs(exact[name]))
    parts[adjusted] += score - start - sum(parts.values())
    mixes = any(entry.draws for entry in review.entries)
    choices = {own: parts["own choices"], other: -parts["other choices"]} if mixes else {}
    lost = {own: -parts["own losses"], other: parts["other losses"]}
    return Account(start, parts["luck"], choices, lost, score)


def format_account(review: Review, start: str = "at the start") -> list[str]:
    """Return two paragraphs: losses, luck and choices; and the sum that gives the score.

    `start` names the position at which the review begins.
    """
    own, other = review.side, review.side.other
    account = compute_account(review)
    exactness = describe_exactness(Value(review.opening, review.exactness, error=review.error))
    end = "the result" if review.match.outcome else "the value of the current position"
    luck = f"{account.luck / 10:+.1f} for {get_actor_name(review, own)}" if account.luck else "none"
    sentences = [
        f"Given away: {get_actor_name(review, own)} {account.losses[own] / 10:.1f} points, "
        f"{get_actor_name(review, other)} {account.losses[other] / 10:.1f} points.",
        f"Luck: {luck}.",
    ]
    terms = [f"{account.start / 10:.1f} {start}", f"{_format_term(account.luck)} luck"]
    if account.choices:
        for seat in (own, other):
            comparison = compare_with_average(account.choices[seat])
            sentences.append(f"{get_possessive(review, seat, begins=True)} choices turned out {comparison}.")
        terms.append(f"{_format_term(account.choices[own])} {get_possessive(review, own)} choices")
        terms.append(f"{_format_term(-account.choices[other])} {get_possessive(review, other)} choices")
    terms.append(f"- {account.losses[own] / 10:.1f} + {account.losses[other] / 10:.1f} given away")
    return [
        f"{' '.join(sentences)} (Each value: {exactness}.)",
        f"{' '.join(terms)} = {account.score / 10:.1f}, {end}.",
    ]


def _format_term(tenths: int) -> str:
    return f"{'-' if tenths < 0 else '+'} {abs(tenths) / 10:.1f}"


def compare_with_average(tenths: int) -> str:
    """Compare choices with the average of the mixture: `7.6 points worse than average`."""
    return f"{abs(tenths) / 10:.1f} points {'worse' if tenths < 0 else 'better'} than average"


LUCK_EXPLANATION = (
    "Given away: the points that a player's own mistakes cost. Luck: changes of the chances that no player "
    "decided, such as a coin, a tile or hidden information."
)


def format_legend(review: Review) -> str:
    """Explain the points and marks."""
    *others, worst = MAX_LOSSES
    thresholds = ", ".join(f"{mark} to {100 * MAX_LOSSES[mark]:g}" for mark in others)
    sentences = [f"A point is one percent of a win. Marks by points lost: {thresholds}, {worst} above."]
    if any(entry.mark == RARE for entry in review.entries):
        sentences.append(RARE_EXPLANATION)
    theory = "".join(entry.reason + entry.effect for entry in review.entries)
    if "nim-sum" in theory:
        sentences.append(DEFINITIONS["nim-sum"])
    if any(entry.draws for entry in review.entries):
        sentences += [
            DEFINITIONS["strategy"],
            DEFINITIONS["mixture"],
            "A choice from the mixture gives nothing away.",
            "Better or worse than average: compared with what the mixture wins on average.",
            "In the long run, these differences cancel out for a player who follows the mixture.",
        ]
    return " ".join(sentences)


# -- reasons -----------------------------------------------------------------------------------------
#
# The reader, addressed as `you`, is the only person who played. If two people played, it is the loser, or
# both if nobody won. A match between machines has no reader. A slip is a decision that gave something away.

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
    """Return the reader's worst slip, or anybody's if the reader made none; None if nobody did."""
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


def _get_subject(review: Review, seat: Seat) -> str:
    return get_player_names(review, _get_reader(review)).name(seat)


def _get_owner(review: Review, seat: Seat, begins: bool = False) -> str:
    return get_possessive(review, seat, begins, _get_reader(review))


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
    owner = _get_owner(review, slip.actor, begins=True)
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
            # The reason is about the best action. Where all are equal, it would excuse a resignation.
            details = "" if slip.is_early_end else f" {slip.effect} {slip.reason}".rstrip()
            reasons.append(Reason(f"{sentence}{details}", slip.position))
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
