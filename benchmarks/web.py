"""Our server compared with boardgame.io's, in one run: moves, latency, memory; then start-up and pages.

The same program plays random matches of leap on both servers. Both store matches in files: ours in SQLite,
theirs in FlatFile. This needs Node.js, `npm install` in benchmarks/boardgame_io (which `make bench` does) and
Chromium for the last part.
"""

import argparse
import json
import os
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.request import urlopen

from web_pages import weigh

HERE = Path(__file__).parent
PEER = HERE / "boardgame_io"
BUILD = HERE.parent / "build"
OURS, THEIRS = "duels", "boardgame.io"
DUELS = str(Path(sys.executable).with_name("duels"))
PAIRS = 40
PAUSE = 1_000  # thinking time in milliseconds, for latency
WATCHERS = 2_000
STARTS = 9
SYNCS = 200
PAGE = 4096  # bytes, of the database's file; most moves write one
HELD_OPEN = 3 * WATCHERS  # files


@dataclass(frozen=True)
class ServerProcess:
    """A server of one kind."""

    kind: str
    url: str
    pid: int

    def ask(self, program: str, *values: int) -> dict[str, Any]:
        """Run a visiting program and return its measurements."""
        command = ["node", str(PEER / program), self.kind, self.url, str(self.pid), *map(str, values)]
        done = subprocess.run(command, stdout=subprocess.PIPE, check=True)
        measured: dict[str, Any] = json.loads(done.stdout)
        return measured


@contextmanager
def start_server(kind: str, folder: str) -> Iterator[ServerProcess]:
    """Start a server and wait for its port."""
    commands = {
        OURS: [sys.executable, str(HERE / "serve_unlimited.py"), str(Path(folder) / "web.sqlite3")],
        THEIRS: ["node", str(PEER / "server.mjs"), str(Path(folder) / "flat_file")],
    }
    environment = {**os.environ, "NODE_ENV": "production"}
    process = subprocess.Popen(commands[kind], stdout=subprocess.PIPE, text=True, env=environment)
    try:
        assert process.stdout
        port = int(process.stdout.readline())
        yield ServerProcess(kind, f"http://127.0.0.1:{port}", process.pid)
    finally:
        process.kill()
        process.wait()


def percentile(waits: list[float], share: float) -> float:
    return sorted(waits)[min(len(waits) - 1, int(share * len(waits)))]


def play(servers: list[ServerProcess], pause: int, turns: int, rounds: int) -> dict[str, dict[str, float]]:
    """Play pairs at each server in turn, so that other load affects all of them."""
    runs_by_server: dict[str, list[dict[str, Any]]] = {server.kind: [] for server in servers}
    for _ in range(turns):
        for server in servers:
            runs_by_server[server.kind].append(server.ask("pairs.mjs", PAIRS, rounds, pause))
    medians = {}
    for kind, runs in runs_by_server.items():
        moves, cpu = sum(run["moves"] for run in runs), sum(run["cpu"] for run in runs)
        waits = [wait for run in runs for wait in run["waits"]]
        medians[kind] = {
            "moves": moves,
            "moves_per_cpu_second": moves / cpu,
            "moves_per_second": moves / sum(run["seconds"] for run in runs),
            "p50_ms": percentile(waits, 0.5),
            "p99_ms": percentile(waits, 0.99),
        }
    return medians


def measure_disk(folder: str) -> list[float]:
    """Return the milliseconds that the disk needs to sync one move: a lower bound for moves."""
    took = []
    with (Path(folder) / "synced").open("wb", buffering=0) as file:
        file.write(bytes(PAGE * SYNCS))
        os.fsync(file.fileno())
        for place in range(SYNCS):
            file.seek(PAGE * place)
            file.write(os.urandom(PAGE))
            start = time.perf_counter()
            os.fdatasync(file.fileno())
            took.append((time.perf_counter() - start) * 1000)
            time.sleep(0.02)  # at the rate of moves
    return took


def memory(folder: str) -> dict[str, float]:
    """Return the bytes per spectator at a fresh server."""
    results = {}
    for kind in (OURS, THEIRS):
        with start_server(kind, folder) as server:
            measured = server.ask("watchers.mjs", WATCHERS)
        results[kind] = (measured["after"] - measured["before"]) / WATCHERS
    return results


def cpu_of(pid: int) -> float:
    """Return the CPU time of a running process."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def first_page(home: str) -> tuple[float, float]:
    """Return wall-clock and CPU seconds from the start of `duels serve` to its first page."""
    start = time.perf_counter()
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    with subprocess.Popen(
        [DUELS, "serve", "--port", "0", "--no-browser"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={**environment, "DUELS_HOME": home, "PYTHONUNBUFFERED": "1"},
    ) as process:
        try:
            assert process.stdout
            link = process.stdout.readline().removeprefix("Play at ").strip()
            assert urlopen(link).read()
            return time.perf_counter() - start, cpu_of(process.pid)
        finally:
            process.kill()


def measure_bare_python() -> tuple[float, float]:
    """Return the same for a Python that does nothing."""
    start, used = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", "pass"], check=True)
    now = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = now.ru_utime + now.ru_stime - used.ru_utime - used.ru_stime
    return time.perf_counter() - start, cpu


def start_up(home: str) -> dict[str, float]:
    """Return the median cost of the first page beyond a bare Python."""
    first_page(home)  # compiles modules, makes the database
    times = [(first_page(home), measure_bare_python()) for _ in range(STARTS)]
    return {
        name: statistics.median(page[which] - nothing[which] for page, nothing in times)
        for which, name in enumerate(("seconds", "cpu"))
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the numbers to this file")
    parser.add_argument("--quick", action="store_true", help="fewer moves: a look, not a measurement")
    asked = parser.parse_args()
    turns = 1 if asked.quick else 3
    load = os.getloadavg()[1]  # before our server runs, to measure the machine alone
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(most, HELD_OPEN), most))
    # Not in /tmp, which may be in memory.
    BUILD.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=BUILD) as folder:
        with ExitStack() as stack:
            servers = [stack.enter_context(start_server(kind, folder)) for kind in (OURS, THEIRS)]
            play(servers, 0, 1, 3)  # warm-up: theirs is compiled while it runs
            flat_out = play(servers, 0, turns, 3)
            synced = measure_disk(folder)
            thinking = play(servers, PAUSE, turns, 1)
            synced += measure_disk(folder)
        data = {
            "quick": asked.quick,
            "load": load,
            "cores": os.cpu_count(),
            "python": platform.python_version(),
            "pairs": PAIRS,
            "pause": PAUSE,
            "watchers": WATCHERS,
            "flat_out": flat_out,
            "thinking": thinking,
            "disk": {"p50_ms": percentile(synced, 0.5), "p99_ms": percentile(synced, 0.99)},
            "memory": memory(folder),
            "start_up": start_up(folder),
            "pages": weigh(DUELS, folder),
        }
    print(json.dumps(data, indent=1))
    if asked.json:
        asked.json.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
