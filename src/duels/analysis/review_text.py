"""Sentences about the entries of a review, shared by the terminal and the page.

A person who played against a machine is addressed as `you` and sees the match from their side. Any other
match is described from Player 1's side. A machine is never `you`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from duels.analysis.review import Moment, Review
from duels.analysis.wording import (
    ALREADY_LOST,
    EVERY_MOVE_LOSES,
    MARKS,
    MAX_NAMED,
    MIN_SHOWN,
    RARE,
    RARE_EXPLANATION,
    describe_exactness,
    format_chance_label,
    format_points,
    format_probabilities,
    get_definition,
    is_loss,
)
from duels.core.match import Concession
from duels.core.narration import SEAT_LABELS, PlayerNames
from duels.core.rules import Actor, Seat
from duels.core.words import join_or
from duels.solving.oracle import Exactness, Value

_MIN_UNPROVEN_LOSS = 0.005
_MAX_NAME_LENGTH = 9  # a program may be named by its whole path
_ROUNDING = 1e-9


def format_heading(review: Review) -> str:
    """Say how the match ended, and whether the values are estimates."""
    outcome = review.match.outcome
    note = " (All values are estimates.)" if review.exactness is Exactness.ESTIMATE else ""
    if not outcome:
        return f"unfinished; the score is the value of the current position.{note}"
    return outcome.sentence.render(review.names or SEAT_LABELS) + note


def describe_players(review: Review) -> str:
    """Say who played whom."""
    if review.person:
        other = review.person.other
        verb = "were" if review.match.over else "are"
        return f"You {verb} {review.person.label}, against {review.players[other]} ({other.label})."
    if review.is_person(Seat.ONE):
        return "Two people played."
    return f"Player 1 was {review.players[Seat.ONE]}, Player 2 was {review.players[Seat.TWO]}."


def get_chance_label(review: Review) -> str:
    """Return the label of the values in a table or curve: `Your chance to win`."""
    return format_chance_label(get_actor_name(review, review.side), review.match.rules)


def describe_assumed_play(review: Review) -> str:
    """Return the play that the values assume, after `if both play`."""
    return "the strategy" if review.exactness is Exactness.ESTIMATE else "perfectly"


def get_short_name(review: Review, moment: Moment) -> str:
    """Return the actor's name for a table: `club`."""
    if isinstance(moment.actor, Seat):
        return get_player_names(review, in_full=False).name(moment.actor)
    return moment.actor.value


def format_title(review: Review, moment: Moment) -> str:
    """Name an entry and its actor: `3. You: 5`, `4. club (Player 2) resigned`."""
    entry = describe_entry(moment)
    actor = get_actor_name(review, moment.actor, begins=True)
    return f"{moment.number}. {actor}{':' if entry == moment.entry else ''} {entry}"


def is_concession(moment: Moment) -> bool:
    """Whether the player resigned or forfeited."""
    return moment.match.last is not None and isinstance(moment.match.last.action, Concession)


def describe_entry(moment: Moment) -> str:
    """Return the entry as it was made, or a verb for a concession: `resigned`."""
    return moment.action_text if is_concession(moment) else moment.entry


def get_actor_name(review: Review, actor: Actor, begins: bool = False) -> str:
    """Return the actor's name: `you`, `club (Player 2)`, `Player 2`, `chance`; `begins` capitalizes it."""
    if isinstance(actor, Seat):
        return get_player_names(review).name(actor, begins)
    return actor.value.capitalize() if begins else actor.value


def get_possessive(review: Review, seat: Seat, begins: bool = False, reader: Seat | None = None) -> str:
    """Return `your`, `club's` or `Player 2's`; `reader` is `you`, by default the one person."""
    return get_player_names(review, reader, in_full=False).possessive(seat, begins)


def get_player_names(review: Review, reader: Seat | None = None, in_full: bool = True) -> PlayerNames:
    """Return what sentences call the players; `reader` is `you`, by default the one person.

    A machine is named only if it played a person: two machines may have the same name.
    """
    names, person = review.names, review.person
    if names is None and person and len(name := review.players[person.other]) <= _MAX_NAME_LENGTH:
        name = f"{name} ({person.other.label})" if in_full else name
        names = PlayerNames("", name) if person is Seat.ONE else PlayerNames(name)
    return replace(names or SEAT_LABELS, reader=reader or person)


def describe_turning_point(review: Review, moment: Moment, reader: Seat | None = None) -> str:
    """Say how an entry won or lost the match at once, without a full stop; empty if it did not.

    `reader` is `you`, by default the one person.
    """
    clause = moment.unforeseen_loss or moment.winning_discovery
    if not clause or not isinstance(moment.actor, Seat):
        return ""
    subject = get_player_names(review, reader).name(moment.actor, begins=True)
    return f"{subject} {clause.format(whose=get_possessive(review, moment.actor.other, reader=reader))}"


def format_best_actions(moment: Moment) -> str:
    """List a few of the best actions; `to play on` if a player resigned out of turn."""
    return join_or(moment.best or ("to play on",), MAX_NAMED)


def format_loss(review: Review, moment: Moment) -> str:
    """Return a decision's loss in points; `at most` so many if the loss is not proven."""
    if has_unproven_loss(moment):
        return f"at most {format_points(moment.loss + moment.loss_error, review.exactness)}"
    return format_points(moment.loss, review.exactness, moment.loss_error)


def is_slip(moment: Moment) -> bool:
    """Whether a decision gave something away."""
    return is_loss(moment.loss)


def has_unproven_loss(moment: Moment) -> bool:
    """Whether a decision may have given something away, though that is not proven."""
    return not is_slip(moment) and moment.loss_error > _MIN_UNPROVEN_LOSS


def describe_luck(review: Review, moment: Moment) -> list[str]:
    """Return clauses on an entry's luck and on its choice from the mixture, if they are not negligible."""
    if not isinstance(moment.actor, Seat):
        return [f"luck: {_format_luck(review, moment.luck)}"]
    threshold = max(MIN_SHOWN, 2 * review.error)
    choice = moment.mixing if moment.actor is Seat.ONE else -moment.mixing
    clauses = [compare_with_average(round(1000 * choice))] if abs(choice) > threshold else []
    luck = moment.luck - moment.mixing
    return [*clauses, f"luck: {_format_luck(review, luck)}"] if abs(luck) > threshold else clauses


def _format_luck(review: Review, luck: float) -> str:
    if abs(luck) < MIN_SHOWN:
        return "none"
    signed = luck if review.side is Seat.ONE else -luck
    return f"{100 * signed:+.1f} for {get_actor_name(review, review.side)}"


def describe_indifference(review: Review, moment: Moment, begins: bool = True) -> str:
    """Say that the choice did not matter, as a sentence or a clause; empty if it did matter."""
    sentence = moment.indifference
    if sentence == ALREADY_LOST:
        sentence = f"{get_actor_name(review, moment.actor, begins)} had already lost."
    elif not begins:
        sentence = sentence[:1].lower() + sentence[1:]
    return sentence if begins else sentence.removesuffix(".")


def describe_stake(review: Review, moment: Moment) -> str:
    """Return a clause on what the reply could give away; empty if nobody replies."""
    stake, seat = moment.stake, moment.match.actor
    if not stake or not isinstance(seat, Seat):
        return ""
    owner = get_possessive(review, seat)
    if not stake.mistakes:
        return f"none of {owner} replies could lose anything"
    everything = stake.most > 1 - MIN_SHOWN
    amount = "the match" if everything else f"up to {format_points(stake.most, review.exactness)}"
    return f"{stake.mistakes} of {owner} {stake.replies} replies would have lost {amount}"


def describe_total_stake(review: Review, moments: Sequence[Moment]) -> str:
    """Return a clause on what the replies to some entries could give away; empty if nothing."""
    clauses = []
    for seat in Seat:
        stakes = [moment.stake for moment in moments if moment.stake and moment.match.actor is seat]
        mistakes, replies = sum(stake.mistakes for stake in stakes), sum(stake.replies for stake in stakes)
        if mistakes:
            clauses.append(f"{mistakes} of {get_possessive(review, seat)} {replies} replies")
    return f"{' and '.join(clauses)} would have cost points" if clauses else ""


def list_comments(
    review: Review, moment: Moment, format_belief: Callable[[Mapping[str, float]], str] = format_probabilities
) -> list[str]:
    """Return the comments on an entry, one line each. Effects and reasons are explained only to a person."""
    before, after = (100 * review.chance(value) for value in (moment.before, moment.after))
    lines = [f"{get_chance_label(review)}: {before:.1f}% before, {after:.1f}% after."]
    lines += _comment_on_decision(review, moment)
    if clauses := describe_luck(review, moment):
        lines.append(f"{_capitalize('; '.join(clauses))}.")
    if point := describe_turning_point(review, moment):
        lines.append(f"{point}.")
    if moment.beliefs and isinstance(moment.actor, Seat):
        belief, owner = moment.beliefs[moment.actor], get_possessive(review, moment.actor.other)
        name = get_actor_name(review, moment.actor)
        lines.append(f"What {name} could know about {owner} {belief.hidden}: {format_belief(belief.places)}")
    return lines


# `POST /review` has always returned this sentence; see tests/fixtures/server/pages.json.
_STEP_COMMENTS = {EVERY_MOVE_LOSES: "All actions lose alike."}


def _comment_on_decision(review: Review, moment: Moment) -> list[str]:
    loss = f"{get_actor_name(review, moment.actor, begins=True)} gave away {format_loss(review, moment)}."
    if is_slip(moment):
        by_person = isinstance(moment.actor, Seat) and review.is_person(moment.actor)
        return [
            f"{_capitalize(moment.mark)}: {loss} {moment.effect if by_person else ''}".rstrip(),
            f"Best was {format_best_actions(moment)}. {moment.reason if by_person else ''}".rstrip(),
            f"Position before it: {moment.position}",
        ]
    if moment.indifference:
        sentence, stake = describe_indifference(review, moment), describe_stake(review, moment)
        return [_STEP_COMMENTS.get(sentence, sentence), *([f"{_capitalize(stake)}."] if stake else [])]
    if not moment.mark:
        return []
    if has_unproven_loss(moment):
        return [f"{_capitalize(moment.mark)}: {loss}"]
    return [RARE_EXPLANATION if moment.mark == RARE else f"{_capitalize(moment.mark)}."]


def _capitalize(text: str) -> str:
    return text[:1].upper() + text[1:]


# -- the account ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Account:
    """The parts of the score for the side shown, in tenths of a point, rounded so that they add up."""

    start: int
    luck: int
    """Luck other than the choices from the strategy's mixture."""
    choices: Mapping[Seat, int]
    """How much better than average each seat's choices were; empty if the strategy does not mix."""
    lost: Mapping[Seat, int]
    score: int


def compute_account(review: Review) -> Account:
    """Round the parts of the score. Luck absorbs the rounding error, or the largest part without luck."""
    own, other = review.side, review.side.other
    start, score = (round(1000 * review.chance(value)) for value in (review.opening, review.score))
    exact = {
        "luck": review.unforeseen(own),
        "own choices": review.mixing(own),
        "other choices": -review.mixing(other),
        "own losses": -review.loss(own),
        "other losses": review.loss(other),
    }
    parts = {name: round(1000 * part) for name, part in exact.items()}
    adjusted = "luck" if abs(exact["luck"]) > _ROUNDING else max(exact, key=lambda name: abs(exact[name]))
    parts[adjusted] += score - start - sum(parts.values())
    mixes = any(moment.draws for moment in review.moments)
    choices = {own: parts["own choices"], other: -parts["other choices"]} if mixes else {}
    lost = {own: -parts["own losses"], other: parts["other losses"]}
    return Account(start, parts["luck"], choices, lost, score)


def format_account(review: Review, start: str = "at the start") -> list[str]:
    """Return two paragraphs: losses, luck and choices; and the sum that gives the score.

    `start` says where the review begins, if that is not the start of the match.
    """
    own, other = review.side, review.side.other
    account = compute_account(review)
    exactness = describe_exactness(Value(review.opening, review.exactness, error=review.error))
    end = "the result" if review.match.outcome else "the value of the current position"
    luck = f"{account.luck / 10:+.1f} for {get_actor_name(review, own)}" if account.luck else "none"
    sentences = [
        f"Given away: {get_actor_name(review, own)} {account.lost[own] / 10:.1f} points, "
        f"{get_actor_name(review, other)} {account.lost[other] / 10:.1f} points.",
        f"Luck: {luck}.",
    ]
    terms = [f"{account.start / 10:.1f} {start}", f"{_format_term(account.luck)} luck"]
    if account.choices:
        for seat in (own, other):
            comparison = compare_with_average(account.choices[seat])
            sentences.append(f"{get_possessive(review, seat, begins=True)} choices turned out {comparison}.")
        terms.append(f"{_format_term(account.choices[own])} {get_possessive(review, own)} choices")
        terms.append(f"{_format_term(-account.choices[other])} {get_possessive(review, other)} choices")
    terms.append(f"- {account.lost[own] / 10:.1f} + {account.lost[other] / 10:.1f} given away")
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
    "Given away: what one's own decisions cost. Luck: what changed the chances and nobody decided, "
    "such as a coin, a tile, or what could not be known."
)


def format_legend(review: Review) -> str:
    """Explain the points and marks."""
    thresholds = ", ".join(f"{mark.name} to {100 * mark.max_loss:g}" for mark in MARKS[:-1])
    sentences = [
        f"A point is one percent of a win. Marks, by points given away: {thresholds}, {MARKS[-1].name} above."
    ]
    if any(moment.mark == RARE for moment in review.moments):
        sentences.append(RARE_EXPLANATION)
    if any(moment.draws for moment in review.moments):
        sentences += [
            get_definition("strategy"),
            get_definition("mixture"),
            "A choice from the mixture gives nothing away.",
            "Better or worse than average: compared with what the mixture wins on average.",
            "In the long run, these differences cancel out for a player who follows the mixture.",
        ]
    return " ".join(sentences)
