"""Kills, power cuts, full disks and failing system calls: shown entries are kept, and the match continues.

Every session is first performed without a fault. This rehearsal records its system calls, and the content of
the records at every write to the screen. A session with a fault must leave the records as they were at some
moment of the rehearsal: not before its last write to the screen, and at most one step later.
"""

import errno
import os
import re
import resource
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path
from random import Random
from typing import Any
from unittest import mock

from duels.core.record import TornRecord, dump_record
from duels.play.library import read_record
from duels.play.live import LiveMatch
from duels.play.new_match import seat_players
from duels.terminal import play
from tests.attack.harness import Case, in_turn, shuffled
from tests.attack.sessions import PLAYER_KINDS, Kind, Progress, Scenario, endlessly, meddle, perform
from tests.attack.system_calls import Call, Calls, Disk, Tell, Trap, die, in_child
from tests.support import CommandResult, lines_of

Records = dict[str, bytes]
"""All records in a folder, by name. Drafts do not count: they have no final name yet."""


def records_in(folder: Path) -> Records:
    paths = (path for path in sorted(folder.rglob("*.duel")) if not path.name.startswith("."))
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths}


def latest(records: Records) -> str | None:
    """Return the record that is being written: the one with the highest number in its name."""
    return max(records, key=lambda name: int((re.findall(r"-([0-9]+)\.duel", name) or [1])[-1]), default=None)


@dataclass(frozen=True)
class Moment:
    """The records from some progress on."""

    since: Progress
    records: Records

    @property
    def content(self) -> bytes:
        """The content of the record that is being written."""
        name = latest(self.records)
        return self.records[name] if name else b""


@dataclass(frozen=True)
class Rehearsal:
    """An undisturbed session."""

    scenario: Scenario
    moments: list[Moment]
    calls: list[Call]
    result: CommandResult

    def find_shown_moment(self, progress: Progress) -> int:
        """Return the number of the moment shown at this progress."""
        return max(number for number, moment in enumerate(self.moments) if moment.since <= progress)


def rehearse(scenario: Scenario, folder: Path) -> Rehearsal:
    scenario.prepare(folder)
    moments = [Moment(Progress(), records_in(folder))]
    calls = Calls()
    last = Progress()

    def note_records(progress: Progress) -> None:
        nonlocal last
        last = progress
        records = records_in(folder)
        if records != moments[-1].records:
            moments.append(Moment(progress, records))

    result = perform(scenario, folder, note_records, calls)
    note_records(Progress(last.writes + 1, last.used))  # the writes at the end
    return Rehearsal(scenario, moments, calls.made, result)


def check_undisturbed(scenario: Scenario, folder: Path) -> None:
    """Check that at every write to the screen, the file holds exactly the match in memory."""
    scenario.prepare(folder)
    matches: list[LiveMatch] = []

    def seat_and_note(*args: Any, **kwargs: Any) -> LiveMatch:
        matches.append(seat_players(*args, **kwargs))
        return matches[-1]

    def check_saved(progress: Progress) -> None:
        live = matches[-1]
        if live.journal and not scenario.has_meddling:
            record = read_record(live.journal.path)
            expected = dump_record(live.match, record.headers, comments=record.comments).encode()
            assert live.journal.path.read_bytes() == expected, f"{expected!r} is shown but not saved"

    with mock.patch.object(play, "seat_players", seat_and_note):
        result = perform(scenario, folder, check_saved)
    assert result.code in (0, 1, 130), result
    if "The match is saved." in result.out + result.err:
        live = matches[-1]
        assert live.journal
        assert lines_of(read_record(live.journal.path).match) == lines_of(live.match), "it is not saved"


# -- checks after a fault --------------------------------------------------------------------------------


def check(rehearsal: Rehearsal, progress: Progress, folder: Path, remembered: bool = False) -> None:
    """Check that the records are those of the moment shown or of the next one, and that the match continues.

    With `remembered`, `resume` must find the match without the name of its file.
    """
    expected = rehearsal.find_shown_moment(progress)
    moments = rehearsal.moments[expected : expected + 2]
    records = records_in(folder)
    name = latest(records)
    content = records[name] if name else b""
    assert name is None or content, f"{name} is empty"
    reached = next((moment for moment in moments if moment.content == content), None)
    if name is None and not any(moment.since.used for moment in moments[:1]):
        assert not rehearsal.scenario.before, "a resumed match was deleted"
        return  # nobody had decided anything
    if reached is None:
        assert name
        reached = _torn(content, moments, folder / name)
    for other, data in records.items():
        contents = [moment.records.get(other) for moment in rehearsal.moments[: expected + 2]]
        ours = other == name or data in contents or rehearsal.scenario.has_meddling
        assert ours, f"{other} has unexpected content"
    if name is None:
        assert not reached.content
    elif reached is rehearsal.moments[-1]:
        read_record(folder / name)
    elif rehearsal.moments[-1].records:
        possible = (
            remembered and len(records) == 1 and name in moments[0].records and not content.endswith(b"\n\n")
        )
        _check_continuation(rehearsal, reached, folder, None if possible else name)


def _torn(content: bytes, moments: list[Moment], path: Path) -> Moment:
    """Return the moment of a record whose last lines were torn off."""
    before = moments[0].content
    assert len(moments) > 1, f"shown entries are lost: {content!r} is not {before!r}"
    after = moments[1].content
    assert before, f"half a file: {content!r}"
    between = content.startswith(before) and after.startswith(content)
    assert between, f"{content!r}: neither {before!r} nor {after!r}"
    try:
        read_record(path)
    except TornRecord:
        return moments[0]
    return moments[1]  # only the result is missing


def _check_continuation(rehearsal: Rehearsal, reached: Moment, folder: Path, name: str | None) -> None:
    """Check that the match, continued with the same entries, ends as if nothing had happened."""
    scenario, used = rehearsal.scenario, reached.since.used
    if used and not isinstance(scenario.typed[used - 1], str):
        return  # another program has changed this file, so the end of the match is undefined
    result = perform(scenario.resumed(used, name), folder)
    content, expected = Moment(Progress(), records_in(folder)).content, rehearsal.moments[-1].content
    assert content == expected, f"it continued to {content!r}, not {expected!r}: {result.err}"


def _check_readable(folder: Path) -> None:
    for name in records_in(folder):
        with suppress(TornRecord):
            read_record(folder / name)


# -- the attacks -----------------------------------------------------------------------------------------

Disturb = Callable[[Rehearsal, Random], Iterator[Case]]


def _everywhere(disturb: Disturb, kinds: Sequence[Kind] = PLAYER_KINDS) -> Callable[[Random], Iterator[Case]]:
    """Disturb sessions of every kind in turn, each in every game."""

    def of_kind(kind: Kind, rng: Random) -> Iterator[Case]:
        for scenario in endlessly(kind, rng):
            yield Case(f"{scenario.name}: undisturbed", partial(check_undisturbed, scenario))
            yield from shuffled(rng, disturb(_rehearse_twice(scenario), rng))

    return lambda rng: in_turn(*(of_kind(kind, Random(rng.random())) for kind in kinds))


def _rehearse_twice(scenario: Scenario) -> Rehearsal:
    for _ in range(2):  # the first time, modules are imported
        with tempfile.TemporaryDirectory(prefix="attack-") as folder:
            rehearsal = rehearse(scenario, Path(folder))
    return rehearsal


def _case(rehearsal: Rehearsal, how: str, run: Callable[[Path], None]) -> Case:
    def prepared(folder: Path) -> None:
        rehearsal.scenario.prepare(folder)
        run(folder)

    return Case(f"{rehearsal.scenario.name}: {how}", prepared)


def _in_child(
    rehearsal: Rehearsal, folder: Path, trap: Trap, limit: int | None = None
) -> tuple[Progress, Any]:
    """Perform the session in a child. Return its progress, exit code and errors; no code if it was killed."""

    def act(tell: Tell) -> None:
        if limit is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
        result = perform(rehearsal.scenario, folder, lambda p: tell([p.writes, p.used]), Calls(trap))
        tell([result.code, result.out, result.err])

    child = in_child(act)
    result = None if child.killed else CommandResult(*child.messages.pop())
    return Progress(*child.messages[-1]) if child.messages else Progress(), result


def _at(number: int, instead: Trap) -> Trap:
    """Let all calls through but one."""
    return lambda call, carry_out: instead(call, carry_out) if call.number == number else carry_out()


def _kill(rehearsal: Rehearsal, rng: Random) -> Iterator[Case]:
    def before(call: Call, carry_out: Callable[..., Any]) -> None:
        die()

    def after(call: Call, carry_out: Callable[..., Any]) -> None:
        with suppress(OSError):  # the folder exists
            carry_out()
        die()

    def killed(trap: Trap) -> Callable[[Path], None]:
        def run(folder: Path) -> None:
            progress, result = _in_child(rehearsal, folder, trap)
            assert result is None, "it was not killed"
            check(rehearsal, progress, folder, remembered=True)

        return run

    for call, when in product(rehearsal.calls, (before, after)):
        if call.changes:
            yield _case(rehearsal, f"killed {when.__name__} {call}", killed(_at(call.number, when)))


def _cut_power(rehearsal: Rehearsal, rng: Random) -> Iterator[Case]:
    def cut(number: int, names: bool, share: float) -> Callable[[Path], None]:
        def run(folder: Path) -> None:
            disk = Disk(folder)
            for name, data in rehearsal.scenario.before.items():
                disk.forget(folder / name, len(data) - data.rstrip(b"\n").rfind(b"\n") - 1)

            def trap(call: Call, carry_out: Callable[..., Any]) -> Any:
                try:
                    return disk.trap(call, carry_out)
                finally:
                    if call.number == number:
                        disk.cut(names, share)
                        die()

            progress, result = _in_child(rehearsal, folder, trap)
            assert result is None, "the power was not cut"
            if progress.writes or not rehearsal.scenario.before:
                check(rehearsal, progress, folder)
            else:  # the program that wrote the record had not shown it either
                _check_readable(folder)

        return run

    for call, names, share in product(rehearsal.calls, (False, True), (0.0, 0.5, 1.0)):
        if call.changes:
            how = f"power cut after {call}, unsynced names {'kept' if names else 'lost'}, bytes {share:.0%}"
            yield _case(rehearsal, how, cut(call.number, names, share))


def _tear(rehearsal: Rehearsal, rng: Random) -> Iterator[Case]:
    """Partial writes: the system reports them, fails, or the program is killed there."""

    def torn(number: int, size: int, then: str) -> Callable[[Path], None]:
        def part(call: Call, carry_out: Callable[..., Any]) -> Any:
            written = carry_out(size)
            if then == "killed":
                die()
            if then == "refused":
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            return written

        def run(folder: Path) -> None:
            progress, result = _in_child(rehearsal, folder, _at(number, part))
            if result:
                _check_output(rehearsal, result, folder)
            check(rehearsal, progress, folder)

        return run

    for call in rehearsal.calls:
        for size, then in product(range(call.size), ("killed", "refused", "told")):
            how = f"{size} of {call.size} bytes written by {call}, {then}"
            yield _case(rehearsal, how, torn(call.number, size, then))


def _fill_disk(rehearsal: Rehearsal, rng: Random) -> Iterator[Case]:
    """A disk with room for this many bytes of every file."""

    def full(size: int) -> Callable[[Path], None]:
        def run(folder: Path) -> None:
            progress, result = _in_child(rehearsal, folder, lambda call, carry_out: carry_out(), size)
            _check_output(rehearsal, result, folder)
            check(rehearsal, progress, folder)

        return run

    for size in range(len(rehearsal.moments[-1].content) + 1):
        yield _case(rehearsal, f"room for {size} bytes", full(size))


ERRORS = [
    errno.EIO,
    errno.ENOSPC,
    errno.EROFS,
    errno.EDQUOT,
    errno.ENOLCK,
    errno.EINTR,
    errno.EACCES,
    errno.EPERM,
    errno.ENOENT,
    errno.ESTALE,
    errno.EMFILE,
]


def _refuse(rehearsal: Rehearsal, rng: Random) -> Iterator[Case]:
    """Calls that fail: one of them, or all from one on."""

    def refused(number: int, code: int, for_ever: bool) -> Callable[[Path], None]:
        fate: set[str] = set()  # the calls that failed

        def fail(call: Call, carry_out: Callable[..., Any]) -> Any:
            if call.number < number or (call.number > number and not for_ever):
                return carry_out()
            fate.add(call.name)
            if call.name == "close":
                carry_out()  # the system closes the handle even if it reports an error
            path = [a for a in call.arguments[:1] if not isinstance(a, int)]
            raise OSError(code, os.strerror(code), *path)

        def run(folder: Path) -> None:
            progress = Progress()

            def note(now: Progress) -> None:
                nonlocal progress
                progress = now

            handles = _open_handles()
            result = perform(rehearsal.scenario, folder, note, Calls(fail))
            assert _open_handles() == handles, "a file is left open"
            assert for_ever or "unlink" in fate or not _litter(folder), _litter(folder)
            _check_output(rehearsal, result, folder)
            if rehearsal.scenario.typed or rehearsal.scenario.before:
                check(rehearsal, progress, folder)
            else:  # no decision was made; files that could not be read may stay
                _check_readable(folder)

        return run

    for call, code, for_ever in product(rehearsal.calls, ERRORS, (False, True)):
        how = f"{errno.errorcode[code]} at {call}{' and ever after' if for_ever else ''}"
        yield _case(rehearsal, how, refused(call.number, code, for_ever))


def _open_handles() -> list[str]:
    return os.listdir("/proc/self/fd") if os.path.isdir("/proc/self/fd") else []


def _litter(folder: Path) -> list[str]:
    """Return unexpected files."""
    expected = {*records_in(folder), "home/matches-elsewhere"}
    files = (str(path.relative_to(folder)) for path in folder.rglob("*") if not path.is_dir())
    return [name for name in files if name not in expected]


def _check_output(rehearsal: Rehearsal, result: CommandResult, folder: Path) -> None:
    """Check that the problem is reported in one line, and that only expected output is shown."""
    assert result.code in (0, 1, 2, 130), result
    assert rehearsal.result.out.startswith(result.out), result.out
    if result.code == 1 and rehearsal.result.code != 1:
        *_, last = result.err.splitlines()
        assert last.startswith("duels: /"), f"the message names no file: {result.err}"
    lines = result.err.splitlines()
    assert len(lines) <= len(rehearsal.result.err.splitlines()) + 2, f"more than one line: {result.err}"


# A power cut undoes changes by another program, and a full disk prevents them.
_WITHOUT_MEDDLING = [kind for kind in PLAYER_KINDS if kind is not meddle]

kills = _everywhere(_kill)
power_cuts = _everywhere(_cut_power, _WITHOUT_MEDDLING)
torn_writes = _everywhere(_tear)
full_disks = _everywhere(_fill_disk, _WITHOUT_MEDDLING)
errors = _everywhere(_refuse)
