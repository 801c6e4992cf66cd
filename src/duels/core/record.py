"""A match as text that a person can read and mail, whole or without the other seat's secrets::

    duels record 2
    game: chain
    seat1: human
    seat2: greedy

    3
    5
    4
    challenge
    heads

Header lines, an empty line, then one action or chance outcome a line, in the game's notation, or `resign` or
`forfeit`; `resign 2` is by the seat that was not to move. A finished match ends with `result:` and a code
(`1 won`, `drawn`, `cut off`, `1 won, 2 resigned`).
Lines that begin with `#` are comments. With a `seat:` line, entries hidden from that seat read `?`
(see `core.information_sets`).

Version 1, whose result was a sentence, can still be read.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from duels.core.errors import BadOption, DuelsError, GameOver, RecordError, UnknownName, quote
from duels.core.information_sets import (
    HIDDEN,
    InformationSet,
    estimate_work,
    format_seen_entries,
    prefer_ongoing,
)
from duels.core.match import AnyMatch, Concession, Match, Turn, parse_concession
from duels.core.options import Option, OptionValue, list_options
from duels.core.rules import AnyRules, Outcome, Seat, as_seat

VERSION = 2
READABLE_VERSIONS = (1, 2)
COMMENT = "#"
MAX_WORK = 5_000_000  # steps of checking a record, which take seconds
MAX_RECORDED_NUMBER = 999  # of an option: a few edited letters must not cost minutes to check
RESULT = "result: "
# What a record may say about a match besides its entries, in the order it is written.
HEADERS = ("seat", "seat1", "seat2", "seed", "chance", "started")
# What would tell a seat the chance outcomes and the other's choices to come.
SECRET_HEADERS = ("seed", "chance")

Comments = Mapping[int, Sequence[str]]
"""Comment lines, by the number of entries before them."""
RulesFinder = Callable[[str], type[AnyRules]]
"""From the name of a game to the class of its rules; UnknownName where there is none."""


@dataclass(frozen=True)
class Record:
    """A match read from text, with what its header says.

    `seat` is set when the record was written for one seat: the match is then one that this seat
    cannot tell from the real one, and may only be shown as that seat saw it.
    """

    match: AnyMatch
    headers: Mapping[str, str] = field(default_factory=dict)
    seat: Seat | None = None
    version: int = VERSION
    """The version of the format that it was written in."""
    comments: Comments = field(default_factory=dict)
    """What people wrote into it."""


def dump_record(
    match: AnyMatch,
    headers: Mapping[str, str] | None = None,
    seat: Seat | None = None,
    comments: Comments | None = None,
) -> str:
    """The whole record; with `seat`, as that seat may have it, which is without comments."""
    if seat is None:
        body = "".join(format_entries(match, comments))
        return format_header(match.rules, headers or {}) + body + format_result(match)
    seat = as_seat(seat)
    kept = {key: value for key, value in (headers or {}).items() if key not in SECRET_HEADERS}
    kept["seat"] = str(seat.value)
    lines = format_seen_entries(match.rules, match.sight(seat))
    if match.last and isinstance(match.last.action, Concession):
        lines = [*lines, format_entry(match.rules, match.last)]
    body = "".join(f"{line}\n" for line in lines)
    return format_header(match.rules, kept) + body + format_result(match)


def format_header(rules: AnyRules, headers: Mapping[str, str]) -> str:
    """The head of a record, up to and with the empty line."""
    lines = [f"duels record {VERSION}", f"game: {rules.name}"]
    options = rules.options()
    if options:
        lines.append(
            "options: " + " ".join(f"{name}={Option.format(value)}" for name, value in options.items())
        )
    lines += [f"{key}: {headers[key]}" for key in HEADERS if headers.get(key)]
    return "\n".join(lines) + "\n\n"


def format_entries(match: AnyMatch, comments: Comments | None = None) -> list[str]:
    """The comments before the first entry, then each entry's line with the comments after it."""
    entries = ["", *(f"{format_entry(match.rules, turn)}\n" for turn in match.turns)]
    after = [(comments or {}).get(place, ()) for place in range(len(entries))]
    return [
        entry + "".join(f"{line}\n" for line in lines) for entry, lines in zip(entries, after, strict=True)
    ]


def format_entry(rules: AnyRules, turn: Turn[Any]) -> str:
    """One entry's line."""
    if isinstance(turn.action, Concession):
        return f"{turn.action.value} {turn.actor.value}" if turn.out_of_turn else turn.action.value
    return rules.format(turn.action)


def format_result(match: AnyMatch) -> str:
    """The last lines: a comment for people, and the result; empty while the match goes on."""
    outcome = match.outcome
    return f"{COMMENT} {' '.join(outcome.reason.split())}\n{RESULT}{outcome.code}\n" if outcome else ""


def find_entry_problem(line: str) -> str:
    """What keeps a line from being an entry of a record or a position; empty if nothing does."""
    if line != line.strip() or not line.isprintable() or not line:
        return "is not one printable line"
    if parse_concession(line):
        return "means that somebody gives up"
    reserved = (COMMENT, HIDDEN, RESULT.strip())
    return "begins like what is no entry" if line.lower().startswith(reserved) else ""


def check_recordable(rules: AnyRules) -> None:
    """BadOption, if a record of these rules could not be read back."""
    for name, value in rules.options().items():
        _check_size(name, value)


def max_entries(rules: AnyRules) -> int:
    """How many entries a record of these rules may have: the larger the game, the fewer."""
    return MAX_WORK // _work_of_an_entry(rules)


@lru_cache(maxsize=64)
def _work_of_an_entry(rules: AnyRules) -> int:
    return estimate_work(1, len(rules.all_actions()))


def parse_record_text(text: str, find_rules: RulesFinder) -> Record:
    """Read and check a record; RecordError names the first wrong line.

    TornRecord, if all that is wrong is that the last line does not end: its `record` is what stands before.
    """
    version, lines, cut = _lines(text)
    headers, found_at, first_entry = _read_headers(lines)
    rules = _find_rules(headers, found_at, find_rules)
    seat = _read_seat(headers, found_at)
    numbered: list[NumberedLine] = []
    commented: list[tuple[int, str]] = []
    for number, line in enumerate(lines[first_entry:], start=first_entry + 1):
        if line.startswith(COMMENT):
            commented.append((len(numbered), line))
        else:
            numbered.append((number, line))
    # An editor's or a mail's empty lines at the end mean nothing.
    while numbered and not numbered[-1][1]:
        numbered.pop()
    entries, stated = _split_result(numbered)
    result = StatedResult(stated[1], version) if stated else None
    match = _replay_seen(rules, entries, seat, result) if seat else _replay(rules, entries)
    if stated and result and not result.agrees(match.outcome):
        actual = match.outcome.code if match.outcome else "it is not over"
        what = f"the result {quote(stated[1], 80)} is not how the match stands"
        raise RecordError(f"{what}: {actual}", stated[0])
    record = Record(match, headers, seat, version, _comments(match, commented))
    if cut:
        raise TornRecord(record, cut, len(lines) + 1)
    return record


def _comments(match: AnyMatch, commented: list[tuple[int, str]]) -> Comments:
    """Comments by the number of entries before them, without the one that every result has."""
    own, last = format_result(match).partition("\n")[0], len(match.turns)
    comments: dict[int, list[str]] = {}
    for place, line in commented:
        if place < last or line != own:
            comments.setdefault(min(place, last), []).append(line)
    return comments


class TornRecord(RecordError):
    """The last line of a record does not end, as after a power cut; the rest is whole."""

    def __init__(self, record: Record, torn: str, line: int) -> None:
        super().__init__(f"it is cut off at {quote(torn)}: the line does not end.", line)
        self.record = record
        self.torn = torn


NumberedLine = tuple[int, str]
"""A line and its number, counted from 1."""


@dataclass(frozen=True)
class StatedResult:
    """The result as a record states it: a code, or, in version 1, a sentence."""

    text: str
    version: int

    def agrees(self, outcome: Outcome | None) -> bool:
        """Whether a match that ended so, or goes on (None), may be what is stated.

        Sentences may have been reworded: all that one is believed is that the match was over.
        """
        return outcome is not None and (self.version == 1 or self.text.lower() == outcome.code)

    def doubt(self, outcome: Outcome | None) -> int:
        """The less, the better an outcome fits, where what a seat saw leaves several open."""
        if outcome is None or not self.agrees(outcome):
            return 2
        return int(self.version == 1 and outcome.reason != self.text)


def _split_result(numbered: list[NumberedLine]) -> tuple[list[NumberedLine], NumberedLine | None]:
    """The entries, and the result that is stated after them."""
    stated_at = [i for i, (_, line) in enumerate(numbered) if line.lower().startswith(RESULT)]
    if not stated_at:
        return numbered, None
    at = stated_at[0]
    if at < len(numbered) - 1:
        number, late = numbered[at + 1]
        raise RecordError(f"{quote(late)} comes after the result.", number)
    number, line = numbered[at]
    return numbered[:at], (number, line[len(RESULT) :].strip())


def _lines(text: str) -> tuple[int, list[str], str]:
    """The version, the lines, and what stands after the last of them that has an end."""
    if not text.strip():
        raise RecordError("the file is empty, not a duels record.", 1)
    first = text.split("\n", 1)[0].strip()
    version = re.fullmatch(r"duels record ([0-9]{1,9})", first)
    if not version:
        raise RecordError(f"this is not a duels record: it begins with {quote(first)}.", 1)
    if int(version[1]) not in READABLE_VERSIONS:
        reads = " and ".join(map(str, READABLE_VERSIONS))
        raise RecordError(f"the record is of version {version[1]}; this duels reads versions {reads}.", 1)
    *lines, cut = text.split("\n")
    return int(version[1]), [line.strip() for line in lines], cut


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
        if not value.strip().isprintable():
            raise RecordError(f"{quote(line)} holds what cannot be printed.", index + 1)
        headers[key] = value.strip()
        found_at[key] = index + 1
    raise RecordError("the record ends before the empty line that closes its header.", len(lines) + 1)


def _find_rules(headers: dict[str, str], found_at: dict[str, int], find_rules: RulesFinder) -> AnyRules:
    if "game" not in headers:
        raise RecordError("the header names no game.", 2)
    try:
        kind = find_rules(headers["game"])
    except UnknownName as error:
        raise RecordError(str(error), found_at["game"]) from None
    line = found_at.get("options")
    try:
        return kind(**parse_options(kind, headers.get("options", "")))
    except DuelsError as error:
        raise RecordError(str(error), line) from None


def parse_options(kind: type[AnyRules], text: str) -> dict[str, OptionValue]:
    """Options as a record's header writes them: `cells=9 run=5`."""
    known = {option.name: option for option in list_options(kind)}
    options: dict[str, OptionValue] = {}
    for part in text.split():
        name, equals, value = part.partition("=")
        if not equals:
            raise BadOption(f"{quote(part)} is not an option with its value, like name=9.")
        if name not in known:
            has = f"it has {', '.join(known)}" if known else "it has none"
            raise UnknownName(f"{kind.game.name} has no option {quote(name)}; {has}.")
        try:
            options[name] = known[name].parse(value)
        except BadOption as error:
            raise BadOption(f"{quote(part)} cannot be read: {error}") from None
        _check_size(name, options[name])
    return options


def _check_size(name: str, value: OptionValue) -> None:
    numbers = value if isinstance(value, tuple) else (value,)
    if any(isinstance(number, int) and number > MAX_RECORDED_NUMBER for number in numbers):
        raise BadOption(f"{name} is at most {MAX_RECORDED_NUMBER} in a record.")


def _read_seat(headers: dict[str, str], found_at: dict[str, int]) -> Seat | None:
    seat = headers.get("seat")
    if seat not in (None, "1", "2"):
        raise RecordError(f"the seat {quote(str(seat))} is neither 1 nor 2.", found_at["seat"])
    return Seat(int(seat)) if seat else None


def _replay(rules: AnyRules, entries: list[NumberedLine]) -> AnyMatch:
    match = Match.start(rules)
    most = max_entries(rules)
    if len(entries) > most:
        raise RecordError(
            f"a record of {rules.name} of this size has at most {most} entries.", entries[most][0]
        )
    for number, entry in entries:
        try:
            match = match.play_text(entry)
        except DuelsError as error:
            raise _wrong(entry, error, number) from None
    return match


def _replay_seen(
    rules: AnyRules, entries: list[NumberedLine], seat: Seat, result: StatedResult | None
) -> AnyMatch:
    """A match that `seat`, which saw `entries`, cannot tell from the one that was played."""
    seen = InformationSet.start(rules, seat)
    for place, (number, entry) in enumerate(entries, start=1):
        stated = result if place == len(entries) else None
        try:
            if parse_concession(entry):
                conceded = tuple(match.play_text(entry) for match in seen.possible)
                seen = InformationSet(seat, conceded)
                continue
            seen = seen.read(entry, stated.doubt if stated else prefer_ongoing)
        except DuelsError as error:
            raise _wrong(entry, error, number) from None
    return seen.match


def _wrong(entry: str, error: DuelsError, line: int) -> RecordError:
    if isinstance(error, GameOver):
        return RecordError(f"{quote(entry)} comes after the end of the match.", line)
    return RecordError(str(error), line)
