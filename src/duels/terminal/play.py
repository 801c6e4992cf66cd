"""Plays matches at the terminal, new ones and ones to go on with, and asks what comes next."""

from collections.abc import Callable
from dataclasses import replace
from enum import Enum
from pathlib import Path

from duels.core.errors import DuelsError, GameOver
from duels.core.match import Match
from duels.core.record import Record
from duels.play.journal import Journal
from duels.play.library import new_path, read_record
from duels.play.live import LiveMatch
from duels.play.new_match import NewMatch, seat_players
from duels.players import HUMAN
from duels.terminal.prompts import PromptedMatch, Quit
from duels.terminal.screen import Screen
from duels.terminal.shell import command
from duels.terminal.signals import INTERRUPTED, Stopped


class After(Enum):
    """What comes after a match. The value is the key for it, where there is one to press."""

    REMATCH = "r"
    SWAP = "s"
    LONGER = "l"
    REVIEW = "v"
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
_AGAIN = (After.REMATCH, After.SWAP, After.LONGER)


def play_new(new: NewMatch, screen: Screen) -> tuple[int, After]:
    """Play a new match, and then as many more as the person likes; the exit code, and what comes next."""
    while True:
        match = Match.start(new.rules)
        headers = new.headers()
        with screen.progress("getting ready") as progress:
            live = seat_players(match, headers, None, chance_notice(screen), progress)
        prompted = PromptedMatch(live, screen)
        if new.path or live.people:
            path = new.path or new_path(new.rules.name)
            live.journal = Journal.create(path, match, headers, screen.notice)
        if new.instead:
            screen.notice(f"Nobody knows perfect play in {new.rules.name}: {new.instead} plays.")
        if new.first != "1":
            screen.notice(_who_is_first(new))
        code, after = _run(live, prompted, screen)
        if after not in _AGAIN:
            return code, after
        new = _once_more(new, after)


def _who_is_first(new: NewMatch) -> str:
    if HUMAN == new.one == new.two:  # nobody's name changes
        return f"Seat {2 if new.swapped else 1} is Player 1 and moves first."
    return f"Player 1: {new.one}. Player 2: {new.two}."


def _once_more(new: NewMatch, after: After) -> NewMatch:
    from duels.terminal.variants import longer_form

    one, two = (new.two, new.one) if after is After.SWAP else (new.one, new.two)
    rules = (longer_form(new.rules) if after is After.LONGER else None) or new.rules
    return replace(new, rules=rules, one=one, two=two, first="1", seed=None, chance="", path=None)


def chance_notice(screen: Screen) -> Callable[[str], None]:
    """Tells what is wrong with the chance that was asked for."""
    return lambda text: screen.notice(f"--chance: {text}")


def play_on(path: Path, screen: Screen) -> tuple[int, After]:
    """Go on with the match recorded at `path`; the exit code, and what comes next."""
    try:
        journal, record = Journal.reopen(path, screen.notice)
    except GameOver as over:
        raise DuelsError(f"{over} See it with: {command('replay', path)}") from None
    try:
        with screen.progress("getting ready") as progress:
            live = seat_players(record.match, record.headers, journal, chance_notice(screen), progress)
        prompted = PromptedMatch(live, screen)
        journal.settle(record.match)
    except BaseException as problem:
        journal.close()
        if isinstance(problem, DuelsError):
            raise DuelsError(f"{path}: {problem}") from None
        raise
    screen.notice(f"Going on with {path}.")
    code, after = _run(live, prompted, screen, resumed=True)
    if after not in _AGAIN:
        return code, after
    headers = record.headers
    seats = (headers.get("seat1", HUMAN), headers.get("seat2", HUMAN))
    return play_new(_once_more(NewMatch(record.match.rules, *seats), after), screen)


def _run(
    live: LiveMatch, prompted: PromptedMatch, screen: Screen, resumed: bool = False
) -> tuple[int, After]:
    """Play until the end or until somebody leaves; the exit code, and what comes next.

    A new match in which nobody has decided anything is not kept.
    """
    journal = live.journal
    try:
        prompted.run()
    except (Quit, EOFError, KeyboardInterrupt) as leaving:
        if journal:
            told = "Nothing was played, so nothing is kept."
            if resumed or live.begun:
                # At a terminal it is the last match, and a path would be torn by the end of the line.
                which = () if screen.on_terminal else (journal.path,)
                told = f"The match is saved. Go on with: {command('resume', *which)}"
            screen.last_words(f"\n{told}")
        if isinstance(leaving, Stopped):
            raise
        return (0 if isinstance(leaving, Quit) else INTERRUPTED), After.LEFT
    finally:
        if journal:
            journal.close(keep=resumed or live.begun)
    if journal and screen.on_terminal:
        return 0, _ask_what_next(live, journal.path, screen)
    if journal:
        review = command("review", journal.path)
        screen.notice(f"\nRecord: {journal.path}\nWhere it was won and lost: {review}")
    return 0, After.LEFT


def _ask_what_next(live: LiveMatch, path: Path, screen: Screen) -> After:
    """One line, one key; a review is shown at once, and then it is asked again."""
    from duels.terminal.variants import suggestion

    keys = dict(_KEYS)
    outcome = live.match.outcome
    if outcome and outcome.winner in live.people and (told := suggestion(live.match.rules)):
        screen.say(f"\n{told}\n")
    else:
        del keys[After.LONGER]
    told = ", ".join(f"{after.value} {what}" for after, what in keys.items())
    while True:
        try:
            after = After(screen.key(f"\nPress {told}: ", [after.value for after in keys]))
        except EOFError:
            return After.QUIT
        if after is not After.REVIEW:
            return after
        show_review(read_record(path), screen)


def show_review(record: Record, screen: Screen) -> None:
    """Show where a match was won and lost."""
    from duels.analysis.review import review_record
    from duels.terminal.review_text import review_as_text

    try:
        with screen.progress("reviewing"):
            reviewed = review_record(record)
    except DuelsError as error:
        screen.say(f"{error}\n")
        return
    screen.say(review_as_text(reviewed, screen.width))
