"""What comes after a match: the keys, what they lead to, and the review that one of them shows."""

from collections.abc import Iterator
from enum import Enum
from itertools import islice
from typing import TYPE_CHECKING

from duels.core.errors import DuelsError
from duels.core.record import Record
from duels.core.rules import AnyRules, Outcome, Seat
from duels.play.library import kept_matches
from duels.play.live import LiveMatch
from duels.players import HUMAN, STRONGEST
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


_OFTEN_ENOUGH = 2  # wins against the strongest player
_RECENT = 200  # matches among which these are looked for


def ways_on(live: LiveMatch) -> tuple[str, dict[After, str]]:
    """A suggestion to whoever won, or nothing, and what can be chosen after the match."""
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
            from duels.terminal.review import step_through

            step_through(reviewed, screen)
        else:
            return after


def show_review(record: Record, screen: Screen) -> "Review | None":
    """Show where a match was won and lost; None where that is not known."""
    from duels.analysis.review import review_record
    from duels.terminal.review import review_as_text

    try:
        with screen.progress("reviewing") as progress:
            reviewed = review_record(record, progress)
    except DuelsError as error:
        screen.say(f"{error}\n")
        return None
    screen.say(review_as_text(reviewed, screen.width))
    return reviewed


# -- longer forms of games that are exhausted once their trick is known ---------------------------------


def longer_form(rules: AnyRules) -> AnyRules | None:
    """The next longer form of these rules; None if the game has none, or not one so long."""
    options = _next_options(rules)
    return rules.game.rules(**{**rules.options(), **options}) if options else None


def _next_options(rules: AnyRules) -> dict[str, int]:
    longer = (
        form
        for form in rules.longer_forms
        if all(value > getattr(rules, option) for option, value in form.items())
    )
    return next(longer, {})


def knows_the_trick(live: LiveMatch) -> bool:
    """Whether somebody has just beaten the strongest player, not for the first time, in a game that grows."""
    players = {seat: HUMAN if seat in live.people else live.names[seat] for seat in Seat}
    return (
        bool(_next_options(live.match.rules))
        and _beat_the_strongest(players, live.match.outcome)
        and _wins(live.match.rules, _OFTEN_ENOUGH) == _OFTEN_ENOUGH
    )


def suggestion(live: LiveMatch, key: str) -> str:
    """A line to somebody who knows the trick, with the key to press; empty if it has been said before."""
    rules = live.match.rules
    if _wins(rules, _OFTEN_ENOUGH + 1) > _OFTEN_ENOUGH:
        return ""
    tried = ", ".join(
        f"{value} {option}" if option.endswith("s") else f"{option} {value}"  # 12 lights, goal 50
        for option, value in _next_options(rules).items()
    )
    return f"You have beaten perfect play twice: you know the trick. Try {tried}: press {key}."


def _wins(rules: AnyRules, most: int) -> int:
    """How often people have beaten the strongest player by these rules lately, counted up to `most`."""
    return sum(1 for _ in islice(_won(rules), most))


def _won(rules: AnyRules) -> Iterator[None]:
    for kept in islice(kept_matches(lambda text: None), _RECENT):
        match, players = kept.record.match, dict(zip(Seat, kept.players, strict=True))
        if match.rules == rules and _beat_the_strongest(players, match.outcome):
            yield


def _beat_the_strongest(players: dict[Seat, str], outcome: Outcome | None) -> bool:
    winner = outcome.winner if outcome else None
    return winner is not None and players[winner] == HUMAN and players[winner.other] in STRONGEST
