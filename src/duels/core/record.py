"""Records: matches as text that people can read and send, with or without the opponent's secrets::

    duels record 2
    game: chain
    seat1: human
    seat2: greedy

    3
    5
    4
    challenge
    heads

A record consists of header lines, an empty line, and one line per entry. An entry is an action or a chance
outcome in the game's notation, or `resign`, `forfeit` or `stop by agreement`. `resign 2` means that seat 2
resigned on the other player's turn. The last line of a finished match is `result:` and a code: `1 won`,
`drawn`, `cut off` or `1 won, 2 resigned`. Lines that begin with `#` are comments. In a record with a `seat:`
line, entries that are hidden from that seat are `?` (see `core.information_sets`).

In version 1 the result was a sentence. Such records can still be read.
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
from duels.core.match import AnyMatch, EarlyEnd, Match, Turn, parse_early_end
from duels.core.options import Option, OptionValue, find_option
from duels.core.rules import AnyRules, Outcome, Seat, as_seat

VERSION = 2
READABLE_VERSIONS = (1, 2)
COMMENT = "#"
MAX_WORK = 5_000_000  # steps to check a record; this many take seconds
MAX_RECORDED_NUMBER = 999  # in options: an edited record must not take minutes to check
RESULT = "result: "
HEADERS = ("seat", "seat1", "seat2", "seed", "chance", "started")
# With these headers, a seat could predict chance outcomes and the choices of bots.
SECRET_HEADERS = ("seed", "chance")

Comments = Mapping[int, Sequence[str]]
"""Comment lines, by the number of entries before them."""
RulesFinder = Callable[[str], type[AnyRules]]
"""A function from a game's name to the class of its rules. Raises UnknownName."""


@dataclass(frozen=True)
class Record:
    """A match read from a record, with the headers.

    `seat` is set if the record was written for one seat. Then `match` may differ from the real match where
    this seat cannot see it, so show it only from this seat's point of view.

    >>> import duels
    >>> match = duels.start("leap").play_text("enter", "enter", "1")
    >>> record = duels.load_record(duels.dump_record(match, {"seat1": "human"}))
    >>> record.match.length, record.headers["seat1"]
    (3, 'human')
    """

    match: AnyMatch
    headers: Mapping[str, str] = field(default_factory=dict)
    seat: Seat | None = None
    version: int = VERSION
    """The version of the format."""
    comments: Comments = field(default_factory=dict)
    """Comment lines that people added."""


def dump_record(
    match: AnyMatch,
    headers: Mapping[str, str] | None = None,
    seat: Seat | None = None,
    comments: Comments | None = None,
) -> str:
    """Return the match as a record.

    With `seat`, hide the opponent's secrets, and leave out the seed and the comments.

    >>> import duels
    >>> print(dump_record(duels.start("leap").play_text("enter", "enter")))
    duels record 2
    game: leap
    <BLANKLINE>
    enter
    enter
    <BLANKLINE>
    """
    if seat is None:
        body = _format_entries(match, comments or {})
        return format_header(match.rules, headers or {}) + body + format_result(match)
    seat = as_seat(seat)
    public = {key: value for key, value in (headers or {}).items() if key not in SECRET_HEADERS}
    public["seat"] = str(seat.value)
    lines = format_seen_entries(match.rules, match.sight(seat))
    if match.last and isinstance(match.last.action, EarlyEnd):
        lines = [*lines, format_entry(match.rules, match.last)]
    body = "".join(f"{line}\n" for line in lines)
    return format_header(match.rules, public) + body + format_result(match)


def format_header(rules: AnyRules, headers: Mapping[str, str]) -> str:
    """Return the header of a record, including the empty line."""
    lines = [f"duels record {VERSION}", f"game: {rules.name}"]
    options = rules.options()
    if options:
        lines.append(
            "options: " + " ".join(f"{name}={Option.format(value)}" for name, value in options.items())
        )
    lines += [f"{key}: {headers[key]}" for key in HEADERS if headers.get(key)]
    return "\n".join(lines) + "\n\n"


def _format_entries(match: AnyMatch, comments: Comments) -> str:
    entries = ["", *(f"{format_entry(match.rules, turn)}\n" for turn in match.turns)]
    return "".join(
        entry + "".join(f"{line}\n" for line in comments.get(index, ()))
        for index, entry in enumerate(entries)
    )


def format_entry(rules: AnyRules, turn: Turn[Any]) -> str:
    """Return an entry as a line of a record, without its newline."""
    if isinstance(turn.action, EarlyEnd):
        names_seat = turn.out_of_turn and turn.action is EarlyEnd.RESIGN
        return f"{turn.action.value} {turn.actor.value}" if names_seat else turn.action.value
    return rules.format(turn.action)


def format_result(match: AnyMatch) -> str:
    """Return the last two lines, a comment and the result, or '' if the match is not over."""
    outcome = match.outcome
    return f"{COMMENT} {' '.join(outcome.reason.split())}\n{RESULT}{outcome.code}\n" if outcome else ""


def find_entry_problem(line: str) -> str:
    """Return why a line cannot be an entry of a record or a position, or '' if it can."""
    if line != line.strip() or not line.isprintable() or not line:
        return "is not one printable line"
    if parse_early_end(line):
        return "ends a match early"
    reserved = (COMMENT, HIDDEN, RESULT.strip())
    return "begins like a comment, a hidden entry or a result" if line.lower().startswith(reserved) else ""


def check_recordable(rules: AnyRules) -> None:
    """Raise BadOption if a record of these rules could not be read back."""
    for name, value in rules.options().items():
        _check_size(name, value)


def max_entries(rules: AnyRules) -> int:
    """Return the maximum length of a record of these rules. Larger games have shorter records."""
    return MAX_WORK // _estimate_entry_work(rules)


@lru_cache(maxsize=64)  # needed for every move of a match
def _estimate_entry_work(rules: AnyRules) -> int:
    return estimate_work(1, len(rules.all_actions()))


def parse_record_text(text: str, find_rules: RulesFinder) -> Record:
    """Parse and check a record.

    Raises RecordError with the number of the first wrong line, and TornRecord if only the end of the last
    line is missing. The `record` of a TornRecord contains the lines before it.
    """
    version, lines, torn = _split_lines(text)
    headers, line_numbers, first_entry = _parse_headers(lines)
    rules = _make_rules(headers, line_numbers, find_rules)
    seat = _parse_seat(headers, line_numbers)
    entry_lines: list[NumberedLine] = []
    comment_lines: list[tuple[int, str]] = []
    for number, line in enumerate(lines[first_entry:], start=first_entry + 1):
        if line.startswith(COMMENT):
            comment_lines.append((len(entry_lines), line))
        else:
            entry_lines.append((number, line))
    # Editors and mail programs add empty lines at the end.
    while entry_lines and not entry_lines[-1][1]:
        entry_lines.pop()
    entries, stated = _split_result(entry_lines)
    result = StatedResult(stated[1], version) if stated else None
    match = _replay_redacted(rules, entries, seat, result) if seat else _replay(rules, entries)
    if stated and result and not result.agrees_with(match.outcome):
        actual = f"ended with {quote(match.outcome.code)}" if match.outcome else "is not over"
        raise RecordError(f"the result is {quote(stated[1], 80)}, but the match {actual}.", stated[0])
    record = Record(match, headers, seat, version, _group_comments(match, comment_lines))
    if torn:
        raise TornRecord(record, torn, len(lines) + 1)
    return record


def _group_comments(match: AnyMatch, lines: list[tuple[int, str]]) -> Comments:
    """Group comments by the number of entries before them, without the comment of `format_result`."""
    result_comment, last = format_result(match).partition("\n")[0], len(match.turns)
    comments: dict[int, list[str]] = {}
    for index, line in lines:
        if index < last or line != result_comment:
            comments.setdefault(min(index, last), []).append(line)
    return comments


class TornRecord(RecordError):
    """The end of the last line is missing, as after a power cut. `record` contains the lines before it."""

    def __init__(self, record: Record, torn: str, line: int) -> None:
        super().__init__(f"the record is cut off at {quote(torn)}: the end of the line is missing.", line)
        self.record = record
        self.torn = torn


NumberedLine = tuple[int, str]
"""A line and its number, counted from 1."""


@dataclass(frozen=True)
class StatedResult:
    """The result in a record: a code, or a sentence in version 1."""

    text: str
    version: int

    def agrees_with(self, outcome: Outcome | None) -> bool:
        """Return whether the outcome fits. In version 1 any outcome does: sentences have been reworded."""
        return outcome is not None and (self.version == 1 or self.text.lower() == outcome.code)

    def rank_mismatch(self, outcome: Outcome | None) -> int:
        """Return 0 for the outcome that fits best, and more for others."""
        if outcome is None or not self.agrees_with(outcome):
            return 2
        return int(self.version == 1 and outcome.reason != self.text)


def _split_result(lines: list[NumberedLine]) -> tuple[list[NumberedLine], NumberedLine | None]:
    for index, (number, line) in enumerate(lines):
        if line.lower().startswith(RESULT):
            if index < len(lines) - 1:
                number, surplus_line = lines[index + 1]
                raise RecordError(f"{quote(surplus_line)} comes after the result.", number)
            return lines[:index], (number, line[len(RESULT) :].strip())
    return lines, None


def _split_lines(text: str) -> tuple[int, list[str], str]:
    """Return the version, the complete lines, and the rest after the last line break."""
    if not text.strip():
        raise RecordError("the file is empty.", 1)
    first = text.split("\n", 1)[0].strip()
    version = re.fullmatch(r"duels record ([0-9]{1,9})", first)
    if not version:
        expected = f"its first line must be 'duels record {VERSION}'"
        raise RecordError(f"this is not a duels record: {expected}, not {quote(first)}.", 1)
    if int(version[1]) not in READABLE_VERSIONS:
        reads = " and ".join(map(str, READABLE_VERSIONS))
        raise RecordError(f"the record has version {version[1]}; this duels reads versions {reads}.", 1)
    *lines, rest = text.split("\n")
    return int(version[1]), [line.strip() for line in lines], rest


def _parse_headers(lines: list[str]) -> tuple[dict[str, str], dict[str, int], int]:
    """Return the headers, their line numbers, and the index of the first line after the empty one."""
    headers: dict[str, str] = {}
    line_numbers: dict[str, int] = {}
    for index, line in enumerate(lines[1:], start=1):
        if not line:
            return headers, line_numbers, index + 1
        key, colon, value = line.partition(":")
        key = key.strip().lower()
        if not colon or key not in ("game", "options", *HEADERS):
            raise RecordError(f"{quote(line)} is not a header line.", index + 1)
        if key in headers:
            raise RecordError(f"the header {quote(key)} occurs twice.", index + 1)
        if not value.strip().isprintable():
            raise RecordError(f"{quote(line)} has unprintable characters.", index + 1)
        headers[key] = value.strip()
        line_numbers[key] = index + 1
    raise RecordError("the record ends before the empty line that closes its header.", len(lines) + 1)


def _make_rules(headers: dict[str, str], line_numbers: dict[str, int], find_rules: RulesFinder) -> AnyRules:
    if "game" not in headers:
        raise RecordError("the header names no game.", 2)
    try:
        rules_class = find_rules(headers["game"])
    except UnknownName as error:
        raise RecordError(str(error), line_numbers["game"]) from None
    line = line_numbers.get("options")
    try:
        return rules_class(**parse_options(rules_class, headers.get("options", "")))
    except DuelsError as error:
        raise RecordError(str(error), line) from None


def parse_options(rules_class: type[AnyRules], text: str) -> dict[str, OptionValue]:
    """Parse the options in a record's header: `cells=9 run=5`.

    Raises BadOption if a value is not allowed, and UnknownName if the game has no such option.
    """
    options: dict[str, OptionValue] = {}
    for part in text.split():
        name, equals, value = part.partition("=")
        if not equals:
            raise BadOption(f"{quote(part)} is not an option and its value, like name=9.")
        option = find_option(rules_class, name)
        try:
            options[name] = option.parse(value)
        except BadOption as error:
            raise BadOption(f"{quote(part)} cannot be read: {error}") from None
        _check_size(name, options[name])
    return options


def _check_size(name: str, value: OptionValue) -> None:
    numbers = value if isinstance(value, tuple) else (value,)
    if any(isinstance(number, int) and number > MAX_RECORDED_NUMBER for number in numbers):
        raise BadOption(f"{name} must be at most {MAX_RECORDED_NUMBER} in a record.")


def _parse_seat(headers: dict[str, str], line_numbers: dict[str, int]) -> Seat | None:
    seat = headers.get("seat")
    if seat not in (None, "1", "2"):
        raise RecordError(f"the seat must be 1 or 2, not {quote(str(seat))}.", line_numbers["seat"])
    return Seat(int(seat)) if seat else None


def _replay(rules: AnyRules, entries: list[NumberedLine]) -> AnyMatch:
    match = Match.start(rules)
    limit = max_entries(rules)
    if len(entries) > limit:
        raise RecordError(
            f"a record of {rules.name} with these options has at most {limit} entries.", entries[limit][0]
        )
    for number, entry in entries:
        try:
            match = match.play_text(entry)
        except DuelsError as error:
            raise _make_entry_error(entry, error, number) from None
    return match


def _replay_redacted(
    rules: AnyRules, entries: list[NumberedLine], seat: Seat, result: StatedResult | None
) -> AnyMatch:
    """Return a match that `seat`, which saw `entries`, cannot distinguish from the real one."""
    information_set = InformationSet.start(rules, seat)
    for index, (number, entry) in enumerate(entries, start=1):
        rank = result.rank_mismatch if result and index == len(entries) else prefer_ongoing
        try:
            information_set = information_set.parse_entry(entry, rank)
        except DuelsError as error:
            raise _make_entry_error(entry, error, number) from None
    return information_set.match


def _make_entry_error(entry: str, error: DuelsError, line: int) -> RecordError:
    if isinstance(error, GameOver):
        return RecordError(f"{quote(entry)} comes after the end of the match.", line)
    return RecordError(str(error), line)
