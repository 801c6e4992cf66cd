"""What comes after a match: the keys, what they lead to, and the review that one of them shows."""

from collections.abc import Sequence
from enum import Enum
from itertools import islice
from typing import TYPE_CHECKING

from duels.core.errors import DuelsError
from duels.core.record import Record
from duels.core.rules import AnyRules, Outcome, Seat
from duels.play.library import list_saved_matches
from duels.play.live import LiveMatch
from duels.players import HUMAN, STRONGEST
from duels.terminal.screen import Screen

if TYPE_CHECKING:
    from duels.analysis.review import Review


class NextStep(Enum):
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
    NextStep.REMATCH: "rematch",
    NextStep.SWAP: "swap seats",
    NextStep.LONGER: "longer game",
    NextStep.REVIEW: "review",
    NextStep.NEW_GAME: "new game",
    NextStep.QUIT: "quit",
}


_OFTEN_ENOUGH = 2  # wins against the strongest player
_RECENT = 200  # matches among which these are looked for


def get_next_steps(live: LiveMatch) -> tuple[str, dict[NextStep, str]]:
    """A suggestion to whoever won, or nothing, and what can be chosen after the match.

    Whoever has beaten the strongest player twice is offered a longer game, and told so once.
    """
    wins = _count_wins(live)
    keys = {
        after: what for after, what in _KEYS.items() if wins >= _OFTEN_ENOUGH or after is not NextStep.LONGER
    }
    if wins != _OFTEN_ENOUGH:
        return "", keys
    longer = ", ".join(
        f"{value} {option}" if option.endswith("s") else f"{option} {value}"  # 12 lights, goal 50
        for option, value in _longer_options(live.match.rules).items()
    )
    key = NextStep.LONGER.value
    return f"You have beaten perfect play twice: you know the trick. Try {longer}: press {key}.", keys


def make_record(live: LiveMatch) -> Record:
    """The match with the names of who played it, as it is reviewed; its file may be gone."""
    return Record(live.match, {f"seat{seat.value}": live.names[seat] for seat in Seat})


def ask_next_step(live: LiveMatch, screen: Screen) -> NextStep:
    """One line, one key; a review is shown at once, and then it is asked again."""
    suggested, keys = get_next_steps(live)
    if suggested:
        screen.say(f"\n{suggested}\n")
    reviewed: Review | None = None
    while True:
        told = ", ".join(f"{after.value} {what}" for after, what in keys.items())
        after = NextStep(screen.choose_key(f"\nPress {told}: ", [after.value for after in keys]))
        if after is NextStep.REVIEW:
            reviewed = show_review(make_record(live), screen)
            if reviewed and screen.can_clear:
                keys = {NextStep.BOARDS: "board by board", **keys}
        elif after is NextStep.BOARDS and reviewed:
            from duels.terminal.review import step_through

            step_through(reviewed, screen)
        else:
            return after


def show_review(record: Record, screen: Screen) -> "Review | None":
    """Show where a match was won and lost; None where that is not known."""
    from duels.analysis.review import review_record
    from duels.terminal.review import render_review

    try:
        with screen.progress("reviewing") as progress:
            reviewed = review_record(record, progress)
    except DuelsError as error:
        screen.say(f"{error}\n")
        return None
    screen.say(render_review(reviewed, screen.width))
    return reviewed


# -- longer forms of games that are exhausted once their trick is known ---------------------------------


def get_longer_rules(rules: AnyRules) -> AnyRules:
    """The next longer form of these rules; the same rules if the game has none."""
    return rules.game.rules(**{**rules.options(), **_longer_options(rules)})


def _longer_options(rules: AnyRules) -> dict[str, int]:
    longer = (
        form
        for form in rules.longer_forms
        if all(value > getattr(rules, option) for option, value in form.items())
    )
    return next(longer, {})


def _count_wins(live: LiveMatch) -> int:
    """How often people have beaten the strongest player by these rules lately, counted up to one too many.

    0 if this match was not such a win, or there is no longer form of the game.
    """
    rules = live.match.rules
    players = [HUMAN if seat in live.people else live.names[seat] for seat in Seat]
    if not _longer_options(rules) or not _beat_the_strongest(players, live.match.outcome):
        return 0
    recent = islice(list_saved_matches(lambda text: None), _RECENT)
    wins = (
        kept
        for kept in recent
        if kept.record.match.rules == rules and _beat_the_strongest(kept.players, kept.record.match.outcome)
    )
    return sum(1 for _ in islice(wins, _OFTEN_ENOUGH + 1))


def _beat_the_strongest(players: Sequence[str], outcome: Outcome | None) -> bool:
    winner = outcome.winner if outcome else None
    return winner is not None and players[winner - 1] == HUMAN and players[winner.other - 1] in STRONGEST
