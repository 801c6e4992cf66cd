"""Writes docs/performance.md from what the benchmarks measured: no number in it is typed by hand.

python docs/performance/build.py          writes the page from the JSON files beside this script
python docs/performance/build.py --check  fails if the page is not what they say
"""

import sys
from typing import Any

from arena import arena
from environments import environments
from in_jax import in_jax
from pieces import HERE, measured, table
from serving import serving

PAGE = HERE.parent / "performance.md"
Row = dict[str, Any]

HEAD = """\
# Performance

`make bench` measured every number on this page and wrote the page, on a virtual machine with two cores and
Python 3.11. Your numbers will differ; ratios, measured in one run, will differ less. Solve and start-up times
are CPU time; speeds of environments are by the wall clock.
"""


def seconds(taken: float) -> str:
    """As a person reads it: three digits that count, in the unit that suits."""
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if taken >= size:
            return f"{taken / size:.3g} {unit}"
    return f"{taken / 1e-6:.3g} µs"


def times(theirs: Row | None, ours: Row | None, limit: float) -> str:
    if ours is None:
        return "–"
    ratio = (theirs["seconds"] if theirs else limit) / ours["seconds"]
    return ("" if theirs else "more than ") + (f"{ratio:,.0f}" if ratio >= 10 else f"{ratio:.1f}")


def solving() -> str:
    data = measured("solving")
    nothing, limit = data["from_nothing"], data["limit"]
    solved = [(row["game"], seconds(row["seconds"]), f"{row['megabytes']:.1f} MB") for row in nothing]
    looked_up = [(row["game"], seconds(row["median"]), seconds(row["longest"])) for row in data["lookups"]]
    moves = [(row["how"], seconds(row["seconds"])) for row in data["first_moves"]]
    grown = [
        (
            f"{row['game']}, {row['option']} = {row['size']:,}",
            seconds(row["seconds"]),
            f"{row['megabytes']:.1f} MB",
        )
        for row in data["growth"]
    ]
    beside = [
        (
            ", ".join([row["game"], *(f"{name} = {value}" for name, value in row["options"].items())]),
            row["method"].removeprefix("openspiel "),
            seconds(row["theirs"]["seconds"]) if row["theirs"] else f"given up after {limit} s",
            seconds(row["opening"]["seconds"]),
            times(row["theirs"], row["opening"], limit),
            times(row["theirs"], row["every"], limit),
        )
        for row in data["peers"]
    ]
    left_out = "\n\nThis was a short run (`--quick`): larger sizes are left out." if data["quick"] else ""
    return f"""\
## Solving

From scratch, without the shipped table and without a cache, until all actions of the opening are judged.
After that, every position is a lookup.

{table(("game", "time", "memory"), solved)}
All four together: {seconds(sum(row["seconds"] for row in nothing))} on one core.

Judging every action of a position once the game is solved, over positions from random play:

{table(("game", "median", "longest"), looked_up)}
The whole command `duels play flip --seat2 perfect --first 2`, from the shell until the perfect player has
moved. The package ships the solved table; if it is missing or damaged, a new one is computed and cached.

{table(("flip's table", "time"), moves)}
Growth with size, from scratch as above:

{table(("game", "time", "memory"), grown)}
### Beside OpenSpiel

OpenSpiel's own algorithms on the same games, which `duels.envs.openspiel` registers. Its value iteration
visits every state (in its fastest setting, which merges equal states) and calls our rules in Python. For a
comparison with rules in C++, OpenSpiel's own `nim` (piles of 1, 3, 5 and 7) stands beside our nim-values.
flip's full board has too many positions to visit, so a 2x2 board stands in for it.

'solved' is OpenSpiel's time as a multiple of ours until the opening is judged. 'every state' is a multiple of
our time to also find every state and look it up one by one, which is not what the oracles are built for. If
values disagree or either side fails, the benchmark fails.{left_out}

{table(("game", "OpenSpiel's", "its time", "our time", "solved: times", "every state: times"), beside)}"""


def startup() -> str:
    medians: dict[str, float] = measured("startup")
    bare = medians["python -c pass"]
    waits = [(f"`{name}`", seconds(taken), f"{taken / bare:.1f}") for name, taken in medians.items()]
    speeds: dict[str, float] = measured("playouts")
    steps = [(game, f"{speed:,.0f}", f"{speed / min(speeds.values()):.1f}") for game, speed in speeds.items()]
    return f"""\
## Start-up

From the shell until the command is done, alternating with a Python that does nothing:

{table(("command", "time", "times bare Python"), waits)}
Random play through `Match`, which checks every move and keeps every event; one core:

{table(("game", "steps a second", "times the slowest"), steps)}"""


# In the order of the page; a section is a function that gives its text.
SECTIONS = (solving, startup, serving, environments, in_jax, arena)


def page() -> str:
    return "\n".join((HEAD, *(section() for section in SECTIONS)))


def main() -> None:
    text = page()
    if "--check" in sys.argv[1:]:
        sys.exit(text != PAGE.read_text(encoding="utf-8") and f"{PAGE.name} is not what was measured")
    PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
