"""CPU time until a prompt, compared with a bare Python in the same run.

Compiled modules are cached, as after an installation. The benchmark then lists the import time by package,
as Python measures it, and the time of click alone.
"""

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from cpu_time import of_commands

ROUNDS = 15
CLOCKED = 5
DUELS = str(Path(sys.executable).with_name("duels"))
COMMANDS = {
    "python -c pass": [sys.executable, "-c", "pass"],
    "python -c 'import click'": [sys.executable, "-c", "import click"],
    "duels --help": [DUELS, "--help"],
    "duels games": [DUELS, "games"],
    "duels play lights (first prompt, then quit)": [DUELS, "play", "lights"],
}


def environment(home: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {**kept, "DUELS_HOME": home}


def seconds(command: list[str], home: str) -> float:
    start = of_commands()
    subprocess.run(
        command,
        input=b"quit\n",
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=environment(home),
        check=True,
    )
    return of_commands() - start


def loading(command: list[str], home: str) -> dict[str, float]:
    """Return the import time in milliseconds by package, with the standard library as one; the best run."""
    fastest: dict[str, int] = {}
    for _ in range(CLOCKED):
        done = subprocess.run(
            [sys.executable, "-X", "importtime", *command],
            input=b"quit\n",
            capture_output=True,
            env=environment(home),
            check=True,
        )
        for line in done.stderr.decode().splitlines():
            if match := re.fullmatch(r"import time: +([0-9]+) \| +[0-9]+ \| +(\S+)", line):
                fastest[match[2]] = min(int(match[1]), fastest.get(match[2], int(match[1])))
    spent: dict[str, float] = {}
    for module, microseconds in fastest.items():
        top = module.split(".")[0]
        package = top if top in ("duels", "click") else "standard library"
        spent[package] = spent.get(package, 0.0) + microseconds / 1000
    return spent


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the numbers to this file")
    asked = parser.parse_args()
    times: dict[str, list[float]] = {name: [] for name in COMMANDS}
    with tempfile.TemporaryDirectory() as home:
        for _ in range(ROUNDS):  # in turn, so that other load affects all of them
            for name, command in COMMANDS.items():
                times[name].append(seconds(command, home))
        spent = {
            name: loading(command[command[0] == sys.executable :], home) for name, command in COMMANDS.items()
        }
    medians = {name: statistics.median(measured) for name, measured in times.items()}
    print("Start-up, median of", ROUNDS)
    for name, median in medians.items():
        ratio = median / medians["python -c pass"]
        print(f"  {name:<45}{median * 1000:>7.0f} ms{ratio:>7.1f} x bare Python")
    print("Where it goes, in ms of loading modules (Python's clock itself takes some)")
    for name, packages in spent.items():
        summary = ", ".join(
            f"{package} {milliseconds:.0f}" for package, milliseconds in sorted(packages.items())
        )
        print(f"  {name:<45}{summary}")
    if asked.json:
        asked.json.write_text(json.dumps(medians, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
