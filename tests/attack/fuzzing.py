"""Malformed records and entries are rejected in one line and change nothing."""

import json
import re
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from random import Random

from duels.core.errors import RecordError
from duels.core.match import AnyMatch, Match
from duels.core.options import Option, list_options
from duels.core.record import Record, TornRecord, dump_record
from duels.core.rules import AnyRules, Seat
from duels.core.words import Question
from duels.games import load_record
from duels.play.journal import Journal
from duels.play.library import MAX_RECORD_BYTES, read_record
from tests.attack.harness import Case, in_turn, shuffled
from tests.attack.sessions import RECORD, Scenario, perform
from tests.support import (
    GAME_NAMES,
    CommandResult,
    advance,
    all_rules,
    entries_for,
    has_question,
    home,
    lines_of,
    play_randomly,
    words_of,
)

# Characters with a meaning for line readers, terminals, encodings, shells or formats.
ODD = (
    *("", " ", "\t", "\r", "\x00", "\x07", "\x1b[2J", "\x1b]0;x\x07", "\x7f", "\x85", "\u2028", "\x0b"),
    *("\x1c", "\u202e", "\u200b", "\ufeff", "\ud800", "\ue000", "\ue001X\ue000", "😀", "é", "ſ", "ı"),
    *("İ", "ß", "٣", "３", "²", "Ⅳ", "१२", "-1", "+1", "0", "00", "1e3", "1_0", "0x1", "nan", "None"),
    *("99999999999999999999", "9" * 5000, "A" * 5000, "?", "#", ":", "=", ",", ";", "'", '"', "%s"),
    *("{0}", "\\n", "../..", "-", "--help", "<b>", "$HOME", "resign", "forfeit", "undo", "quit"),
    *("help", "back", "hint", "board", "yes", "no", "q", "human", "random", "result:", "& ls"),
    *("result: 1 won", "result: drawn", "# a remark", "seat: 1", "duels record 2"),
)
_LONG = 100_000  # letters: more would only take time
NOTATION = tuple(
    sorted({rules.format(a) for rules in all_rules() for a in (*rules.all_actions(), *rules.all_outcomes())})
)


def word(rng: Random) -> str:
    """A piece of usual or odd text."""
    return rng.choice(rng.choice((ODD, NOTATION)))


def line(rng: Random) -> str:
    """One line of plausible input."""
    text = rng.choice(("", " ")).join(word(rng) for _ in range(rng.choice((1, 1, 1, 2, 3))))
    text = rng.choice((str, str, str.upper, str.swapcase, str.title))(text)
    return re.sub(r"[\n\r]", "", rng.choice(("", "", " ", "\u00a0")) + text)


# -- records ------------------------------------------------------------------------------------------------


def some_rules(rng: Random) -> AnyRules:
    return rng.choice(all_rules())


def some_match(rng: Random) -> AnyMatch:
    return play_randomly(Match.start(some_rules(rng)), rng, rng.choice((0, 1, 3, 8, 30, 200)), resign=True)


def written(rng: Random) -> list[str]:
    """The lines of a mostly valid record."""
    match = some_match(rng)
    head = {
        "seat1": rng.choice(("human", "greedy", word(rng))),
        "seat2": "human",
        "seed": rng.choice(("7", word(rng))),
        "chance": rng.choice(("", "", "heads tails", "4 2,5", word(rng))),
        "started": rng.choice(("2026-01-02 03:04 UTC", word(rng))),
    }
    text = dump_record(match, head, rng.choice((None, None, *Seat)))
    lines = text.split("\n")
    if rng.random() < 0.3:
        lines.insert(2, f"options: {options(rng, match.rules)}")
    if rng.random() < 0.2:
        lines[0] = f"duels record {rng.choice(('1', '2', '02', '3', '-1', word(rng)))}"
    return lines


def options(rng: Random, rules: AnyRules) -> str:
    """Content for the line of options: values from small to absurd."""
    numbers = ("1", "2", "3", "7", "16", "25", "999", "9999", "10000", "999999999")
    values = (*numbers, "none", "yes", "1,2", word(rng))
    all_options = [*list_options(type(rules)), Option(word(rng) or "x", list_options(type(rules))[0].kind, 1)]
    return " ".join(f"{rng.choice(all_options).name}={rng.choice(values)}" for _ in range(rng.randint(1, 4)))


def edited(rng: Random, lines: list[str]) -> list[str]:
    """The lines with one change."""
    lines = list(lines)
    index, other_index = rng.randrange(len(lines)), rng.randrange(len(lines))
    edit = rng.randrange(7)
    if edit == 0:
        del lines[index]
    elif edit == 1:
        lines.insert(index, lines[other_index])
    elif edit == 2:
        lines[index], lines[other_index] = lines[other_index], lines[index]
    elif edit == 3:
        lines[index] = line(rng)
    elif edit == 4:
        lines.insert(index, rng.choice(("", "# a remark", "?", line(rng))))
    elif edit == 5:
        lines[index] += word(rng)
    else:
        again = lines[min(index, other_index) : max(index, other_index)]
        most = _LONG // (1 + sum(len(line) + 1 for line in again))
        lines[index:index] = again * rng.choice((1, 2, 2, most))
    return lines or [""]


ENCODINGS: tuple[Callable[[str], bytes], ...] = (
    *[lambda text: text.encode("utf-8", "surrogatepass")] * 6,
    lambda text: text.replace("\n", "\r\n").encode("utf-8", "surrogatepass"),
    lambda text: text.replace("\n", "\r").encode("utf-8", "surrogatepass"),
    lambda text: text.encode("latin-1", "replace"),
    lambda text: text.encode("utf-16", "surrogatepass"),
    lambda text: b"\xef\xbb\xbf" + text.encode("utf-8", "surrogatepass"),
)


def smashed(rng: Random, data: bytes) -> bytes:
    """The bytes with some changes."""
    index, size = rng.randrange(len(data) + 1), rng.choice((0, 1, 1, 4, 40))
    new = rng.choice(
        (b"", b"\xff", b"\x00", b"\n", b"\n\n", bytes([rng.randrange(256)]), data[: rng.randrange(80)])
    )
    smash = data[:index] + new + data[index + size :]
    return smash[: rng.choice((len(smash), len(smash), len(smash), rng.randrange(len(smash) + 1)))]


def some_record(rng: Random) -> bytes:
    """A record by grammar, with changed lines, an odd encoding and changed bytes."""
    lines = written(rng)
    for _ in range(rng.choice((0, 1, 1, 2, 4))):
        lines = edited(rng, lines)
    data = rng.choice(ENCODINGS)("\n".join(lines))
    for _ in range(rng.choice((0, 0, 0, 1, 3))):
        data = smashed(rng, data)
    return data[: MAX_RECORD_BYTES + 10]


READERS = (
    ("verify",),
    ("verify", "--json"),
    ("replay",),
    ("replay", "--seat", "1"),
    ("replay", "--seat", "2"),
    ("share", "--seat", "1"),
    ("share", "--seat", "2"),
    ("review",),
    ("review", "--json"),
    ("review", "--html", "{}/page.html"),
)
"""Every command that reads a record. Add new ones here."""


def attack_record(data: bytes, rng: Random, folder: Path) -> None:
    path = folder / RECORD
    path.write_bytes(data)
    record, error = _read(path)
    assert error is None or error.line is None or 1 <= error.line <= data.count(b"\n") + 1
    for reader in rng.sample(READERS, 3):
        result = perform(Scenario("", (*reader, f"{{}}/{RECORD}")), folder)
        readable = error is None
        # It may hold what another seat saw, or what nobody can judge.
        refusable = readable and (reader[0] == "review" or (record and record.seat))
        _check_answer(result, None if refusable else readable)
        if reader == ("verify", "--json"):
            assert json.loads(result.out)["legal"] is (error is None)
    assert path.read_bytes() == data, "a reader has written"
    if record and not error:
        _check_same(record)
    if record and not record.match.over and not record.seat:
        _check_played_on(path, record.match, rng)
    path.write_bytes(data)
    result = perform(Scenario("", ("resume", f"{{}}/{RECORD}"), ("help", "", line(rng), "quit")), folder)
    _check_answer(result, None)
    if result.code == 1:
        assert path.read_bytes() == data or isinstance(error, TornRecord), "a rejected file was changed"


def _read(path: Path) -> tuple[Record | None, RecordError | None]:
    try:
        return read_record(path), None
    except TornRecord as torn:
        return torn.record, torn
    except RecordError as error:
        return None, error


def _check_answer(result: CommandResult, good: bool | None) -> None:
    """Check that errors take one line and contain no control characters."""
    assert result.code in ((0, 1, 130) if good is None else (0,) if good else (1,)), result
    assert all(text.isprintable() for text in (*result.err.split("\n"), *result.out.split("\n"))), result
    if result.code == 1:
        assert result.err.splitlines()[-1].startswith("duels: "), result.err
        assert len(result.err.splitlines()) <= 2, result.err
    assert len(result.err) < 2000, result.err


def _check_same(record: Record) -> None:
    """Check that the match round-trips."""
    again = load_record(dump_record(record.match, record.headers, record.seat))
    assert again.seat is record.seat
    assert again.match.outcome == record.match.outcome
    if record.seat:
        assert again.match.sight(record.seat) == record.match.sight(record.seat)
    else:
        assert lines_of(again.match) == lines_of(record.match)


def _check_played_on(path: Path, match: AnyMatch, rng: Random) -> None:
    """Check that the file equals the match in memory after any order of resumes, moves and takebacks."""
    with home(path.parent / "home"):
        journal, record = Journal.reopen(path)
        assert lines_of(record.match) == lines_of(match)
        match = record.match
        for _ in range(rng.randint(1, 5)):
            if rng.random() < 0.4:
                match = match.after(rng.randint(max(0, len(match.turns) - 3), len(match.turns)))
                journal.take_back(match)
            elif not match.over:
                match = play_randomly(match, rng, 1, resign=True)
                journal.add(match)
            assert path.read_bytes() == dump_record(match, record.headers).encode()
        journal.close()


def records(rng: Random) -> Iterator[Case]:
    while True:
        data, own = some_record(rng), Random(rng.random())
        name = f"{data[:300]!r}{'…' if len(data) > 300 else ''}"
        yield Case(name, partial(attack_record, data, own))


# -- entries ------------------------------------------------------------------------------------------------


def attack_prompt(match: AnyMatch, path: tuple[str, ...], entries: list[str], folder: Path) -> None:
    """Check that every entry at the prompt after `path` is refused in one line or gives a legal action."""
    assert isinstance(match.actor, Seat)
    dialogue = words_of(match).ask(match.sight(match.actor))
    first = next(words_of(match).ask(match.sight(match.actor))).prompt
    question: Question = advance(dialogue, path)
    for entry in entries:
        try:
            again = dialogue.send(entry)
        except StopIteration as end:
            action = end.value
            break
        assert again.prompt
        assert again.notice.isprintable(), again.notice
        assert len(again.notice) < 500 + 8 * len(match.actions), again.notice
        assert not again.notice or again.prompt in (question.prompt, first), "the question changed"
        question = again
    else:
        return
    assert action in match.actions, f"{entry!r} led to {action!r}"


def prompts(rng: Random) -> Iterator[Case]:
    """Entries at every prompt of every game."""
    while True:
        match = some_match(rng)
        while match.previous and (not isinstance(match.actor, Seat) or not has_question(match)):
            match = match.previous
        if not isinstance(match.actor, Seat) or not has_question(match):
            continue
        typed = entries_for(match.play(match.actor, rng.choice(match.actions)))
        path = typed[: rng.randrange(len(typed))]
        entries = [line(rng) if rng.random() < 0.5 else _like(rng, typed) for _ in range(4)]
        name = f"{match.rules}, after {lines_of(match)} and {path}: {entries!r}"
        yield Case(name, partial(attack_prompt, match, path, entries))


def _like(rng: Random, typed: tuple[str, ...]) -> str:
    """An almost right entry."""
    entry = rng.choice(typed)
    index = rng.randrange(len(entry) + 1)
    return entry[:index] + word(rng) + entry[index + rng.randrange(2) :]


SESSIONS = (
    *(("play", name, "--seed", "7") for name in GAME_NAMES),
    *(("play", name, "--seed", "7", "--seat2", "greedy") for name in GAME_NAMES),
    *(("practice", name, "--seed", "7") for name in GAME_NAMES),
    ("daily",),
    (),
)
"""Every command with prompts. Add new ones here."""


def attack_session(arguments: tuple[str, ...], entries: tuple[str, ...], folder: Path) -> None:
    """Check that the command ends in order and its record is complete, with any input."""
    result = perform(Scenario("", arguments, entries), folder)
    assert result.code in (0, 130), result
    assert all(text.isprintable() for text in (*result.err.split("\n"), *result.out.split("\n"))), result.out
    for path in (folder / "home").rglob("*.duel"):
        read_record(path)


def sessions(rng: Random) -> Iterator[Case]:
    while True:
        for arguments in shuffled(rng, SESSIONS):
            entries = tuple(rng.choice((line, _plausible))(rng) for _ in range(rng.choice((5, 20, 60))))
            yield Case(
                f"{' '.join(arguments)}: {entries!r}"[:2000],
                partial(attack_session, arguments, entries),
            )


def _plausible(rng: Random) -> str:
    """Entries that are often right, so that a session makes progress."""
    return rng.choice(
        ("1", "2", "3", "4", "enter", "yes", "no", "MOVE 3", "OBSERVE 5", "F", "B2", "undo", "board")
    )


def entries(rng: Random) -> Iterator[Case]:
    return in_turn(
        prompts(Random(rng.random())), prompts(Random(rng.random())), sessions(Random(rng.random()))
    )
