"""How long people wait for a prompt, beside a bare Python in the same run."""

import os
import statistics
import subprocess
import sys
import tempfile
import time
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
    start = time.perf_counter()
    subprocess.run(
        command,
        input=b"quit\n",
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "DUELS_HOME": home},
        check=True,
    )
    return time.perf_counter() - start


def main() -> None:
    times: dict[str, list[float]] = {name: [] for name in COMMANDS}
    with tempfile.TemporaryDirectory() as home:
        for _ in range(ROUNDS):  # in turn, so that a busy moment touches all of them
            for name, command in COMMANDS.items():
                times[name].append(seconds(command, home))
    bare = statistics.median(times["python -c pass"])
    print("Start-up, median of", ROUNDS)
    for name, measured in times.items():
        median = statistics.median(measured)
        print(f"  {name:<45}{median * 1000:>7.0f} ms{median / bare:>7.1f} x bare Python")


if __name__ == "__main__":
    main()
