"""Sentences about a review: its entries, the account, and the legend.

A person who played against a machine is addressed as `you` and sees the match from their side. Any other
match is described from Player 1's side. A machine is never `you`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from duels.analysis.review import Review, ReviewedEntry
from duels.analysis.wording import (
    ALREADY_LOST,
    DEFINITIONS,
    MAX_LOSSES,
    MAX_NAMED,
    MIN_SHOWN,
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
    note = " All values are estimates." if review.exactness is Exactness.ESTIMATE else ""
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
    return f"{get_player_names(review).possessive(review.side, begins=True)} chance to win"


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


def get_player_names(review: Review, reader: Seat | None = None) -> PlayerNames:
    """Return the players' names as sentences use them. The reader, by default the only person, is `you`.

    A machine is named only if it played a person: two machines may have the same name.
    """
    names, person = review.names, review.person
    if names is None and person and len(name := review.players[person.other]) <= _MAX_NAME_LENGTH:
        names = PlayerNames("", name) if person is Seat.ONE else PlayerNames(name)
    return replace(names or SEAT_LABELS, reader=reader or person)


def describe_turning_point(review: Review, entry: ReviewedEntry, reader: Seat | None = None) -> str:
    """Return a clause that says how an entry immediately won or lost the match; '' if it did neither.

    The reader, by default the only person, is `you`.
    """
    clause = entry.unforeseen_loss or entry.winning_discovery
    if not clause or not isinstance(entry.actor, Seat):
        return ""
    names = get_player_names(review, reader)
    clause = clause.format(whose=names.possessive(entry.actor.other))
    return f"{names.name(entry.actor, begins=True)} {clause}"


def format_best_actions(entry: ReviewedEntry) -> str:
    """List a few of the best actions. After a stop or a resignation out of turn, return `to play on`."""
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
    """Return clauses about an entry's luck and its choice from the mixture, unless they are negligible."""
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
    """Say that the choice did not matter; empty if it did.

    The result is a sentence, or a clause if `begins` is false.
    """
    sentence = entry.indifference
    if sentence == ALREADY_LOST:
        sentence = f"{get_actor_name(review, entry.actor, begins)} had already lost."
    elif not begins:
        sentence = sentence[:1].lower() + sentence[1:]
    return sentence if begins else sentence.removesuffix(".")


def describe_stake(review: Review, entry: ReviewedEntry) -> str:
    """Return a clause about the mistakes possible in reply; empty if there are none."""
    stake, seat = entry.stake, entry.match.actor
    if not stake or not stake.mistakes or not isinstance(seat, Seat):
        return ""
    owner = get_player_names(review).possessive(seat)
    loses_match = stake.max_loss > 1 - MIN_SHOWN
    amount = "the match" if loses_match else f"up to {format_points(stake.max_loss, review.exactness)}"
    return f"{stake.mistakes} of {owner} {stake.replies} replies would have lost {amount}"


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
        belief, owner = entry.beliefs[entry.actor], get_player_names(review).possessive(entry.actor.other)
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


def format_account(review: Review, start_label: str = "at the start") -> list[str]:
    """Return two paragraphs: one on losses, luck and choices, and their sum, which is the score.

    `start_label` names the position at which the review begins.
    """
    own, other, names = review.side, review.side.other, get_player_names(review)
    account = compute_account(review)
    exactness = describe_exactness(Value(review.opening, review.exactness, error=review.error))
    end = "the result" if review.match.outcome else "the value of the current position"
    luck = f"{account.luck / 10:+.1f} for {names.name(own)}" if account.luck else "none"
    sentences = [
        f"Given away: {names.name(own)} {account.losses[own] / 10:.1f} points, "
        f"{names.name(other)} {account.losses[other] / 10:.1f} points.",
        f"Luck: {luck}.",
    ]
    terms = [f"{account.start / 10:.1f} {start_label}", f"{_format_term(account.luck)} luck"]
    if account.choices:
        for seat, sign in ((own, 1), (other, -1)):
            owner, tenths = names.possessive(seat, begins=True), account.choices[seat]
            sentences.append(f"{owner} choices turned out {compare_with_average(tenths)}.")
            terms.append(f"{_format_term(sign * tenths)} {names.possessive(seat)} choices")
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
