"""The attacks, a few seconds of each; the long form; and the harness, which must find what is broken."""

import json
import os
import secrets
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from pathlib import Path
from typing import Any
from unittest import mock

import click
import pytest

from duels.core import record, rules, words
from duels.core.rules import Event
from duels.play import journal
from duels.play.journal import Journal
from duels.play.live import LiveMatch
from duels.terminal import commands
from tests.attack import signals
from tests.attack.attacks import ATTACKS
from tests.attack.environments import TAKERS
from tests.attack.figures import BEGIN, END, FIGURES, PAGE, figures_of, markdown
from tests.attack.fuzzing import READERS
from tests.attack.harness import Attack, run
from tests.terminal.terminal import Job

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs forks and pseudo-terminals")
LONG = float(os.environ.get("ATTACK_SECONDS", "60"))
BY_KIND = {attack.kind: attack for attack in ATTACKS}


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.kind)
def test_a_few_seconds_of(attack: Attack) -> None:
    report = run(attack, "short", attack.short)
    assert not report.failures, "\n".join(map(str, report.failures[:5]))


@pytest.mark.slow
@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.kind)
def test_a_minute_of(attack: Attack, record_property: Callable[[str, object], None]) -> None:
    """Each time with another seed; its figures are printed at the end."""
    seed = os.environ.get("ATTACK_SEED") or secrets.token_hex(4)
    report = run(attack, seed, seconds=LONG)
    record_property("attack", json.dumps(figures_of(seed, [report])))
    assert not report.failures, f"seed {seed}\n" + "\n".join(map(str, report.failures[:5]))


def test_the_page_shows_the_figures() -> None:
    page = PAGE.read_text(encoding="utf-8")
    figures = json.loads(FIGURES.read_text(encoding="utf-8"))
    assert page.partition(BEGIN)[2].partition(END)[0] == markdown(figures)
    assert [row["kind"] for row in figures["attacks"]] == list(BY_KIND)
    assert not any(row["failures"] for row in figures["attacks"])


def _takes_a_file(command: click.Command) -> bool:
    return any(isinstance(parameter.type, click.Path) for parameter in command.params)


def test_no_command_that_takes_a_file_is_left_out() -> None:
    """Who adds one adds it to the lists of what is attacked."""
    context = click.Context(commands.cli)
    found = {name: commands.cli.get_command(context, name) for name in commands.cli.list_commands(context)}
    with_files = {name for name, command in found.items() if command and _takes_a_file(command)}
    assert with_files <= {taker[0] for taker in TAKERS}
    assert with_files - {"play", "resume", "export"} <= {reader[0] for reader in READERS}


# -- what the attacks must find ---------------------------------------------------------------------------

_write = Journal._write


def _late(live: LiveMatch, match: Any) -> None:
    """Shown before it is saved."""
    before, live.match = live.match, match
    if live.journal and before.turns:
        live.journal.add(before)


def _unsynced(self: Journal, text: str) -> None:
    with mock.patch.object(os, "fsync"):
        _write(self, text)


def _in_place(draft: str, path: Path) -> None:
    """Repaired by being written over."""
    data = Path(draft).read_bytes()
    handle = os.open(path, os.O_WRONLY | os.O_TRUNC)
    os.write(handle, data)
    os.close(handle)
    os.unlink(draft)


def _careless(handle: int, data: bytes) -> None:
    os.write(handle, data)


_DEAF = "from duels.terminal import commands; commands.end_in_order = int; commands.main()"


def _naively(kind: Any, text: str) -> dict[str, int]:
    return {part.split("=")[0]: int(part.split("=")[1]) for part in text.split()}


def _all_told(event: Event, watching: frozenset[rules.Seat]) -> bool:
    return True


_BROKEN: dict[str, tuple[str, Callable[[], AbstractContextManager[Any]]]] = {
    "shown before it is saved": ("kills", lambda: mock.patch.object(LiveMatch, "_advance", _late)),
    "nothing is saved": ("errors", lambda: mock.patch.object(Journal, "add")),
    "repaired in place": ("torn writes", lambda: mock.patch.object(journal, "_name_again", _in_place)),
    "entries are not synced": ("power cuts", lambda: mock.patch.object(Journal, "_write", _unsynced)),
    "names are not synced": ("power cuts", lambda: mock.patch.object(journal, "_settle_folder")),
    "short writes are not noticed": (
        "torn writes",
        lambda: mock.patch.object(journal, "_write_all", _careless),
    ),
    "full disks are not noticed": ("full disks", lambda: mock.patch.object(journal, "_write_all", _careless)),
    "errors name no file": (
        "errors",
        lambda: mock.patch.object(journal, "naming", nullcontext),
    ),
    "options are read naively": ("records", lambda: mock.patch.object(record, "_read_options", _naively)),
    "numbers are read by int": ("entries", lambda: mock.patch.object(words, "whole_number", int)),
    "every event is visible": ("information flow", lambda: mock.patch.object(Event, "visible_to", _all_told)),
    "signals are not caught": (
        "signals",
        lambda: mock.patch.object(signals, "Job", partial(Job, program=_DEAF)),
    ),
    "failures are tracebacks": (
        "environments",
        lambda: mock.patch.object(commands, "DuelsError", KeyError),
    ),
}


@pytest.mark.parametrize("what", _BROKEN)
def test_the_attack_finds_it_when(what: str) -> None:
    kind, broken = _BROKEN[what]
    attack = BY_KIND[kind]
    with broken():
        report = run(attack, "broken", 3 * attack.short, until_failure=True)
    assert report.failures
