"""The sentences of a review, which terminal and page lay out each in its own way.

One person against a machine is `you`, and sees the match from there. Otherwise it is told from Player 1's
side. A machine is never `you`. Why the match was won or lost is in `review_why`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from duels.analysis.glossary import meaning
from duels.analysis.review import Moment, Review
from duels.analysis.wording import (
    LEAST_SHOWN,
    LOST_ALREADY,
    MARKS,
    RARE,
    RARE_MEANS,
    chance_of,
    gives_away,
    how_sure,
    points,
)
from duels.core.match import Concession
from duels.core.narration import SEAT_LABELS, PlayerNames
from duels.core.rules import Seat
from duels.core.words import either
from duels.solving.oracle import Exactness, Value

_LEAST_DOUBT = 0.005  # what a decision that is not proven wrong may have cost at most to say so
_LONGEST_NAME = 9  # letters: a program may be called by its whole path
_NONE = 1e-9  # less comes from rounding


def heading(review: Review) -> str:
    """How the match ended, and what kind of values are shown."""
    outcome = review.match.outcome
    sure = " (All values are estimates.)" if review.exactness is Exactness.ESTIMATE else ""
    if not outcome:
        return f"unfinished; values are as the match stands.{sure}"
    return outcome.sentence.render(review.names or SEAT_LABELS) + sure


def who_played(review: Review) -> str:
    """Who played whom, in a sentence."""
    if review.person:
        other = review.person.other
        were = "were" if review.match.over else "are"
        return f"You {were} {review.person.label}, against {review.players[other]} ({other.label})."
    if review.is_person(Seat.ONE):
        return "Two people played."
    return f"Player 1 was {review.players[Seat.ONE]}, Player 2 was {review.players[Seat.TWO]}."


def whose_chance(review: Review) -> str:
    """What the values are, over a column or a curve."""
    return chance_of(name_of(review, review.side), review.match.rules)


def whose_play(review: Review) -> str:
    """How both play in the values, after `if both play`: the strategy where nothing is proven of it."""
    return "the strategy" if review.exactness is Exactness.ESTIMATE else "perfectly"


def who(review: Review, moment: Moment, begins: bool = False) -> str:
    """Who acted, in a sentence: `you`, `club (Player 2)`, `Player 1`, `chance`."""
    if isinstance(moment.actor, Seat):
        return name_of(review, moment.actor, begins)
    return moment.actor.value.capitalize() if begins else moment.actor.value


def who_in_short(review: Review, moment: Moment) -> str:
    """The same in a table: `club`."""
    if isinstance(moment.actor, Seat):
        return names_of(review, in_full=False).name(moment.actor)
    return moment.actor.value


def title(review: Review, moment: Moment) -> str:
    """An entry and who made it: `3. You: 5`, `4. club (Player 2) resigned`."""
    made = entry_in_words(moment)
    return f"{moment.number}. {who(review, moment, begins=True)}{':' if made == moment.entry else ''} {made}"


def entry_in_words(moment: Moment) -> str:
    """An entry as it was made, but for what only a record writes: `resigned`."""
    turn = moment.match.last
    return moment.did if turn and isinstance(turn.action, Concession) else moment.entry


def name_of(review: Review, seat: Seat, begins: bool = False) -> str:
    """A player in a sentence, perhaps at its beginning: `you`, `club (Player 2)`, `Player 2`."""
    return names_of(review).name(seat, begins)


def whose(review: Review, seat: Seat) -> str:
    """`your`, `club's`, `Player 2's`."""
    return names_of(review, in_full=False).possessive(seat)


def names_of(review: Review, told: Seat | None = None, in_full: bool = True) -> PlayerNames:
    """What sentences call the players; `told` is the player who is spoken to, by default the one person.

    Only the machine that a person played is called by its name, as in play: two may have the same.
    """
    names, person = review.names, review.person
    if names is None and person and len(name := review.players[person.other]) <= _LONGEST_NAME:
        name = f"{name} ({person.other.label})" if in_full else name
        names = PlayerNames("", name) if person is Seat.ONE else PlayerNames(name)
    return replace(names or SEAT_LABELS, reader=told or person)


def turning_point(review: Review, moment: Moment, told: Seat | None = None) -> str:
    """How an entry won or lost the match at once, without a full stop; empty if it did not.

    `told` is the player who is spoken to; by default the one person.
    """
    clause, names = moment.mishap or moment.strike, names_of(review, told)
    if not clause or not isinstance(moment.actor, Seat):
        return ""
    theirs = names_of(review, told, in_full=False).possessive(moment.actor.other)
    return f"{names.name(moment.actor, begins=True)} {clause.format(whose=theirs)}"


def best_of(moment: Moment) -> str:
    """The best actions by name, a few of them; where there were none to choose from, not to resign."""
    names = moment.best or ("to play on",)
    return either(names if len(names) <= 3 else [*names[:2], f"{len(names) - 2} more"])


def lost(review: Review, moment: Moment) -> str:
    """What a decision gave away; `at most` so much where it is not proven worse than another."""
    if doubtful(moment):
        return f"at most {points(moment.loss + moment.loss_error, review.exactness)}"
    return points(moment.loss, review.exactness, moment.loss_error)


def slipped(moment: Moment) -> bool:
    """Whether a decision gave something away."""
    return gives_away(moment.loss)


def doubtful(moment: Moment) -> bool:
    """Whether a decision may have given something away, though that is not proven."""
    return not slipped(moment) and moment.loss_error > _LEAST_DOUBT


def what_came_up(review: Review, moment: Moment) -> list[str]:
    """Luck of this entry, and how far it lies from the mixture; negligible parts omitted."""
    if not isinstance(moment.actor, Seat):
        return [f"luck: {_luck(review, moment.luck)}"]
    least = max(LEAST_SHOWN, 2 * review.error)
    chosen = moment.mixing if moment.actor is Seat.ONE else -moment.mixing
    said = [from_the_mixture(round(1000 * chosen))] if abs(chosen) > least else []
    luck = moment.luck - moment.mixing
    return [*said, f"luck: {_luck(review, luck)}"] if abs(luck) > least else said


def _luck(review: Review, luck: float) -> str:
    """Luck of Player 1 as the side that is shown has it."""
    signed = luck if review.side is Seat.ONE else -luck
    return f"{100 * signed:+.1f} for {name_of(review, review.side)}" if abs(luck) >= LEAST_SHOWN else "none"


def alike(review: Review, moment: Moment, begins: bool = True) -> str:
    """That it did not matter what was played, as a sentence or a clause; empty where it did."""
    if moment.alike == LOST_ALREADY:
        said = f"{who(review, moment, begins)} had already lost."
    else:
        said = moment.alike if begins else moment.alike[:1].lower() + moment.alike[1:]
    return said if begins else said.removesuffix(".")


def at_stake(review: Review, moment: Moment) -> str:
    """What the reply could give away, as a clause; empty where nobody replies."""
    stake, replies = moment.stake, moment.match.actor
    if not stake or not isinstance(replies, Seat):
        return ""
    if not stake.mistakes:
        return f"none of {whose(review, replies)} replies could lose anything"
    everything = stake.most > 1 - LEAST_SHOWN
    what = "the match" if everything else f"up to {points(stake.most, review.exactness)}"
    return f"{stake.mistakes} of {whose(review, replies)} {stake.replies} replies would have lost {what}"


def at_stake_in_all(review: Review, moments: Sequence[Moment]) -> str:
    """What the replies to some entries could give away, as a clause; empty where nothing."""
    told = []
    for seat in Seat:
        stakes = [moment.stake for moment in moments if moment.stake and moment.match.actor is seat]
        mistakes, replies = sum(stake.mistakes for stake in stakes), sum(stake.replies for stake in stakes)
        if mistakes:
            told.append(f"{mistakes} of {whose(review, seat)} {replies} replies")
    return f"{' and '.join(told)} would have cost points" if told else ""


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

    def luck_of(self, review: Review, seat: Seat) -> int:
        """The luck of either seat."""
        return self.luck if seat is review.side else -self.luck


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


def account(review: Review, start: str = "at the start") -> list[str]:
    """What was given away, what was luck, and that they add up to the score; a paragraph each.

    `start` is where the review begins, if that is not where the match did.
    """
    mine, theirs = review.side, review.side.other
    found = add_up(review)
    sure = how_sure(Value(review.opening, review.exactness, error=review.error))
    end = "the result" if review.match.outcome else "the value as it stands"
    luck = f"{found.luck / 10:+.1f} for {name_of(review, mine)}" if found.luck else "none"
    said = [
        f"Given away: {name_of(review, mine)} {found.lost[mine] / 10:.1f} points, {name_of(review, theirs)} "
        f"{found.lost[theirs] / 10:.1f} points.",
        f"Luck: {luck}.",
    ]
    terms = [f"{found.start / 10:.1f} {start}", f"{_signed(found.luck)} luck"]
    if found.chosen:
        of_both = ", ".join(
            f"{name_of(review, seat)} {from_the_mixture(found.chosen[seat])}" for seat in (mine, theirs)
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


LUCK_MEANS = (
    "Given away: what one's own decisions cost. Luck: what changed the chances and nobody decided, "
    "such as a coin, a tile, or what could not be known."
)


def legend(review: Review) -> str:
    """What the marks mean."""
    names = ", ".join(f"{mark.name} to {100 * mark.most:g}" for mark in MARKS[:-1])
    told = "A point is one percent of a win. "
    told += f"Marks, by points given away: {names}, {MARKS[-1].name} above."
    if any(moment.mark == RARE for moment in review.moments):
        told += f" {RARE_MEANS}"
    if any(moment.draws for moment in review.moments):
        told += (
            f" {meaning('strategy')} {meaning('mixture')} Whatever it mixes in gives nothing away. "
            "Below the mixture: worth less than what it wins on average there. "
            "In the long run, whoever mixes as it does gains as much above it as is lost below it."
        )
    return told
