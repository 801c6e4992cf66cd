"""Short and long runs of the attacks, and a harness that must find planted faults."""

import json
import os
import re
import secrets
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from random import Random
from typing import Any
from unittest import mock

import click
import pytest

from duels import files
from duels.arena import schemas
from duels.core import record, rules, words
from duels.core.rules import Event
from duels.play.journal import Journal
from duels.play.live import LiveMatch
from duels.terminal import commands
from duels.web import service, visitors
from duels.web.service import MatchService
from duels.web.visitors import StreamLimiter
from tests.attack import load, signals
from tests.attack.attacks import ATTACKS
from tests.attack.environments import TAKERS
from tests.attack.figures import BEGIN, END, FIGURES, PAGE, figures_of, markdown
from tests.attack.fuzzing import READERS
from tests.attack.harness import Attack, Case, run
from tests.terminal.terminal import Job

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs forks and pseudo-terminals")
LONG = float(os.environ.get("ATTACK_SECONDS", "60"))
BY_KIND = {attack.kind: attack for attack in ATTACKS}


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.kind)
def test_short_attack(attack: Attack) -> None:
    report = run(attack, "short", attack.short)
    assert not report.failures, "\n".join(map(str, report.failures[:5]))


@pytest.mark.slow
@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.kind)
def test_long_attack(attack: Attack, record_property: Callable[[str, object], None]) -> None:
    """Each run has a new seed; the figures are printed at the end."""
    seed = os.environ.get("ATTACK_SEED") or secrets.token_hex(4)
    report = run(attack, seed, seconds=LONG)
    record_property("attack", json.dumps(figures_of(seed, [report])))
    assert not report.failures, f"seed {seed}\n" + "\n".join(map(str, report.failures[:5]))


def test_the_page_lists_the_figures() -> None:
    page = PAGE.read_text(encoding="utf-8")
    figures = json.loads(FIGURES.read_text(encoding="utf-8"))
    assert page.partition(BEGIN)[2].partition(END)[0] == markdown(figures)
    assert [row["kind"] for row in figures["attacks"]] == list(BY_KIND)
    assert not any(row["failures"] for row in figures["attacks"])


def test_the_guarantees_name_attacks_that_exist() -> None:
    guarantees = PAGE.read_text(encoding="utf-8").partition("## Guarantees")[2].partition("\n## ")[0]
    named = set(re.findall(r"(?<!\*)\*([a-z ]+)\*(?!\*)", guarantees))
    assert "runs" in named
    assert named <= set(BY_KIND)


def _takes_a_file(command: click.Command) -> bool:
    return any(isinstance(parameter.type, click.Path) for parameter in command.params)


def test_every_command_with_a_file_is_attacked() -> None:
    """A new one must be added to the lists that the attacks use."""
    context = click.Context(commands.cli)
    all_commands = {
        name: commands.cli.get_command(context, name) for name in commands.cli.list_commands(context)
    }
    with_files = {name for name, command in all_commands.items() if command and _takes_a_file(command)}
    assert with_files <= {taker[0] for taker in TAKERS}
    assert with_files - {"play", "resume", "export", "exam"} <= {reader[0] for reader in READERS}


# -- what the attacks must find ---------------------------------------------------------------------------

_append = Journal._append


def _late(live: LiveMatch, match: Any) -> None:
    """Show before saving."""
    before, live.match = live.match, match
    if live.journal and before.turns:
        live.journal.add(before)


def _unsynced(self: Journal, text: str) -> None:
    with mock.patch.object(os, "fsync"):
        _append(self, text)


def _in_place(draft: str, path: Path) -> None:
    """Repair by overwriting in place."""
    data = Path(draft).read_bytes()
    handle = os.open(path, os.O_WRONLY | os.O_TRUNC)
    os.write(handle, data)
    os.close(handle)
    os.unlink(draft)


def _careless() -> AbstractContextManager[Any]:
    """Ignore partial writes."""

    def write(handle: int, data: bytes) -> None:
        os.write(handle, data)

    return mock.patch.object(files, "write_all", write)


_DEAF = "from duels.terminal import commands; commands.install_signal_handlers = int; commands.main()"


_NO_SEATS = """
from duels.web import site
site.Visitor = lambda identity, address, is_seated: visitor(identity, address)
from duels.web.visitors import RateLimiter, Visitor as visitor
take = RateLimiter.take
RateLimiter.take = lambda self, kind, who: take(self, kind, who._replace(is_seated=False))
"""
_ONE_QUEUE = """
import time
from duels.web import site

class SlowPool(site.WorkerPool):
    # Requests of visitors take ten seconds more, so that the delay does not depend on this computer.
    async def run(self, work, visitor=None):
        def work_slowly():
            time.sleep(10)
            return work()
        return await super().run(work_slowly if visitor else work, visitor)

pool = SlowPool(2)
site.WorkerPool = site.WorkerProcess = lambda *args, **settings: pool
"""
_NO_ROOM = mock.patch.object(StreamLimiter, "_make_room")
_NO_LIMITS = "from duels.web.server import ConnectionLimiter; ConnectionLimiter.add = lambda *_: True"


def _keep_name(name: str, others: object) -> str:
    return name


def _naively(kind: Any, text: str) -> dict[str, int]:
    return {part.split("=")[0]: int(part.split("=")[1]) for part in text.split()}


def _see_everything(event: Event, watching: frozenset[rules.Seat]) -> bool:
    return True


@dataclass(frozen=True)
class Breakage:
    """A planted fault, the kind of attack that must find it, and the expected report."""

    kind: str
    problem: str
    """A regular expression."""
    broken: Callable[[], AbstractContextManager[Any]]


_BROKEN = {
    "shown before it is saved": Breakage(
        "kills", "is shown but not saved", lambda: mock.patch.object(LiveMatch, "_advance", _late)
    ),
    "nothing is saved": Breakage(
        "errors", "is shown but not saved", lambda: mock.patch.object(Journal, "add")
    ),
    "repaired in place": Breakage(
        "torn writes", "neither b'.* nor b'", lambda: mock.patch.object(files, "_replace_file", _in_place)
    ),
    "entries are not synced": Breakage(
        "power cuts",
        "neither b'.* nor b'|shown entries are lost",
        lambda: mock.patch.object(Journal, "_append", _unsynced),
    ),
    "names are not synced": Breakage(
        "power cuts",
        "shown entries are lost|^AssertionError: $",
        lambda: mock.patch.object(files, "sync_folder"),
    ),
    "short writes are not noticed": Breakage(
        "torn writes", "neither b'.* nor b'|has unexpected content", _careless
    ),
    "full disks are not noticed": Breakage("full disks", "more than one line", _careless),
    "errors name no file": Breakage(
        "errors", "names no file", lambda: mock.patch.object(files, "name_file_in_errors", nullcontext)
    ),
    "options are read naively": Breakage(
        "records", "^(IndexError|ValueError)", lambda: mock.patch.object(record, "parse_options", _naively)
    ),
    "numbers are read by int": Breakage(
        "entries", r"^ValueError: .* for int\(\)", lambda: mock.patch.object(words, "parse_whole_number", int)
    ),
    "every event is visible": Breakage(
        "information flow",
        "^AssertionError: sight: b'.*' and b'",
        lambda: mock.patch.object(Event, "visible_to", _see_everything),
    ),
    "signals are not caught": Breakage(
        "signals",
        "it ended with [0-9]+, not",
        lambda: mock.patch.object(signals, "Job", partial(Job, program=_DEAF)),
    ),
    "rows are not checked": Breakage(
        "runs",
        "^(KeyError|TypeError|AttributeError|ValueError)",
        lambda: mock.patch.object(schemas, "_fits", return_value=True),
    ),
    "failures are tracebacks": Breakage(
        "environments", "Traceback", lambda: mock.patch.object(commands, "DuelsError", KeyError)
    ),
    "players are limited like strangers": Breakage(
        "floods", "Too many", lambda: mock.patch.object(load, "SETUP", _NO_SEATS)
    ),
    "moves wait behind reviews": Breakage(
        "floods", "the machine took", lambda: mock.patch.object(load, "SETUP", _ONE_QUEUE)
    ),
    "idle connections stay": Breakage(
        "idle connections",
        "Timeout|Protocol|ReadError|Connect",
        lambda: mock.patch.object(load, "SETUP", _NO_LIMITS),
    ),
    "a crowd keeps its streams": Breakage("crowds", "too many connections", lambda: _NO_ROOM),
    "text passes no gate": Breakage("odd text", "500", lambda: mock.patch.object(visitors, "_check_text")),
    "names are as they come": Breakage(
        "names",
        "both are called|is called|marks in",
        lambda: mock.patch.object(service, "clean_name", _keep_name),
    ),
    "rows are believed": Breakage(
        "damaged rows", "500", lambda: mock.patch.object(MatchService, "_load", MatchService._read)
    ),
}


@pytest.mark.parametrize("what", _BROKEN)
def test_attacks_find_planted_faults(what: str) -> None:
    """An attack finds the planted fault and names it. Without the fault it finds nothing."""
    breakage = _BROKEN[what]
    attack = BY_KIND[breakage.kind]
    with breakage.broken():
        report = run(attack, "broken", 3 * attack.short, until_failure=True)
    assert report.failures, "the attack missed the fault"
    assert re.search(breakage.problem, report.failures[0].problem, re.DOTALL), report.failures[0]
    control = run(attack, "broken", report.cases)
    assert not control.failures, "\n".join(map(str, control.failures[:5]))


def test_an_attack_without_cases_fails() -> None:
    def cases(rng: Random) -> Iterator[Case]:
        yield Case("harmless", lambda folder: None)
        raise OSError("no session")

    report = run(Attack("kind", "what", cases, 1), "seed")
    assert report.cases == 1
    assert [str(failure) for failure in report.failures] == [
        "kind 1: making the case\n    OSError: no session"
    ]
