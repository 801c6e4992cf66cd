"""The sentences of a review, which terminal and page lay out each in its own way.

One person against a machine is `you`, and sees the match from there. Otherwise it is told from Player 1's
side. A machine is never `you`. Why a match was won or lost is told to the one person, of two people to the
loser, or to both if nobody won; where machines played, nobody is spoken to.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from duels.analysis.review import Moment, Review
from duels.analysis.wording import (
    ALREADY_LOST,
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

_LEAST_DOUBT = 0.005  # what a decision that is not proven wrong may have cost at most to say so
_LONGEST_NAME = 9  # letters: a program may be called by its whole path
_NONE = 1e-9  # less comes from rounding
_SLIPS_TOLD = 3  # with their reasons they fill a small terminal
_NO_LUCK = 0.001
"""Choices less likely than this are not put down to luck."""
_LEAST_TOLD = 20
"""Tenths of a point: choices that lie nearer to the mixture in all did not decide the match."""
_ALL = 1000  # tenths of a point: the whole match


def format_heading(review: Review) -> str:
    """How the match ended, and what kind of values are shown."""
    outcome = review.match.outcome
    sure = " (All values are estimates.)" if review.exactness is Exactness.ESTIMATE else ""
    if not outcome:
        return f"unfinished; values are as the match stands.{sure}"
    return outcome.sentence.render(review.names or SEAT_LABELS) + sure


def describe_players(review: Review) -> str:
    """Who played whom, in a sentence."""
    if review.person:
        other = review.person.other
        were = "were" if review.match.over else "are"
        return f"You {were} {review.person.label}, against {review.players[other]} ({other.label})."
    if review.is_person(Seat.ONE):
        return "Two people played."
    return f"Player 1 was {review.players[Seat.ONE]}, Player 2 was {review.players[Seat.TWO]}."


def get_chance_label(review: Review) -> str:
    """What the values are, over a column or a curve."""
    return format_chance_label(get_actor_name(review, review.side), review.match.rules)


def describe_assumed_play(review: Review) -> str:
    """How both play in the values, after `if both play`: the strategy where nothing is proven of it."""
    return "the strategy" if review.exactness is Exactness.ESTIMATE else "perfectly"


def get_short_name(review: Review, moment: Moment) -> str:
    """The same in a table: `club`."""
    if isinstance(moment.actor, Seat):
        return get_player_names(review, in_full=False).name(moment.actor)
    return moment.actor.value


def format_title(review: Review, moment: Moment) -> str:
    """An entry and who made it: `3. You: 5`, `4. club (Player 2) resigned`."""
    made = describe_entry(moment)
    actor = get_actor_name(review, moment.actor, begins=True)
    return f"{moment.number}. {actor}{':' if made == moment.entry else ''} {made}"


def describe_entry(moment: Moment) -> str:
    """An entry as it was made, but for what only a record writes: `resigned`."""
    turn = moment.match.last
    return moment.action_text if turn and isinstance(turn.action, Concession) else moment.entry


def get_actor_name(review: Review, actor: Actor, begins: bool = False) -> str:
    """Return who acts, for a sentence or its beginning: `you`, `club (Player 2)`, `Player 2`, `chance`."""
    if isinstance(actor, Seat):
        return get_player_names(review).name(actor, begins)
    return actor.value.capitalize() if begins else actor.value


def whose(review: Review, seat: Seat) -> str:
    """`your`, `club's`, `Player 2's`."""
    return get_player_names(review, in_full=False).possessive(seat)


def get_player_names(review: Review, told: Seat | None = None, in_full: bool = True) -> PlayerNames:
    """What sentences call the players; `told` is the player who is spoken to, by default the one person.

    Only the machine that a person played is called by its name, as in play: two may have the same.
    """
    names, person = review.names, review.person
    if names is None and person and len(name := review.players[person.other]) <= _LONGEST_NAME:
        name = f"{name} ({person.other.label})" if in_full else name
        names = PlayerNames("", name) if person is Seat.ONE else PlayerNames(name)
    return replace(names or SEAT_LABELS, reader=told or person)


def describe_turning_point(review: Review, moment: Moment, told: Seat | None = None) -> str:
    """How an entry won or lost the match at once, without a full stop; empty if it did not.

    `told` is the player who is spoken to; by default the one person.
    """
    clause, names = moment.unforeseen_loss or moment.winning_discovery, get_player_names(review, told)
    if not clause or not isinstance(moment.actor, Seat):
        return ""
    theirs = get_player_names(review, told, in_full=False).possessive(moment.actor.other)
    return f"{names.name(moment.actor, begins=True)} {clause.format(whose=theirs)}"


def format_best_actions(moment: Moment) -> str:
    """The best actions by name, a few of them; where there were none to choose from, not to resign."""
    return join_or(moment.best or ("to play on",), MAX_NAMED)


def format_loss(review: Review, moment: Moment) -> str:
    """What a decision gave away; `at most` so much where it is not proven worse than another."""
    if has_unproven_loss(moment):
        return f"at most {format_points(moment.loss + moment.loss_error, review.exactness)}"
    return format_points(moment.loss, review.exactness, moment.loss_error)


def is_slip(moment: Moment) -> bool:
    """Whether a decision gave something away."""
    return is_loss(moment.loss)


def has_unproven_loss(moment: Moment) -> bool:
    """Whether a decision may have given something away, though that is not proven."""
    return not is_slip(moment) and moment.loss_error > _LEAST_DOUBT


def describe_luck(review: Review, moment: Moment) -> list[str]:
    """Luck of this entry, and how far it lies from the mixture; negligible parts omitted."""
    if not isinstance(moment.actor, Seat):
        return [f"luck: {_luck_of_side(review, moment.luck)}"]
    least = max(MIN_SHOWN, 2 * review.error)
    chosen = moment.mixing if moment.actor is Seat.ONE else -moment.mixing
    said = [from_the_mixture(round(1000 * chosen))] if abs(chosen) > least else []
    luck = moment.luck - moment.mixing
    return [*said, f"luck: {_luck_of_side(review, luck)}"] if abs(luck) > least else said


def _luck_of_side(review: Review, luck: float) -> str:
    """Luck of Player 1 as the side that is shown has it."""
    signed = luck if review.side is Seat.ONE else -luck
    return (
        f"{100 * signed:+.1f} for {get_actor_name(review, review.side)}" if abs(luck) >= MIN_SHOWN else "none"
    )


def describe_indifference(review: Review, moment: Moment, begins: bool = True) -> str:
    """That it did not matter what was played, as a sentence or a clause; empty where it did."""
    if moment.alike == ALREADY_LOST:
        said = f"{get_actor_name(review, moment.actor, begins)} had already lost."
    else:
        said = moment.alike if begins else moment.alike[:1].lower() + moment.alike[1:]
    return said if begins else said.removesuffix(".")


def describe_stake(review: Review, moment: Moment) -> str:
    """What the reply could give away, as a clause; empty where nobody replies."""
    stake, replies = moment.stake, moment.match.actor
    if not stake or not isinstance(replies, Seat):
        return ""
    if not stake.mistakes:
        return f"none of {whose(review, replies)} replies could lose anything"
    everything = stake.most > 1 - MIN_SHOWN
    what = "the match" if everything else f"up to {format_points(stake.most, review.exactness)}"
    return f"{stake.mistakes} of {whose(review, replies)} {stake.replies} replies would have lost {what}"


def describe_total_stake(review: Review, moments: Sequence[Moment]) -> str:
    """What the replies to some entries could give away, as a clause; empty where nothing."""
    told = []
    for seat in Seat:
        stakes = [moment.stake for moment in moments if moment.stake and moment.match.actor is seat]
        mistakes, replies = sum(stake.mistakes for stake in stakes), sum(stake.replies for stake in stakes)
        if mistakes:
            told.append(f"{mistakes} of {whose(review, seat)} {replies} replies")
    return f"{' and '.join(told)} would have cost points" if told else ""


def list_comments(
    review: Review, moment: Moment, told_belief: Callable[[Mapping[str, float]], str] = format_probabilities
) -> list[str]:
    """What there is to say of an entry, a line each; what it did and why only to a person."""
    before, after = (100 * review.chance(value) for value in (moment.before, moment.after))
    lines = [f"{get_chance_label(review)}: {before:.1f}% before, {after:.1f}% after."]
    lines += _comments_on_decision(review, moment)
    if came_up := describe_luck(review, moment):
        lines.append(f"{_capital('; '.join(came_up))}.")
    if point := describe_turning_point(review, moment):
        lines.append(f"{point}.")
    if moment.beliefs and isinstance(moment.actor, Seat):
        belief, theirs = moment.beliefs[moment.actor], whose(review, moment.actor.other)
        known = f"What {get_actor_name(review, moment.actor)} could know of {theirs} {belief.hidden}"
        lines.append(f"{known}: {told_belief(belief.places)}")
    return lines


def _comments_on_decision(review: Review, moment: Moment) -> list[str]:
    """Its mark with what it gave away, or that it did not matter; nothing for chance."""
    gave = f"{get_actor_name(review, moment.actor, begins=True)} gave away {format_loss(review, moment)}."
    if is_slip(moment):
        spoken_to = isinstance(moment.actor, Seat) and review.is_person(moment.actor)
        return [
            f"{_capital(moment.mark)}: {gave} {moment.effect if spoken_to else ''}".rstrip(),
            f"Best was {format_best_actions(moment)}. {moment.reason if spoken_to else ''}".rstrip(),
            f"Position before it: {moment.position}",
        ]
    if moment.alike:
        stake = describe_stake(review, moment)
        return [describe_indifference(review, moment), *([f"{_capital(stake)}."] if stake else [])]
    if not moment.mark:
        return []
    if has_unproven_loss(moment):
        return [f"{_capital(moment.mark)}: {gave}"]
    return [RARE_EXPLANATION if moment.mark == RARE else f"{_capital(moment.mark)}."]


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


@dataclass(frozen=True)
class Account:
    """What a match adds up to for the side that is shown, in tenths of a point: just as it is printed."""

    start: int
    luck: int
    """Beyond what was chosen of the strategy's mixture."""
    chosen: Mapping[Seat, int]
    """How far each seat's choices lie above the mixture; empty where the strategy does not mix."""
    lost: Mapping[Seat, int]
    score: int


def add_up(review: Review) -> Account:
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
    return Account(start, parts["luck"], chosen, {mine: -parts["lost"], theirs: parts["won"]}, score)


def format_account(review: Review, start: str = "at the start") -> list[str]:
    """What was given away, what was luck, and that they add up to the score; a paragraph each.

    `start` is where the review begins, if that is not where the match did.
    """
    mine, theirs = review.side, review.side.other
    found = add_up(review)
    sure = describe_exactness(Value(review.opening, review.exactness, error=review.error))
    end = "the result" if review.match.outcome else "the value as it stands"
    luck = f"{found.luck / 10:+.1f} for {get_actor_name(review, mine)}" if found.luck else "none"
    said = [
        f"Given away: {get_actor_name(review, mine)} {found.lost[mine] / 10:.1f} points, "
        f"{get_actor_name(review, theirs)} {found.lost[theirs] / 10:.1f} points.",
        f"Luck: {luck}.",
    ]
    terms = [f"{found.start / 10:.1f} {start}", f"{_signed(found.luck)} luck"]
    if found.chosen:
        of_both = ", ".join(
            f"{get_actor_name(review, seat)} {from_the_mixture(found.chosen[seat])}"
            for seat in (mine, theirs)
        )
        said.append(f"Choices: {of_both}.")
        terms.append(f"{_signed(found.chosen[mine])} {whose(review, mine)} choices")
        terms.append(f"{_signed(-found.chosen[theirs])} {whose(review, theirs)} choices")
    terms.append(f"- {found.lost[mine] / 10:.1f} + {found.lost[theirs] / 10:.1f} given away")
    return [
        f"{' '.join(said)} (Each value: {sure}.)",
        f"{' '.join(terms)} = {found.score / 10:.1f}, {end}.",
    ]


def _signed(tenths: int) -> str:
    return f"{'-' if tenths < 0 else '+'} {abs(tenths) / 10:.1f}"


def from_the_mixture(tenths: int) -> str:
    """How far choices lie from the mixture, which are so much above it: `7.6 points below the mixture`."""
    return f"{abs(tenths) / 10:.1f} points {'below' if tenths < 0 else 'above'} the mixture"


LUCK_EXPLANATION = (
    "Given away: what one's own decisions cost. Luck: what changed the chances and nobody decided, "
    "such as a coin, a tile, or what could not be known."
)


def format_legend(review: Review) -> str:
    """What the marks mean."""
    names = ", ".join(f"{mark.name} to {100 * mark.most:g}" for mark in MARKS[:-1])
    told = "A point is one percent of a win. "
    told += f"Marks, by points given away: {names}, {MARKS[-1].name} above."
    if any(moment.mark == RARE for moment in review.moments):
        told += f" {RARE_EXPLANATION}"
    if any(moment.draws for moment in review.moments):
        told += (
            f" {get_definition('strategy')} {get_definition('mixture')} "
            "Whatever it mixes in gives nothing away. "
            "Below the mixture: worth less than what it wins on average there. "
            "In the long run, whoever mixes as it does gains as much above it as is lost below it."
        )
    return told


# -- why it was won or lost --------------------------------------------------------------------------


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


def explain_result(review: Review) -> list[Section]:
    """Why the match was won or lost, then what could be done better; empty while it goes on."""
    outcome = review.match.outcome
    if not outcome:
        return []
    if outcome.winner:
        told, loser = _told(review), outcome.winner.other
        causes = sorted(_causes(review, told, loser), key=lambda cause: -cause.took)
        reasons = tuple(reason for cause in causes for reason in cause.reasons)
        sections = [Section(_title(review, told, loser), reasons)]
        learners = [told] if told is outcome.winner else []
    else:
        sections, learners = [], [seat for seat in Seat if review.is_person(seat)]
    for seat in learners:
        named = "" if review.person else f", {seat.label}"
        sections.append(Section(f"What you could do better{named}", tuple(_to_do_better(review, seat))))
    return [section for section in sections if section.reasons]


def summarize_result(review: Review) -> str:
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


def list_reader_slips(review: Review) -> list[Moment]:
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
    own = _slip_reasons(review, loser, told)
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


def _turning_points(review: Review) -> list[Reason]:
    """What won or lost the match at once, though nobody could know."""
    points = ((moment, describe_turning_point(review, moment, _told(review))) for moment in review.moments)
    return [Reason(f"{point} (entry {moment.number}).") for moment, point in points if point]


def _subject(review: Review, seat: Seat) -> str:
    """Who did something, to the player who is told why."""
    return get_player_names(review, _told(review)).name(seat)


def _whose(review: Review, seat: Seat, begins: bool = False) -> str:
    """The same of an owner."""
    return get_player_names(review, _told(review), in_full=False).possessive(seat, begins)


# -- slips -------------------------------------------------------------------------------------------


def _slips(review: Review, seat: Seat) -> list[Moment]:
    slips = (moment for moment in review.moments if moment.actor is seat and is_slip(moment))
    return sorted(slips, key=lambda moment: -moment.loss)


def _last_of_dearest(review: Review, seat: Seat) -> str:
    """What gave away most, in a sentence; of several as dear the last, after which it stayed lost."""
    slips = _slips(review, seat)
    if not slips:
        return ""
    slip = max(slips, key=lambda slip: (round(slip.loss, 3), slip.number))
    what = "the win" if slip.loss > 1 - MIN_SHOWN else format_loss(review, slip)
    return _slip_in_words(review, slip, _told(review), what)


def _slip_in_words(review: Review, slip: Moment, told: Seat | None, what: str) -> str:
    """What an entry gave away; it says by whom, unless that is the player who is told."""
    by = "" if slip.actor is told else f" by {get_actor_name(review, slip.actor)}"
    return f"Entry {slip.number} ({slip.entry}){by} gave away {what}; best was {format_best_actions(slip)}."


def _cost_in_all(review: Review, found: Account, seat: Seat) -> list[Reason]:
    """What several slips add up to, which the other causes are compared with."""
    if len(_slips(review, seat)) < 2:
        return []
    cost = format_points(found.lost[seat] / 1000, review.exactness)
    return [Reason(f"{_whose(review, seat, begins=True)} mistakes cost {cost} in all:")]


def _to_do_better(review: Review, told: Seat) -> list[Reason]:
    """The slips of a player who did not lose by them, and choices that somebody could foresee."""
    badly = _choices(review, add_up(review), told, told) if _draws_badly(review, told) else _Cause(0, [])
    return [*_slip_reasons(review, told, told), *badly.reasons]


def _slip_reasons(review: Review, seat: Seat, told: Seat | None) -> list[Reason]:
    """What a player gave away; one who is told also hears what it did and why the best was best."""
    slips = _slips(review, seat)
    reasons = []
    for slip in slips[:_SLIPS_TOLD]:
        said = _slip_in_words(review, slip, told, format_loss(review, slip))
        told_too = f"{said} {slip.effect} {slip.reason}"
        reasons.append(Reason(told_too, slip.position) if seat is told else Reason(said))
    if not slips and seat is not told:
        estimated = review.exactness is Exactness.ESTIMATE
        none = "We found no mistakes of" if estimated else "No mistakes by"
        reasons.append(Reason(f"{none} {get_actor_name(review, seat)}."))
    if smaller := slips[_SLIPS_TOLD:]:
        loss, error = sum(slip.loss for slip in smaller), sum(slip.loss_error for slip in smaller)
        sum_of_them = format_points(loss, review.exactness, error)
        reasons.append(Reason(f"{len(smaller)} smaller slips gave away {sum_of_them} together."))
    return reasons


def _flawless(review: Review, told: Seat | None) -> list[Reason]:
    """That the player who is told made no mistakes, where that is so."""
    if not told or _slips(review, told) or _draws_badly(review, told):
        return []
    estimated = review.exactness is Exactness.ESTIMATE
    return [Reason("We found no mistakes of yours." if estimated else "You made no mistakes.")]


# -- what is nobody's mistake ------------------------------------------------------------------------


def _opening(review: Review, told: Seat, loser: Seat) -> _Cause:
    """That the game is decided from the start; a cause of the result only if that is how it ended."""
    opening = review.opening if told is Seat.ONE else 1 - review.opening
    if opening < MIN_SHOWN:
        said = "The game is lost for you from the start if the other player makes no mistake."
        return _Cause(_ALL if told is loser else 0, [Reason(said)])
    if opening > 1 - MIN_SHOWN:
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
    happened = moment.outcome_text
    if isinstance(moment.actor, Seat):
        happened = f"{_subject(review, moment.actor)} {moment.action_text}"
    return f"{happened} (entry {moment.number})"


def _luck(review: Review, found: Account, seat: Seat, loser: Seat) -> _Cause:
    """What luck did to a player, which may be nobody to be spoken to."""
    luck = found.luck if seat is review.side else -found.luck
    if not luck:
        return _Cause(0, [])
    sign = 1 if (luck > 0) is (seat is Seat.ONE) else -1
    most = max(review.moments, key=lambda moment: sign * (moment.luck - moment.mixing))
    whom, amount = _subject(review, seat), format_points(abs(luck) / 1000, review.exactness)
    did = f"Luck gave {whom} {amount}" if luck > 0 else f"Luck took {amount} from {whom}"
    said = f"{did} in all, mostly when {_when(review, most)}."
    return _Cause(-luck if seat is loser else luck, [Reason(said)])
