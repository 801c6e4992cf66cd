"""Unusual environments: locales, closed streams, invalid homes, files that are not records.

Everywhere the command does its work or says in one line why it cannot, at once and without a traceback.
"""

import os
import resource
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from itertools import product
from pathlib import Path
from random import Random

from tests.attack.harness import Case, in_turn, shuffled
from tests.attack.sessions import RECORD, Scenario, perform
from tests.attack.system_calls import Tell, in_child
from tests.support import COMMAND, CommandResult, environment, sample_record

SECONDS = 20
"""Wall-clock time: generous, because the machine may be busy."""


@dataclass(frozen=True)
class Surroundings:
    """The environment of a command."""

    name: str
    variables: Mapping[str, str | None] = field(default_factory=dict)
    """None: not set."""
    streams: str = ""
    """Redirections of a shell."""
    folder: str | None = None
    """The working directory; `{}` is one that can be written to."""


def _locale(name: str, **variables: str) -> Surroundings:
    plain = dict.fromkeys(("PYTHONUTF8", "PYTHONIOENCODING", "LC_ALL", "LC_CTYPE", "LANG"))
    return Surroundings(name, {**plain, **variables})


SURROUNDINGS = (
    Surroundings("usual"),
    _locale("locale C", LC_ALL="C"),
    _locale("locale C without coercion", LC_ALL="C", PYTHONCOERCECLOCALE="0", PYTHONUTF8="0"),
    _locale("locale POSIX", LANG="POSIX", PYTHONUTF8="0"),
    _locale("no locale at all"),
    _locale("a locale that does not exist", LC_ALL="xx_XX.UTF-8"),
    _locale("latin-1", PYTHONIOENCODING="latin-1"),
    _locale("ascii, strictly", PYTHONIOENCODING="ascii:strict"),
    _locale("utf-16", PYTHONIOENCODING="utf-16"),
    Surroundings("stdin closed", streams="<&-"),
    Surroundings("stdout closed", streams=">&-"),
    Surroundings("stderr closed", streams="2>&-"),
    Surroundings("all streams closed", streams="<&- >&- 2>&-"),
    Surroundings("stdout full", streams=">/dev/full"),
    Surroundings("stderr full", streams="2>/dev/full"),
    Surroundings("stdin that cannot be read", streams="0>/dev/null"),
    Surroundings("stdout that cannot be written to", streams="1</dev/null"),
    Surroundings("endless zeros as entries", streams="</dev/zero"),
    Surroundings("DUELS_HOME read-only", {"DUELS_HOME": "/proc/sys"}),
    Surroundings("DUELS_HOME a file", {"DUELS_HOME": "/dev/null"}),
    Surroundings("DUELS_HOME missing", {"DUELS_HOME": "{}/not/there/yet"}),
    Surroundings(
        "DUELS_HOME empty", {"DUELS_HOME": "", "XDG_DATA_HOME": "{}/data", "XDG_CACHE_HOME": "{}/cache"}
    ),
    Surroundings("DUELS_HOME no text", {"DUELS_HOME": "{}/\udce9"}),
    Surroundings("HOME missing", {"DUELS_HOME": None, "HOME": "/nowhere", "XDG_DATA_HOME": None}),
    Surroundings("HOME not set", {"DUELS_HOME": None, "HOME": None, "XDG_DATA_HOME": "/proc/sys"}),
    Surroundings("TERM not set", {"TERM": None}),
    Surroundings("TERM dumb", {"TERM": "dumb"}),
    Surroundings("TERM nonsense", {"TERM": "\x1b[2J"}),
    Surroundings("one column", {"COLUMNS": "1", "LINES": "1"}),
    Surroundings("no columns", {"COLUMNS": "0"}),
    Surroundings("columns that are no number", {"COLUMNS": "wide"}),
    Surroundings("a folder that cannot be written to", folder="/proc/sys"),
    Surroundings("a folder that is gone", folder="{}/gone"),
    Surroundings("no temporary folder", {"TMPDIR": "/nowhere"}),
    Surroundings("no PATH", {"PATH": None}),
)
_NO_GAME = "\udce9\x1b[2J"
# The quick commands, with their input.
ERRANDS: tuple[tuple[tuple[str, ...], bytes], ...] = (
    (("play", "lights"), b"1\n4\nboard\nundo\n\xff\xe9\nquit\n"),
    (("play", "hunt", "--seat2", "greedy", "--seed", "7"), b"MOVE 3\nOBSERVE 5\nquit\n"),
    (("play", "chain", "--save", "{}/new.duel"), "4\n3\né\nquit\n".encode()),
    (("resume", f"{{}}/{RECORD}"), b"moves\nhelp\nquit\n"),
    (("replay", f"{{}}/{RECORD}"), b""),
    (("replay", f"{{}}/{RECORD}", "--step", "--seat", "1"), b"\n\nq\n"),
    (("verify", f"{{}}/{RECORD}", "--json"), b""),
    (("share", f"{{}}/{RECORD}", "--seat", "2"), b""),
    (("solve", "lights"), b""),
    (("games",), b""),
    (("players", "--json"), b""),
    (("rules", "hunt"), b""),
    (("demo",), b""),
    ((), b"1\n1\n\n\n1\n4\nquit\n"),
    (("--help",), b""),
    (("play", _NO_GAME), b""),
    (("completion", "bash"), b""),
    (("matches",), b""),
    (("stats",), b""),
    (("practice", "lights", "--seed", "7"), b"1\n4\nhint\nquit\n"),
    (("daily",), b"1\n4\nquit\n"),
    (("review", "{}/over.duel"), b""),
    (("levels", "leap", "--matches", "2"), b""),
    (("export", "lights", "--games", "2", "--out", "{}/out.jsonl"), b""),
)
_BAD_SIGNS = (b"Traceback", b"Exception ignored", b"Error in ", b"Fatal Python error", b"most recent call")


def attack_surroundings(around: Surroundings, errand: tuple[tuple[str, ...], bytes], folder: Path) -> None:
    (folder / RECORD).write_bytes(sample_record("hunt", 5))
    (folder / "over.duel").write_bytes(sample_record("lights", 99))
    arguments, entered = ([os.fsencode(a.replace("{}", str(folder))) for a in errand[0]], errand[1])
    variables: dict[str, str | None] = {**environment(folder / "home"), **around.variables}
    environ = {
        name: value.replace("{}", str(folder)) for name, value in variables.items() if value is not None
    }
    where = Path((around.folder or "{}").replace("{}", str(folder)))
    if missing := not where.is_dir():
        where.mkdir()
    # The shell removes its folder when it stands in it, and redirects.
    script = f'{"rmdir ../missing;" if missing else ""} exec "$0" "$@" {around.streams}'
    start = time.monotonic()
    result = subprocess.run(
        ["/bin/sh", "-c", script, *COMMAND, *arguments],
        input=entered,
        capture_output=True,
        env=environ,
        cwd=where,
        timeout=6 * SECONDS,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30)),
    )
    assert time.monotonic() - start < SECONDS, "it took long"
    assert result.returncode in (0, 1, 2, 130), result
    errors = result.stderr.replace(b"\0", b"")  # it may be in an encoding of two bytes a letter
    assert not any(sign in errors for sign in _BAD_SIGNS), errors[-1000:].decode(errors="replace")
    if result.returncode == 1 and errors:
        assert errors.splitlines()[-1].startswith(b"duels: "), errors
    wrong = errand[0][-1:] == (_NO_GAME,)
    assert (result.returncode == 2) <= wrong, result.stderr
    assert around.name != "usual" or result.returncode == (2 if wrong else 0), result


# -- files that are no records ------------------------------------------------------------------------------


def _fifo(folder: Path) -> Path:
    os.mkfifo(folder / "fifo")
    return folder / "fifo"


def _socket(folder: Path) -> Path:
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind(str(folder / "socket"))
    return folder / "socket"


def _huge(folder: Path) -> Path:
    path = folder / "huge.duel"
    path.touch()
    os.truncate(path, 1 << 40)
    return path


def _folder(folder: Path) -> Path:
    (folder / "folder.duel").mkdir()
    return folder / "folder.duel"


def _link(to: str) -> Callable[[Path], Path]:
    def make(folder: Path) -> Path:
        path = folder / "link.duel"
        path.symlink_to(to)
        return path

    return make


def _written(name: str, data: bytes) -> Callable[[Path], Path]:
    def make(folder: Path) -> Path:
        path = Path(os.fsdecode(os.fsencode(folder) + b"/" + os.fsencode(name)))
        path.write_bytes(data)
        return path

    return make


def _named(name: str) -> Callable[[Path], Path]:
    return lambda folder: Path(name)


NO_RECORDS: dict[str, Callable[[Path], Path]] = {
    **{name: _named(name) for name in ("/dev/zero", "/dev/null", "/dev/urandom", "/dev/full", "/dev/tty")},
    **{name: _named(name) for name in ("/proc/self/mem", "/dev/null/in a file", "/", ".", "-")},
    "a pipe": _fifo,
    "a socket": _socket,
    "a folder": _folder,
    "a file of a terabyte": _huge,
    "an empty file": _written("empty.duel", b""),
    "an executable": _written("a.out", b"\x7fELF\x02\x01\x01" + bytes(2000)),
    "a link to itself": _link("link.duel"),
    "a link to nothing": _link("nothing"),
    "a link to zeros": _link("/dev/zero"),
    "nothing": lambda folder: folder / "nothing.duel",
    "a name too long": lambda folder: folder / ("x" * 5000),
    "a name with an escape": _written("\x1b[2J\x07.duel", b"nothing"),
    "a name of two lines": _written("two\nlines.duel", b"nothing"),
    "a name that is no text": _written("\udcff\udce9.duel", b"nothing"),
    "a name turned around": _written("\u202eleud.duel", b"nothing"),
}
TAKERS: tuple[tuple[str, ...], ...] = (
    ("resume", "{}"),
    ("replay", "{}"),
    ("verify", "{}"),
    ("verify", "--json", "{}"),
    ("share", "--seat", "1", "{}"),
    ("review", "{}"),
    ("review", "--json", "{}"),
    ("review", "--html", "{}", RECORD),
    ("export", "lights", "--games", "1", "--out", "{}"),
    ("exam", "lights", "--positions", "2", "--out", "{}"),
    ("play", "lights", "--save", "{}"),
)
"""Every command that takes the name of a record. Add new ones here."""


def attack_taker(taker: tuple[str, ...], what: str, folder: Path) -> None:
    (folder / RECORD).write_bytes(sample_record("lights", 99))
    path = str(NO_RECORDS[what](folder))
    scenario = Scenario("", tuple(path if argument == "{}" else argument for argument in taker), ("quit",))

    def act(tell: Tell) -> None:
        resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))
        os.chdir(folder)
        signal.alarm(SECONDS)
        result = perform(scenario, folder)
        tell([result.code, result.out, result.err])

    result = CommandResult(*in_child(act).messages[-1])
    if result.code == 0:
        assert {"--save", "--html", "--out"} & set(taker), result
        return
    assert result.code in (1, 2), result
    lines = result.err.splitlines()
    assert all(line.isprintable() for line in lines), result.err
    assert lines[-1].startswith("duels: " if result.code == 1 else "Error: "), result.err
    assert len(lines) == (1 if result.code == 1 else 4), result.err
    assert len(result.err) < 7000, result.err


def environments(rng: Random) -> Iterator[Case]:
    """Yield every environment with every errand, and every command with every file that is not a record."""

    def errands() -> Iterator[Case]:
        for around, errand in shuffled(rng, product(SURROUNDINGS, ERRANDS)):
            name = f"{around.name}: duels {' '.join(map(repr, errand[0]))}"
            yield Case(name, partial(attack_surroundings, around, errand))

    def files() -> Iterator[Case]:
        for taker, what in shuffled(rng, product(TAKERS, NO_RECORDS)):
            name = f"{what}: duels {' '.join(taker)}"
            yield Case(name, partial(attack_taker, taker, what))

    return in_turn(errands(), files())
