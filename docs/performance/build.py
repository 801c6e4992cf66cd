"""Generate docs/performance.md from the results of the benchmarks.

python docs/performance/build.py          write the page from the JSON files beside this script
python docs/performance/build.py --check  fail if the page is out of date
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

For users who want to know how fast `duels` is before they install it. `make bench` measured every number and
generated this page, on a virtual machine with two cores and Python 3.11. Your numbers will differ. Ratios
differ less, because the same run measured both sides.
"""


def load(name: str) -> Any:
    return json.loads((HERE / f"{name}.json").read_text(encoding="utf-8"))


def seconds(duration: float) -> str:
    """Format a time with three significant digits."""
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if duration >= size:
            return f"{duration / size:.3g} {unit}"
    return f"{duration / 1e-6:.3g} µs"


def speed(steps: float) -> str:
    """Format steps per second."""
    return f"{steps / 1e6:.3g} M" if steps >= 1e6 else f"{steps / 1e3:.3g} k"


def playing() -> str:
    medians: dict[str, float] = load("startup")
    bare = medians["python -c pass"]
    rows = [(f"`{name}`", seconds(duration), f"{duration / bare:.1f}") for name, duration in medians.items()]
    return f"""\
## Starting a match

CPU time of a command, compared with a Python that does nothing:

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
    home, *matches = data["pages"]
    slowest = max(matches, key=lambda page: page["longest_task_ms"])
    pages = [
        (
            page["page"],
            f"{page['bytes'] / 1e3:.1f} KB",
            f"{page['longest_task_ms']:.0f} ms",
            f"{page['layout_shift']:.3f}",
        )
        for page in (home, slowest)
    ]
    return f"""\
## The server

`duels serve` compared with boardgame.io's server, which uses its own file storage (`benchmarks/web.py`). One
program plays random matches of leap on both servers, {data["pairs"]} pairs at a time, with an open stream per
seat. Our server makes {ratio:.2f} times as many moves per CPU second. It syncs every move to disk before it
sends the move, and it draws the board for each seat. boardgame.io leaves drawing to the browser.

The wait is the time from sending a move until the other seat receives it. "With people thinking" means
{data["pause"] / 1000:g} s between two moves of a match. To sync the bytes of one move, the disk alone takes
{data["disk"]["p50_ms"]:.1f} ms in the median and {data["disk"]["p99_ms"]:.1f} ms at p99. The load of the
machine was {data["load"]:.1f} when the run started.

{table(("measure", ours, theirs), rows)}
`duels serve` returns the first page after {data["start_up"]["seconds"]:.2f} s, without the start of Python.
Chromium in the size of a phone, with a CPU slowed down four times (`benchmarks/web_pages.py`): the bytes of a
page with an empty cache, compressed; the CPU time of the longest task of its main thread; and the layout
shift, in a match while four moves are played. Of the five games, the slowest match is listed. The aims are
200 ms and 0.05.

{table(("page", "loaded", "longest task", "layout shift"), pages)}"""


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
        "steps/s against `best`, 256 games",
    )
    return f"""\
## Environments

Random play compared with other libraries (`benchmarks/bench_envs.py`). The columns Pgx and PettingZoo are
ratios: our speed divided by the other library's. Batches return observations and masks with every step. From
Pgx, we take the faster of tic-tac-toe and Connect Four on the CPU; from PettingZoo, tic-tac-toe. Each case
runs for {data["seconds"]:g} s in turn, and the best of {data["rounds"]} rounds counts. flip's step is
compiled (extra `fast`); without this extra, batches of flip are slow.

{table(head, rows)}
In lights, leap, chain and hunt, a step is one lookup in a table. flip has too many positions for a table. Its
observation and mask have 446 numbers, compared with 27 in tic-tac-toe. Batches return their own arrays
(`copy=False`); by default, they copy the arrays in every step.

Pgx is called once per step here, so the ratios include the time that JAX needs for a call. A loop in native C
has no such cost: it beats our compiled steps 7 times at a batch of 1 and 4 times at 64, and loses at 16,384.
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
    grades = [
        (
            row["game"],
            ", ".join(f"{name}={value}" for name, value in row["form"].items()) or "the book's game",
            seconds(row["seconds"]),
            f"bounds, {row['width']:.3f} apart" if row["width"] else "exact",
        )
        for row in data["grading"]
    ]
    return f"""\
## Training

How long until your agent is graded: the time to train it, and the time of a grade (`benchmarks/training.py`).
This is the CPU time until `examples/masked_ppo.py` (MaskablePPO) reaches an exact exploitability below
{data["small"]}, without grading. A seed fails if it needs more than {data["max_steps"]:,} steps.

{table(("game", "successful seeds", "steps, median", "time, median", "time, slowest"), rows)}
CPU time of a grade, from an agent to its exploitability:

{table(("game", "form", "time", "grade"), grades)}
The environment's share of the time of a MaskablePPO run with default settings:

{table(("game", "share"), shares)}"""


def jax_environments() -> str:
    data = load("jax")
    ratios = {(row["group"], row["game"], row["peer"], row["batch"]): row["ratio"] for row in data["ratios"]}
    batches = list(dict.fromkeys(key[3] for key in ratios))
    rows = [
        (f"{game} by {peer}", *(f"{ratios[mode, game, peer, batch]:.3g}" for batch in batches))
        for mode, game, peer in dict.fromkeys(key[:3] for key in ratios)
        if mode == "rollout"
    ]
    return f"""\
## Environments in JAX

Rollouts of `duels.envs.jax` compared with Pgx, compiled by the same XLA, in CPU time on one core
(`benchmarks/jax_envs.py`). Numbers are our speed divided by that of a comparable game in Pgx.

{table(("our game by theirs", *(f"batch of {batch:,}" for batch in batches)), rows)}"""


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
            row["game"] + (f", {side}x{side} board" if (side := row["options"].get("side")) else ""),
            row["method"].removeprefix("openspiel "),
            f"{row['theirs']['seconds'] / row['opening']['seconds']:,.0f}",
        )
        for row in data["peers"]
        if row["theirs"]
    ]
    return f"""\
## Solving

CPU time to solve a game from scratch, without shipped tables or a cache, and then to compute the value of
every action in a position from random play:

{table(("game", "solve", "position, median", "position, longest"), rows)}
The time that OpenSpiel's own algorithms need for the value of the opening, as a multiple of ours. They run on
our games, which `duels.envs.openspiel` registers. `nim` is OpenSpiel's own game, with rules in C++. flip's
full board has too many positions, so we use a 2x2 board. The benchmark fails if values disagree.

{table(("game", "OpenSpiel's algorithm", "relative to ours"), peers)}"""


def arena() -> str:
    data = load("arena")
    rows = [(row["game"], f"{row['in_run']:,.0f}") for row in data["matches"]]
    loops = [(name, f"{matches:,.0f}") for name, matches in data["loops"].items()]
    return f"""\
## The arena

Matches of a run per CPU second, between `club` and `expert` on one core. Every decision is graded and logged.

{table(("game", "matches per second"), rows)}
A question to a program over pipes takes {1000 * data["question_seconds"]:.2f} ms, including the program's own
time. Match loops of other arenas with random players, without grading or a log, compared with ours:

{table(("loop", "matches per second"), loops)}"""


SECTIONS = (playing, server, environments, training, jax_environments, solving, arena)


def build_page() -> str:
    return "\n".join((HEAD, *(section() for section in SECTIONS)))


def main() -> None:
    text = build_page()
    if "--check" in sys.argv[1:]:
        is_outdated = text != PAGE.read_text(encoding="utf-8")
        sys.exit(f"{PAGE.name} is out of date. Run docs/performance/build.py." if is_outdated else 0)
    PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
