"""The choices after a match: rematch, review and so on."""

from collections.abc import Callable
from dataclasses import replace
from enum import Enum, unique
from functools import partial
from typing import TYPE_CHECKING

from duels.core.errors import DuelsError
from duels.core.record import Record
from duels.core.rules import Seat
from duels.play.live import LiveMatch
from duels.solving.oracle import Progress
from duels.terminal.messages import name_people
from duels.terminal.screen import Screen

if TYPE_CHECKING:
    from duels.analysis.review import Review


@unique
class NextStep(Enum):
    """A choice after a match. Its value is the key to press."""

    REMATCH = "r"
    SWAP = "s"
    REVIEW = "v"
    BOARDS = "b"
    """Page through the boards of a review. Offered after the review."""
    NEW_GAME = "n"
    QUIT = "q"
    NONE = ""
    """No choice was made: a person left the match, or nobody was asked."""


def get_step_labels(in_menu: bool) -> dict[NextStep, str]:
    """Return the labels of the choices. In the menu, quitting leads back to it."""
    return {
        NextStep.REMATCH: "rematch",
        NextStep.SWAP: "swap seats",
        NextStep.REVIEW: "review",
        NextStep.NEW_GAME: "new game",
        NextStep.QUIT: "menu" if in_menu else "quit",
    }


def review_live_match(live: LiveMatch, progress: Progress) -> "Review":
    """Review a match with the names of its people, without reading the match's file.

    Raises DuelsError if it cannot be reviewed.
    """
    from duels.analysis.review import review_record

    record = Record(live.match, {f"seat{seat.value}": live.names[seat] for seat in Seat})
    review = review_record(record, progress)
    return replace(review, names=name_people(live)) if len(live.people) == 2 else review


def ask_next_step(live: LiveMatch, screen: Screen) -> NextStep:
    """Ask for the next step and return it. Show reviews and ask again."""
    labels = get_step_labels(screen.in_menu)
    review: Review | None = None
    while True:
        choices = ", ".join(f"{step.value} {label}" for step, label in labels.items())
        choice = NextStep(screen.choose_key(f"\nPress {choices}: ", [step.value for step in labels]))
        if choice is NextStep.REVIEW:
            review = show_review(partial(review_live_match, live), screen)
            if review and screen.can_page:
                labels = {NextStep.BOARDS: "board by board", **labels}
        elif choice is NextStep.BOARDS and review:
            from duels.terminal.review import step_through

            step_through(review, screen)
        else:
            return choice


def show_review(make_review: Callable[[Progress], "Review"], screen: Screen) -> "Review | None":
    """Show and return the review of a match, or say why there is none and return None."""
    from duels.terminal.review import render_review

    try:
        with screen.progress("reviewing") as progress:
            review = make_review(progress)
    except DuelsError as error:
        screen.say(f"{error}\n")
        return None
    screen.say(render_review(review, screen.width))
    return review
