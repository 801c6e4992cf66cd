"""The cost of perfect play: solving a game from scratch, and judging a position once it is solved.

OpenSpiel's own algorithms solve the same games in the same run. Times are CPU times. `--json FILE` stores the
result; `docs/performance/build.py` makes the page from it.
"""

import argparse
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from random import Random
from typing import Any

import duels
from duels.core.rules import CHANCE, Seat
from duels.games import GAMES
from duels.solving.oracles import get_oracle

Row = dict[str, Any]
SOLVED = ("lights", "leap", "chain", "flip")
# flip's board is far beyond any walk through its positions, so a small one stands for it.
SMALL_FLIP = {"side": 2, "values": 4, "copies": 1, "target": 5}
ITERATION, SEARCH = "openspiel value iteration", "openspiel alpha-beta"
PEERS: tuple[tuple[str, str, dict[str, int]], ...] = (
    (ITERATION, "lights", {}),
    (SEARCH, "lights", {}),
    (ITERATION, "leap", {}),
    (ITERATION, "chain", {}),
    (ITERATION, "flip", SMALL_FLIP),
    (ITERATION, "nim", {}),
)
ROUNDS = 5
LIMIT = 300  # seconds after which a peer is given up


def say(text: str) -> None:
    """Print progress to stderr."""
    print(f"… {text}", file=sys.stderr, flush=True)


def measure_solving(who: str, name: str, options: dict[str, int], home: str) -> Row | None:
    """Return the cost of solving in a separate process, or None after a timeout. Raises if it fails."""
    done = subprocess.run(
        [
            sys.executable,
            str(Path(__file__).with_name("solving_once.py")),
            *(who, name, json.dumps(options), str(LIMIT)),
        ],
        env={**os.environ, "DUELS_HOME": home},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode == -signal.SIGALRM:
        say(f"{who}, {name} {options}: given up")
        return None
    if done.returncode:
        raise RuntimeError(f"{who} failed on {name} {options} ({done.returncode}):\n{done.stderr}")
    row: Row = json.loads(done.stdout)
    return row


def ours(who: str, name: str, options: dict[str, int], home: str) -> Row:
    """Return the median of several runs, or a single run if it takes a second."""
    rows: list[Row] = []
    while len(rows) < ROUNDS and not any(row["seconds"] > 1 for row in rows):
        row = measure_solving(who, name, options, home)
        assert row, f"{name} {options} could not be solved"
        rows.append(row)
    return sorted(rows, key=lambda row: float(row["seconds"]))[len(rows) // 2]


def measure_solving_from_scratch(home: str) -> list[Row]:
    rows = []
    for name in SOLVED:
        say(f"solving {name}")
        rows.append({"game": name, **ours("opening", name, {}, home)})
    return rows


def measure_lookups(positions: int = 100) -> list[Row]:
    """Return the seconds to judge every action of a position from random play."""
    rows = []
    for game in GAMES.values():
        say(f"looking up {game.name}")
        rng, oracle = Random(0), get_oracle(game.rules())
        times: list[float] = []
        match = duels.start(game.name)
        while len(times) < positions:
            actor = match.actor
            if actor is None:
                match = duels.start(game.name)
            elif actor is CHANCE:
                match = match.play(actor, duels.draw(match, rng))
            else:
                sight = match.sight(Seat(actor))
                start = time.process_time()
                oracle.judge(sight)
                times.append(time.process_time() - start)
                match = match.play(actor, rng.choice(match.actions))
        rows.append({"game": game.name, "median": statistics.median(times), "longest": max(times)})
    return rows


def measure_peers(home: str) -> list[Row]:
    """Solve the same games with OpenSpiel."""
    found = []
    for who, name, options in PEERS:
        say(f"{who} on {name} {options or ''}")
        theirs = measure_solving(who, name, options, home)
        opening = ours("opening", name, options, home)
        if theirs and abs(theirs["opening"] - opening["opening"]) > 1e-4:
            raise SystemExit(f"{who} on {name} says {theirs['opening']}, we say {opening['opening']}")
        found.append({"method": who, "game": name, "options": options, "theirs": theirs, "opening": opening})
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the result to this file")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as home:
        result = {
            "limit": LIMIT,
            "from_nothing": measure_solving_from_scratch(home),
            "lookups": measure_lookups(),
            "peers": measure_peers(home),
        }
    text = json.dumps(result, indent=1)
    print(text)
    if arguments.json:
        arguments.json.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
