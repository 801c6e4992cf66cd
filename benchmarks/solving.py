"""The cost of perfect play: solving from scratch, a lookup, the first perfect move, growth with size.

OpenSpiel's algorithms solve the same games in the same run; `make bench` installs it. `--quick` skips the
long cases. `--json FILE` saves the results for docs/performance/build.py. Times are CPU times.
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

from cpu_time import of_commands

import duels
from duels.core.rules import CHANCE, Seat
from duels.games import GAMES
from duels.solving.oracles import get_oracle

Row = dict[str, Any]
SOLVED = ("lights", "leap", "chain", "flip")
GROWTH: dict[str, tuple[str, tuple[int, ...]]] = {
    "lights": ("lights", (7, 100, 1000, 10_000)),
    "leap": ("goal", (21, 1000, 10_000, 100_000)),
    "chain": ("cells", (7, 9, 11, 13)),
}
# flip's full board has too many positions, so a small one represents it.
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
LARGER_PEERS: tuple[tuple[str, str, dict[str, int]], ...] = (
    (ITERATION, "lights", {"lights": 11}),
    (ITERATION, "leap", {"goal": 60}),
    (ITERATION, "chain", {"cells": 8}),
)
ROUNDS = 5
LIMIT = 300  # timeout of a peer, in seconds
PERFECT = ("play", "flip", "--seat2", "perfect", "--first", "2")


def say(text: str) -> None:
    """Print progress to stderr."""
    print(f"… {text}", file=sys.stderr, flush=True)


def solved_once(who: str, name: str, options: dict[str, int], home: str) -> Row | None:
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
        row = solved_once(who, name, options, home)
        assert row, f"{name} {options} could not be solved"
        rows.append(row)
    return sorted(rows, key=lambda row: float(row["seconds"]))[len(rows) // 2]


def from_nothing(home: str) -> list[Row]:
    rows = []
    for name in SOLVED:
        say(f"solving {name}")
        held = solved_once("memory", name, {}, home) or {}
        rows.append({"game": name, **held, **ours("opening", name, {}, home)})
    return rows


def lookups(positions: int = 100) -> list[Row]:
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


def first_perfect_move(home: str, before: str = "", rounds: int = 1) -> float:
    """Return the median seconds until a perfect player has moved in `duels play flip`."""
    program = f"{before}\nfrom duels.terminal.commands import main\nmain()"
    times = []
    for _ in range(rounds):
        start = of_commands()
        subprocess.run(
            [sys.executable, "-c", program, *PERFECT],
            input=b"quit\n",
            env={**os.environ, "DUELS_HOME": home},
            capture_output=True,
            check=True,
        )
        times.append(of_commands() - start)
    return statistics.median(times)


def first_moves(quick: bool) -> list[Row]:
    """Measure the first move as installed, and from the cache without the shipped table."""
    bare = "from duels.games.flip import table; from pathlib import Path; table.SHIPPED = Path('none')"
    no_numpy = f"import sys; sys.modules['numpy'] = None; {bare}"
    rows = []
    with tempfile.TemporaryDirectory() as home:
        say("first perfect move")
        rows.append(
            {"how": "with the table that is shipped", "seconds": first_perfect_move(home, "", ROUNDS)}
        )
        cold = "without it, cold cache"
        rows.append({"how": f"{cold}, with NumPy", "seconds": first_perfect_move(home, bare)})
        rows.append({"how": "without it, warm cache", "seconds": first_perfect_move(home, no_numpy, ROUNDS)})
    if not quick:
        with tempfile.TemporaryDirectory() as home:
            say("first perfect move with nothing at all")
            rows.append({"how": f"{cold}, without NumPy", "seconds": first_perfect_move(home, no_numpy)})
    return rows


def growth(home: str) -> list[Row]:
    rows = []
    for name, (option, sizes) in GROWTH.items():
        for size in sizes:
            say(f"growth: {name}, {option}={size:,}")
            row = {"game": name, "option": option, "size": size}
            for what in ("opening", "memory"):
                row |= solved_once(what, name, {option: size}, home) or {}
            rows.append(row)
    return rows


def peers(home: str, quick: bool) -> list[Row]:
    """Return OpenSpiel's times and their ratios to ours, for the opening and for every state."""
    rows = []
    for who, name, options in PEERS if quick else PEERS + LARGER_PEERS:
        say(f"{who} on {name} {options or ''}")
        theirs = solved_once(who, name, options, home)
        opening = ours("opening", name, options, home)
        every = None if who == SEARCH else ours("states", name, options, home)
        if theirs and abs(theirs["opening"] - opening["opening"]) > 1e-4:
            raise SystemExit(f"{who} on {name} says {theirs['opening']}, we say {opening['opening']}")
        rows.append(
            {
                "method": who,
                "game": name,
                "options": options,
                "theirs": theirs,
                "opening": opening,
                "every": every,
            }
        )
    return rows


def ratio(theirs: Row | None, our: Row | None) -> str:
    if our is None:
        return ""
    if theirs is None:
        return f"> {LIMIT / our['seconds']:,.0f} x"
    return f"{theirs['seconds'] / our['seconds']:,.0f} x"


def show(measured: dict[str, Any]) -> None:
    print("Solving the opening from nothing: no table, no cache")
    for row in measured["from_nothing"]:
        print(f"  {row['game']:<8}{row['seconds']:>9.4f} s{row['megabytes']:>8.1f} MB")
    print(f"  all four{sum(row['seconds'] for row in measured['from_nothing']):>8.4f} s")
    print("Judging a position once the oracle is there")
    for row in measured["lookups"]:
        print(f"  {row['game']:<8}{1e3 * row['median']:>9.3f} ms, at most {1e3 * row['longest']:.1f} ms")
    print("First perfect move of duels play flip --seat2 perfect, the whole command")
    for row in measured["first_moves"]:
        print(f"  {row['how']:<40}{row['seconds']:>7.2f} s")
    print("Growth with size: opening judged from nothing, memory on top of Python's")
    for row in measured["growth"]:
        size = f"{row['option']}={row['size']:,}"
        print(f"  {row['game']:<7}{size:<17}{row['seconds']:>10.4f} s{row['megabytes']:>8.1f} MB")
    print("OpenSpiel's algorithms: seconds, and the ratio to our time for the opening and for every state")
    for row in measured["peers"]:
        size = ", ".join(f"{name}={value}" for name, value in row["options"].items())
        theirs = f"{row['theirs']['seconds']:.2f} s" if row["theirs"] else f"> {LIMIT} s"
        print(
            f"  {row['game'] + ' ' + size:<42}{row['method']:<27}{theirs:>9}"
            f"{ratio(row['theirs'], row['opening']):>12}{ratio(row['theirs'], row['every']):>9}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="only what takes seconds")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the numbers to this file")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as home:
        measured = {
            "limit": LIMIT,
            "quick": asked.quick,
            "from_nothing": from_nothing(home),
            "lookups": lookups(),
            "first_moves": first_moves(asked.quick),
            "growth": growth(home),
            "peers": peers(home, asked.quick),
        }
    if asked.json:
        asked.json.write_text(json.dumps(measured, indent=1) + "\n", encoding="utf-8")
    show(measured)


if __name__ == "__main__":
    main()
