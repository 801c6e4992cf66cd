"""Sets up matches: new ones, ones to go on with, ones to be shown again."""

import os
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import Any

from duels.core.errors import DuelsError, NotationError, quote
from duels.core.match import Match
from duels.core.record import Record
from duels.core.rules import Rules, Seat
from duels.core.words import Question
from duels.games import Game, find_game
from duels.players import find_kind
from duels.terminal.journal import Journal, new_path
from duels.terminal.narrator import Narrator
from duels.terminal.options import INTERRUPTED
from duels.terminal.screen import Screen
from duels.terminal.table import ChanceScript, Dice, Quit, Table

MACHINE_LIMIT = 50  # boards of chain, turns of hunt


@dataclass
class NewMatch:
    """What somebody asked to play. Raises DuelsError where that cannot be."""

    game: Game
    one: str = "human"
    two: str = "human"
    first: str = "1"
    seed: str | None = None
    chance: str = ""
    path: Path | None = None
    rules: Rules[Any, Any, Any] = field(init=False)

    def __post_init__(self) -> None:
        self.rules = self.game.rules()
        if self.rules.limit and "human" not in (self.one, self.two):
            # Two machines can play for ever, and nobody is there to stop them.
            self.rules = self.game.rules(**{self.rules.limit: MACHINE_LIMIT})
        # Long enough that nobody finds it by trying: it tells the coins and tiles to come.
        self.seed = " ".join(self.seed.split()) if self.seed else os.urandom(16).hex()
        if not self.seed.isprintable():
            raise NotationError(f"--seed: {quote(self.seed)} is not text that a record can hold.")
        self.chance = " ".join(self.chance.split())
        try:
            ChanceScript.parse(self.rules, self.chance)
        except NotationError as error:
            raise NotationError(f"--chance: {error}") from None
        first = Random(f"{self.seed} first").choice("12") if self.first == "random" else self.first
        if first == "2":
            self.one, self.two = self.two, self.one

    def headers(self) -> dict[str, str]:
        return {
            "seat1": self.one,
            "seat2": self.two,
            "seed": self.seed or "",
            "chance": self.chance,
            "started": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        }


def play_new(new: NewMatch, screen: Screen) -> int:
    """Play a new match; the exit code."""
    match = Match.start(new.rules)
    headers = new.headers()
    table = _table(new.game, match, headers, screen)
    if new.path or None in table.players.values():
        table.journal = Journal.create(new.path or new_path(new.game.name), match, headers)
    if new.first != "1":
        screen.notice(f"Player 1: {new.one}. Player 2: {new.two}.")
    return _run(table)


def play_on(path: Path, screen: Screen) -> int:
    """Go on with the match recorded at `path`; the exit code."""
    journal, record = Journal.reopen(path)
    try:
        table = _table(find_game(record.match.rules.name), record.match, record.headers, screen)
    except DuelsError as error:
        journal.close()
        raise DuelsError(f"{path}: {error}") from None
    table.journal = journal
    screen.notice(f"Going on with {path}.")
    return _run(table)


def _table(game: Game, match: Any, headers: Mapping[str, str], screen: Screen) -> Table:
    """A table with the players and the chance that a record's header names."""
    kinds = {seat: find_kind(headers.get(f"seat{seat.value}", "human")) for seat in Seat}
    with screen.patience("getting ready"):
        players = {seat: kind.seat(game, match.rules) if kind.seat else None for seat, kind in kinds.items()}
    script = ChanceScript.parse(match.rules, headers.get("chance", ""))
    return Table(game, match, players, screen, Dice(headers.get("seed", "")), script)


def _run(table: Table) -> int:
    """Play until the end or until somebody leaves; the exit code."""
    journal, screen = table.journal, table.screen
    try:
        table.run()
    except (Quit, EOFError, KeyboardInterrupt) as leaving:
        if journal:
            screen.notice(f"\nThe match is saved. Go on with: duels resume {shlex.quote(str(journal.path))}")
        return 0 if isinstance(leaving, Quit) else INTERRUPTED
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
    narrator = Narrator(find_game(match.rules.name).words(match.rules), screen, watching)
    narrator.open()
    known = match.turns if watching == frozenset(Seat) else match.turns_known_to(seat)
    decided: Seat | None = None
    for after in match.steps()[: len(known)]:
        narrator.entered(after)
        narrator.happened(after)
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
