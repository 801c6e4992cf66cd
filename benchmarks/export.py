"""Graded decisions that `duels export` writes per second of CPU time, including start-up.

A first run compiles everything.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from cpu_time import of_commands

DUELS = str(Path(sys.executable).with_name("duels"))
FORMATS = ("jsonl", "parquet")


def seconds(command: list[str]) -> float:
    """Return the CPU time of a command."""
    start = of_commands()
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    return of_commands() - start


def decisions(path: Path) -> int:
    """Count the decisions in a file of JSON lines."""
    with path.open(encoding="utf-8") as lines:
        return sum(turn["actor"] != "chance" for line in lines for turn in json.loads(line)["turns"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--game", default="flip")
    parser.add_argument("--games", type=int, default=1000)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        files = {kind: Path(folder) / f"out.{kind}" for kind in FORMATS}
        command = [DUELS, "export", arguments.game, "--games", str(arguments.games), "--out"]
        seconds([*command, str(Path(folder) / "first.jsonl")])
        took = {kind: seconds([*command, str(path)]) for kind, path in files.items()}
        rows = decisions(files["jsonl"])
    for kind in FORMATS:
        print(f"{arguments.game}, {kind}: {rows:,} rows, {rows / took[kind]:,.0f} a second")


if __name__ == "__main__":
    main()
