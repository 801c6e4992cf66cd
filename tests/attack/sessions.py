"""A session of a command: files before it, typed entries, and changes by other programs."""

import io
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import Any
from unittest import mock

from duels.core.match import AnyMatch, Match
from duels.core.record import dump_record
from duels.games import find_game
from duels.play.library import remember_path
from duels.play.new_match import seat_players
from duels.terminal.commands import run
from tests.attack.harness import shuffled
from tests.attack.system_calls import Calls
from tests.support import GAME_NAMES, CommandResult, entries_for, home

RECORD = "match.duel"
Meddling = Callable[[Path], None]
"""A change that another program makes in the folder while we wait at a prompt."""


@dataclass(frozen=True)
class Scenario:
    """A command in a folder; `{}` in its arguments is the record's path."""

    name: str
    arguments: tuple[str, ...]
    typed: tuple[str | Meddling, ...] = ()
    before: Mapping[str, bytes] = field(default_factory=dict)

    def prepare(self, folder: Path) -> None:
        for name, data in self.before.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(data)
            with home(folder / "home"):
                remember_path(folder / name)

    @property
    def has_meddling(self) -> bool:
        return not all(isinstance(entry, str) for entry in self.typed)

    def resumed(self, used: int, record: str | None) -> "Scenario":
        """Continue a session interrupted after this many entries; without a name, the last match."""
        return Scenario(self.name, ("resume", *([f"{{}}/{record}"] if record else [])), self.typed[used:])


@dataclass(frozen=True, order=True)
class Progress:
    """The progress of a session: the number of writes to the screen, and of entries read."""

    writes: int = 0
    used: int = 0


def perform(
    scenario: Scenario,
    folder: Path,
    tick: Callable[[Progress], None] = lambda progress: None,
    calls: Calls | None = None,
) -> CommandResult:
    """Run the command in this process. `tick` is called whenever something is shown or asked."""
    calls = calls or Calls()

    def report_progress() -> None:
        with calls.aside():
            tick(Progress(out.writes, typed.used))

    def meddle(what: Meddling) -> None:
        with calls.aside():
            what(folder)
        report_progress()

    out, err = _ReportingStream(report_progress), io.StringIO()
    typed = _Keyboard(scenario.typed, report_progress, meddle)
    arguments = [argument.replace("{}", str(folder)) for argument in scenario.arguments]
    with ExitStack() as stack:
        stack.enter_context(home(folder / "home"))
        stack.enter_context(redirect_stdout(out))
        stack.enter_context(redirect_stderr(err))
        stack.enter_context(mock.patch.object(sys, "stdin", typed))
        stack.enter_context(always_the_same())
        stack.enter_context(calls.trapped())
        code = run(arguments)
    return CommandResult(code, out.getvalue(), err.getvalue())


@contextmanager
def always_the_same() -> Iterator[None]:
    """Fix the time and new seeds."""
    now = datetime(2026, 1, 2, 3, 4, tzinfo=UTC)
    clock = mock.Mock(now=lambda zone: now, fromtimestamp=datetime.fromtimestamp)
    with (
        mock.patch("duels.play.library.datetime", clock),
        mock.patch("duels.play.new_match.datetime", clock),
        mock.patch("duels.play.journal.make_seed", return_value="5eed" * 8),
    ):
        yield


class _ReportingStream(io.StringIO):
    """A stream that reports every write."""

    def __init__(self, report_write: Callable[[], None]) -> None:
        super().__init__()
        self.writes = 0
        self._report_write = report_write

    def write(self, text: str) -> int:
        size = super().write(text)
        self.writes += 1
        self._report_write()
        return size


class _Keyboard(io.StringIO):
    """Standard input that types the entries and makes the changes between them."""

    def __init__(
        self,
        entries: tuple[str | Meddling, ...],
        report_prompt: Callable[[], None],
        meddle: Callable[[Meddling], None],
    ) -> None:
        super().__init__()
        self.used = 0
        self._entries = entries
        self._report_prompt = report_prompt
        self._meddle = meddle

    def readline(self, *_: Any) -> str:  # type: ignore[override]
        self._report_prompt()
        while self.used < len(self._entries):
            entry = self._entries[self.used]
            self.used += 1
            if isinstance(entry, str):
                return f"{entry}\n"
            self._meddle(entry)
        return ""


# -- scenarios -------------------------------------------------------------------------------------------

HEADERS = {"seat1": "human", "seat2": "human", "seed": "7", "started": "2026-01-02 03:04 UTC"}


def play_some(name: str, headers: Mapping[str, str], rng: Random, entries: int) -> AnyMatch:
    """Play a match like the command, with random decisions, at least one."""
    live = seat_players(Match.start(find_game(name).rules()), headers)
    while live.match.actor is not None and (len(live.match.turns) < entries or not live.has_decisions):
        if live.person_to_move:
            live.play(live.person_to_move, rng.choice(live.match.actions))
        else:
            live.play_entry(live.decide_next_entry())
    return live.match


def typed_for(match: AnyMatch, headers: Mapping[str, str], first: int = 0) -> tuple[str, ...]:
    """Return people's entries for a match, from entry `first` on."""
    machines = {f"seat{n}" for n in "12" if headers[f"seat{n}"] != "human"}
    later = [
        after for after in match.steps()[first:] if after.last and f"seat{after.last.actor}" not in machines
    ]
    return tuple(entry for after in later for entry in entries_for(after))


def _remove(folder: Path) -> None:
    (folder / RECORD).unlink()


def _copy(folder: Path) -> None:
    data = (folder / RECORD).read_bytes()
    _remove(folder)
    (folder / RECORD).write_bytes(data)


def _append(folder: Path) -> None:
    with open(folder / RECORD, "ab") as file:
        file.write(b"# a remark\n")


def _cut(folder: Path) -> None:
    path = folder / RECORD
    path.write_bytes(path.read_bytes().rpartition(b"\n\n")[0] + b"\n\n")


MEDDLING = (_remove, _copy, _append, _cut)
# Ways in which a record can differ from the bytes that we write. Each is repaired before the match continues.
DAMAGE: dict[str, Callable[[bytes], bytes]] = {
    "torn": lambda data: data + b"1",
    "torn in a letter": lambda data: data + "é".encode()[:1],
    "of version 1": lambda data: data.replace(b"record 2", b"record 1"),
    "without a seed": lambda data: data.replace(b"seed: 7\n", b""),
    "with other line ends": lambda data: data.replace(b"\n", b"\r\n"),
    "with a byte order mark": lambda data: "\ufeff".encode() + data,
    "with empty lines": lambda data: data + b"\n\n",
    "with remarks": lambda data: data.replace(b"\n\n", b"\n\n# so it began\n"),
}
WHOLE = "whole"
_UNDO = ("undo", "yes")  # where nobody has to agree, `yes` is one more wrong entry


def _save(name: str, *more: str) -> tuple[str, ...]:
    return ("play", name, "--seed", "7", *more)


def leave(name: str, rng: Random) -> Scenario:
    """A match without any decision is not saved."""
    return Scenario(f"leave {name}", _save(name, "--save", f"{{}}/{RECORD}"))


def at_home(name: str, rng: Random) -> Scenario:
    match = play_some(name, HEADERS, rng, 2)
    return Scenario(f"play {name} in the folder of matches", _save(name), typed_for(match, HEADERS))


def add(name: str, rng: Random) -> Scenario:
    match = play_some(name, HEADERS, rng, rng.randint(2, 6))
    return Scenario(f"play {name}", _save(name, "--save", f"{{}}/{RECORD}"), typed_for(match, HEADERS))


def machine(name: str, rng: Random) -> Scenario:
    who = {**HEADERS, "seat2": "greedy"}
    typed = typed_for(play_some(name, who, rng, rng.randint(2, 6)), who)
    arguments = _save(name, "--save", f"{{}}/{RECORD}", "--seat2", "greedy")
    return Scenario(f"play {name} against a machine", arguments, typed)


def _resume(what: str, match: AnyMatch, left: int, damage: str, rng: Random) -> Scenario:
    """A match to resume, with this many entries left to type."""
    played = max(0, len(match.turns) - left)
    record_path = rng.choice([RECORD, f"home/matches/{RECORD}"])
    data = dump_record(match.after(played), HEADERS).encode()
    before = {record_path: data if damage == WHOLE else DAMAGE[damage](data)}
    return Scenario(what, ("resume", f"{{}}/{record_path}"), typed_for(match, HEADERS, played), before)


def take_back(name: str, rng: Random) -> Scenario:
    scenario = _resume(f"take back in {name}", play_some(name, HEADERS, rng, 6), 3, WHOLE, rng)
    typed = list(scenario.typed)
    for _ in range(2):
        index = rng.randint(0, len(typed))
        typed[index:index] = _UNDO
    return replace(scenario, typed=tuple(typed))


def repair(name: str, rng: Random) -> Scenario:
    damage = rng.choice(list(DAMAGE))
    return _resume(f"resume {name} {damage}", play_some(name, HEADERS, rng, 5), 3, damage, rng)


def finish(name: str, rng: Random) -> Scenario:
    return _resume(f"finish {name}", play_some(name, HEADERS, rng, 100), 3, WHOLE, rng)


def meddle(name: str, rng: Random) -> Scenario:
    match = play_some(name, HEADERS, rng, 4)
    typed: list[str | Meddling] = list(typed_for(match, HEADERS))
    what = rng.choice(MEDDLING)
    typed.insert(rng.randrange(len(typed) + 1), what)
    arguments = _save(name, "--save", f"{{}}/{RECORD}")
    return Scenario(f"play {name}, another program: {what.__name__.strip('_')}", arguments, tuple(typed))


Kind = Callable[[str, Random], Scenario]
PLAYER_KINDS: tuple[Kind, ...] = (leave, at_home, add, machine, take_back, repair, finish, meddle)


def endlessly(kind: Kind, rng: Random) -> Iterator[Scenario]:
    """Scenarios of one kind, in all games."""
    while True:
        for name in shuffled(rng, GAME_NAMES):
            yield kind(name, rng)
