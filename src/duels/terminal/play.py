"""Plays matches at the terminal: new ones, ones to go on with, and as many more as the person likes."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Protocol

from duels.core.errors import DuelsError, GameOver, quote
from duels.core.extras import require_extra
from duels.core.match import Match
from duels.core.record import Record, TornRecord
from duels.core.rules import Seat
from duels.core.words import Ink
from duels.play.journal import Journal
from duels.play.library import find_last_unfinished, make_match_path, read_record
from duels.play.live import LiveMatch
from duels.play.new_match import MatchSetup, branch, seat_players
from duels.players import (
    HUMAN,
    PlayerKind,
    check_can_reseat,
    format_seat_option,
    is_external,
    matches_recorded_name,
    read_player_names,
)
from duels.players.failures import TransportError
from duels.terminal.next_step import NextStep, ask_next_step, get_longer_rules
from duels.terminal.options import format_command
from duels.terminal.prompts import PromptedMatch, Quit
from duels.terminal.screen import Screen
from duels.terminal.signals import INTERRUPTED, SignalExit

_AGAIN = (NextStep.REMATCH, NextStep.SWAP, NextStep.LONGER)


class Surface(Protocol):
    """A live match at the prompt or on a board."""

    def run(self) -> NextStep | None:
        """Play to the end; what comes next, if it has been asked.

        Quit, EOFError and KeyboardInterrupt leave the match as it is on disk.
        """


def get_surface_class(board: bool) -> Callable[[LiveMatch, Screen], Surface]:
    """The class that shows a match; MissingExtra, which says what installs it, if that cannot be loaded."""
    if not board:
        return PromptedMatch
    with require_extra("tui"):
        from duels.terminal.board.surface import BoardMatch

        return BoardMatch


def play_new_match(new: MatchSetup, screen: Screen, board: bool = False) -> tuple[int, NextStep]:
    """Play a new match, and then as many more as the person likes; the exit code, and what comes next.

    At the prompt, or on a full-screen board.
    """
    while True:
        record = Record(Match.start(new.rules), new.make_headers())
        live, surface = _start(record, screen, board, new.external, new.path)
        if new.fallback:
            screen.notice(f"Nobody knows perfect play in {new.rules.name}: {new.fallback} plays.")
        if new.first != "1":
            screen.notice(_who_is_first(new))
        code, after = _run(live, surface, screen)
        if after not in _AGAIN:
            return code, after
        new = _once_more(new, after)


def _start(
    record: Record,
    screen: Screen,
    board: bool,
    external: Mapping[str, PlayerKind],
    path: Path | None = None,
    journal: Journal | None = None,
) -> tuple[LiveMatch, Surface]:
    """Seat the players of a match.

    Without a journal the match is saved from now on: at `path` or, with people in it, in their folder.
    """
    match, headers = record.match, dict(record.headers)
    with screen.progress("getting ready") as progress:
        live = seat_players(
            match, headers, journal, lambda text: screen.notice(f"--chance: {text}"), progress, external
        )
    surface = get_surface_class(board)(live, screen)
    if journal:
        journal.normalize(match)
    elif path or live.people:
        path = path or make_match_path(match.rules.name)
        live.journal = Journal.create(path, match, headers, screen.notice)
    return live, surface


def _who_is_first(new: MatchSetup) -> str:
    if HUMAN == new.one == new.two:  # nobody's name changes
        return f"Seat {2 if new.swapped else 1} is Player 1 and moves first."
    return f"Player 1: {new.one}. Player 2: {new.two}."


def _once_more(new: MatchSetup, after: NextStep) -> MatchSetup:
    one, two = (new.two, new.one) if after is NextStep.SWAP else (new.one, new.two)
    rules = get_longer_rules(new.rules) if after is NextStep.LONGER else new.rules
    return replace(new, rules=rules, one=one, two=two, first="1", seed=None, chance="", path=None)


def resume_match(
    path: Path, screen: Screen, board: bool = False, seats: Mapping[Seat, PlayerKind] | None = None
) -> tuple[int, NextStep]:
    """Go on with the match recorded at `path`; the exit code, and what comes next.

    `seats` are the external players, whom a record names and does not know how to call.
    """
    try:
        journal, record = Journal.reopen(path, screen.notice)
    except GameOver as over:
        raise DuelsError(f"{over} See it with: {format_command('replay', path)}") from None
    try:
        external = _seated_again(record.headers, seats or {}, screen)
        live, surface = _start(record, screen, board, external, journal=journal)
    except BaseException as problem:
        journal.close()
        if isinstance(problem, DuelsError):
            raise DuelsError(f"{path}: {problem}") from None
        raise
    screen.notice(f"Going on with {path}.")
    return _and_again(record, external, _run(live, surface, screen, resumed=True), screen, board)


def play_branch(
    path: Path,
    entries: int,
    screen: Screen,
    board: bool = False,
    seats: Mapping[Seat, PlayerKind] | None = None,
) -> tuple[int, NextStep]:
    """Play on after so many entries of the match recorded at `path`, in a new one.

    The exit code, and what comes next.
    """
    try:
        whole = read_record(path)
    except TornRecord as error:
        whole = error.record
        screen.notice(f"{path}: the last line is incomplete and was left out: {quote(error.torn)}.")
    external = _seated_again(whole.headers, seats or {}, screen)
    record = branch(path, whole, entries, external)
    live, surface = _start(record, screen, board, external)
    screen.notice(f"Playing {path} {f'on after entry {entries}' if entries else 'from its start'}.")
    return _and_again(record, external, _run(live, surface, screen), screen, board)


def _and_again(
    record: Record,
    external: Mapping[str, PlayerKind],
    ended: tuple[int, NextStep],
    screen: Screen,
    board: bool,
) -> tuple[int, NextStep]:
    """What came of a match, and of the new ones that followed it between the same players."""
    code, after = ended
    if after not in _AGAIN:
        return code, after
    one, two = read_player_names(record.headers).values()
    again = MatchSetup(record.match.rules, one, two, external=external)
    return play_new_match(_once_more(again, after), screen, board)


def _seated_again(
    headers: Mapping[str, str], seats: Mapping[Seat, PlayerKind], screen: Screen
) -> dict[str, PlayerKind]:
    """The external players by the names that the record has for them; whoever is new is told of."""
    external = {}
    for seat, name in read_player_names(headers).items():
        if seat not in seats:
            check_can_reseat(name, seat.value)
        elif not is_external(name):
            raise DuelsError(
                f"seat {seat.value} is {name}, as recorded; --seat{seat.value} cannot change it."
            )
        else:
            if not matches_recorded_name(seats[seat].name, name):
                screen.notice(
                    f"Seat {seat.value} was {quote(name)}: {quote(seats[seat].name)} plays on in its place, "
                    "under the recorded name."
                )
            external[name] = replace(seats[seat], name=name)
    return external


def _how_to_resume(live: LiveMatch, path: Path, screen: Screen) -> str:
    """The command that goes on with a match; what a record does not know has to be told again."""
    # A path would be torn by the end of a terminal's line, and is not needed for the last match.
    last = find_last_unfinished(lambda text: None) if screen.on_terminal else None
    which = () if last and last.resolve() == path.resolve() else (path,)
    seats = [format_seat_option(name, seat.value) for seat, name in live.names.items() if is_external(name)]
    return " ".join([format_command("resume", *which), *seats])


def _run(live: LiveMatch, surface: Surface, screen: Screen, resumed: bool = False) -> tuple[int, NextStep]:
    """Play until the end or until somebody leaves; the exit code, and what comes next.

    A match that is new, or goes on in a new record, is not kept if nobody has decided anything.
    """
    journal = live.journal
    try:
        after = surface.run()
    except (Quit, EOFError, KeyboardInterrupt, TransportError) as leaving:
        if journal and not live.match.over:
            told = "Nothing was played, so nothing is kept."
            if resumed or live.has_decisions:
                journal.ensure_saved(live.match)
                resume = _how_to_resume(live, journal.path, screen)
                told = f"The match is saved. Go on with: {Ink.COPIED(resume)}"
            with suppress(OSError):  # the terminal may be gone
                screen.notice(f"\n{told}")
        if isinstance(leaving, SignalExit | TransportError):
            raise
        return (0 if isinstance(leaving, Quit) else INTERRUPTED), NextStep.LEFT
    finally:
        live.close()
        if journal:
            journal.close(keep=resumed or live.has_decisions)
    if after:
        return 0, after
    if journal and screen.on_terminal:
        return 0, ask_next_step(live, screen)
    if journal:
        review = Ink.COPIED(format_command("review", journal.path))
        screen.notice(f"\nRecord: {journal.path}\nWhere it was won and lost: {review}")
    return 0, NextStep.LEFT
