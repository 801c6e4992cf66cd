"""Playing on from the middle of a recorded match, in a new one that begins like it."""

from collections.abc import Mapping
from pathlib import Path

from duels.core.errors import DuelsError
from duels.core.record import Record
from duels.core.rules import Seat
from duels.play.new_match import NewMatch
from duels.players import HUMAN, NOBODY, Kind


def branch(path: Path, record: Record, entries: int, outside: Mapping[str, Kind] = NOBODY) -> Record:
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
    seats = {seat: record.headers.get(f"seat{seat.value}", HUMAN) for seat in Seat}
    if HUMAN not in seats.values():
        seats[match.actor if isinstance(match.actor, Seat) else Seat.ONE] = HUMAN
    return Record(match, NewMatch(match.rules, seats[Seat.ONE], seats[Seat.TWO], outside=outside).headers())
