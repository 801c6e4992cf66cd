"""A review board by board, backwards too: with the secrets of both seats, and what each entry was worth."""

from collections.abc import Iterator

from duels.analysis.review import Moment, Review
from duels.analysis.review_words import best_of, slipped, title, turning_point, who, whose, whose_chance
from duels.analysis.wording import belief_strip
from duels.core.match import Match
from duels.core.rules import Seat
from duels.terminal.replay import leaf_through
from duels.terminal.review import judged
from duels.terminal.screen import Screen


def step_through(review: Review, screen: Screen) -> None:
    """Show the boards one by one; in a pipe all of them."""
    pages = list(_pages(review))
    if screen.on_terminal and screen.can_clear:
        leaf_through(pages, "entry", screen)
    else:
        screen.say("\n".join(pages))


def _pages(review: Review) -> Iterator[str]:
    chance = whose_chance(review)
    start = _board(review, review.match.after(0))
    yield f"The start\n\n{start}\n{chance}: {_percent(review, review.opening)}.\n"
    for moment in review.moments:
        yield "\n".join(
            [
                title(review, moment),
                "",
                _board(review, moment.match),
                f"{chance}: {_percent(review, moment.before)} -> {_percent(review, moment.after)}.",
                *_lines(review, moment),
                "",
            ]
        )


def _board(review: Review, match: Match) -> str:  # type: ignore[type-arg]
    words = review.game.words(review.match.rules)
    return str(words.open_board(match.sight(Seat.ONE), match.sight(Seat.TWO)))


def _percent(review: Review, value: float) -> str:
    return f"{100 * review.chance(value):.1f}%"


def _lines(review: Review, moment: Moment) -> Iterator[str]:
    """What is to be said of an entry; reasons only to a person, whom they are told."""
    told = "; ".join(judged(review, moment))
    if told:
        yield f"{told[0].upper()}{told[1:]}."
    seat = moment.actor
    if not isinstance(seat, Seat):
        return
    if review.is_person(seat) and slipped(moment):
        yield f"{moment.effect} Best was {best_of(moment)}. {moment.reason}".strip()
    if point := turning_point(review, moment):
        yield f"{point}."
    if moment.beliefs:
        belief = moment.beliefs[seat]
        yield (
            f"What {who(review, moment)} could know of {whose(review, seat.other)} {belief.hidden} before: "
            f"{belief_strip(belief.places).rstrip()}"
        )
