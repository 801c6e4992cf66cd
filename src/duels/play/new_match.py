"""New matches: their settings, their players, and branches of recorded matches."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from duels.core.errors import DuelsError, NotationError, quote
from duels.core.match import AnyMatch
from duels.core.record import Record
from duels.core.rules import AnyRules, Seat
from duels.play.dice import ChanceScript, Dice, make_seed
from duels.play.journal import Journal
from duels.play.live import LiveMatch
from duels.players import (
    HUMAN,
    NO_EXTERNAL_PLAYERS,
    PERFECT,
    PlayerKind,
    read_player_names,
    resolve_player_kind,
)
from duels.solving.oracle import Progress, no_progress

MACHINE_LIMIT = 50
"""The limit of a match between two bots, in boards of chain or turns of hunt."""


class SettingError(NotationError):
    """A setting of a new match has an invalid value."""

    def __init__(self, setting: str, message: str) -> None:
        super().__init__(message)
        self.setting = setting


@dataclass
class MatchSetup:
    """The settings of a new match. Raises DuelsError if no match can be played with them."""

    rules: AnyRules
    one: str = HUMAN
    two: str = HUMAN
    first: str = "1"
    seed: str | None = None
    chance: str = ""
    path: Path | None = None
    external: Mapping[str, PlayerKind] = field(default_factory=dict)
    """External players, by the names used in `one` and `two`."""
    people: tuple[str, str] = ("", "")
    """The names of the people at `one` and `two`, if known. They are not recorded."""
    swapped: bool = field(init=False, default=False)
    """Whether `one` and `two` were exchanged, because `two` moves first."""
    fallback: str = field(init=False, default="")
    """The level that plays instead of `perfect` in a game that is not solved."""

    def __post_init__(self) -> None:
        names = [resolve_player_kind(name, self.rules, self.external).name for name in (self.one, self.two)]
        if PERFECT in (self.one, self.two) and PERFECT not in names:
            self.fallback = resolve_player_kind(PERFECT, self.rules).name
        self.one, self.two = names
        if HUMAN not in (self.one, self.two):
            self.rules = add_machine_limit(self.rules)
        self.seed = " ".join(self.seed.split()) if self.seed else make_seed()
        if not self.seed.isprintable():
            raise SettingError("seed", f"{quote(self.seed)} contains unprintable characters.")
        self.chance = " ".join(self.chance.split())
        try:
            ChanceScript.parse(self.rules, self.chance)
        except NotationError as error:
            raise SettingError("chance", str(error)) from None
        first = (
            Dice(self.seed).get_match_generator("first").choice("12")
            if self.first == "random"
            else self.first
        )
        self.swapped = first == "2"
        if self.swapped:
            self.one, self.two = self.two, self.one
            self.people = self.people[1], self.people[0]

    def make_headers(self) -> dict[str, str]:
        """Return the headers of the match's record, with the current time."""
        return {
            "seat1": self.one,
            "seat2": self.two,
            "seed": self.seed or "",
            "chance": self.chance,
            "started": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        }


def add_machine_limit(rules: AnyRules) -> AnyRules:
    """Return the rules with a limit on the length of a match: two bots could play forever."""
    if rules.limit and rules.limit_value is None:
        return rules.game.rules(**{**rules.options(), rules.limit: MACHINE_LIMIT})
    return rules


def shorten_match(rules: AnyRules) -> AnyRules:
    """Return the rules with the limit of a short match, if the game has one (see `Rules.enough_boards`)."""
    if rules.limit and rules.enough_boards:
        return rules.game.rules(**{**rules.options(), rules.limit: rules.enough_boards})
    return rules


def seat_players(
    match: AnyMatch,
    headers: Mapping[str, str],
    journal: Journal | None = None,
    notice: Callable[[str], None] = lambda text: None,
    progress: Progress = no_progress,
    external: Mapping[str, PlayerKind] = NO_EXTERNAL_PLAYERS,
) -> LiveMatch:
    """Return a live match with the players, seed and chance outcomes of a record's headers.

    Programs and models must be passed in `external`: nothing that a record names is ever run.
    """
    kinds = {
        seat: resolve_player_kind(name, match.rules, external)
        for seat, name in read_player_names(headers).items()
    }
    players = {seat: kind.make(match.rules, progress) if kind.make else None for seat, kind in kinds.items()}
    script = ChanceScript.parse(match.rules, headers.get("chance", ""))
    names = {seat: kind.name for seat, kind in kinds.items()}
    return LiveMatch(match, players, Dice(headers.get("seed", ""), script, notice), journal, names)


def branch(
    path: Path, record: Record, entries: int, external: Mapping[str, PlayerKind] = NO_EXTERNAL_PLAYERS
) -> Record:
    """Return a new match that continues the one recorded at `path` after its first `entries` entries.

    The players stay the same. If both are bots, a person takes the seat to move. The new match has a seed of
    its own. Raises DuelsError if the match cannot be continued there.
    """
    match = record.match
    if record.seat:
        raise DuelsError(f"{path} holds only what {record.seat.label} saw and cannot be continued.")
    maximum = len(match.turns) - match.over
    if not 0 <= entries <= maximum:
        raise DuelsError(f"{path} can be continued after 0 to {maximum} entries, not after {entries}.")
    match = match.after(entries)
    seats = read_player_names(record.headers)
    if HUMAN not in seats.values():
        seats[match.actor if isinstance(match.actor, Seat) else Seat.ONE] = HUMAN
    return Record(
        match, MatchSetup(match.rules, seats[Seat.ONE], seats[Seat.TWO], external=external).make_headers()
    )
