"""What comes after a match: the keys, what they lead to, and the review that one of them shows."""

from enum import Enum
from typing import TYPE_CHECKING

from duels.core.errors import DuelsError
from duels.core.record import Record
from duels.core.rules import Seat
from duels.play.live import LiveMatch
from duels.terminal.screen import Screen

if TYPE_CHECKING:
    from duels.analysis.review import Review


class After(Enum):
    """What comes after a match. The value is the key for it, where there is one to press."""

    REMATCH = "r"
    SWAP = "s"
    LONGER = "l"
    REVIEW = "v"
    BOARDS = "b"
    """Of the review, once that was shown."""
    NEW_GAME = "n"
    QUIT = "q"
    LEFT = ""
    """It was left before its end, or nobody was asked."""


_KEYS = {
    After.REMATCH: "rematch",
    After.SWAP: "swap seats",
    After.LONGER: "longer game",
    After.REVIEW: "review",
    After.NEW_GAME: "new game",
    After.QUIT: "quit",
}


def ways_on(live: LiveMatch) -> tuple[str, dict[After, str]]:
    """A suggestion to whoever won, or nothing, and what can be chosen after the match."""
    from duels.terminal.variants import knows_the_trick, suggestion

    offered = knows_the_trick(live)
    keys = {after: what for after, what in _KEYS.items() if offered or after is not After.LONGER}
    return suggestion(live, After.LONGER.value) if offered else "", keys


def record_of(live: LiveMatch) -> Record:
    """The match with the names of who played it, as it is reviewed; its file may be gone."""
    return Record(live.match, {f"seat{seat.value}": live.names[seat] for seat in Seat})


def ask_what_next(live: LiveMatch, screen: Screen) -> After:
    """One line, one key; a review is shown at once, and then it is asked again."""
    suggested, keys = ways_on(live)
    if suggested:
        screen.say(f"\n{suggested}\n")
    reviewed: Review | None = None
    while True:
        told = ", ".join(f"{after.value} {what}" for after, what in keys.items())
        after = After(screen.choose_key(f"\nPress {told}: ", [after.value for after in keys]))
        if after is After.REVIEW:
            reviewed = show_review(record_of(live), screen)
            if reviewed and screen.can_clear:
                keys = {After.BOARDS: "board by board", **keys}
        elif after is After.BOARDS and reviewed:
            from duels.terminal.review_steps import step_through

            step_through(reviewed, screen)
        else:
            return after


def show_review(record: Record, screen: Screen) -> "Review | None":
    """Show where a match was won and lost; None where that is not known."""
    from duels.analysis.review import review_record
    from duels.terminal.review_text import review_as_text

    try:
        with screen.progress("reviewing") as progress:
            reviewed = review_record(record, progress)
    except DuelsError as error:
        screen.say(f"{error}\n")
        return None
    screen.say(review_as_text(reviewed, screen.width))
    return reviewed
