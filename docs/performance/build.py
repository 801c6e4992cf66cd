"""Writes docs/performance.md from the results of the benchmarks: no number in it is typed by hand.

python docs/performance/build.py          writes the page from the JSON files beside this script
python docs/performance/build.py --check  fails if the page does not match them
"""

import json
import statistics
import sys
from pathlib import Path
from typing import Any

from pieces import table

HERE = Path(__file__).parent
PAGE = HERE.parent / "performance.md"

HEAD = """\
# Performance

This page is for everybody who wants to know how fast `duels` is before using it. `make bench` measured every
number and wrote the page, on a virtual machine with two cores and Python 3.11. Your numbers will differ;
ratios differ less, because both sides were measured in the same run.
"""


def load(name: str) -> Any:
    return json.loads((HERE / f"{name}.json").read_text(encoding="utf-8"))


def seconds(taken: float) -> str:
    """Format a time with three significant digits."""
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if taken >= size:
            return f"{taken / size:.3g} {unit}"
    return f"{taken / 1e-6:.3g} µs"


def speed(steps: float) -> str:
    """Format steps per second."""
    return f"{steps / 1e6:.3g} M" if steps >= 1e6 else f"{steps / 1e3:.3g} k"


def playing() -> str:
    medians: dict[str, float] = load("startup")
    bare = medians["python -c pass"]
    rows = [(f"`{name}`", seconds(taken), f"{taken / bare:.1f}") for name, taken in medians.items()]
    return f"""\
## Starting a match

CPU time from the shell to the end of the command, beside a Python that does nothing:

{table(("command", "time", "relative to bare Python"), rows)}"""


def server() -> str:
    data = load("web")
    fast, calm = data["flat_out"], data["thinking"]
    ours, theirs = "duels", "boardgame.io"
    ratio = fast[ours]["moves_per_cpu_second"] / fast[theirs]["moves_per_cpu_second"]

    def row(name: str, run: dict[str, Any], key: str, form: str) -> tuple[str, ...]:
        return (name, *(form.format(run[kind][key]) for kind in (ours, theirs)))

    rows = [
        row("moves per CPU second", fast, "moves_per_cpu_second", "{:,.0f}"),
        row("wait at full speed, median", fast, "p50_ms", "{:,.1f} ms"),
        row("wait at full speed, p99", fast, "p99_ms", "{:,.1f} ms"),
        row("wait with people thinking, median", calm, "p50_ms", "{:,.1f} ms"),
        row("wait with people thinking, p99", calm, "p99_ms", "{:,.1f} ms"),
        ("memory per idle watcher", *(f"{data['memory'][kind] / 1e3:.1f} KB" for kind in (ours, theirs))),
    ]
    pages = [(row["page"], f"{row['bytes'] / 1e3:.1f} KB") for row in data["pages"]]
    return f"""\
## The server

`duels serve` beside boardgame.io's server with its own file storage (`benchmarks/web.py`). One program plays
random matches of leap on both, {data["pairs"]} pairs at a time, each seat with an open stream. Our server
makes {ratio:.2f} times as many moves per CPU second. It syncs every move to disk before it sends it, and
sends the board drawn for each seat; boardgame.io sends the state, and the browser draws.

The wait is the time from sending a move until the other seat receives it. With people thinking, there is
{data["pause"] / 1000:g} s between two moves of a match. The disk alone takes {data["disk"]["p50_ms"]:.1f} ms
in the median and {data["disk"]["p99_ms"]:.1f} ms at p99 to sync as much as one move writes. The load of the
machine was {data["load"]:.1f} when the run started.

{table(("what", ours, theirs), rows)}
The first page is there {data["start_up"]["seconds"]:.2f} s after `duels serve` starts, over a bare Python.
Pages with an empty cache, compressed, as Chromium counts them:

{table(("page", "loaded"), pages)}"""


def environments() -> str:
    data = load("environments")
    batches = list(data["games"][0]["by_pgx"])
    rows = [
        (
            row["game"],
            *(f"{row['by_pgx'][batch]:.3g}" for batch in batches),
            f"{row['by_pettingzoo']:.3g}",
            speed(row["against_best"]),
            speed(row["many_against_best"]),
        )
        for row in data["games"]
    ]
    head = (
        "game",
        *(f"Pgx, batch of {int(batch):,}" for batch in batches),
        "PettingZoo",
        "steps/s against `best`",
        "the same, 256 games",
    )
    return f"""\
## Environments

Random play beside the peers (`benchmarks/bench_envs.py`). Columns with a peer's name are ratios: our speed
divided by the peer's. A batch returns observations and masks with every step; the peer is the faster of Pgx's
tic-tac-toe and Connect Four on the CPU. PettingZoo's peer is its own tic-tac-toe. Each case is measured for
{data["seconds"]:g} s in turn; the best of {data["rounds"]} rounds counts. flip's step is compiled (the extra
`fast`): without it, batches of flip work and are slow.

{table(head, rows)}
The other four games are tables, so a step is one lookup. flip has too many positions for a table, and its
observation and mask have 446 numbers where tic-tac-toe has 27. Batches use their own arrays (`copy=False`);
the default makes new arrays with every step.
"""


def training() -> str:
    data = load("training")
    games = list(dict.fromkeys(run["game"] for run in data["runs"]))
    runs = {game: [run for run in data["runs"] if run["game"] == game] for game in games}
    learned = {game: [run for run in runs[game] if run["steps"]] for game in games}
    rows = [
        (
            game,
            f"{len(learned[game])} of {len(runs[game])}",
            f"{statistics.median(run['steps'] for run in learned[game]):,.0f}",
            seconds(statistics.median(run["seconds"] for run in learned[game])),
            seconds(max(run["seconds"] for run in learned[game])),
        )
        for game in games
    ]
    shares = [(row["game"], f"{row['share']:.1%}") for row in data["shares"]]
    return f"""\
## Training

`examples/masked_ppo.py` (MaskablePPO) until the exact exploitability is below {data["small"]}, in CPU time
without grading (`benchmarks/training.py`). A seed counts as failed after {data["max_steps"]:,} steps.

{table(("game", "seeds", "steps, median", "time, median", "time, slowest"), rows)}
The environment's share of a MaskablePPO run with default settings:

{table(("game", "share"), shares)}"""


def jax_environments() -> str:
    data = load("jax")
    ratios = {(row["group"], row["game"], row["peer"], row["batch"]): row["ratio"] for row in data["ratios"]}
    batches = list(dict.fromkeys(key[3] for key in ratios))
    rows = [
        (how, f"{game} by {peer}", *(f"{ratios[how, game, peer, batch]:.3g}" for batch in batches))
        for how, game, peer in dict.fromkeys(key[:3] for key in ratios)
    ]
    return f"""\
## Environments in JAX

`duels.envs.jax` beside Pgx, compiled by the same XLA, on one core and in CPU time (`benchmarks/jax_envs.py`).
Numbers are our speed divided by that of a comparable game of Pgx. A rollout is one compiled call.

{table(("how", "games", *(f"batch of {batch:,}" for batch in batches)), rows)}"""


def solving() -> str:
    data = load("solving")
    solved = {row["game"]: row for row in data["from_nothing"]}
    rows = [
        (
            row["game"],
            seconds(solved[row["game"]]["seconds"]) if row["game"] in solved else "shipped",
            seconds(row["median"]),
            seconds(row["longest"]),
        )
        for row in data["lookups"]
    ]
    peers = [
        (
            ", ".join([row["game"], *(f"{name} = {value}" for name, value in row["options"].items())]),
            row["method"].removeprefix("openspiel "),
            f"{row['theirs']['seconds'] / row['opening']['seconds']:,.0f}",
        )
        for row in data["peers"]
        if row["theirs"]
    ]
    return f"""\
## Solving

CPU time to solve a game from scratch, without shipped tables or a cache, and then to judge every action of a
position from random play:

{table(("game", "solve", "judge, median", "judge, longest"), rows)}
OpenSpiel's own algorithms on the same games, which `duels.envs.openspiel` registers: their time until the
opening is judged, as a multiple of ours. `nim` is OpenSpiel's own, with rules in C++. flip's board has too
many positions to visit, so a 2x2 board replaces it. The benchmark fails if values disagree.

{table(("game", "OpenSpiel's", "relative to ours"), peers)}"""


def arena() -> str:
    data = load("arena")
    rows = [
        (
            row["game"],
            f"{row['bare']:,.0f}",
            f"{row['in_run']:,.0f}",
            f"{100 * (row['bare'] / row['in_run'] - 1):+.0f}%",
        )
        for row in data["matches"]
    ]
    loops = [(name, f"{matches:,.0f}") for name, matches in data["loops"].items()]
    return f"""\
## The arena

Matches per CPU second between `club` and `expert` on one core, with every decision graded and luck removed:
the matches alone, and in a run that logs and can be resumed.

{table(("game", "alone", "in a run", "longer by"), rows)}
A question to a program over pipes takes {1000 * data["question_seconds"]:.2f} ms, the program's own time
included. Other arenas' loops with random players, which grade nothing and keep no log, beside ours:

{table(("loop", "matches per second"), loops)}"""


SECTIONS = (playing, server, environments, training, jax_environments, solving, arena)


def build_page() -> str:
    return "\n".join((HEAD, *(section() for section in SECTIONS)))


def main() -> None:
    text = build_page()
    if "--check" in sys.argv[1:]:
        sys.exit(text != PAGE.read_text(encoding="utf-8") and f"{PAGE.name} does not match the results")
    PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
