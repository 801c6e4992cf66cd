"""New, resumed and branched matches at the terminal, and their rematches."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from duels import players
from duels.core.errors import DuelsError, GameOver, quote, require_extra
from duels.core.match import Match
from duels.core.record import Record, TornRecord
from duels.core.rules import AnyRules, Seat
from duels.core.words import Ink
from duels.play.journal import Journal
from duels.play.library import find_last_unfinished, make_match_path, read_record
from duels.play.live import LiveMatch, Series
from duels.play.new_match import MatchSetup, branch, seat_players
from duels.players.failures import TransportError
from duels.terminal.next_step import NextStep, ask_next_step
from duels.terminal.options import format_command
from duels.terminal.prompts import PromptedMatch, Quit
from duels.terminal.screen import Screen
from duels.terminal.signals import INTERRUPTED, SignalExit

if TYPE_CHECKING:
    from duels.terminal.board.surface import BoardMatch

_REMATCHES = (NextStep.REMATCH, NextStep.SWAP)


def is_board_installed(screen: Screen) -> bool:
    """Return whether the menu can offer the full-screen board: its extra is installed and colours are on."""
    return screen.can_fill and not screen.plain and find_spec("textual") is not None


def can_use_board(rules: AnyRules, screen: Screen) -> bool:
    """Return whether a match fits on the full-screen board. If the terminal is too small, say so."""
    if not is_board_installed(screen):
        return False
    from duels.terminal.board.grid import MAX_CELLS, get_min_size

    board = rules.game.words(rules).board(rules.sight(rules.initial(), Seat.ONE))
    if sum(map(len, board.cells)) > MAX_CELLS:
        return False
    (width, height), (columns, rows) = screen.size, get_min_size(board)
    if width >= columns and height >= rows:
        return True
    screen.notice(
        f"The full-screen board needs {columns} columns and {rows} rows. "
        f"This terminal has {width} and {height}, so you play at the prompts."
    )
    return False


def get_surface_class(use_board: bool) -> "type[PromptedMatch | BoardMatch]":
    """Return the class that shows a match: the prompt or the full-screen board. Raises MissingExtra."""
    if not use_board:
        return PromptedMatch
    with require_extra("tui"):
        from duels.terminal.board.surface import BoardMatch

        return BoardMatch


def play_new_match(
    setup: MatchSetup, screen: Screen, use_board: bool = False, series: Series | None = None
) -> tuple[int, NextStep]:
    """Play a new match and its rematches. Return the exit code and the next step.

    `series` holds the results before this match, if it is a rematch.
    """
    if (setup.one, setup.two).count(players.HUMAN) == 1 and screen.on_terminal and not screen.plain:
        from duels.terminal.lesson import offer_lesson

        offer_lesson(setup.rules.game, screen)
    while True:
        record = Record(Match.start(setup.rules), setup.make_headers())
        series = _continue_series(setup, series)
        live, surface = _start_match(record, screen, use_board, setup.external, setup.path, series=series)
        if setup.fallback:
            screen.notice(
                f"Perfect play is unknown in {setup.rules.name}, so {setup.fallback} plays instead."
            )
        if notice := _format_first_player(setup, is_rematch=series.matches > 0):
            screen.notice(notice)
        code, step = _play_to_end(live, surface, screen)
        if step not in _REMATCHES:
            return code, step
        series = series.add(live.match.outcome.winner if live.match.outcome else None)
        setup = _make_rematch(setup, step)


def _start_match(
    record: Record,
    screen: Screen,
    use_board: bool,
    external: Mapping[str, players.PlayerKind],
    path: Path | None = None,
    journal: Journal | None = None,
    series: Series | None = None,
) -> "tuple[LiveMatch, PromptedMatch | BoardMatch]":
    """Seat the players of a match, and return the live match and the surface that shows it.

    Without a journal, create one at `path`, or in the matches folder if people play.
    """
    match, headers = record.match, dict(record.headers)
    with screen.progress("getting ready") as progress:
        live = seat_players(
            match, headers, journal, lambda text: screen.notice(f"--chance: {text}"), progress, external
        )
    live.series = series
    surface = get_surface_class(use_board)(live, screen)
    if journal:
        journal.normalize(match)
    elif path or live.people:
        path = path or make_match_path(match.rules.name)
        live.journal = Journal.create(path, match, headers, screen.notice)
    return live, surface


def _format_first_player(setup: MatchSetup, is_rematch: bool) -> str:
    """Say who is Player 1. Return an empty string if the players already know."""
    if all(setup.people):
        one, two = setup.people
        return f"{one} is Player 1 and moves first. {two} is Player 2."
    is_for_two = players.HUMAN == setup.one == setup.two
    is_obvious = not is_for_two if is_rematch else setup.first == "1"
    if is_obvious:
        return ""
    if is_for_two:
        return f"The person at seat {2 if setup.swapped else 1} is Player 1 and moves first."
    return f"Player 1: {setup.one}. Player 2: {setup.two}."


def _continue_series(setup: MatchSetup, series: Series | None) -> Series:
    """Return the series with the names at the seats of the next match."""
    kinds = [setup.one, setup.two]
    if all(setup.people):
        names = list(setup.people)
    elif kinds.count(players.HUMAN) == 2:
        names = [f"the person at seat {number}" for number in ((2, 1) if setup.swapped else (1, 2))]
    else:
        names = ["you" if kind == players.HUMAN else kind for kind in kinds]
    return replace(
        series or Series({}), names=dict(zip(Seat, names, strict=True)), has_person_names=all(setup.people)
    )


def _make_rematch(setup: MatchSetup, step: NextStep) -> MatchSetup:
    one, two, people = setup.one, setup.two, setup.people
    if setup.swapped:  # `first` swaps them again
        one, two, people = two, one, (people[1], people[0])
    first = "2" if setup.swapped != (step is NextStep.SWAP) else "1"
    return replace(setup, one=one, two=two, people=people, first=first, seed=None, chance="", path=None)


def resume_match(
    path: Path,
    screen: Screen,
    use_board: bool = False,
    seats: Mapping[Seat, players.PlayerKind] | None = None,
) -> tuple[int, NextStep]:
    """Resume the match recorded at `path`. Return the exit code and the next step.

    `seats` holds the external players: a record has only their names. Raises DuelsError if the match is over.
    """
    try:
        journal, record = Journal.reopen(path, screen.notice)
    except GameOver as error:
        raise DuelsError(f"{error} Watch it with: {format_command('replay', path)}") from None
    try:
        external = _name_external(record.headers, seats or {}, screen)
        live, surface = _start_match(record, screen, use_board, external, journal=journal)
    except BaseException as error:
        journal.close()
        if isinstance(error, DuelsError):
            raise DuelsError(f"{path}: {error}") from None
        raise
    screen.notice(f"Resuming {path}.")
    result = _play_to_end(live, surface, screen, resumed=True)
    return _play_rematches(live, record, external, result, screen, use_board)


def play_branch(
    path: Path,
    entries: int,
    screen: Screen,
    use_board: bool = False,
    seats: Mapping[Seat, players.PlayerKind] | None = None,
) -> tuple[int, NextStep]:
    """Start a new match from the first `entries` entries of the match recorded at `path`.

    Return the exit code and the next step.
    """
    try:
        source = read_record(path)
    except TornRecord as error:
        source = error.record
        screen.notice(f"{path}: the last line is incomplete and was left out: {quote(error.torn)}.")
    external = _name_external(source.headers, seats or {}, screen)
    record = branch(path, source, entries, external)
    live, surface = _start_match(record, screen, use_board, external)
    start = f"after entry {entries}" if entries else "at the opening"
    screen.notice(f"Starting a new match from {path}, {start}.")
    result = _play_to_end(live, surface, screen)
    return _play_rematches(live, record, external, result, screen, use_board)


def _play_rematches(
    live: LiveMatch,
    record: Record,
    external: Mapping[str, players.PlayerKind],
    result: tuple[int, NextStep],
    screen: Screen,
    use_board: bool,
) -> tuple[int, NextStep]:
    code, step = result
    if step not in _REMATCHES:
        return code, step
    one, two = players.read_player_names(record.headers).values()
    setup = MatchSetup(record.match.rules, one, two, external=external)
    series = _continue_series(setup, None).add(live.match.outcome.winner if live.match.outcome else None)
    return play_new_match(_make_rematch(setup, step), screen, use_board, series)


def _name_external(
    headers: Mapping[str, str], seats: Mapping[Seat, players.PlayerKind], screen: Screen
) -> dict[str, players.PlayerKind]:
    """Return the external players by their recorded names. Report a player that replaces another."""
    external = {}
    for seat, name in players.read_player_names(headers).items():
        if seat not in seats:
            players.check_can_reseat(name, seat.value)
        elif not players.is_external(name):
            raise DuelsError(f"the record has {name} at seat {seat.value}. Leave out --seat{seat.value}.")
        else:
            if not players.matches_recorded_name(seats[seat].name, name):
                screen.notice(
                    f"{quote(seats[seat].name)} replaces {quote(name)} at seat {seat.value} "
                    "under the recorded name."
                )
            external[name] = replace(seats[seat], name=name)
    return external


def _format_resume_command(live: LiveMatch, path: Path, screen: Screen) -> str:
    # Leave out the path of the last match: a terminal would break a long path at the end of a line.
    last = find_last_unfinished(lambda text: None) if screen.on_terminal else None
    file = () if last and last.resolve() == path.resolve() else (path,)
    external = {seat: name for seat, name in live.names.items() if players.is_external(name)}
    seats = [players.format_seat_option(name, seat.value) for seat, name in external.items()]
    return " ".join([format_command("resume", *file), *seats])


def _play_to_end(
    live: LiveMatch, surface: "PromptedMatch | BoardMatch", screen: Screen, resumed: bool = False
) -> tuple[int, NextStep]:
    """Play until the match ends or somebody leaves. Return the exit code and the next step.

    The file of a new match is deleted if nobody has made a decision.
    """
    journal = live.journal
    try:
        step = surface.run()
    except (Quit, EOFError, KeyboardInterrupt, TransportError) as error:
        if journal and not live.match.over:
            message = "Nothing was played, so nothing was saved."
            if resumed or live.has_decisions:
                journal.ensure_saved(live.match)
                resume = _format_resume_command(live, journal.path, screen)
                message = f"The match is saved. Continue with: {Ink.COPIED(resume)}"
            with suppress(OSError):  # the terminal may be gone
                screen.notice(f"\n{message}")
        if isinstance(error, SignalExit | TransportError):
            raise
        return (0 if isinstance(error, Quit) else INTERRUPTED), NextStep.NONE
    finally:
        live.close()
        if journal:
            journal.close(keep=resumed or live.has_decisions)
    if step:
        return 0, step
    if journal and screen.on_terminal:
        with screen.echo(False):
            return 0, ask_next_step(live, screen)
    if journal:
        review = Ink.COPIED(format_command("review", journal.path))
        screen.notice(f"\nRecord: {journal.path}\nReview it with: {review}")
    return 0, NextStep.NONE
