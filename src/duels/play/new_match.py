"""A match to be played, new or begun by another, validated: rules, seats, seed; and the live match of it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from duels.core.errors import DuelsError, NotationError, quote
from duels.core.match import AnyMatch
from duels.core.record import Record
from duels.core.rules import AnyRules, Seat
from duels.play.dice import ChanceScript, Dice, new_seed
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
from duels.solving.progress import Progress, no_progress

MACHINE_LIMIT = 50  # boards of chain, turns of hunt


class SettingError(NotationError):
    """A setting of a new match is no text that it can have."""

    def __init__(self, setting: str, message: str) -> None:
        super().__init__(message)
        self.setting = setting


@dataclass
class MatchSetup:
    """A match to be played; raises DuelsError if that is impossible."""

    rules: AnyRules
    one: str = HUMAN
    two: str = HUMAN
    first: str = "1"
    seed: str | None = None
    chance: str = ""
    path: Path | None = None
    outside: Mapping[str, PlayerKind] = field(default_factory=dict)
    """Players that are no part of the package, by the names that `one` and `two` have for them."""
    swapped: bool = field(init=False, default=False)
    """Whether the second seat moves first, and so is Player 1."""
    instead: str = field(init=False, default="")
    """Who plays where `perfect` was asked for and nobody knows perfect play."""

    def __post_init__(self) -> None:
        seated = [resolve_player_kind(name, self.rules, self.outside).name for name in (self.one, self.two)]
        if PERFECT in (self.one, self.two) and PERFECT not in seated:
            self.instead = resolve_player_kind(PERFECT, self.rules).name
        self.one, self.two = seated
        if HUMAN not in (self.one, self.two):
            self.rules = limited(self.rules)
        self.seed = " ".join(self.seed.split()) if self.seed else new_seed()
        if not self.seed.isprintable():
            raise SettingError("seed", f"{quote(self.seed)} is not text that a record can hold.")
        self.chance = " ".join(self.chance.split())
        try:
            ChanceScript.parse(self.rules, self.chance)
        except NotationError as error:
            raise SettingError("chance", str(error)) from None
        first = Dice(self.seed).once("first").choice("12") if self.first == "random" else self.first
        self.swapped = first == "2"
        if self.swapped:
            self.one, self.two = self.two, self.one

    def headers(self) -> dict[str, str]:
        """The header of the match's record."""
        return {
            "seat1": self.one,
            "seat2": self.two,
            "seed": self.seed or "",
            "chance": self.chance,
            "started": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        }


def limited(rules: AnyRules) -> AnyRules:
    """The rules with a limit: two machines can play for ever, and nobody is there to stop them."""
    if rules.limit and rules.limit_value is None:
        return rules.game.rules(**{**rules.options(), rules.limit: MACHINE_LIMIT})
    return rules


def seat_players(
    match: AnyMatch,
    headers: Mapping[str, str],
    journal: Journal | None = None,
    notice: Callable[[str], None] = lambda text: None,
    progress: Progress = no_progress,
    outside: Mapping[str, PlayerKind] = NO_EXTERNAL_PLAYERS,
) -> LiveMatch:
    """The live match with the players and the chance that a record's header names.

    Nothing that a record says is ever run: programs and models are handed in as `outside`.
    """
    kinds = {
        seat: resolve_player_kind(name, match.rules, outside)
        for seat, name in read_player_names(headers).items()
    }
    players = {seat: kind.seat(match.rules, progress) if kind.seat else None for seat, kind in kinds.items()}
    script = ChanceScript.parse(match.rules, headers.get("chance", ""))
    names = {seat: kind.name for seat, kind in kinds.items()}
    return LiveMatch(match, players, Dice(headers.get("seed", ""), script, notice), journal, names)


def branch(
    path: Path, record: Record, entries: int, outside: Mapping[str, PlayerKind] = NO_EXTERNAL_PLAYERS
) -> Record:
    """A new match with the first `entries` entries of the one recorded at `path`, to go on with.

    Whoever was seated is seated again; where that was nobody but machines, a person takes the seat to move.
    What chance brings from there on is drawn anew.
    """
    match, played = record.match, len(record.match.turns)
    if record.seat:
        raise DuelsError(f"{path} holds only what {record.seat.label} saw; it cannot be played on.")
    most = played - match.over
    if not 0 <= entries <= most:
        raise DuelsError(f"{path} can be played on after 0 to {most} of its entries, not after {entries}.")
    match = match.after(entries)
    seats = read_player_names(record.headers)
    if HUMAN not in seats.values():
        seats[match.actor if isinstance(match.actor, Seat) else Seat.ONE] = HUMAN
    return Record(match, MatchSetup(match.rules, seats[Seat.ONE], seats[Seat.TWO], outside=outside).headers())
