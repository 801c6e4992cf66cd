"""CPU time from the shell to the first prompt, beside a Python that does nothing, in the same run."""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from cpu_time import sum_command_times

ROUNDS = 15
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
    start = sum_command_times()
    subprocess.run(
        command,
        input=b"quit\n",
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=environment(home),
        check=True,
    )
    return sum_command_times() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the result to this file")
    arguments = parser.parse_args()
    times: dict[str, list[float]] = {name: [] for name in COMMANDS}
    with tempfile.TemporaryDirectory() as home:
        for _ in range(ROUNDS):  # in turn, so that other load affects all of them
            for name, command in COMMANDS.items():
                times[name].append(seconds(command, home))
    text = json.dumps({name: statistics.median(measured) for name, measured in times.items()}, indent=1)
    print(text)
    if arguments.json:
        arguments.json.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
