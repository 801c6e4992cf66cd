"""A match as text that a person can read and mail; the same with one seat's secrets left out.

    duels record 1
    game: chain
    seat1: human
    seat2: greedy

    3
    5
    4
    challenge
    heads

Header lines, an empty line, then one action or chance outcome a line, in the game's notation;
`resign` where somebody did; last, once the match is over, `result:` and how it ended. In a record
with a `seat:` line, the entries that were hidden from that seat read `?`.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from duels.core.errors import DuelsError, GameOver, RecordError, quote
from duels.core.match import Match, Resign, Turn
from duels.core.rules import Rules, Seat
from duels.core.sights import Recollection

VERSION = 1
HIDDEN = "?"
LARGEST_RECORDED = 9999  # of an option: a few edited letters must not cost minutes to check
RESULT = "result: "
# What a record may say about a match besides its entries, in the order it is written.
HEADERS = ("seat", "seat1", "seat2", "seed", "chance", "started")
# What would tell a seat the chance outcomes and the other's choices to come.
SECRET_HEADERS = ("seed", "chance")

AnyRules = Rules[Any, Any, Any]
AnyMatch = Match[Any, Any, Any]
RulesFinder = Callable[[str, dict[str, int | None]], AnyRules]


@dataclass(frozen=True)
class Record:
    """A match read from text, with what its header says.

    `seat` is set when the record was written for one seat: the match is then one that this seat
    cannot tell from the real one, and may only be shown as that seat saw it.
    """

    match: AnyMatch
    headers: Mapping[str, str] = field(default_factory=dict)
    seat: Seat | None = None


def dumps(match: AnyMatch, headers: Mapping[str, str] | None = None, seat: Seat | None = None) -> str:
    """The whole record; with `seat`, as that seat may have it."""
    kept = dict(headers or {})
    turns = match.turns
    if seat:
        turns = match.turns_known_to(seat)
        kept = {key: value for key, value in kept.items() if key not in SECRET_HEADERS}
        kept["seat"] = str(seat.value)
    lines = [HIDDEN if seat and turn.hidden_from(seat) else format_entry(match.rules, turn) for turn in turns]
    if match.outcome:
        lines.append(RESULT + match.outcome.reason)
    return format_header(match.rules, kept) + "".join(f"{line}\n" for line in lines)


def format_header(rules: AnyRules, headers: Mapping[str, str]) -> str:
    """The head of a record, up to and with the empty line."""
    lines = [f"duels record {VERSION}", f"game: {rules.name}"]
    options = rules.options()
    if options:
        lines.append("options: " + " ".join(f"{name}={value}" for name, value in options.items()))
    lines += [f"{key}: {headers[key]}" for key in HEADERS if headers.get(key)]
    return "\n".join(lines) + "\n\n"


def format_entry(rules: AnyRules, turn: Turn[Any]) -> str:
    """One entry's line."""
    return turn.action.value if isinstance(turn.action, Resign) else rules.format(turn.action)


def loads(text: str, find_rules: RulesFinder) -> Record:
    """Read and check a record; RecordError names the first wrong line."""
    lines, cut = _lines(text)
    headers, found_at, first_entry = _read_headers(lines)
    rules = _find_rules(headers, found_at, find_rules)
    seat = _read_seat(headers, found_at)
    entries = lines[first_entry:]
    while entries and not entries[-1]:  # an editor's or a mail's empty lines at the end mean nothing
        entries.pop()
    stated_at = [i for i, entry in enumerate(entries) if entry.lower().startswith(RESULT)]
    if stated_at and stated_at[0] < len(entries) - 1:
        late = stated_at[0] + 1
        raise RecordError(f"{quote(entries[late])} comes after the result.", first_entry + late + 1)
    result = entries.pop()[len(RESULT) :] if stated_at else None
    play = _replay_seen if seat else _replay
    match = play(rules, entries, first_entry + 1, seat or Seat.ONE, result)
    actual = match.outcome.reason if match.outcome else None
    if result is not None and result != actual:
        stated = f"the result {quote(result, 80)} is not how the match stands"
        raise RecordError(f"{stated}: {actual or 'it is not over'}", len(lines))
    if cut:
        raise RecordError(f"it is cut off at {quote(cut)}: the line does not end.", len(lines) + 1)
    return Record(match, headers, seat)


def _lines(text: str) -> tuple[list[str], str]:
    """The lines, and what stands after the last of them that has an end."""
    if not text.strip():
        raise RecordError("the file is empty, not a duels record.", 1)
    first = text.split("\n", 1)[0].strip()
    version = re.fullmatch(r"duels record ([0-9]{1,9})", first)
    if not version:
        raise RecordError(f"this is not a duels record: it begins with {quote(first)}.", 1)
    if int(version[1]) != VERSION:
        raise RecordError(f"the record is of version {version[1]}; this duels reads version {VERSION}.", 1)
    *lines, cut = text.split("\n")
    return [line.strip() for line in lines], cut


def _read_headers(lines: list[str]) -> tuple[dict[str, str], dict[str, int], int]:
    """The header, the line each part of it is on, and the index of the first line after the empty one."""
    headers: dict[str, str] = {}
    found_at: dict[str, int] = {}
    for index, line in enumerate(lines[1:], start=1):
        if not line:
            return headers, found_at, index + 1
        key, colon, value = line.partition(":")
        key = key.strip().lower()
        if not colon or key not in ("game", "options", *HEADERS):
            raise RecordError(f"{quote(line)} is not a header line.", index + 1)
        if key in headers:
            raise RecordError(f"{quote(key)} is there twice.", index + 1)
        headers[key] = value.strip()
        found_at[key] = index + 1
    raise RecordError("the record ends before the empty line that closes its header.", len(lines) + 1)


def _find_rules(headers: dict[str, str], found_at: dict[str, int], find_rules: RulesFinder) -> AnyRules:
    if "game" not in headers:
        raise RecordError("the header names no game.", 2)
    line = found_at.get("options")
    options: dict[str, int | None] = {}
    for part in headers.get("options", "").split():
        found = re.fullmatch(r"([a-z_]+)=([0-9]{1,9}|None)", part)
        if not found:
            raise RecordError(f"{quote(part)} is not an option like lights=9.", line)
        options[found[1]] = None if found[2] == "None" else int(found[2])
        if (options[found[1]] or 0) > LARGEST_RECORDED:
            raise RecordError(f"{found[1]} is at most {LARGEST_RECORDED} in a record.", line)
    try:
        find_rules(headers["game"], {})
    except DuelsError as error:
        raise RecordError(str(error), found_at["game"]) from None
    try:
        return find_rules(headers["game"], options)
    except DuelsError as error:
        raise RecordError(str(error), line) from None


def _read_seat(headers: dict[str, str], found_at: dict[str, int]) -> Seat | None:
    seat = headers.get("seat")
    if seat not in (None, "1", "2"):
        raise RecordError(f"the seat {quote(str(seat))} is neither 1 nor 2.", found_at["seat"])
    return Seat(int(seat)) if seat else None


def _replay(rules: AnyRules, entries: list[str], line: int, _seat: Seat, _result: str | None) -> AnyMatch:
    match = Match.start(rules)
    for number, entry in enumerate(entries, start=line):
        try:
            match = match.play_text(entry)
        except DuelsError as error:
            raise _wrong(entry, error, number) from None
    return match


def _replay_seen(rules: AnyRules, entries: list[str], line: int, seat: Seat, result: str | None) -> AnyMatch:
    """A match that `seat`, which saw `entries`, cannot tell from the one that was played."""
    recollection = Recollection.start(rules, seat)
    for number, entry in enumerate(entries, start=line):
        last = number == line + len(entries) - 1
        try:
            if entry.lower() == Resign.RESIGN.value:
                given_up = tuple(match.play_text(entry) for match in recollection.possible)
                recollection = Recollection(seat, given_up)
                continue
            action = None if entry == HIDDEN else rules.parse(entry)
            recollection = recollection.then(action, result if last else None)
        except DuelsError as error:
            raise _wrong(entry, error, number) from None
    return recollection.match


def _wrong(entry: str, error: DuelsError, line: int) -> RecordError:
    if isinstance(error, GameOver):
        return RecordError(f"{quote(entry)} comes after the end of the match.", line)
    return RecordError(str(error), line)
