"""Measure how far `duels.exploitability` reaches in games with hidden information: a table for grading.md.

python docs/environments/reach.py

Each form runs in a process of its own, so that its peak memory can be measured.
"""

import resource
import subprocess
import sys
import time

import duels
from duels.core.errors import TooLarge
from duels.core.rules import Seat
from duels.games import find_game
from duels.solving.tree import build_tree

FORMS = [
    "hunt cells=2 max_turns=6",
    "hunt cells=3 max_turns=4",
    "hunt cells=3 max_turns=6",
    "hunt cells=3 max_turns=7",
    "hunt cells=3 max_turns=8",
    "hunt cells=4 max_turns=4",
    "hunt cells=4 max_turns=5",
    "hunt cells=5 max_turns=3",
    "hunt cells=5 max_turns=4",
    "hunt cells=7 max_turns=3",
    "hunt cells=7 max_turns=4",
    "flip side=2 values=2 copies=2 target=3",
    "flip side=2 values=4 copies=1 target=5",
    "flip side=3 values=3 copies=3 target=5",
]


def measure(form: str) -> str:
    """Return a row of the table."""
    name, *given = form.split()
    options = {option: int(value) for option, value in (pair.split("=") for pair in given)}
    head = f"| {name} | `{', '.join(given)}` |"
    start = time.perf_counter()
    try:
        duels.exploitability("random", name, **options)
    except TooLarge:
        return f"{head} more than 400,000 | – | refused | – |"
    seconds, memory = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    tree = build_tree(find_game(name).rules(**options))
    decisions = [(node, actor) for node, actor in enumerate(tree.actor) if isinstance(actor, Seat)]
    sets = {(seat, tree.information_set[seat][node]) for node, seat in decisions}
    return f"{head} {len(tree):,} | {len(sets):,} | {seconds:.1f} | {memory:.0f} MB |"


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(measure(sys.argv[1]))
    else:
        print("| game | form | histories | information sets | seconds | memory |\n|---|---|---|---|---|---|")
        for form in FORMS:
            subprocess.run([sys.executable, __file__, form], check=True)
