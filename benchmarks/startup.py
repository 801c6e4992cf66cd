"""How long people wait for a prompt, beside a bare Python in the same run, in processor time."""

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROUNDS = 15
DUELS = str(Path(sys.executable).with_name("duels"))
COMMANDS = {
    "python -c pass": [sys.executable, "-c", "pass"],
    "duels --help": [DUELS, "--help"],
    "duels games": [DUELS, "games"],
    "duels play lights (first prompt, then quit)": [DUELS, "play", "lights"],
}


def seconds(command: list[str], home: str) -> float:
    start = of_children()
    subprocess.run(
        command,
        input=b"quit\n",
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "DUELS_HOME": home},
        check=True,
    )
    return of_children() - start


def of_children() -> float:
    """The processor time of all commands that were run so far."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the numbers to this file")
    asked = parser.parse_args()
    times: dict[str, list[float]] = {name: [] for name in COMMANDS}
    with tempfile.TemporaryDirectory() as home:
        for _ in range(ROUNDS):  # in turn, so that a busy moment touches all of them
            for name, command in COMMANDS.items():
                times[name].append(seconds(command, home))
    medians = {name: statistics.median(measured) for name, measured in times.items()}
    print("Start-up, median of", ROUNDS)
    for name, median in medians.items():
        ratio = median / medians["python -c pass"]
        print(f"  {name:<45}{median * 1000:>7.0f} ms{ratio:>7.1f} x bare Python")
    if asked.json:
        asked.json.write_text(json.dumps(medians, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
