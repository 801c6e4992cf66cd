"""The choices after a match: rematch, longer game, review and so on."""

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
    """A choice after a match. The value is its key."""

    REMATCH = "r"
    SWAP = "s"
    LONGER = "l"
    REVIEW = "v"
    BOARDS = "b"
    """Page through the boards of a review. Offered after the review."""
    NEW_GAME = "n"
    QUIT = "q"
    LEFT = ""
    """Nobody made a choice: somebody left the match, or nobody was asked."""


_LABELS = {
    NextStep.REMATCH: "rematch",
    NextStep.SWAP: "swap seats",
    NextStep.LONGER: "longer game",
    NextStep.REVIEW: "review",
    NextStep.NEW_GAME: "new game",
    NextStep.QUIT: "quit",
}


_WINS_BEFORE_LONGER_GAME = 2  # against the strongest player
_RECENT_MATCHES = 200


def get_next_steps(live: LiveMatch) -> tuple[str, dict[NextStep, str]]:
    """Return a suggestion, which may be empty, and the labels of the choices after the match.

    A person who has beaten the strongest player twice can choose a longer game. The suggestion says so once.
    """
    wins = _count_wins(live)
    steps = dict(_LABELS)
    if wins < _WINS_BEFORE_LONGER_GAME:
        del steps[NextStep.LONGER]
    if wins != _WINS_BEFORE_LONGER_GAME:
        return "", steps
    longer = ", ".join(
        f"{value} {option}" if option.endswith("s") else f"{option} {value}"  # 12 lights, goal 50
        for option, value in _find_longer_options(live.match.rules).items()
    )
    key = NextStep.LONGER.value
    return f"You have beaten perfect play twice: you know the trick. Try {longer}: press {key}.", steps


def make_record(live: LiveMatch) -> Record:
    """Make a record of the match with its players' names, without reading the match's file."""
    return Record(live.match, {f"seat{seat.value}": live.names[seat] for seat in Seat})


def ask_next_step(live: LiveMatch, screen: Screen) -> NextStep:
    """Let the person press a key. Show a review at once, and then ask again."""
    suggestion, steps = get_next_steps(live)
    if suggestion:
        screen.say(f"\n{suggestion}\n")
    review: Review | None = None
    while True:
        choices = ", ".join(f"{step.value} {label}" for step, label in steps.items())
        choice = NextStep(screen.choose_key(f"\nPress {choices}: ", [step.value for step in steps]))
        if choice is NextStep.REVIEW:
            review = show_review(make_record(live), screen)
            if review and screen.can_clear:
                steps = {NextStep.BOARDS: "board by board", **steps}
        elif choice is NextStep.BOARDS and review:
            from duels.terminal.review import step_through

            step_through(review, screen)
        else:
            return choice


def show_review(record: Record, screen: Screen) -> "Review | None":
    """Show and return the review of a match, or say why there is none and return None."""
    from duels.analysis.review import review_record
    from duels.terminal.review import render_review

    try:
        with screen.progress("reviewing") as progress:
            review = review_record(record, progress)
    except DuelsError as error:
        screen.say(f"{error}\n")
        return None
    screen.say(render_review(review, screen.width))
    return review


def get_longer_rules(rules: AnyRules) -> AnyRules:
    """Return the next longer form of these rules, or the same rules if there is none."""
    return rules.game.rules(**{**rules.options(), **_find_longer_options(rules)})


def _find_longer_options(rules: AnyRules) -> dict[str, int]:
    longer = (
        form
        for form in rules.longer_forms
        if all(value > getattr(rules, option) for option, value in form.items())
    )
    return next(longer, {})


def _count_wins(live: LiveMatch) -> int:
    """Count the recent wins of people against the strongest player with these rules.

    Stop counting above the number that matters. Return 0 if this match was no such win or if the game has no
    longer form.
    """
    rules = live.match.rules
    players = [HUMAN if seat in live.people else live.names[seat] for seat in Seat]
    if not _find_longer_options(rules) or not _has_beaten_strongest(players, live.match.outcome):
        return 0
    recent = islice(list_saved_matches(lambda text: None), _RECENT_MATCHES)
    wins = (
        saved
        for saved in recent
        if saved.record.match.rules == rules
        and _has_beaten_strongest(saved.players, saved.record.match.outcome)
    )
    return sum(1 for _ in islice(wins, _WINS_BEFORE_LONGER_GAME + 1))


def _has_beaten_strongest(players: Sequence[str], outcome: Outcome | None) -> bool:
    winner = outcome.winner if outcome else None
    return winner is not None and players[winner - 1] == HUMAN and players[winner.other - 1] in STRONGEST
