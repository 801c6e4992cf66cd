"""Plays matches at the terminal: new ones, ones to go on with, ones to be shown again."""

import shlex
from pathlib import Path

from duels.core.errors import DuelsError
from duels.core.match import Match
from duels.core.record import Record
from duels.core.rules import Seat
from duels.core.words import Question
from duels.play.journal import Journal
from duels.play.library import new_path
from duels.play.live import LiveMatch
from duels.play.narrator import Narrator
from duels.play.new_match import NewMatch, seat_players
from duels.terminal.prompts import PromptedMatch, Quit
from duels.terminal.screen import Screen
from duels.terminal.signals import exit_code


def play_new(new: NewMatch, screen: Screen) -> int:
    """Play a new match; the exit code."""
    match = Match.start(new.rules)
    headers = new.headers()
    with screen.patience("getting ready"):
        live = seat_players(match, headers, notice=screen.notice)
    prompted = PromptedMatch(live, screen)
    if new.path or live.people:
        live.journal = Journal.create(new.path or new_path(new.rules.name), match, headers, screen.notice)
    if new.first != "1":
        screen.notice(f"Player 1: {new.one}. Player 2: {new.two}.")
    return _run(live, prompted, screen)


def play_on(path: Path, screen: Screen) -> int:
    """Go on with the match recorded at `path`; the exit code."""
    journal, record = Journal.reopen(path, screen.notice)
    try:
        with screen.patience("getting ready"):
            live = seat_players(record.match, record.headers, journal, screen.notice)
        prompted = PromptedMatch(live, screen)
        journal.settle(record.match)
    except DuelsError as error:
        journal.close()
        raise DuelsError(f"{path}: {error}") from None
    screen.notice(f"Going on with {path}.")
    return _run(live, prompted, screen)


def _run(live: LiveMatch, prompted: PromptedMatch, screen: Screen) -> int:
    """Play until the end or until somebody leaves; the exit code."""
    journal = live.journal
    try:
        prompted.run()
    except (Quit, EOFError, KeyboardInterrupt) as leaving:
        if journal:
            screen.last_words(
                f"\nThe match is saved. Go on with: duels resume {shlex.quote(str(journal.path))}"
            )
        return 0 if isinstance(leaving, Quit) else exit_code(leaving)
    finally:
        if journal:
            journal.close()
    if journal:
        path = shlex.quote(str(journal.path))
        screen.notice(f"\nRecord: {journal.path}\nWhere it was won and lost: duels review {path}")
    return 0


def show_replay(record: Record, seat: Seat | None, step: bool, screen: Screen) -> None:
    """Show a match again: as it was played, or as one seat saw it."""
    if record.seat and seat and record.seat is not seat:
        raise DuelsError(f"This record holds only what {record.seat.label} saw.")
    seat = seat or record.seat
    match = record.match
    if seat:
        watching = frozenset({seat})
    elif match.over:
        watching = frozenset(Seat)
    else:
        watching = frozenset()
        if match.rules.has_secrets:
            screen.notice(
                "The match is unfinished: what was hidden stays hidden. --seat shows one seat's own."
            )
    words = match.rules.game.words(match.rules)
    narrator = Narrator(words, watching)
    screen.say(words.opening())
    known = match.turns if watching == frozenset(Seat) else match.turns_known_to(seat)
    decided: Seat | None = None
    for after in match.steps()[: len(known)]:
        screen.say(narrator.entered(after))
        screen.say(narrator.happened(after))
        decided = after.last.actor if after.last and isinstance(after.last.actor, Seat) else decided
        if step and isinstance(after.actor, Seat) and after.actor is not decided and not _go_on(screen):
            return


def _go_on(screen: Screen) -> bool:
    try:
        return screen.ask(Question("-- Enter for the next turn, q to stop --")).strip().lower() not in (
            "q",
            "quit",
        )
    except EOFError:
        return True  # nobody is there to press a key
